"""The exact derivative of the loss with respect to a fixed step size (Section 2.1, Lemma 1).

For SG with one η throughout, A_t = ∂θ_t/∂log η follows A_0 = 0 and

    A_{t+1} = A_t + (η/f(t)) ∂ℓ_t(θ_t) + (η/f(t)) ∂²ℓ_t(θ_t)·A_t.

Where the Hessian is not to be had, the paper takes the gradient at a shifted point instead,

    A_{t+1} ≈ A_t + (η/f(t)) ∂ℓ_t(θ_t + A_t),

or a numerical derivative; `hessian` says which, as for a learner. An online learner would have to
run this again from the start whenever η changes, at a cost that grows with the square of t; the
tangent h of the LLR algorithms is what it uses instead. Here is the expensive truth, to see how
good h is, and `ExactSG`, the learner that pays for it:

>>> import llr
>>> (y,) = llr.streams.gaussian(seed=5).take(300)
>>> learner = llr.Learner("gaussian", algorithm="sg/ag", eta0=0.01)
>>> bool(learner.learn(y))
True
>>> exact = derivative("gaussian", y, eta=learner.eta)
>>> print(f"h = {learner.h[0]:.4f}, A = {exact.A[-1, 0]:.4f}")
h = -0.1048, A = -0.1049
"""

import math
from typing import Any, NamedTuple

import numpy as np

from llr import models
from llr.algorithms import HESSIAN, RATES
from llr.algorithms.algorithm import FLOOR
from llr.base import Outcome, Schedules, Status, scheduled
from llr.config import Config
from llr.errors import ConfigError, SampleError
from llr.kernels.block import damping
from llr.kernels.jit import (
    CUBE,
    INT,
    MATRIX,
    NOTHING,
    READ_MATRIX,
    READ_VECTOR,
    REAL,
    VECTOR,
    kernel,
)
from llr.kernels.layout import NO_ROWS, SCRATCH
from llr.kernels.vectors import dot, move
from llr.models import MODELS
from llr.types import Vector
from llr.validation import check_features, check_labels, rows

MAX_SAMPLES = 10_000
"""Samples beyond which nothing of quadratic cost is begun: 5·10⁷ steps, some seconds."""


class Derivative(NamedTuple):
    """A trajectory of SG and how it changes with log η.

    Attributes:
        theta: θ_0 … θ_n.
        A: A_0 … A_n, the derivative of each with respect to log η.
        lam: ∂ℓ_t(θ_t)/∂log η for each sample.
    """

    theta: Vector
    A: Vector
    lam: Vector

    @property
    def of_loss(self) -> float:
        """The derivative of the cumulated loss −Σℓ_t(θ_t) with respect to log η."""
        return -float(self.lam.sum())


def derivative(
    model: str,
    X: Any,
    y: Any = None,
    *,
    eta: float,
    theta0: Any = None,
    hessian: str = "exact",
    schedule: Schedules | None = None,
    **options: Any,
) -> Derivative:
    """Run SG with one η over the samples and differentiate the whole run.

    Args:
        model: a name from `llr.MODELS`.
        X: features, or the labels of a model without.
        y: labels.
        eta: η, one for all samples.
        theta0: where θ starts; zero if left out.
        hessian: "exact" for Lemma 1, "difference" for the gradient at θ + A in place of the
            Hessian, "numerical" for a numerical derivative.
        schedule: f(t), as for a learner; of a pair (f, μ) μ means nothing here.
        options: of the model.

    >>> exact = derivative("bernoulli", [1.0, 0.0, 1.0], eta=4.0)
    >>> shifted = derivative("bernoulli", [1.0, 0.0, 1.0], eta=4.0, hessian="difference")
    >>> print(f"{exact.A[-1, 0]:.3f} {shifted.A[-1, 0]:.3f}")
    0.364 0.447
    """
    config, matrix, labels = _samples(model, X, y, eta, theta0, options)
    run = _Trajectory(config, matrix, labels, hessian, schedule)
    run.follow(0, labels.size, eta)
    theta, A = run.theta, run.A
    if not config.of_model.classes:
        theta, A = theta[:, 0], A[:, 0]
    return Derivative(theta, A, run.lam)


def along(
    model: str,
    X: Any,
    y: Any = None,
    *,
    etas: Any,
    theta0: Any = None,
    hessian: str = "exact",
    schedule: Schedules | None = None,
    **options: Any,
) -> Derivative:
    """T_t(η_t), A_t(η_t) and ∂ℓ_t/∂log η at η_t = etas[t], each from a run from the start.

    This is what θ_t, h_t and λ_t of an LLR algorithm, whose η is etas[t] at sample t, approximate.
    The cost is quadratic, so more than `MAX_SAMPLES` samples are refused.
    """
    steps = np.asarray(etas, np.float64)
    first = float(steps[0]) if steps.size else 1.0
    config, matrix, labels = _samples(model, X, y, first, theta0, options)
    _check_length(labels.size)
    run = _Trajectory(config, matrix, labels, hessian, schedule)
    theta, A, lam = run.theta[:-1].copy(), run.A[:-1].copy(), run.lam.copy()
    for t in range(labels.size):
        run.follow(0, t + 1, float(steps[t]))
        theta[t], A[t], lam[t] = run.theta[t], run.A[t], run.lam[t]
    if not config.of_model.classes:
        theta, A = theta[:, 0], A[:, 0]
    return Derivative(theta, A, lam)


