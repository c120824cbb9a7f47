"""SAGA on a stream: a table of the last m samples, whose remembered gradients steady the steps.

SAGA needs samples that come again: it subtracts the gradient it remembers of a sample from the
sample's gradient now, and adds the average of all it remembers. On a stream a sample comes once, so
here it comes again out of the table (R21). When sample t arrives, n = min(t + 1, m) are kept:

    the oldest makes room, t enters with its residual g_t at θ
    j = t − ⌊n/2⌋ is looked at again at θ: its gradient is now ∂ℓ_j(θ), remembered is g_j x_j
    θ' = θ + η (∂ℓ_j(θ) − g_j x_j + S/n)        S = Σ g_i x_i over the table
    the new residual of j is remembered

So each sample is looked at when it comes and once more half a table later, a step is two gradients
whatever m is, and η is not damped, as in SVRG. With m = 1 it is SG without damping. The oldest
gradient in S is m samples old: a table longer than the step's own memory, of about 1/η samples at
unit features, makes θ swing.

The tangent runs through all of the state (R20): each g_i has its dg_i, S its dS, and

    h' = h + η (∂ℓ_j(θ) − g_j x_j + S/n) + η (dg'_j x_j − dg_j x_j + dS/n).

Sums that are added to and subtracted from for ever keep every rounding error; so S and dS are added
up afresh each time the table has been filled once more.

Reference: Defazio, Bach & Lacoste-Julien, *SAGA: a fast incremental gradient method*, NIPS, 2014.
"""

from typing import NamedTuple

from llr import models
from llr.bases.base import Base, Pace, Sample, Slope
from llr.compiled import apart, loop, part
from llr.layout import OWN, THETA, H
from llr.parameter import Parameter
from llr.types import Vector
from llr.vectors import dots, move, pull

SUM, ITS_TANGENT = OWN, OWN + 1


class Table(NamedTuple):
    """The samples kept, each in its own place.

    Attributes:
        x: m × dim features.
        y: m labels.
        g: m × scores residuals as last seen.
        dg: m × scores, their tangents.
    """

    x: Vector
    y: Vector
    g: Vector
    dg: Vector


def size(own: float, scores: int, dim: int) -> int:
    """How many numbers a table takes."""
    return int(own) * (dim + 1 + 2 * scores)


@part
def _table(numbers: Vector, m: int, scores: int, dim: int) -> Table:
    y, g, dg = m * dim, m * (dim + 1), m * (dim + 1 + scores)
    return Table(
        numbers[:y].reshape(m, dim),
        numbers[y:g],
        numbers[g:dg].reshape(m, scores),
        numbers[dg:].reshape(m, scores),
    )


@loop
def _fade(v: Vector, gamma: float) -> None:
    """v ← γv."""
    for i in range(v.size):
        v[i] *= gamma


@apart
def _add(V: Vector, table: Table, at: int, sign: float, learns: bool) -> None:
    """S and dS with one place of the table more, or less."""
    x = table.x[at]
    for k in range(V.shape[1]):
        move(V[SUM, k], 1.0, sign * table.g[at, k], x)
        if learns:
            move(V[ITS_TANGENT, k], 1.0, sign * table.dg[at, k], x)


@part
def _enter(V: Vector, table: Table, m: int, sample: Sample, slope: Slope, learns: bool) -> None:
    """The new sample takes the place of the oldest."""
    at, scores, dim = sample.t % m, V.shape[1], V.shape[2]
    if sample.t >= m:
        _add(V, table, at, -1.0, learns)
    table.y[at] = sample.y
    for i in range(dim):
        table.x[at, i] = sample.x[i]
    for k in range(scores):
        table.g[at, k] = slope.g[k]
        table.dg[at, k] = slope.g_h[k] - slope.g[k] if learns else 0.0
    if at == 0 and sample.t > 0:
        for k in range(scores):
            _fade(V[SUM, k], 0.0)
            _fade(V[ITS_TANGENT, k], 0.0)
        for each in range(m):
            _add(V, table, each, 1.0, learns)
    else:
        _add(V, table, at, 1.0, learns)


@apart
def _look_again(V: Vector, table: Table, j: int, slope: Slope, exact: bool) -> None:
    """Residuals of the sample in place j, and its tangent's, at θ as it is."""
    x, y = table.x[j], table.y[j]
    for k in range(V.shape[1]):
        slope.other[k], slope.sigma[k] = dots(V[THETA, k], V[H, k], x)
    models.residual(slope.model, slope.other, y, slope.p, slope.g)
    models.residual_along(
        slope.model, exact, slope.other, slope.sigma, y, slope.p, slope.g, slope.g_other, slope.g_h
    )


@part
def step(V: Vector, numbers: Vector, sample: Sample, slope: Slope, pace: Pace) -> None:
    """Take the new sample in, look again at one in the middle, move θ and all tangents."""
    m, scores, dim = int(pace.own), V.shape[1], V.shape[2]
    table = _table(numbers, m, scores, dim)
    _enter(V, table, m, sample, slope, pace.learns)
    n = min(sample.t + 1, m)
    j = (sample.t - n // 2) % m
    _look_again(V, table, j, slope, pace.exact)
    x, share = table.x[j], pace.eta / n
    for k in range(scores):
        news, dnews = slope.g[k] - table.g[j, k], slope.g_h[k] - slope.g[k] - table.dg[j, k]
        table.g[j, k] += news
        pull(V[THETA, k], 1.0, pace.eta * news, x, share, V[SUM, k])
        if pace.learns:
            table.dg[j, k] += dnews
            pull(V[H, k], 1.0, pace.eta * (news + dnews), x, share, V[SUM, k])
            pull(V[H, k], pace.gamma, 0.0, x, share, V[ITS_TANGENT, k])
            move(V[ITS_TANGENT, k], pace.gamma, dnews, x)
        move(V[SUM, k], 1.0, news, x)
    if pace.gamma != 1.0:
        for each in range(m):
            _fade(table.dg[each], pace.gamma)


BASE = Base(
    name="saga",
    summary="stochastic gradient steadied by a table of the last samples, not damped",
    step=step,
    rows=2,
    numbers=size,
    parameter=Parameter(
        "table", "how many of the last samples are kept", "whole", 32, 1, 10_000, example=5
    ),
)
