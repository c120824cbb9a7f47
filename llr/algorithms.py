"""The algorithms by name: a base alone keeps its step size, `base/rate` learns it (R9).

>>> sorted(ALGORITHMS)
['sg', 'sg/ag', 'sg/sg', 'svrg', 'svrg/ag', 'svrg/sg']
"""

from typing import NamedTuple

from llr.bases import BASES, Base
from llr.rates import RATES, Rate


class Algorithm(NamedTuple):
    """A base and the rate that moves its step size."""

    base: Base
    rate: Rate

    @property
    def summary(self) -> str:
        """One line for the catalogue."""
        return f"{self.base.summary}; {self.rate.summary}"


ALGORITHMS: dict[str, Algorithm] = {
    base if not rate.learns else f"{base}/{name}": Algorithm(BASES[base], rate)
    for base in BASES
    for name, rate in RATES.items()
}
