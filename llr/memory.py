"""Memory (Section 4.3): forget how long-past step sizes moved θ.

The tangent is multiplied by γ = exp(−1/τ) at each step, where τ is the number of samples in recent
memory. R12: one τ for the whole vector, from moving averages ḡ and v̄ of g and g² at rate 1/τ,

    τ ← (1 − Σḡ²/Σv̄) τ + 1.

Kept are ḡ and the variance v = v̄ − ḡ², whose update only adds and multiplies what is not negative:

    v ← (1 − 1/τ) (v + (g − ḡ)²/τ),   ḡ ← ḡ + (g − ḡ)/τ,   1 − Σḡ²/Σv̄ = Σv / (Σv + Σḡ²),

so rounding cannot take τ below 1. At 1 it would stay for ever: the first 10 samples are averaged
plainly, with τ = t + 1, and from then on τ is held at or above 1.1.

Reference: Schaul, Zhang & LeCun, *No more pesky learning rates*, 2013, section 4.2.
"""

from llr.compiled import apart, loop
from llr.types import Vector

FIRST = 10
LEAST = 1.1
ROWS = 2


@loop
def _average(mean: Vector, spread: Vector, rate: float, g: float, x: Vector) -> tuple[float, float]:
    """Move one score's ḡ and v towards those of g x; returns its share of Σḡ² and Σv."""
    squares, variance = 0.0, 0.0
    for i in range(x.size):
        off = g * x[i] - mean[i]
        mean[i] += rate * off
        spread[i] = (1.0 - rate) * (spread[i] + rate * (off * off))
        squares += mean[i] * mean[i]
        variance += spread[i]
    return squares, variance


@apart
def remember(V: Vector, g: Vector, x: Vector, t: int, tau: float) -> float:
    """Take ∂ℓ(θ) = g ⊗ x into the averages, which are the last two rows; returns the new τ."""
    rate = 1.0 / (t + 1.0) if t < FIRST else 1.0 / tau
    row = V.shape[0] - ROWS
    squares, variance = 0.0, 0.0
    for k in range(V.shape[1]):
        of_mean, of_spread = _average(V[row, k], V[row + 1, k], rate, g[k], x)
        squares += of_mean
        variance += of_spread
    if t < FIRST:
        return t + 1.0
    total = squares + variance
    return max((variance / total if total > 0.0 else 1.0) * tau + 1.0, LEAST)
