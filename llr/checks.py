"""Whether numbers may be learnt from, beyond their shape: finite, and labels in the domain."""

import numpy as np

from llr import scans
from llr.config import Config
from llr.errors import DomainError, NotFiniteError
from llr.models import MODELS
from llr.types import Vector


def check_features(X: Vector) -> None:
    """Raise `NotFiniteError` for the first row that is not finite."""
    bad: int = scans.first_not_finite(X)
    if bad >= 0:
        raise NotFiniteError("is not finite", bad)


def check_labels(config: Config, y: Vector) -> None:
    """Raise `NotFiniteError` or `DomainError` for the first label that cannot be learnt."""
    which = list(MODELS).index(config.model)
    bad = int(scans.first_refused(which, config.model_number, y))
    if bad >= 0 and not np.isfinite(y[bad]):
        raise NotFiniteError("is not finite", bad, "y")
    if bad >= 0:
        reason = f"{y[bad]:g} is outside the domain: {config.of_model.domain}"
        raise DomainError(reason, bad, "y")
