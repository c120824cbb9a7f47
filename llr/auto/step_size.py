"""The adaptive expert's step size η, learnt as SG/AG learns it (Section 2.3), within a window.

    λ      = ∂ℓ(θ)·h,        n² the average of λ² with weights w = 1/f(t)
    log η' = log η + 5 w λ/n,        then held between

        √(t+1)/((t+1) q̄)    a step like that of an average of all samples, and
        √(t+1)/q̄            one that corrects half the error of a sample,

where q̄ is the mean of curvature × q. The adaptive expert steps by r = η/√(t+1). The window is
a point at t = 0, so that no η_0 is needed; where η goes within it is LLR's doing.
"""

import math

from llr.auto.layout import STRETCH
from llr.auto.preconditioner import LONG
from llr.kernels.jit import inline_jit
from llr.kernels.layout import ETA, RATE_A, RATE_B
from llr.types import Vector

GAIN = 5.0
SHORT = 1.0 / 1001.0
SLOWEST = 1.0 / (math.sqrt(LONG + 2.0) * math.log(LONG + 3.0))


@inline_jit
def unit(scalars: Vector, weight: float, curvature: float, q: float) -> float:
    """Take a sample's curvature × q into their mean q̄; returns 1/q̄."""
    scalars[STRETCH] += max(weight, SHORT) * (curvature * q - scalars[STRETCH])
    return float(1.0 / scalars[STRETCH])


def window(scalars: Vector, t: int) -> tuple[float, float]:
    """Between which two numbers log η was held at the last of t samples."""
    if not scalars[STRETCH] > 0.0:
        return -math.inf, math.inf
    middle, half = -math.log(scalars[STRETCH]), 0.5 * math.log(min(t - 1.0, LONG) + 1.0)
    return middle - half, middle + half


@inline_jit
def advance(scalars: Vector, weight: float, w: float, lam: float, unit: float) -> float:
    """Learn η from λ; returns the step r = η/√(t+1)."""
    w = max(w, SLOWEST)
    small = math.sqrt(weight)  # 1/√(t+1)
    scalars[RATE_A] = (1.0 - w) * scalars[RATE_A] + w * (lam * lam)
    scalars[RATE_B] = (1.0 - w) * scalars[RATE_B] + w
    eta, least, most = scalars[ETA], small * unit, unit / small
    if scalars[RATE_A] > 0.0:
        eta *= math.exp(GAIN * w * lam * math.sqrt(scalars[RATE_B] / scalars[RATE_A]))
    scalars[ETA] = min(max(eta, least), most)
    return float(scalars[ETA] * small)
