"""The algorithms by name: a base alone keeps its step size, `base/rate` learns it (R9).

To add one that is not a base with a rate, write its file and give it a line in `ALGORITHMS`.

>>> "sg" in ALGORITHMS and "svrg/ag" in ALGORITHMS
True
"""

from llr import auto, block, step, vsgd
from llr.algorithm import Algorithm, Options, Sparse
from llr.bases import BASES, Base
from llr.compiled import Kernel
from llr.memory import ROWS as MEMORY_ROWS
from llr.parameter import Parameter
from llr.rates import RATES, Rate

__all__ = ["ALGORITHMS", "Algorithm"]

HESSIAN = Parameter(
    "hessian",
    "the tangent's Hessian: a difference of gradients, or exact as is the default with memory",
    "choice",
    "difference",
    choices=("difference", "exact"),
)
MEMORY = Parameter(
    "memory",
    "forget how old step sizes moved theta (Section 4.3)",
    "flag",
    False,
    everywhere=True,
)


def exact_hessian(options: Options) -> bool:
    """R6: a difference by default; with memory exact, as R12 writes it, unless told."""
    return bool((HESSIAN if HESSIAN.name in options else MEMORY).number(options))


def compose(base: Base, rate: Rate, learn: Kernel) -> Algorithm:
    """The algorithm that moves θ by a base and log η by a rate."""
    tangent = (HESSIAN, MEMORY) if rate.learns else ()

    def settings(options: Options) -> tuple[float, ...]:
        return (
            _number(base.parameter, options),
            _number(rate.parameter, options),
            list(RATES).index(rate.name),
            rate.learns,
            exact_hessian(options),
            MEMORY.number(options),
        )

    return Algorithm(
        name=f"{base.name}/{rate.name}" if rate.learns else base.name,
        summary=f"{base.summary}; {rate.summary}",
        learn=learn,
        parameters=tuple(p for p in (base.parameter, rate.parameter, *tangent) if p),
        learns=rate.learns,
        base=base.name,
        rate=rate.name,
        rows=lambda options: base.rows + (MEMORY_ROWS if MEMORY.number(options) else 0),
        numbers=lambda options, *size: base.numbers(_number(base.parameter, options), *size),
        settings=settings,
        sparse=Sparse() if base.sparse else None,
    )


def _number(parameter: Parameter | None, options: Options) -> float:
    return 0.0 if parameter is None else parameter.number(options)


def _composed() -> list[Algorithm]:
    """Every base with every rate; the algorithms of a base share a kernel."""
    kernels = {name: block.of_step(name, step.of_base(base)) for name, base in BASES.items()}
    return [
        compose(base, rate, kernels[name])
        for name, base in BASES.items()
        for rate in RATES.values()
    ]


ALGORITHMS: dict[str, Algorithm] = {
    **{algorithm.name: algorithm for algorithm in _composed()},
    "auto": auto.ALGORITHM,
    "vsgd": vsgd.ALGORITHM,
}
