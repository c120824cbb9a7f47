"""npy: one array, a row a sample, or a label each. It is read as far as it is sent."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from llr_cli.connection import BadData
from llr_cli.formats.part import Columns, Part


class Npy:
    """An array in a file."""

    def __init__(self, path: Path, columns: Columns) -> None:
        try:
            self._array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise BadData(f"{path} is not an npy file: {error}") from None
        if not isinstance(self._array, np.ndarray) or self._array.dtype.kind not in "fiub":
            raise BadData(f"{path} does not hold one array of numbers")
        if self._array.ndim not in (1, 2):
            raise BadData(f"{path}: the array has {self._array.ndim} dimensions, not 1 or 2")
        if columns.named:
            raise BadData(f"{path}: the columns of npy have no names, leave --named out")
        self.total: int | None = len(self._array)
        self._columns = columns

    def parts(self, skip: int, block: int) -> Iterator[Part]:
        """The samples after the first `skip`."""
        table = self._array if self._array.ndim == 2 else self._array[:, None]
        features, label = self._columns.among([str(i) for i in range(table.shape[1])])
        for start in range(skip, len(table), block):
            rows = table[start : start + block]
            y = rows[:, label]
            samples = (rows[:, features], y) if features else (y,)
            yield Part(samples, len(y), start + len(y), range(start, start + len(y)), "row")
