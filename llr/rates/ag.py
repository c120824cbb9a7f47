"""AdaGrad-like ascent on log η (Section 2.3): log η' = log η + λ/(n'μ), w = 1/μ.

    d'  = (1 − w) d + w
    n'² = ((1 − w) n² + w λ²) / d'

R3: as printed, the normalised n² is what the next step averages and divides again. Unbiased, the
raw average is kept and divided only where it is used.

Kept is n, not n²: a square leaves float64's range long before θ does. So the squares are taken of
n and λ in units of the larger.
"""

import math

from llr.compiled import part
from llr.parameter import Parameter
from llr.rates.rate import Rate


@part
def advance(
    log_eta: float, lam: float, w: float, n: float, d: float, own: float
) -> tuple[float, float, float]:
    """One update of (log η, n, d)."""
    d = (1.0 - w) * d + w
    unit = max(n, abs(lam))
    if unit == 0.0:  # R4: while n = 0 nothing is known about λ, and log η stays
        return log_eta, n, d
    before, now = n / unit, lam / unit
    average = (1.0 - w) * (before * before) + w * (now * now)
    root = math.sqrt(average / d)  # n' in that unit
    return log_eta + w * (now / root), unit * (root if own == 0.0 else math.sqrt(average)), d


RATE = Rate(
    name="ag",
    summary="AdaGrad-like ascent on log eta, blind to its scale",
    advance=advance,
    parameter=Parameter("unbiased", "keep the raw average of squared slopes", "flag", False),
)
