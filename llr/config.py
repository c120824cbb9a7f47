"""The settings of a learner, checked before anything is learnt, and the catalog of choices."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from llr.algorithms import ALGORITHMS, Algorithm
from llr.classes import checked
from llr.errors import ConfigError
from llr.models import MODELS, Comparator, Model
from llr.parameter import MOST, Parameter, is_real, is_whole
from llr.types import Vector

REGRETS = ("off", "exact")


@dataclass(frozen=True)
class Config:
    """A learner's settings. Every field can be written as JSON.

    Attributes:
        model: a name from `llr.MODELS`.
        dim: number of features, None until the first sample tells.
        algorithm: a name from `llr.ALGORITHMS`.
        eta0: the first step size, or the only one; `auto` has no use for it.
        theta0: where θ starts; None for zero, one number for all, or one per coordinate.
        regret: "exact" to compare with the best parameter, "off" not to.
        options: settings of the model and the algorithm, by name.
        classes: the names of the classes, of a model that has some; None for their indexes.

    >>> Config("quantile", dim=3, options={"level": 0.9}).model_number
    0.9
    >>> Config("quantile", algorithm="sg", options={"levle": 0.9})
    Traceback (most recent call last):
    llr.errors.ConfigError: options.levle: quantile with sg takes level
    """

    model: str
    dim: int | None = None
    algorithm: str = "auto"
    eta0: float = 1e-3
    theta0: float | list[Any] | None = None
    regret: str = "off"
    options: dict[str, Any] = field(default_factory=dict)
    classes: list[str] | None = None

    def __post_init__(self) -> None:
        _one_of("model", self.model, MODELS)
        _one_of("algorithm", self.algorithm, ALGORITHMS)
        _one_of("regret", self.regret, REGRETS)
        if not self.of_algorithm.suits(self.of_model):
            reason = f"{self.algorithm} needs a loss with curvature, and {self.model} has none"
            raise ConfigError("algorithm", reason)
        if not is_real(self.eta0) or self.eta0 <= 0.0:
            raise ConfigError("eta0", "must be a finite number above 0")
        self._name_classes()
        self._check_options()
        self._make_plain()
        if not self.of_model.features:
            if self.dim not in (None, 1):
                raise ConfigError("dim", f"{self.model} has no features: leave it out, or 1")
            object.__setattr__(self, "dim", 1)
        if self.dim is not None:
            self.start(self.dim)

    @property
    def of_model(self) -> Model:
        """The model itself."""
        return MODELS[self.model]

    @property
    def of_algorithm(self) -> Algorithm:
        """The algorithm itself."""
        return ALGORITHMS[self.algorithm]

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Every option this learner takes."""
        return {p.name: p for p in (*self.of_model.parameters, *self.of_algorithm.parameters)}

    @property
    def scores(self) -> int:
        """How many scores θ·x there are: 1, or one per class."""
        return int(self.model_number) if self.of_model.classes else 1

    @property
    def model_number(self) -> float:
        """The model's own number, 0 if it has none."""
        parameter = self.of_model.parameter
        return 0.0 if parameter is None else parameter.number(self.options)

    @property
    def own(self) -> tuple[float, ...]:
        """What the algorithm's step reads: the model's own number, then its settings."""
        return (self.model_number, *self.of_algorithm.own(self.options))

    @property
    def comparator(self) -> Comparator | None:
        """What regret is computed against; None if it is off or the model has none (R18)."""
        return self.of_model.comparator if self.regret == "exact" else None

    def compared(self, dim: int) -> int:
        """How many numbers the statistics of the comparator take; R23: with the same intercept."""
        comparator = self.comparator
        if comparator is None:
            return 0
        wider = comparator.size_with_intercept
        if wider is not None and self.of_algorithm.has_intercept(self.options):
            return wider(dim)
        return comparator.size(dim)

    def start(self, dim: int) -> Vector:
        """θ_0 as scores × features."""
        if not is_whole(dim, 1) or self.scores * dim > MOST:
            raise ConfigError("dim", f"must be a whole number from 1 to {MOST // self.scores}")
        limit = self.of_algorithm.most
        if limit is not None and dim > limit(self.scores):
            reason = f"is {dim}: {self.algorithm} has at most {limit(self.scores)} features here"
            raise ConfigError("dim", f"{reason}, a covariance has d² numbers")
        theta = np.zeros((self.scores, dim))
        if self.theta0 is not None:
            given = np.array(self.theta0, np.float64)
            if given.ndim > 0 and given.shape not in ((theta.size,), theta.shape):
                shape = " × ".join(map(str, given.shape))
                raise ConfigError("theta0", f"has {shape} numbers, theta has {_shape(theta)}")
            theta[:] = given if given.ndim == 0 else given.reshape(theta.shape)
        return theta

    def _make_plain(self) -> None:
        """Numbers of any library as Python's own, so that every field can be written as JSON."""
        object.__setattr__(self, "eta0", float(self.eta0))
        object.__setattr__(self, "dim", None if self.dim is None else _whole("dim", self.dim))
        if self.theta0 is None:
            return
        try:
            given = np.asarray(self.theta0)
        except ValueError:
            raise ConfigError("theta0", "is not an array of numbers") from None
        if given.dtype.kind not in "iuf" or not np.isfinite(given).all():
            raise ConfigError("theta0", "must be finite numbers")
        object.__setattr__(self, "theta0", given.astype(np.float64).tolist())

    def _name_classes(self) -> None:
        """Check the names of classes; there are as many classes as names."""
        if self.classes is None:
            return
        names, options = checked(self.classes, self.of_model), self.options
        object.__setattr__(self, "classes", names)
        if self.of_model.classes and isinstance(options, dict):
            if options.get("classes", len(names)) != len(names):
                raise ConfigError("options.classes", f"there are {len(names)} names of classes")
            object.__setattr__(self, "options", options | {"classes": len(names)})

    def _check_options(self) -> None:
        if not isinstance(self.options, dict):
            raise ConfigError("options", "must be an object")
        known = self.parameters
        for name in self.options:
            if name not in known:
                takes = ", ".join(sorted(known)) or "none"
                reason = f"{self.model} with {self.algorithm} takes {takes}"
                raise ConfigError(f"options.{name}", reason)
        for parameter in known.values():
            parameter.number(self.options)


