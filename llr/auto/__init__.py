"""`auto`: a learner without tuning. No step size, no scaling, no centring; it follows drift.

It is LLR (`llr.auto.step_size`) on a base that the paper does not have: implicit steps in a metric
(`llr.auto.preconditioner`), beside a bolder learner, that one's average, and a constant; a vote
(`llr.auto.expert_weights`) weighs them, and bounds (`llr.auto.clipping`) keep
predictions within what was seen. `llr.auto.step` is one sample of it. docs/auto.md says what each
part is worth.
"""

from typing import Any

from llr.algorithms.algorithm import Algorithm, Sparse
from llr.auto import bank_layout, bank_names, class_filters
from llr.auto.layout import (
    ADAPTIVE,
    AGGRESSIVE,
    AVERAGED,
    EACH,
    FIRST,
    NAMED_NUMBERS,
    NAMED_SCRATCH,
    OF_ALL,
    ROWS,
)
from llr.auto.layout import numbers as first_order_numbers
from llr.auto.predict import predict, score
from llr.auto.step import settle, show, step, watched
from llr.auto.step_size import window
from llr.kernels import block
from llr.parameter import Parameter
from llr.types import Vector

INTERCEPT = Parameter("intercept", "learn a constant term beside theta", "flag", True)
CENTRING = Parameter(
    "centring",
    "steps as if features had mean 0; needs the intercept",
    "flag",
    True,
    dense_only=True,
)
SECOND_ORDER = Parameter(
    "second_order",
    f"learn correlations, at most {bank_layout.LARGEST} features: O(d²) a sample and class",
    "flag",
    True,
)


def second_order(options: dict[str, Any], scores: int, dim: int) -> bool:
    """Whether there are filters: up to LARGEST features, and a budget for those of classes."""
    if SECOND_ORDER.number(options) == 0.0 or dim > bank_layout.LARGEST:
        return False
    return scores == 1 or class_filters.affordable(scores, dim)


def numbers(options: dict[str, Any], scores: int, dim: int) -> int:
    """How many numbers it keeps besides its vectors."""
    if not second_order(options, scores, dim):
        return first_order_numbers(scores)
    bank = bank_layout.numbers(dim) if scores == 1 else class_filters.numbers(scores, dim)
    return first_order_numbers(scores) + bank


def named_numbers(options: dict[str, Any], scores: int, names: int) -> tuple[int, ...]:
    """How many numbers there may be beside so many names.

    A new learner has the first; without a bank it goes on that had none, or whose bank retired.
    """
    without = first_order_numbers(scores)
    if SECOND_ORDER.number(options) == 0.0 or scores > 1:
        return (without,)
    return without + bank_names.size(names), without


def intercept(options: dict[str, Any], scores: int, scalars: Vector) -> Vector | None:
    """The constant term of each score; None without one."""
    if not options.get(INTERCEPT.name, INTERCEPT.default):
        return None
    return scalars[FIRST + OF_ALL : FIRST + EACH * scores : EACH].copy()


ALGORITHM = Algorithm(
    name="auto",
    summary="no step size needed: steps in the features' own scales; learnt as it goes",
    learn=block.of_step("auto", step, settle, watched, score),
    predict=predict,
    parameters=(INTERCEPT, CENTRING, SECOND_ORDER),
    rows=lambda _: ROWS,
    numbers=numbers,
    room=lambda dim: bank_layout.room(dim) if dim <= bank_layout.LARGEST else 0,
    scratch=class_filters.SCRATCH,
    intercept=intercept,
    uses_eta0=False,
    bounds=window,
    sparse=Sparse(
        scratch=NAMED_SCRATCH,
        numbers=NAMED_NUMBERS,
        starting=(AVERAGED, ADAPTIVE, AGGRESSIVE),
        settle=show,
        most=bank_layout.LARGEST,
        counted=named_numbers,
        resized=bank_names.resized,
    ),
)
