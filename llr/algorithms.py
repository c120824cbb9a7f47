"""The algorithms by name: a base alone keeps its step size, `base/rate` learns it (R9).

>>> "sg" in ALGORITHMS and "svrg/ag" in ALGORITHMS
True
"""

from typing import NamedTuple

from llr.bases import BASES, Base
from llr.parameter import Parameter
from llr.rates import RATES, Rate

HESSIAN = Parameter(
    "hessian",
    "the tangent's Hessian: a difference of gradients, or exact as is the default with memory",
    "choice",
    "difference",
    choices=("difference", "exact"),
)
MEMORY = Parameter("memory", "forget how old step sizes moved theta (Section 4.3)", "flag", False)


class Algorithm(NamedTuple):
    """A base and the rate that moves its step size."""

    base: Base
    rate: Rate

    @property
    def summary(self) -> str:
        """One line for the catalogue."""
        return f"{self.base.summary}; {self.rate.summary}"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its options: of the base, of the rate, and of the tangent if η is learnt."""
        tangent = (HESSIAN, MEMORY) if self.rate.learns else ()
        return tuple(p for p in (self.base.parameter, self.rate.parameter, *tangent) if p)


ALGORITHMS: dict[str, Algorithm] = {
    base if not rate.learns else f"{base}/{name}": Algorithm(BASES[base], rate)
    for base in BASES
    for name, rate in RATES.items()
}
