"""The loss and the gradient of each expert's prediction, for models of one score, in one call."""

from collections.abc import Callable
from typing import Any, NamedTuple

from llr.kernels.jit import dispatch, inline_jit, jit
from llr.models import MODELS, Model


class Scores(NamedTuple):
    """The predictions of one sample: of each within bounds, and of all together.

    Attributes:
        mean: the mean's.
        adaptive: the adaptive expert's.
        aggressive: the aggressive expert's.
        constant: the constant's.
        all: the mixture of these, which is the prediction.
        raw: the mixture without bounds.
        path: the adaptive expert's without bounds, which is where it steps from.
    """

    mean: float
    adaptive: float
    aggressive: float
    constant: float
    all: float
    raw: float
    path: float


class Opinion(NamedTuple):
    """Losses of these scores, and the slopes that are needed to learn, times the sample's weight.

    Attributes:
        mean: loss of the mean.
        adaptive: loss of the adaptive expert.
        aggressive: loss of the aggressive expert.
        constant: loss of the constant.
        all: loss of the prediction.
        raw: its loss without bounds.
        least: the smallest loss there could be.
        g: residual of the prediction.
        bend: the weight of the parabola there.
        g_path: residual where the adaptive expert is.
        g_constant: residual of the constant.
        bend_constant: the weight of the parabola there.
    """

    mean: float
    adaptive: float
    aggressive: float
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
    loss, residual, weight, least = model.loss, model.residual, model.weight, model.min_loss
    if model.classes:
        return _of_several

    def opinion(s: Scores, y: float, p: float, m: float, noise: float) -> Opinion:
        unit = noise / m
        return Opinion(
            m * loss(s.mean, y, p),
            m * loss(s.adaptive, y, p),
            m * loss(s.aggressive, y, p),
            m * loss(s.constant, y, p),
            m * loss(s.all, y, p),
            m * loss(s.raw, y, p) if s.raw != s.all else 0.0,
            m * least(y, p),
            m * residual(s.all, y, p),
            m * weight(s.all, y, p, unit),
            m * residual(s.path, y, p),
            m * residual(s.constant, y, p),
            m * weight(s.constant, y, p, unit),
        )

    return inline_jit(opinion)


@inline_jit
def _of_several(s: Scores, y: float, p: float, m: float, noise: float) -> Opinion:  # noqa: ARG001
    """A model of several scores is asked in `llr.auto.several`."""
    return Opinion(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


_opinions = dispatch([_of(model) for model in MODELS.values()])


@jit
def opinion(model: int, s: Scores, y: float, p: float, m: float, noise: float) -> Opinion:
    """The losses and slopes of these scores for the label y of weight m.

    The noise is that of a label of weight 1: one of weight m has noise/m.
    """
    return _opinions(model, s, y, p, m, noise)  # type: ignore[no-any-return]
