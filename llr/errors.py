"""What can be wrong with what a caller gives, as one tree.

LLRError
├── ConfigError              the learner asked for does not exist
├── SampleError              a sample cannot be learnt from; nothing was learnt
│   ├── ShapeError           not rows of features with as many labels
│   ├── DimensionError       another number of features than the learner has
│   ├── FeatureError         a named feature that cannot be one
│   ├── DtypeError           not numbers
│   ├── NotFiniteError       NaN or infinity
│   └── DomainError          a label outside the model's domain
└── StateError               packed bytes that are not a learner's state
    └── StateTooNew          a state that a newer version packed

Divergence is not here: it is an outcome (`llr.Outcome`), not an error of the caller's.
"""


class LLRError(ValueError):
    """The root of the tree."""


class ConfigError(LLRError):
    """The learner asked for does not exist. `field` names the setting that is wrong."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class SampleError(LLRError):
    """A sample cannot be learnt from. `index` is its number in the call, None for the whole.

    `feature` is the name of the feature that is wrong, where features have names.
    """

    def __init__(
        self,
        reason: str,
        index: int | None = None,
        field: str = "x",
        *,
        feature: str | None = None,
    ) -> None:
        where = "" if index is None else f"sample {index}: "
        name = "" if feature is None else f".{feature:.50}"
        super().__init__(f"{where}{field}{name}: {reason}")
        self.reason = reason
        self.index = index
        self.field = field
        self.feature = feature


class ShapeError(SampleError):
    """Not rows of features with as many labels."""


class DimensionError(SampleError):
    """Another number of features than the learner has."""


class FeatureError(SampleError):
    """A named feature that cannot be one: its name, or one too many."""


class DtypeError(SampleError):
    """Not numbers."""


class NotFiniteError(SampleError):
    """NaN or infinity."""


class DomainError(SampleError):
    """A label outside the model's domain."""


class StateError(LLRError):
    """Packed bytes that are not a learner's state."""


class StateTooNew(StateError):
    """A state that a newer version packed, in a format or by an arithmetic unknown to this one."""
