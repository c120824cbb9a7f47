"""The logit of a coin: ℓ = θy − log(1 + e^θ) (Section 3.1, R14)."""

import math

from llr.compiled import part
from llr.models import logistic
from llr.models.model import Comparator, Model
from llr.types import Vector


def start(statistics: Vector, theta0: Vector) -> None:
    """No ones seen."""
    statistics[0] = 0.0


@part
def observe(statistics: Vector, room: Vector, x: Vector, y: float, t: int) -> float:
    """R17: the past says p = (ones + ½)/(t + 1), never 0 or 1."""
    p = (statistics[0] + 0.5) / (t + 1.0)
    statistics[0] += y
    return -math.log(p if y == 1.0 else 1.0 - p)


def best(statistics: Vector, theta0: Vector, t: int) -> float:
    """R18: the entropy of what was seen, 0 for a coin that only ever showed one side."""
    ones = float(statistics[0])
    return -sum(n * math.log(n / t) for n in (ones, t - ones) if n > 0)


MODEL = Model(
    name="bernoulli",
    summary="the probability of a one in a stream of zeros and ones",
    domain="0 or 1",
    loss=logistic.loss,
    residual=logistic.residual,
    curvature=logistic.curvature,
    mean=logistic.mean,
    admits=logistic.admits,
    weight=logistic.weight,
    reach=logistic.reach,
    measured=True,
    features=False,
    comparator=Comparator(size=lambda dim: 1, start=start, observe=observe, best=best),
)
