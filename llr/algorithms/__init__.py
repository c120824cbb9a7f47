"""The algorithms by name: a base alone keeps its step size, `base/rate` learns it (R9).

To add a base, write its file and give it a line in `BASES`. To add an algorithm that is not a base
with a rate, write its file and give it a line in `ALGORITHMS`.

>>> "sg" in ALGORITHMS and "svrg/ag" in ALGORITHMS
True
"""

from llr import auto, kalman
from llr.algorithms import adagrad, isg, sg, step, variance_reduction, vsgd
from llr.algorithms.algorithm import Algorithm, Base, Options, Rate, Sparse
from llr.algorithms.rates import RATES
from llr.algorithms.step import MEMORY_ROWS
from llr.kernels import block
from llr.kernels.jit import Kernel
from llr.kernels.layout import EXACT
from llr.parameter import Parameter

__all__ = ["ALGORITHMS", "BASES", "RATES", "Algorithm", "Base", "Rate"]

BASES: dict[str, Base] = {
    "sg": sg.SG,
    "svrg": variance_reduction.SVRG,
    "isg": isg.BASE,
    "adagrad": adagrad.BASE,
    "momentum": sg.MOMENTUM,
    "saga": variance_reduction.SAGA,
    "sag": variance_reduction.SAG,
}

HESSIAN = Parameter(
    "hessian",
    "the tangent's Hessian: a difference of gradients, exact as is the default with memory, or by"
    " numerical differentiation",
    "choice",
    "difference",
    choices=("difference", "exact", "numerical"),  # as in llr.kernels.layout
)
MEMORY = Parameter(
    "memory",
    "forget how old step sizes moved theta (Section 4.3)",
    "flag",
    False,
    dense_only=True,
)


def hessian_of(options: Options) -> int:
    """R6: a difference by default; exact with memory, as in R12, unless `hessian` is given."""
    if HESSIAN.name not in options and MEMORY.number(options):
        return EXACT
    return int(HESSIAN.number(options))


def compose(base: Base, rate: Rate, learn: Kernel) -> Algorithm:
    """The algorithm that moves θ by a base and log η by a rate."""
    tangent = (HESSIAN, MEMORY) if rate.learns else ()

    def settings(options: Options) -> tuple[float, ...]:
        return (
            _number(base.parameter, options),
            _number(rate.parameter, options),
            list(RATES).index(rate.name),
            rate.learns,
            hessian_of(options),
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
    "kalman": kalman.ALGORITHM,
    "vsgd": vsgd.ALGORITHM,
}
