"""AdaGrad: each coordinate has a step of its own, which shrinks as its gradients add up.

    G'_i = G_i + g_i²        θ'_i = θ_i + η g_i/√G'_i        g = ∂ℓ(θ), not damped by f(t)

Nothing is added to G, so the steps are blind to the scale of each feature; a coordinate whose
gradients were all 0 stays. The tangent has two parts, h of θ and dG of G (R20: dg = ∂ℓ(θ + h) − g,
or ∂²ℓ(θ)·h if exact):

    dG'_i = dG_i + 2 g_i dg_i        h'_i = h_i + η (g_i + dg_i)/√G'_i − η g_i dG'_i/(2 G'_i^{3/2})

Reference: Duchi, Hazan & Singer, *Adaptive subgradient methods for online learning and stochastic
optimization*, JMLR, 2011.
"""

import math

from llr.algorithms.algorithm import Base, StepParams
from llr.kernels.jit import inline_jit, simd_loop
from llr.kernels.layout import OWN, THETA, H, Sample, StepContext
from llr.types import Vector

SQUARES, BENT = OWN, OWN + 1


@simd_loop
def _climb(v: Vector, squares: Vector, eta: float, g: float, x: Vector) -> None:
    """θ and G of one score."""
    for i in range(x.size):
        gradient = g * x[i]
        squares[i] += gradient * gradient
        v[i] += eta * gradient / math.sqrt(squares[i]) if squares[i] > 0.0 else 0.0


@simd_loop
def _bend(
    h: Vector, bent: Vector, squares: Vector, params: StepParams, g: float, dg: float, x: Vector
) -> None:
    """h and dG of one score; `squares` is G' already."""
    for i in range(x.size):
        bent[i] = params.gamma * (bent[i] + 2.0 * (g * x[i]) * (dg * x[i]))
        scale = 1.0 / math.sqrt(squares[i])
        one, more = g * x[i] * scale, dg * x[i] * scale
        turn = one + more - 0.5 * one * (bent[i] * scale * scale)
        h[i] = params.gamma * (h[i] + (params.eta * turn if squares[i] > 0.0 else 0.0))


@inline_jit
def step(
    V: Vector, numbers: Vector, sample: Sample, context: StepContext, params: StepParams
) -> None:
    """Move θ and G, then their tangents."""
    for k in range(V.shape[1]):
        _climb(V[THETA, k], V[SQUARES, k], params.eta, context.g[k], sample.x)
        if params.learns:
            dg = context.g_h[k] - context.g[k]
            _bend(V[H, k], V[BENT, k], V[SQUARES, k], params, context.g[k], dg, sample.x)


BASE = Base(
    name="adagrad",
    summary="a step for each coordinate, shrinking as its gradients add up, not damped",
    step=step,
    rows=2,
    sparse=True,
)