def _whole(field: str, value: Any) -> int:
    if not is_whole(value, 1):
        raise ConfigError(field, f"must be a whole number from 1 to {MOST}")
    return int(value)


def _shape(theta: Vector) -> str:
    scores, dim = theta.shape
    return f"{scores} × {dim}" if scores > 1 else str(dim)


def _one_of(field: str, value: object, known: Iterable[str]) -> None:
    if not isinstance(value, str) or value not in known:
        raise ConfigError(field, f"must be one of {', '.join(known)}")


def catalog() -> dict[str, list[dict[str, Any]]]:
    """Models and algorithms with their options, each with a line of explanation.

    >>> [model["name"] for model in catalog()["models"]][:3]
    ['gaussian', 'bernoulli', 'linear']
    """
    return {
        "models": [_describe_model(model) for model in MODELS.values()],
        "algorithms": [_describe_algorithm(*item) for item in ALGORITHMS.items()],
    }


def _describe_model(model: Model) -> dict[str, Any]:
    return {
        "name": model.name,
        "summary": model.summary,
        "domain": model.domain,
        "features": model.features,
        "exact_regret": model.comparator is not None,
        "options": _describe_options(model.parameters),
    }


def _describe_algorithm(name: str, algorithm: Algorithm) -> dict[str, Any]:
    return {
        "name": name,
        "summary": algorithm.summary,
        "base": algorithm.base,
        "rate": algorithm.rate,
        "learns_step_size": algorithm.learns,
        "needs_eta0": algorithm.uses_eta0,
        "named_features": algorithm.sparse is not None,
        "models": [model.name for model in MODELS.values() if algorithm.suits(model)],
        "options": _describe_options(algorithm.parameters),
    }


def _describe_options(parameters: Iterable[Parameter]) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "summary": one.summary,
            "kind": one.kind,
            "values": one.domain,
            "default": one.default,
            "needed": one.default is None,
        }
        for one in parameters
    ]
