"""What a learner of named features is made of, checked once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llr.algorithms import ALGORITHMS
from llr.config import Config
from llr.errors import ConfigError
from llr.named.feature_rows import RESERVED, refusal
from llr.parameter import is_real, is_whole

MOST_NAMES = 10_000_000
MOST_BITS = 24


@dataclass(frozen=True)
class NamedConfig(Config):
    """The settings of a `NamedLearner`: those of a `Config`, and how many names are kept.

    Attributes:
        theta0: where θ starts, by name: a number, for softmax one a class. Zero if left out.
        max_features: how many names get a column of their own.
        hash_bits: any further ones share 2**hash_bits columns by their hash.

    >>> NamedConfig("linear", algorithm="svrg/ag")
    Traceback (most recent call last):
    llr.errors.ConfigError: algorithm: svrg/ag moves what a sample does not have: with named \
features there are sg, sg/sg, sg/ag, isg, isg/sg, isg/ag, adagrad, adagrad/sg, \
adagrad/ag, auto, kalman
    """

    theta0: Any = None
    max_features: int = 100_000
    hash_bits: int = 18

    def __post_init__(self) -> None:
        for name, most in (("max_features", MOST_NAMES), ("hash_bits", MOST_BITS)):
            value = getattr(self, name)
            if not is_whole(value, 1) or value > most:
                raise ConfigError(name, f"must be a whole number from 1 to {most}")
            object.__setattr__(self, name, int(value))
        super().__post_init__()
        if not self.of_model.features:
            raise ConfigError("model", f"{self.model} has no features to name")
        if self.dim is not None:
            raise ConfigError("dim", "named features have none: leave it out, max_features bounds")
        if self.regret != "off":
            raise ConfigError("regret", "there is none with named features: leave it off")
        self._check_sparse()

    @property
    def most_names(self) -> int | None:
        """How many names the algorithm can learn, None for any number."""
        sparse = self.of_algorithm.sparse
        return sparse.most if sparse and sparse.refuses else None

    @property
    def sparse_options(self) -> dict[str, Any]:
        """The options, without what would move every coordinate at every sample."""
        off = {p.name: False for p in self.of_algorithm.parameters if p.dense_only}
        return self.options | off

    @property
    def own(self) -> tuple[float, ...]:
        """What the algorithm's step reads: the model's own number, then its settings."""
        return (self.model_number, *self.of_algorithm.own(self.sparse_options))

    def _check_sparse(self) -> None:
        if self.of_algorithm.sparse is None:
            able = ", ".join(name for name, one in ALGORITHMS.items() if one.sparse)
            reason = f"{self.algorithm} moves what a sample does not have"
            raise ConfigError("algorithm", f"{reason}: with named features there are {able}")
        for parameter in self.of_algorithm.parameters:
            if parameter.dense_only and self.options.get(parameter.name):
                reason = "would move every feature at every sample: not with named ones"
                raise ConfigError(f"options.{parameter.name}", reason)

    def _make_plain(self) -> None:
        object.__setattr__(self, "eta0", float(self.eta0))
        if self.theta0 is None:
            return
        if not isinstance(self.theta0, Mapping):
            raise ConfigError("theta0", "must be an object: numbers by the names of features")
        plain = {name: self._start(name, value) for name, value in self.theta0.items()}
        own = [name for name in plain if not name.startswith(RESERVED)]
        if len(own) > self.max_features or (len(own) < len(plain) and len(own) < self.max_features):
            raise ConfigError("theta0", f"must have at most {self.max_features} names of its own")
        if self.most_names is not None and len(plain) > self.most_names:
            raise ConfigError("theta0", f"{self.algorithm} learns at most {self.most_names} names")
        shared = [name for name in plain if name.startswith(RESERVED)]
        object.__setattr__(self, "theta0", {name: plain[name] for name in (*own, *shared)})

    def _start(self, name: Any, value: Any) -> float | list[float]:
        """What one name of theta0 starts from."""
        reason = refusal(name)
        if reason and not self.is_shared(name):
            raise ConfigError("theta0", f"{name!r:.60}: {reason}")
        each = value if isinstance(value, list | tuple) else [value]
        if len(each) != self.scores or not all(map(is_real, each)):
            many = f"{self.scores} finite numbers" if self.of_model.classes else "a finite number"
            raise ConfigError("theta0", f"{name!r:.60}: must be {many}")
        numbers = [float(one) for one in each]
        return numbers if self.of_model.classes else numbers[0]

    def is_shared(self, name: Any) -> bool:
        """Whether this is the name of a column that names share by their hash."""
        number = name[1:] if isinstance(name, str) and name.startswith(RESERVED) else ""
        if not (number.isascii() and number.isdecimal() and len(number) <= 8):
            return False
        return number == str(int(number)) and int(number) < 1 << self.hash_bits
