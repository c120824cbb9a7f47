"""The mean of a Gaussian of variance 1: ℓ = −½(y − θ)² (Section 3.1, R13)."""

from llr.compiled import part
from llr.models import linear
from llr.models.model import Comparator, Model
from llr.types import Vector

MEAN, SQUARES = 0, 1


def start(statistics: Vector, theta0: Vector) -> None:
    """R17: before any sample the running maximum likelihood is θ_0."""
    statistics[MEAN] = theta0[0]
    statistics[SQUARES] = 0.0


@part
def observe(statistics: Vector, room: Vector, x: Vector, y: float, t: int) -> float:
    """Loss of the mean of the past on y; then that mean, and Σ(y − mean)², take y in (Welford)."""
    error = y - statistics[MEAN]
    mean = y if t == 0 else statistics[MEAN] + error / (t + 1)
    statistics[MEAN] = mean
    statistics[SQUARES] += 0.0 if t == 0 else error * (y - mean)
    return float(0.5 * error * error)


def best(statistics: Vector, theta0: Vector, t: int) -> float:
    """R18: min over θ of Σ ½(y_s − θ)²."""
    return 0.5 * float(statistics[SQUARES])


MODEL = Model(
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
    comparator=Comparator(size=lambda dim: 2, start=start, observe=observe, best=best),
)
