"""The rates: how log η moves. To add one, write its `advance` and give it a line in `RATES`.

A rate is a pure function (log η, λ, w, a, b, own) → (log η', a', b') where λ = ∂ℓ/∂log η, w = 1/μ,
a and b are the rate's two numbers of state, 0 at the start, and `own` is its parameter.

* `fixed`: η stays η_0, as in the algorithms the paper starts from.
* `sg`: stochastic gradient on log η (Section 2.2): log η' = log η + λ/μ.
* `ag`: AdaGrad-like ascent on log η (Section 2.3): log η' = log η + λ/(n'μ), with

    d'  = (1 − w) d + w
    n'² = ((1 − w) n² + w λ²) / d'

R3: as printed, the normalised n² is what the next step averages and divides again. Unbiased, the
raw average is kept and divided only where it is used.

Kept is n, not n²: a square leaves float64's range long before θ does. So the squares are taken of
n and λ in units of the larger.
"""

import math

from llr.algorithms.algorithm import Rate
from llr.kernels.jit import dispatch, inline_jit
from llr.parameter import Parameter


@inline_jit
def advance_fixed(
    log_eta: float, lam: float, w: float, a: float, b: float, own: float
) -> tuple[float, float, float]:
    """log η' = log η."""
    return log_eta, a, b


@inline_jit
def advance_sg(
    log_eta: float, lam: float, w: float, a: float, b: float, own: float
) -> tuple[float, float, float]:
    """log η' = log η + wλ with w = 1/μ (R9)."""
    return log_eta + w * lam, a, b


@inline_jit
def advance_ag(
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


RATES: dict[str, Rate] = {
    "fixed": Rate(
        name="fixed",
        summary="the step size stays as given",
        advance=advance_fixed,
        learns=False,
    ),
    "sg": Rate(name="sg", summary="gradient ascent on log eta", advance=advance_sg),
    "ag": Rate(
        name="ag",
        summary="AdaGrad-like ascent on log eta, blind to its scale",
        advance=advance_ag,
        parameter=Parameter("unbiased", "keep the raw average of squared slopes", "flag", False),
    ),
}

advance = dispatch([rate.advance for rate in RATES.values()])