def lambdas(
    model: str, X: Any, y: Any = None, *, etas: Any, theta0: Any = None, **options: Any
) -> Vector:
    """∂ℓ_t/∂log η at η = etas[t], each from a run of its own from the start: the quadratic way."""
    return along(model, X, y, etas=etas, theta0=theta0, **options).lam


class ExactSG:
    """SG that learns η from its exact derivative: the rate `exact`, for short streams.

        λ_t = ∂ℓ_t(θ_t)·A_t(η_t)                              θ_t = T_t(η_t)
        log η_{t+1} = log η_t + λ_t/μ(t), or λ_t/(n_{t+1} μ(t))
        θ_{t+1} = T_{t+1}(η_{t+1})

    This is Section 2.1 without its approximations: whenever η changes, the whole trajectory and A
    are computed again along the present η. The cost grows with the square of t, so it refuses more
    than `MAX_SAMPLES` samples.

    Args:
        model: a name from `llr.MODELS`.
        eta0: the first step size.
        theta0: where θ starts; zero if left out.
        rate: what is done with λ: "sg" or "ag", as after the slash of an algorithm's name.
        hessian: of A, as for `derivative`.
        schedule: f(t), or a pair (f, μ), as for a learner.
        options: of the model.

    Attributes:
        log_etas: log η_0 … log η_t.
        lam: λ_0 … λ_{t−1}.

    >>> import llr
    >>> exact = ExactSG("gaussian", eta0=1e-4)
    >>> bool(exact.learn(*llr.streams.gaussian(seed=1).take(500)))
    True
    >>> learner = llr.Learner("gaussian", algorithm="sg/ag", eta0=1e-4)
    >>> bool(learner.learn(*llr.streams.gaussian(seed=1).take(500)))
    True
    >>> print(f"theta {exact.theta[0]:.1f} and {learner.theta[0]:.1f}")
    theta 5.0 and 5.2
    """

    def __init__(
        self,
        model: str,
        eta0: float = 1e-3,
        theta0: Any = None,
        *,
        rate: str = "ag",
        hessian: str = "exact",
        schedule: Schedules | None = None,
        **options: Any,
    ) -> None:
        Config(model, None, "sg", eta0, theta0, options=options)
        HESSIAN.number({HESSIAN.name: hessian})
        if rate not in RATES or not RATES[rate].learns:
            learning = ", ".join(name for name, one in RATES.items() if one.learns)
            raise ConfigError("rate", f"must be one of {learning}")
        self._start = (model, eta0, theta0, options)
        self._rate, self._hessian, self._schedule = RATES[rate], hessian, schedule
        self._run: _Trajectory | None = None
        self._numbers = (0.0, 0.0)
        self.log_etas = np.array([math.log(eta0)])
        self.lam = np.empty(0)

    def learn(self, X: Any, y: Any = None) -> Outcome:
        """Learn from samples, in order; a step that would leave the finite numbers ends the call.

        Raises a `SampleError` before anything is learnt if a sample is bad or there are too many.
        """
        model, eta0, theta0, options = self._start
        config, matrix, labels = _samples(model, X, y, eta0, theta0, options)
        before = self._run
        if before is not None:
            if matrix.shape[1] != before.X.shape[1]:
                raise SampleError(f"has {matrix.shape[1]} features, not {before.X.shape[1]}")
            matrix = np.concatenate([before.X[: self.t], matrix])
            labels = np.concatenate([before.y[: self.t], labels])
        _check_length(labels.size)
        first = self.t
        run = _Trajectory(config, matrix, labels, self._hessian, self._schedule)
        if before is not None:
            run.take(before, first)
        log_etas = np.concatenate([self.log_etas, np.empty(labels.size - first)])
        lam = np.concatenate([self.lam, np.empty(labels.size - first)])
        self._run, self.log_etas = run, log_etas[: first + 1]
        for t in range(first, labels.size):
            run.follow(t, t + 1, self.eta)  # for λ_t; where it leads with the old η is not used
            lam[t] = run.lam[t]
            w = 1.0 / (run.f[t, 1] if len(run.f) else damping(t))
            log_eta, *numbers = self._rate.advance(
                self.log_eta, lam[t], 1.0, w, *self._numbers, 0.0
            )
            log_eta = max(log_eta, FLOOR) if self.log_eta > FLOOR else self.log_eta
            run.follow(0, t + 1, math.exp(log_eta))
            if not (np.isfinite(run.theta[t + 1]).all() and np.isfinite(run.A[t + 1]).all()):
                run.follow(0, t, self.eta)
                return Outcome(Status.DIVERGED, t - first)
            log_etas[t + 1] = log_eta
            self._numbers = (numbers[0], numbers[1])
            self.log_etas, self.lam = log_etas[: t + 2], lam[: t + 1]
        return Outcome(Status.LEARNT, labels.size - first)

    @property
    def t(self) -> int:
        """Samples learnt."""
        return len(self.log_etas) - 1

    @property
    def log_eta(self) -> float:
        """log η."""
        return float(self.log_etas[-1])

    @property
    def eta(self) -> float:
        """η."""
        return math.exp(self.log_eta)

    @property
    def theta(self) -> Vector:
        """θ_t = T_t(η_t)."""
        return self._at("theta")

    @property
    def A(self) -> Vector:  # noqa: N802 - the paper's letter
        """A_t(η_t), the derivative of θ_t with respect to log η."""
        return self._at("A")

    def _at(self, name: str) -> Vector:
        if self._run is None:
            return np.zeros(0)
        now: Vector = getattr(self._run, name)[self.t]
        return now.copy() if self._run.config.of_model.classes else now[0].copy()


