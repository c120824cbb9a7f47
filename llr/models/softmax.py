"""Multi-class regression: ℓ = s_y − log Σ e^{s_k}, one score s_k = θ_k·x per class.

θ is classes × features. With π = softmax(s) the residual is e_y − π, and −∂²ℓ/∂s² applied to a
direction σ is π_k(σ_k − π·σ).

**The implicit step** takes one root instead of a system of equations.

Wanted are k_j = r (1[j = y] − π_j) with π = softmax(z), z_j = s_j + k_j q_j. Write R_j = r q_j and
L = log Σ e^{z_j}, so that π_j = e^{z_j − L}. If L were known, each of the other classes would have

    log π_j + R_j π_j = s_j − L,                    one number each, which falls as L grows,

and with P = Σ_{j≠y} π_j the class y says z_y = s_y + R_y P and π_y = 1 − P, that is

    L = s_y + R_y P − log(1 − P),                   whose right-hand side falls as L grows:

one root, between s_y and the largest score after the step plus log K. Nothing cancels: P is what
the step is made of, and is computed as a sum of positive numbers.
"""

import math

from llr.kernels.jit import inline_jit
from llr.models import logistic
from llr.models.model import Model
from llr.parameter import Parameter
from llr.types import Vector

MAX_ROUNDS = 200
CLOSE = 4e-16


@inline_jit
def log_share(a: float, R: float) -> float:
    """The u with u + R e^u = a, for a ≤ R.

    By Newton's steps down a convex function, from above: they cannot overshoot.
    """
    b = a + math.log(R) if R > 0.0 else -math.inf
    u = a if b < 1.0 else min(0.0, math.log(b) - math.log(R))
    for _ in range(MAX_ROUNDS):
        share = R * math.exp(u)
        step = (u + share - a) / (1.0 + share)
        u -= step
        if not step > CLOSE * (1.0 + abs(u)):
            break
    return u


@inline_jit
def _shares(s: Vector, q: Vector, r: float, y: int, L: float, pi: Vector) -> tuple[float, float]:
    """Fill π_j of all classes but y; returns P and −∂P/∂L, or P = 1 if it is 1 or more."""
    P, falls = 0.0, 0.0
    for j in range(s.size):
        if j != y:
            R = r * q[j]
            if s[j] - L >= R:
                return 1.0, 0.0
            pi[j] = math.exp(log_share(s[j] - L, R))
            P += pi[j]
            falls += pi[j] / (1.0 + R * pi[j])
    return min(P, 1.0), falls


@inline_jit
def _bounds(s: Vector, R: float, y: int) -> tuple[float, float, float]:
    """L before the step, and bounds for L after it."""
    top, total = s[y], 0.0
    for j in range(s.size):
        top = max(top, s[j])
    for j in range(s.size):
        total += math.exp(s[j] - top)
    return top + math.log(total), s[y], max(s[y] + R, top) + math.log(s.size)


@inline_jit
def _root(s: Vector, q: Vector, r: float, y: int, pi: Vector) -> float:
    """L after the step: by Newton's steps, or by halving the bounds where those do not shrink."""
    R = r * q[y]
    L, low, high = _bounds(s, R, y)
    last = high - low
    for _ in range(MAX_ROUNDS):
        P, falls = _shares(s, q, r, y, L, pi)
        to = math.nan
        if P < 1.0:
            miss = L - s[y] - R * P + math.log1p(-P)
            low, high = (low, L) if miss > 0.0 else (L, high)
            to = L - miss / (1.0 + (R + 1.0 / (1.0 - P)) * falls)
            if abs(to - L) <= CLOSE * max(1.0, abs(L)):
                return L
        else:
            low = L
        if not low <= to <= high or 2.0 * abs(to - L) > last:
            width = high - low
            to = low + (0.5 * width if width <= 3.0 else math.sqrt(1.0 + width) - 1.0)
        last = abs(to - L)
        L = to
        if last <= CLOSE * max(1.0, abs(L)):
            break
    return high  # where P < 1, however closely


