"""Classes by name: labels and predictions as words, which learners know by their index.

>>> classes = Classes(["spam", "ham"])
>>> classes.indexes(["ham", "spam"])
array([1., 0.])
>>> classes.likeliest(np.array([[0.2, 0.8], [0.5, 0.5]]))
['ham', 'spam']
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from llr.errors import ConfigError, DomainError, DtypeError
from llr.models import Model
from llr.types import Array, Vector

MOST, LONGEST = 10_000, 256
"""How many classes there may be, and how many characters a name may have."""


class Classes:
    """The names of a model's classes, in the order of their indexes.

    Attributes:
        names: the names.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self._index = {name: float(k) for k, name in enumerate(self.names)}

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._index

    def index(self, name: str) -> float:
        """The index of a class. Raises KeyError if there is none of that name."""
        return self._index[name]

    def indexes(self, labels: Any) -> Vector:
        """The index of each label. Raises a `SampleError` for the first that is no class."""
        array = np.asarray(labels, object)
        flat = array.ravel().tolist()
        try:
            found = [self._index[name] for name in flat]
        except (KeyError, TypeError):
            wrong = next(i for i, name in enumerate(flat) if name not in self)
            if not isinstance(flat[wrong], str):
                raise DtypeError("must be the name of a class", wrong, "y") from None
            raise DomainError(self.refusal(flat[wrong]), wrong, "y") from None
        return np.array(found).reshape(array.shape)

    @property
    def shown(self) -> str:
        """All of the names in a line, or the first 20."""
        return ", ".join(self.names[:20]) + (", …" if len(self.names) > 20 else "")

    def refusal(self, name: str) -> str:
        """The error for a name that is no class."""
        return f"{name[:40]!r} is not a class: there are {self.shown}"

    def by_class(self, predictions: Vector) -> Vector:
        """The probability of each class: n × classes, also where that of a one is predicted."""
        if predictions.ndim == 2:
            return predictions
        both: Vector = np.stack((1.0 - predictions, predictions), axis=1)
        return both

    def likeliest(self, predictions: Vector) -> list[str]:
        """The most probable class of each prediction; of several that are, the first."""
        best = np.argmax(self.by_class(predictions), axis=1)
        return [self.names[k] for k in best.tolist()]

    def probabilities(self, predictions: Vector) -> list[dict[str, float]]:
        """The probability of each class by its name, for each prediction."""
        rows = self.by_class(predictions).tolist()
        return [dict(zip(self.names, row, strict=True)) for row in rows]


def named_classes(
    given: int | Sequence[str] | None, options: dict[str, Any]
) -> tuple[list[str] | None, dict[str, Any]]:
    """The names of classes and the options, where a caller gave names or a number."""
    if given is None:
        return None, options
    if isinstance(given, list | tuple):
        return list(given), options
    return None, options | {"classes": given}


def is_numbers(labels: Any) -> bool:
    """Whether labels are indexes already."""
    array: Array = labels if isinstance(labels, np.ndarray) else np.asarray(labels)
    return array.dtype.kind in "iuf"


def checked(names: Any, model: Model) -> list[str]:
    """The names of a model's classes as they are kept. Raises `ConfigError`."""
    if not isinstance(names, list | tuple) or not all(isinstance(one, str) for one in names):
        raise ConfigError("classes", "must be a list of names")
    if not model.classes and not model.binary:
        raise ConfigError("classes", f"{model.name} predicts a number, not a class")
    if model.binary and len(names) != 2:
        raise ConfigError("classes", f"{model.name} has two: that of 0, then that of 1")
    if not 2 <= len(names) <= MOST:
        raise ConfigError("classes", f"must be 2 to {MOST} names")
    if len(set(names)) < len(names):
        raise ConfigError("classes", "must be different names")
    if not all(0 < len(one) <= LONGEST for one in names):
        raise ConfigError("classes", f"a name has 1 to {LONGEST} characters")
    return list(names)
