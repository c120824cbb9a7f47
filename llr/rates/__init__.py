"""The rates: how log η moves. To add one, write its file and give it a line in `RATES`.

A rate is a pure function (log η, λ, w, a, b, own) → (log η', a', b') where λ = ∂ℓ/∂log η, w = 1/μ,
a and b are the rate's two numbers of state, 0 at the start, and `own` is its parameter.
"""

from llr.compiled import fold
from llr.rates import ag, fixed, sg
from llr.rates.rate import Rate

__all__ = ["RATES", "Rate"]

RATES: dict[str, Rate] = {
    "fixed": fixed.RATE,
    "sg": sg.RATE,
    "ag": ag.RATE,
}

advance = fold([rate.advance for rate in RATES.values()])
