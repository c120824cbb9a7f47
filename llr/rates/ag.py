"""AdaGrad-like ascent on log η (Section 2.3): log η' = log η + λ/(n'μ), w = 1/μ.

    d'  = (1 − w) d + w
    n'² = ((1 − w) n² + w λ²) / d'

R3: as printed, the normalised n² is what the next step averages and divides again. Unbiased, the
raw average is kept and divided only where it is used.
"""

import math

from llr.compiled import part
from llr.parameter import Parameter
from llr.rates.rate import Rate


@part
def advance(
    log_eta: float, lam: float, w: float, n2: float, d: float, own: float
) -> tuple[float, float, float]:
    """One update of (log η, n², d)."""
    d = (1.0 - w) * d + w
    average = (1.0 - w) * n2 + w * (lam * lam)
    square = average * (1.0 / d)
    n = math.sqrt(square)
    if n > 0.0:  # R4: while n = 0 nothing is known about λ, and log η stays
        log_eta += w * lam / n
    return log_eta, square if own == 0.0 else average, d


RATE = Rate(
    name="ag",
    summary="AdaGrad-like ascent on log eta, blind to its scale",
    advance=advance,
    parameter=Parameter("unbiased", "keep the raw average of squared slopes", "flag", False),
)
