"""The array types that cross module borders."""

from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
"""One float64 array of any shape; kernels get it C-contiguous and aligned."""

Counts = npt.NDArray[np.int64]

Array = npt.NDArray[Any]
