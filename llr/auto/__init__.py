"""`auto`: the learner nobody tunes. No step size, no scaling, no centring, and no fear of drift.

It is LLR (`llr.auto.pace`) on a base that the paper does not have: implicit steps in a metric
(`llr.auto.scale`), beside a bolder learner, that one's average, and a constant; a vote
(`llr.auto.vote`) decides whom to believe, and bounds (`llr.auto.bounds`) keep predictions within
what was seen. `llr.auto.step` is one sample of it. docs/auto.md says what each part is worth.
"""

from typing import Any

from llr import block
from llr.algorithm import Algorithm, Sparse
from llr.auto import bank_layout
from llr.auto.pace import window
from llr.auto.places import (
    EACH,
    FIRST,
    MEAN,
    NAMED_NUMBERS,
    NAMED_SCRATCH,
    OF_ALL,
    ROWS,
    RUNNER,
    SCRATCH,
    WALKER,
    numbers,
)
from llr.auto.predict import predict
from llr.auto.step import settle, show, step, watched
from llr.parameter import Parameter
from llr.types import Vector

INTERCEPT = Parameter("intercept", "learn a constant term beside theta", "flag", True)
CENTRING = Parameter(
    "centring",
    "steps as if features had mean 0; needs the intercept",
    "flag",
    True,
    everywhere=True,
)
SECOND_ORDER = Parameter(
    "second_order",
    f"learn correlations, at most {bank_layout.LARGEST} features: O(d²) a sample",
    "flag",
    True,
    everywhere=True,
)


def second_order(options: dict[str, Any], scores: int, dim: int) -> bool:
    """Whether there is a bank of filters."""
    return scores == 1 and dim <= bank_layout.LARGEST and SECOND_ORDER.number(options) != 0.0


def intercept(options: dict[str, Any], scores: int, scalars: Vector) -> Vector | None:
    """The constant term of each score; None without one."""
    if not INTERCEPT.number(options):
        return None
    return scalars[FIRST + OF_ALL : FIRST + EACH * scores : EACH].copy()


ALGORITHM = Algorithm(
    name="auto",
    summary="no step size needed: steps in the features' own scales; learnt as it goes",
    learn=block.of_step("auto", step, settle, watched),
    predict=predict,
    parameters=(INTERCEPT, CENTRING, SECOND_ORDER),
    rows=lambda _: ROWS,
    numbers=lambda options, scores, dim: (
        numbers(scores) + (bank_layout.numbers(dim) if second_order(options, scores, dim) else 0)
    ),
    room=lambda dim: bank_layout.room(dim) if dim <= bank_layout.LARGEST else 0,
    scratch=SCRATCH,
    intercept=intercept,
    starts=False,
    bounds=window,
    sparse=Sparse(
        scratch=NAMED_SCRATCH,
        numbers=NAMED_NUMBERS,
        starting=(MEAN, WALKER, RUNNER),
        settle=show,
    ),
)
