"""The rates: how log η moves. To add one, write its `advance` and give it a line in `RATES`.

A rate is a pure function (log η, g, σ, w, a, b, own) → (log η', a', b') where λ = gσ = ∂ℓ/∂log η,
w = 1/μ, a and b are the rate's two numbers of state, 0 at the start, and `own` is its parameter.

* `fixed`: η stays η_0, as in the algorithms the paper starts from.
* `sg`: stochastic gradient on log η (Section 2.2): log η' = log η + λ/μ.
* `ag`: AdaGrad-like ascent on log η (Section 2.3): log η' = log η + λ/(n'μ), with

    d'  = (1 − w) d + w
    n'² = ((1 − w) n² + w λ²) / d'

R3: as printed, the normalised n² is what the next step averages and divides again. Unbiased, the
raw average is kept and divided only where it is used.

R16: Kept is n, not n²: a square leaves float64's range long before θ does. So the squares are taken
of n and λ in units of the larger. λ itself, a product of two numbers as large as θ, may leave that
range too; then √|λ| = √|g| √|σ| takes its place, and −√n is kept instead of n.
"""

import math

from llr.algorithms.algorithm import Rate
from llr.kernels.jit import dispatch, inline_jit, jit
from llr.parameter import Parameter

LARGEST, LEAST = 1e270, 1e-270
"""Sizes of λ and n between which they are worked with as they are."""


@inline_jit
def advance_fixed(
    log_eta: float, g: float, sigma: float, w: float, a: float, b: float, own: float
) -> tuple[float, float, float]:
    """log η' = log η."""
    return log_eta, a, b


@inline_jit
def advance_sg(
    log_eta: float, g: float, sigma: float, w: float, a: float, b: float, own: float
) -> tuple[float, float, float]:
    """log η' = log η + wλ with w = 1/μ (R9); an infinite λ takes log η where a finite one would."""
    return log_eta + w * (g * sigma), a, b


@inline_jit
def advance_ag(
    log_eta: float, g: float, sigma: float, w: float, n: float, d: float, own: float
) -> tuple[float, float, float]:
    """One update of (log η, n, d); an n below 0 is −√n."""
    d = (1.0 - w) * d + w
    lam = g * sigma
    size = max(n, abs(lam))
    if size > LARGEST or n < 0.0 or (abs(lam) < LEAST and g != 0.0 and sigma != 0.0):
        turn, n = _beyond(g, sigma, w, n, d, own)
        return log_eta + w * turn, n, d
    if size == 0.0:  # R4: while n = 0 nothing is known about λ, and log η stays
        return log_eta, n, d
    before, now = n / size, lam / size
    average = (1.0 - w) * (before * before) + w * (now * now)
    root = math.sqrt(average / d)  # n' in that unit
    return log_eta + w * (now / root), size * (root if own == 0.0 else math.sqrt(average)), d


@jit
def _beyond(
    g: float, sigma: float, w: float, n: float, d: float, own: float
) -> tuple[float, float]:
    """λ/n' and n' from √|λ| and √n, of which no square has to be within float64."""
    size = math.sqrt(abs(g)) * math.sqrt(abs(sigma))
    root = math.sqrt(n) if n >= 0.0 else -n
    unit = max(root, size)
    before, now = root / unit, size / unit
    before, now = before * before, now * now
    average = (1.0 - w) * (before * before) + w * (now * now)
    found = math.sqrt(average / d)
    root = unit * math.sqrt(found if own == 0.0 else math.sqrt(average))
    kept = root * root if LEAST < root * root < LARGEST else -root
    return (now if (g > 0.0) == (sigma > 0.0) else -now) / found, kept


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
