"""Memory (Section 4.3): forget how long-past step sizes moved θ.

The tangent is multiplied by γ = exp(−1/τ) at each step, where τ is the number of samples in recent
memory. R12: one τ for the whole vector,

    ḡ ← ḡ + (g − ḡ)/τ,   v̄ ← v̄ + (g² − v̄)/τ,   τ ← (1 − Σḡ²/Σv̄) τ + 1.

Started at τ = 1 it would stay there, so the first 10 samples are averaged plainly, with τ = t + 1.

Reference: Schaul, Zhang & LeCun, *No more pesky learning rates*, 2013, section 4.2.
"""

from llr.compiled import apart, loop
from llr.types import Vector

FIRST = 10
ROWS = 2


@loop
def _average(mean: Vector, square: Vector, rate: float, g: float, x: Vector) -> tuple[float, float]:
    """Move one score's ḡ and v̄ towards g x and (g x)²; returns its share of Σḡ² and Σv̄."""
    squared_mean, mean_square = 0.0, 0.0
    for i in range(x.size):
        gradient = g * x[i]
        mean[i] += rate * (gradient - mean[i])
        square[i] += rate * (gradient * gradient - square[i])
        squared_mean += mean[i] * mean[i]
        mean_square += square[i]
    return squared_mean, mean_square


@apart
def remember(V: Vector, g: Vector, x: Vector, t: int, tau: float) -> float:
    """Take ∂ℓ(θ) = g ⊗ x into the averages, which are the last two rows; returns the new τ."""
    rate = 1.0 / (t + 1.0) if t < FIRST else 1.0 / tau
    row = V.shape[0] - ROWS
    squared_mean, mean_square = 0.0, 0.0
    for k in range(V.shape[1]):
        mean, square = _average(V[row, k], V[row + 1, k], rate, g[k], x)
        squared_mean += mean
        mean_square += square
    if t < FIRST:
        return t + 1.0
    agreement = squared_mean / mean_square if mean_square > 0.0 else 0.0
    return (1.0 - agreement) * tau + 1.0
