"""What an algorithm is: the step a learner takes, and how much it remembers to take it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llr.block import predict as block_predict
from llr.compiled import Kernel
from llr.layout import SCRATCH, THETA
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
        settle: (model, V, scalars), the kernel that writes θ before anybody looks at it, if θ is
            not where it belongs after every step.
    """

    scratch: int = 0
    numbers: int = 0
    starting: tuple[int, ...] = (THETA,)
    settle: Kernel | None = None


@dataclass(frozen=True)
class Algorithm:
    """A registered algorithm. Most are a base with a rate; any other step may be one too.

    The state is V[row, k, i], of which θ is row 0, its tangent row 1 and the algorithm's own rows
    follow; and scalars, of which the algorithm's own follow those of `llr.layout`.

    Attributes:
        name: the word on the wire.
        summary: one line for the catalogue.
        learn: the kernel that runs its step over a block, made by `llr.block.of_step`.
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
        starts: whether η starts at `eta0`; if not, `eta0` means nothing.
        straight: whether it can do with a loss that has no curvature anywhere.
        bounds: (scalars, t) → between which two numbers log η is held now, if it is.
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
    starts: bool = True
    straight: bool = True
    bounds: Callable[[Vector, int], tuple[float, float]] | None = None
    predict: Kernel = block_predict
    scratch: int = SCRATCH
    room: Callable[[int], int] = lambda _: 0
    intercept: Callable[[Options, int, Vector], Vector | None] = lambda *_: None
    sparse: Sparse | None = None

    def suits(self, model: Model) -> bool:
        """Whether it can climb this model's ℓ."""
        return self.straight or model.curved

    def own(self, options: Options) -> tuple[float, ...]:
        """The numbers its step reads, after the model's."""
        if self.settings is not None:
            return tuple(self.settings(options))
        return tuple(p.number(options) for p in self.parameters)
