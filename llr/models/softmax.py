"""Multi-class regression: ℓ = s_y − log Σ e^{s_k}, one score s_k = θ_k·x per class.

θ is classes × features. With π = softmax(s) the residual is e_y − π, and −∂²ℓ/∂s² applied to a
direction σ is π_k(σ_k − π·σ).
"""

import math

from llr.compiled import part
from llr.models import logistic, softmax_implicit
from llr.models.model import Model
from llr.parameter import Parameter
from llr.types import Vector


@part
def mean(s: Vector, p: float, out: Vector) -> None:
    """out = π, the probability of each class."""
    top = _largest(s)
    total = 0.0
    for k in range(s.size):
        out[k] = math.exp(s[k] - top)
        total += out[k]
    for k in range(s.size):
        out[k] /= total


@part
def loss(s: Vector, y: float, p: float) -> float:
    """log Σ e^{s_k} − s_y."""
    top = _largest(s)
    total = 0.0
    for k in range(s.size):
        total += math.exp(s[k] - top)
    return float(top - s[int(y)] + math.log(total))


@part
def residual(s: Vector, y: float, p: float, out: Vector) -> None:
    """out = e_y − π."""
    mean(s, p, out)
    for k in range(s.size):
        out[k] = -out[k]
    out[int(y)] += 1.0


@part
def curvature(s: Vector, y: float, p: float, sigma: Vector, out: Vector) -> None:
    """out = π_k(σ_k − π·σ)."""
    mean(s, p, out)
    average = 0.0
    for k in range(s.size):
        average += out[k] * sigma[k]
    for k in range(s.size):
        out[k] *= sigma[k] - average


@part
def _largest(s: Vector) -> float:
    top = s[0]
    for k in range(1, s.size):
        top = max(top, s[k])
    return float(top)


@part
def weight(s: Vector, y: float, p: float, noise: float, out: Vector) -> None:
    """½ for each: no curvature of the loss is larger (Böhning 1992)."""
    for k in range(s.size):
        out[k] = 0.5


@part
def admits(y: float, p: float) -> bool:
    """A class: 0, 1, … p − 1, where p is the number of classes."""
    return 0.0 <= y < p and y == math.floor(y)


MODEL = Model(
    name="softmax",
    summary="the probability of each class from features",
    domain="a class, 0 to classes - 1",
    loss=loss,
    residual=residual,
    curvature=curvature,
    mean=mean,
    admits=admits,
    weight=weight,
    reach=logistic.reach,
    measured=True,
    classes=True,
    implicit=softmax_implicit.implicit,
    implicit_tangent=softmax_implicit.implicit_tangent,
    parameter=Parameter("classes", "how many classes there are", "whole", low=2, example=3),
)
