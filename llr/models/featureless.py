"""The models without features: the mean of a Gaussian and the logit of a coin.

* `gaussian`: the mean of a Gaussian of variance 1: ℓ = −½(y − θ)² (Section 3.1, R13).
* `bernoulli`: the logit of a coin: ℓ = θy − log(1 + e^θ) (Section 3.1, R14).
"""

import math

from llr.kernels.jit import inline_jit
from llr.models import linear, logistic
from llr.models.model import Comparator, Model
from llr.types import Vector

MEAN, SQUARES, WEIGHTS = 0, 1, 2


def gaussian_start(statistics: Vector, theta0: Vector) -> None:
    """R17: before any sample the running maximum likelihood is θ_0."""
    statistics[MEAN] = theta0[0]
    statistics[SQUARES] = statistics[WEIGHTS] = 0.0


@inline_jit
def gaussian_observe(statistics: Vector, room: Vector, x: Vector, y: float, w: float) -> float:
    """Loss of the mean of the past on y; then that mean, and Σw(y − mean)², take y in (Welford)."""
    error, first = y - statistics[MEAN], statistics[WEIGHTS] == 0.0
    statistics[WEIGHTS] += w
    mean = y if first else statistics[MEAN] + error / (statistics[WEIGHTS] / w)
    statistics[MEAN] = mean
    statistics[SQUARES] += 0.0 if first else w * error * (y - mean)
    return float(w * (0.5 * error * error))


def gaussian_best(statistics: Vector, theta0: Vector, t: int) -> float:
    """R18: min over θ of Σ ½w_s(y_s − θ)²."""
    return 0.5 * float(statistics[SQUARES])


GAUSSIAN = Model(
    name="gaussian",
    summary="the mean of a stream of numbers",
    domain="any finite number",
    loss=linear.loss,
    residual=linear.residual,
    curvature=linear.curvature,
    mean=linear.mean,
    admits=linear.admits,
    implicit=linear.implicit,
    features=False,
    comparator=Comparator(
        size=lambda dim: 3, start=gaussian_start, observe=gaussian_observe, best=gaussian_best
    ),
)


ONES, TOTAL = 0, 1


def bernoulli_start(statistics: Vector, theta0: Vector) -> None:
    """No ones seen."""
    statistics[ONES] = statistics[TOTAL] = 0.0


@inline_jit
def bernoulli_observe(statistics: Vector, room: Vector, x: Vector, y: float, w: float) -> float:
    """R17: the past says p = (ones + ½)/(n + 1), never 0 or 1; both are counted by weight."""
    p = (statistics[ONES] + 0.5) / (statistics[TOTAL] + 1.0)
    statistics[ONES] += w * y
    statistics[TOTAL] += w
    return -w * math.log(p if y == 1.0 else 1.0 - p)


def bernoulli_best(statistics: Vector, theta0: Vector, t: int) -> float:
    """R18: the entropy of what was seen, 0 for a coin that only ever showed one side."""
    ones, n = float(statistics[ONES]), float(statistics[TOTAL])
    return -sum(m * math.log(m / n) for m in (ones, n - ones) if m > 0)


BERNOULLI = Model(
    name="bernoulli",
    summary="the probability of a one in a stream of zeros and ones",
    domain="0 or 1",
    loss=logistic.loss,
    residual=logistic.residual,
    curvature=logistic.curvature,
    mean=logistic.mean,
    admits=logistic.admits,
    weight=logistic.weight,
    score_range=logistic.score_range,
    is_log_likelihood=True,
    features=False,
    comparator=Comparator(
        size=lambda dim: 2, start=bernoulli_start, observe=bernoulli_observe, best=bernoulli_best
    ),
)
