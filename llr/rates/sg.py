"""Stochastic gradient on log η (Section 2.2): log η' = log η + λ/μ."""

from llr.compiled import part
from llr.rates.rate import Rate


@part
def advance(
    log_eta: float, lam: float, w: float, a: float, b: float, own: float
) -> tuple[float, float, float]:
    """log η' = log η + wλ with w = 1/μ (R9)."""
    return log_eta + w * lam, a, b


RATE = Rate(name="sg", summary="gradient ascent on log eta", advance=advance)
