"""The exact derivative of the loss with respect to a fixed step size (Section 2.1, Lemma 1).

For SG with one η throughout, A_t = ∂θ_t/∂log η follows A_0 = 0 and

    A_{t+1} = A_t + (η/f(t)) ∂ℓ_t(θ_t) + (η/f(t)) ∂²ℓ_t(θ_t)·A_t.

An online learner would have to run this again from the start whenever η changes, at a cost that
grows with the square of t; the tangent h of the LLR algorithms is what it uses instead. Here is the
expensive truth, to see how good h is:

>>> import llr
>>> (y,) = llr.streams.gaussian(seed=5).take(300)
>>> learner = llr.Learner("gaussian", algorithm="sg/ag", eta0=0.01)
>>> bool(learner.learn(y))
True
>>> exact = derivative("gaussian", y, eta=learner.eta)
>>> print(f"h = {learner.h[0]:.4f}, A = {exact.A[-1, 0]:.4f}")
h = -0.1048, A = -0.1049
"""

from typing import Any, NamedTuple

import numpy as np

from llr import models
from llr.checks import check_features, check_labels
from llr.compiled import (
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
from llr.config import Config
from llr.layout import SCRATCH
from llr.models import MODELS
from llr.samples import rows
from llr.schedule import damping
from llr.types import Vector
from llr.vectors import dot, move


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
    model: str, X: Any, y: Any = None, *, eta: float, theta0: Any = None, **options: Any
) -> Derivative:
    """Run SG with one η over the samples and differentiate the whole run."""
    spec = Config(model, None, "sg", eta, theta0, options=options).of_model
    matrix, labels = rows(X, y, spec.features, None)
    config = Config(model, matrix.shape[1], "sg", eta, theta0, options=options)
    check_labels(config, labels)
    check_features(matrix)
    start = config.start(matrix.shape[1])
    theta = np.empty((labels.size + 1, *start.shape))
    A = np.zeros_like(theta)
    theta[0] = start
    lam = np.empty(labels.size)
    scratch = np.empty((SCRATCH, config.scores))
    which = list(MODELS).index(model)
    _differentiate(which, config.model_number, eta, matrix, labels, theta, A, lam, scratch)
    if not spec.classes:
        theta, A = theta[:, 0], A[:, 0]
    return Derivative(theta, A, lam)


def lambdas(
    model: str, X: Any, y: Any = None, *, etas: Any, theta0: Any = None, **options: Any
) -> Vector:
    """∂ℓ_t/∂log η at η = etas[t], each from a run of its own from the start: the quadratic way.

    This is what λ_t of an LLR algorithm, whose η is etas[t] at sample t, approximates.
    """
    features = None if y is None else np.asarray(X)
    labels = np.asarray(X if y is None else y)
    exact = np.empty(len(labels))
    for t in range(len(labels)):
        head = (labels[: t + 1],) if features is None else (features[: t + 1], labels[: t + 1])
        run = derivative(model, *head, eta=float(etas[t]), theta0=theta0, **options)
        exact[t] = run.lam[-1]
    return exact


@kernel(NOTHING(INT, REAL, REAL, READ_MATRIX, READ_VECTOR, CUBE, CUBE, VECTOR, MATRIX))
def _differentiate(
    model: int,
    p: float,
    eta: float,
    X: Vector,
    y: Vector,
    theta: Vector,
    A: Vector,
    lam: Vector,
    S: Vector,
) -> None:
    """Lemma 1, line by line, for every score."""
    s, along, g, bend = S[0], S[1], S[2], S[3]
    for t in range(y.size):
        r = eta / damping(t)
        for k in range(s.size):
            s[k] = dot(theta[t, k], X[t])
            along[k] = dot(A[t, k], X[t])
        models.residual(model, s, y[t], p, g)
        models.curvature(model, s, y[t], p, along, bend)
        lam[t] = 0.0
        for k in range(s.size):
            lam[t] += g[k] * along[k]
            for i in range(X.shape[1]):
                theta[t + 1, k, i] = theta[t, k, i]
                A[t + 1, k, i] = A[t, k, i]
            move(theta[t + 1, k], 1.0, r * g[k], X[t])
            move(A[t + 1, k], 1.0, r * (g[k] - bend[k]), X[t])