@inline_jit
def implicit(s: Vector, q: Vector, r: float, y: float, p: float, k: Vector) -> None:
    """Fill k, one step per class."""
    which, P = int(y), 0.0
    _shares(s, q, r, which, _root(s, q, r, which, k), k)
    for j in range(s.size):
        if j != which:
            P += k[j]
            k[j] *= -r
    k[which] = r * P


@inline_jit
def implicit_tangent(
    s: Vector, q: Vector, r: float, y: float, p: float, sigma: Vector, k: Vector, dk: Vector
) -> None:
    """Fill dk, the derivative of k with respect to log r while the scores s move by σ.

    With H = diag(π) − ππᵀ at the scores after the step, whose own movement is σ + e, e = q dk:

        dk = k − r H (σ + e),  so that  (1 + R_j π_j) e_j − R_j π_j (π·e) = q_j (k − r H σ)_j,

    a diagonal plus a product, solved as such.
    """
    which, c = int(y), 0.0
    for j in range(s.size):  # π, from k: 1[j = y] − π_j = k_j/r
        dk[j] = -k[j] / r if r > 0.0 else 0.0
    dk[which] += 1.0
    for j in range(s.size):
        c += dk[j] * sigma[j]
    top, bottom = 0.0, 0.0
    for j in range(s.size):
        pi, R = dk[j], r * q[j]
        e = (q[j] * k[j] - R * pi * (sigma[j] - c)) / (1.0 + R * pi)
        top += pi * e
        bottom += pi / (1.0 + R * pi)
    along = top / bottom  # π·e
    for j in range(s.size):
        pi, R = dk[j], r * q[j]
        e = (q[j] * k[j] - R * pi * (sigma[j] - c) + R * pi * along) / (1.0 + R * pi)
        dk[j] = k[j] - r * pi * (sigma[j] + e - c - along)


@inline_jit
def mean(s: Vector, p: float, out: Vector) -> None:
    """out = π, the probability of each class."""
    top = _largest(s)
    total = 0.0
    for k in range(s.size):
        out[k] = math.exp(s[k] - top)
        total += out[k]
    for k in range(s.size):
        out[k] /= total


@inline_jit
def loss(s: Vector, y: float, p: float) -> float:
    """log Σ e^{s_k} − s_y."""
    top = _largest(s)
    total = 0.0
    for k in range(s.size):
        total += math.exp(s[k] - top)
    return float(top - s[int(y)] + math.log(total))


@inline_jit
def residual(s: Vector, y: float, p: float, out: Vector) -> None:
    """out = e_y − π."""
    mean(s, p, out)
    for k in range(s.size):
        out[k] = -out[k]
    out[int(y)] += 1.0


@inline_jit
def curvature(s: Vector, y: float, p: float, sigma: Vector, out: Vector) -> None:
    """out = π_k(σ_k − π·σ)."""
    mean(s, p, out)
    average = 0.0
    for k in range(s.size):
        average += out[k] * sigma[k]
    for k in range(s.size):
        out[k] *= sigma[k] - average


@inline_jit
def _largest(s: Vector) -> float:
    top = s[0]
    for k in range(1, s.size):
        top = max(top, s[k])
    return float(top)


@inline_jit
def weight(s: Vector, y: float, p: float, noise: float, out: Vector) -> None:
    """½ for each: no curvature of the loss is larger (Böhning 1992)."""
    for k in range(s.size):
        out[k] = 0.5


@inline_jit
def admits(y: float, p: float) -> bool:
    """A class: 0, 1, … p − 1, where p is the number of classes."""
    return 0.0 <= y < p and y == math.floor(y)


MODEL = Model(
    name="softmax",
    summary="the probability of each class from features",
    domain="a class, 0 to classes - 1",
    loss=loss,
    residual=residual,
    curvature=curvature,
    mean=mean,
    admits=admits,
    weight=weight,
    score_range=logistic.score_range,
    is_log_likelihood=True,
    classes=True,
    implicit=implicit,
    implicit_tangent=implicit_tangent,
    parameter=Parameter("classes", "how many classes there are", "whole", low=2, example=3),
)
