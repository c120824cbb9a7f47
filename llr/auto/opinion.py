"""What a model of one score says about a sample and everybody's prediction of it, in one call."""

from collections.abc import Callable
from typing import Any, NamedTuple

from llr.compiled import apart, fold, part
from llr.models import MODELS, Model


class Scores(NamedTuple):
    """The predictions of one sample: of each within bounds, and of all together.

    Attributes:
        mean: the mean's.
        walker: the walker's.
        runner: the runner's.
        constant: the constant's.
        all: the mixture of these, which is the prediction.
        raw: the mixture without bounds.
        path: the walker's without bounds, which is where it steps from.
    """

    mean: float
    walker: float
    runner: float
    constant: float
    all: float
    raw: float
    path: float


class Opinion(NamedTuple):
    """Losses of these scores, and the slopes that are needed to learn.

    Attributes:
        mean: loss of the mean.
        walker: loss of the walker.
        runner: loss of the runner.
        constant: loss of the constant.
        all: loss of the prediction.
        raw: its loss without bounds.
        least: the smallest loss there could be.
        g: residual of the prediction.
        bend: the weight of the parabola there.
        g_path: residual where the walker is.
        g_constant: residual of the constant.
        bend_constant: the weight of the parabola there.
    """

    mean: float
    walker: float
    runner: float
    constant: float
    all: float
    raw: float
    least: float
    g: float
    bend: float
    g_path: float
    g_constant: float
    bend_constant: float


def _of(model: Model) -> Callable[..., Any]:
    loss, residual, weight, least = model.loss, model.residual, model.weight, model.least
    if model.classes:
        return _of_several

    def opinion(s: Scores, y: float, p: float, noise: float) -> Opinion:
        return Opinion(
            loss(s.mean, y, p),
            loss(s.walker, y, p),
            loss(s.runner, y, p),
            loss(s.constant, y, p),
            loss(s.all, y, p),
            loss(s.raw, y, p) if s.raw != s.all else 0.0,
            least(y, p),
            residual(s.all, y, p),
            weight(s.all, y, p, noise),
            residual(s.path, y, p),
            residual(s.constant, y, p),
            weight(s.constant, y, p, noise),
        )

    return part(opinion)


@part
def _of_several(s: Scores, y: float, p: float, noise: float) -> Opinion:  # noqa: ARG001
    """A model of several scores is asked in `llr.auto.several`."""
    return Opinion(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


_opinions = fold([_of(model) for model in MODELS.values()])


@apart
def opinion(model: int, s: Scores, y: float, p: float, noise: float) -> Opinion:
    """The losses and slopes of these scores for the label y."""
    return _opinions(model, s, y, p, noise)  # type: ignore[no-any-return]
