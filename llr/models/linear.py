"""Linear regression: ℓ = −½(y − θ·x)² (Section 3.1, R15)."""

from llr.compiled import part
from llr.models import least_squares
from llr.models.model import Comparator, Model


@part
def loss(s: float, y: float, p: float) -> float:
    """½(y − s)²."""
    return 0.5 * (y - s) * (y - s)


@part
def residual(s: float, y: float, p: float) -> float:
    """y − s."""
    return y - s


@part
def curvature(s: float, y: float, p: float) -> float:
    """1."""
    return 1.0


@part
def implicit(s: float, q: float, r: float, y: float, p: float) -> tuple[float, float]:
    """k = r(y − s)/(1 + rq), finite even where rq is not."""
    return (y - s) / (1.0 / r + q), r * q


@part
def mean(s: float, p: float) -> float:
    """The score itself."""
    return s


@part
def admits(y: float, p: float) -> bool:
    """Every finite y."""
    return True


MODEL = Model(
    name="linear",
    summary="a number from features, by least squares",
    domain="any finite number",
    loss=loss,
    residual=residual,
    curvature=curvature,
    mean=mean,
    admits=admits,
    implicit=implicit,
    comparator=Comparator(
        size=least_squares.size,
        start=least_squares.start,
        observe=least_squares.observe,
        best=least_squares.best,
        quick=least_squares.quick,
    ),
)
