"""What an algorithm, a base and a rate are.

A base is the step θ' = F(θ, η) whose η is learnt, together with its tangent. A rate moves log η
along λ, its derivative. An algorithm is a base with a rate, or any other step.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from llr.kernels.block import predict as block_predict
from llr.kernels.jit import Kernel
from llr.kernels.layout import SCRATCH, THETA
from llr.models import Model
from llr.parameter import Parameter
from llr.types import Vector

Options = dict[str, Any]


@dataclass(frozen=True)
class Sparse:
    """What an algorithm keeps besides where features have names, and are missing where they are 0.

    Attributes:
        scratch: rows behind those of V that a step works with, and that are not kept.
        numbers: more scalars, the last ones.
        starting: which rows start where θ does.
        settle: (model, V, scalars, columns, places), the kernel that writes θ before it is read,
            if θ is not where it belongs after every step.
        most: names that its numbers and its room are for.
        refuses: whether it cannot learn one name more.
        counted: (options, scores, names) → how many scalars of its own there may be, first that of
            a new learner, if it depends on the names that are known.
        resized: (scalars, names) → all scalars with room for so many names.
    """

    scratch: int = 0
    numbers: int = 0
    starting: tuple[int, ...] = (THETA,)
    settle: Kernel | None = None
    most: int = 0
    refuses: bool = False
    counted: Callable[[Options, int, int], tuple[int, ...]] | None = None
    resized: Callable[[Vector, int], Vector] = lambda scalars, _: scalars


@dataclass(frozen=True)
class Algorithm:
    """A registered algorithm. Most are a base with a rate; any other step may be one too.

    The state is V[row, k, i], of which θ is row 0, its tangent row 1 and the algorithm's own rows
    follow; and scalars, of which the algorithm's own follow those of `llr.kernels.layout`.

    Attributes:
        name: the word on the wire.
        summary: one line for the catalogue.
        learn: the kernel that runs its step over a block, made by `llr.kernels.block.of_step`.
        parameters: its options.
        learns: whether the step size moves.
        base: which way θ moves, the algorithm's own name if it is not made of parts.
        rate: which way log η moves, None if it is not made of parts.
        rows: (options) → how many rows of vectors it keeps besides θ and h.
        numbers: (options, scores, dim) → how many scalars of its own it keeps.
        predict: the kernel that predicts rows, if θ·x is not all there is to it.
        scratch: rows of scratch its step works with.
        room: (dim) → how many more numbers its step works with, behind 2·dim.
        intercept: (options, scores, scalars) → the constant term of each score, None without one.
        settings: (options) → the numbers its step reads from `own`, after the model's; by default
            its parameters in their order.
        uses_eta0: whether η starts at `eta0`; if not, `eta0` means nothing.
        handles_linear_loss: whether it can do with a loss that has no curvature anywhere.
        bounds: (scalars, t) → between which two numbers log η is held now, if it is.
        most: (scores) → how many features it can learn at most, None for any number.
        sparse: what it needs for named features; None if a step moves what a sample does not have.
    """

    name: str
    summary: str
    learn: Kernel
    parameters: tuple[Parameter, ...] = ()
    learns: bool = True
    base: str | None = None
    rate: str | None = None
    rows: Callable[[Options], int] = lambda _: 0
    numbers: Callable[[Options, int, int], int] = lambda *_: 0
    settings: Callable[[Options], Sequence[float]] | None = None
    uses_eta0: bool = True
    handles_linear_loss: bool = True
    bounds: Callable[[Vector, int], tuple[float, float]] | None = None
    predict: Kernel = block_predict
    scratch: int = SCRATCH
    room: Callable[[int], int] = lambda _: 0
    intercept: Callable[[Options, int, Vector], Vector | None] = lambda *_: None
    most: Callable[[int], int] | None = None
    sparse: Sparse | None = None

    def suits(self, model: Model) -> bool:
        """Whether it can climb this model's ℓ."""
        return self.handles_linear_loss or model.has_curvature

    def has_intercept(self, options: Options) -> bool:
        """Whether a constant term is learnt beside θ, where a model has features."""
        return any(p.name == "intercept" and p.number(options) != 0.0 for p in self.parameters)

    def own(self, options: Options) -> tuple[float, ...]:
        """The numbers its step reads, after the model's."""
        if self.settings is not None:
            return tuple(self.settings(options))
        return tuple(p.number(options) for p in self.parameters)


class StepParams(NamedTuple):
    """The step size of one step, and how its tangent is taken.

    Attributes:
        eta: η_{t+1}, used for θ and for h (R5).
        gamma: what the new tangent is multiplied by, 1 without memory.
        learns: whether there is a tangent at all.
        hessian: which Hessian the tangent takes: DIFFERENCE, EXACT or NUMERICAL (R6).
        own: the base's own number, 0 if it has none.
    """

    eta: float
    gamma: float
    learns: bool
    hessian: int
    own: float


@dataclass(frozen=True)
class Base:
    """A registered base.

    The state's vectors are V[row, k] for score k: θ is row 0, its tangent h row 1, the base's own
    rows follow; and it may keep numbers that are no vectors. θ changes by adding to it, and
    whatever else is kept either does so too or reaches θ: what is not finite is found out.

    Attributes:
        name: the word before the slash of an algorithm's name.
        summary: one line for the catalogue.
        step: compiled; (V, numbers, sample, context, params), moves all rows and numbers.
        rows: how many rows of its own it keeps, tangents among them.
        numbers: (own, scores, dim) → how many numbers it keeps besides; all start at 0.
        parameter: the base's own number, if it has one.
        sparse: whether a coordinate stays, in every row, where x_i = 0: for named features.
    """

    name: str
    summary: str
    step: Callable[..., None]
    rows: int = 0
    numbers: Callable[[float, int, int], int] = lambda *_: 0
    parameter: Parameter | None = None
    sparse: bool = False


FLOOR = math.log(sys.float_info.min)
"""R24: the least log η, about −708: below it η loses digits, and then is 0."""


@dataclass(frozen=True)
class Rate:
    """A registered rate.

    Attributes:
        name: the word after the slash of an algorithm's name.
        summary: one line for the catalogue.
        advance: compiled; (log η, g, σ, w, a, b, own) → (log η', a', b'), where λ = gσ.
        parameter: the rate's own number, if it has one.
        learns: whether log η ever moves; if not, no tangent h is carried.
    """

    name: str
    summary: str
    advance: Callable[..., tuple[float, float, float]]
    parameter: Parameter | None = None
    learns: bool = True