class _Trajectory:
    """Room for θ_0 … θ_n and A_0 … A_n, and the samples that lead there."""

    def __init__(
        self, config: Config, X: Vector, y: Vector, hessian: str, schedule: Schedules | None
    ) -> None:
        self.config, self.X, self.y = config, X, y
        self.f = scheduled(schedule, range(y.size)) if schedule else NO_ROWS
        self.which = list(MODELS).index(config.model)
        self.hessian = int(HESSIAN.number({HESSIAN.name: hessian}))
        start = config.start(X.shape[1])
        self.theta = np.zeros((y.size + 1, *start.shape))
        self.theta[0] = start
        self.A = np.zeros_like(self.theta)
        self.lam = np.zeros(y.size)
        self.scratch = np.empty((SCRATCH, config.scores))

    def take(self, other: "_Trajectory", t: int) -> None:
        """Go on from the first t samples of another."""
        self.theta[: t + 1], self.A[: t + 1] = other.theta[: t + 1], other.A[: t + 1]

    def follow(self, first: int, end: int, eta: float) -> None:
        """Lemma 1 with this η over samples `first` up to `end`, from θ and A as they are there."""
        _differentiate(
            self.which,
            self.config.model_number,
            eta,
            self.hessian,
            first,
            end,
            self.X,
            self.y,
            self.f,
            self.theta,
            self.A,
            self.lam,
            self.scratch,
        )


def _samples(
    model: str, X: Any, y: Any, eta: float, theta0: Any, options: dict[str, Any]
) -> tuple[Config, Vector, Vector]:
    """The samples, checked, and the config of SG on them."""
    spec = Config(model, None, "sg", eta, theta0, options=options).of_model
    matrix, labels = rows(X, y, spec.features, None)
    config = Config(model, matrix.shape[1], "sg", eta, theta0, options=options)
    check_labels(config, labels)
    check_features(matrix)
    return config, matrix, labels


def _check_length(samples: int) -> None:
    if samples > MAX_SAMPLES:
        reason = f"{samples:,} samples are too many for a quadratic cost: {MAX_SAMPLES:,} at most"
        raise SampleError(reason, field="samples")


@kernel(
    NOTHING(
        INT,
        REAL,
        REAL,
        INT,
        INT,
        INT,
        READ_MATRIX,
        READ_VECTOR,
        READ_MATRIX,
        CUBE,
        CUBE,
        VECTOR,
        MATRIX,
    )
)
def _differentiate(
    model: int,
    p: float,
    eta: float,
    hessian: int,
    first: int,
    end: int,
    X: Vector,
    y: Vector,
    f: Vector,
    theta: Vector,
    A: Vector,
    lam: Vector,
    S: Vector,
) -> None:
    """Lemma 1, line by line, for every score; `f` has f(t) in its first column, or no rows (R1)."""
    s, along, g, g_A, room, more = S[0], S[1], S[2], S[3], S[4], S[5]
    for t in range(first, end):
        r = eta / (f[t, 0] if f.shape[0] > 0 else damping(t))
        for k in range(s.size):
            s[k] = dot(theta[t, k], X[t])
            along[k] = dot(A[t, k], X[t])
        models.residual(model, s, y[t], p, g)
        models.residual_along(model, hessian, s, along, y[t], p, g, room, more, g_A)
        lam[t] = 0.0
        for k in range(s.size):
            lam[t] += g[k] * along[k]
            for i in range(X.shape[1]):
                theta[t + 1, k, i] = theta[t, k, i]
                A[t + 1, k, i] = A[t, k, i]
            move(theta[t + 1, k], 1.0, r * g[k], X[t])
            move(A[t + 1, k], 1.0, r * g_A[k], X[t])
