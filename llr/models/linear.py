"""Linear regression: ℓ = −½(y − θ·x)² (Section 3.1, R15).

**The comparator** (R17, R18) is recursive least squares.

The running maximum likelihood minimises ½Σ(y_s − θ·x_s)² + ½ε|θ − θ_0|² over the past, ε = 1e−6.
Its covariance P = (εI + Σ x xᵀ)⁻¹ starts at 1e6·I, and the textbook update of P loses half of the
digits there. So P is kept as U·diag(D)·Uᵀ and updated in that form (`llr.ud`). With b = Px and
α = 1/w + xᵀPx, w the weight of the sample and 1 in what follows,

    θ ← θ + (y − θ·x) b/α

and the minimum of the objective is a sum of positive terms, J = ½Σ (y_s − θ_s·x_s)²/α_s: no
cancellation however good the fit.

**The best fixed θ.** With u = θ − θ_0 and S = Σ x xᵀ the least loss without the ridge is

    best = J − ½ε|u|² − ½ε² uᵀS⁺u

(what the ridge itself costs, and what θ loses to the true minimiser). Let Q = εP, whose eigenvalues
q = ε/(s + ε) lie in (0, 1], s those of S. A direction never seen has s = 0, q = 1, and no part in
u, for u = PΣx(y − θ_0·x). In the others ε/s = q/(1 − q), a geometric series, so

    ε uᵀS⁺u = m_1 + m_2 + … + m_{n−1} + rest,   m_k = uᵀQᵏu,   rest = Σ_i u_i² q_iⁿ/(1 − q_i)

where m_n is known: it costs O(d²) to multiply by P = UDUᵀ. The series ends as soon as

    ½ε (1 + 1e4) m_n ≤ 1e−12·J

In directions with s > 1e−4·ε, 1/(1 − q) < 1 + 1e4, so they make an error of at most 1e−12·J in
`best`; J itself, a rounded sum, is hardly known better. A direction counts as seen from s > 1e−9·ε
on: one below 1e−4·ε (1e−10 in all of the stream) makes an error of at most 1e−7·J, and of nothing
near that unless s is next to 1e−9·ε. A direction that does not count as seen has no part in u but
rounding errors: each of the n − 1 terms holds u_i² too much, m_n holds as much, so that the error
is below the first bound. In such directions θ trembles the more the longer the stream, hence 1e4
and not 1e9. Features that are always 0, equal, or one-hot beside a constant end the series within
a few terms. What does not end it is a direction that was seen, but barely (0 < s < 1e−4 or so,
and u not small there): then only the eigenvalues of P tell, in O(d³), and `quick` leaves it to
`exact`.

**With an intercept** (R23) x is (x, 1), one coordinate more, which starts at 0; how many numbers
the statistics have tells whether it is so.

Layout of the statistics: J, θ (d), D (d), then the columns of U above the diagonal.
"""

import numpy as np

from llr import ud
from llr.kernels.jit import REAL, VECTOR, inline_jit, kernel, simd_loop
from llr.kernels.vectors import dot, move
from llr.models.model import Comparator, Model
from llr.types import Vector

RIDGE = 1e-6
SEEN, KNOWN = 1e-9, 1e-4
"""Eigenvalues of S from which on a direction counts as seen, as known, in units of the ridge."""
MOST_OF_REST = 1.0 + 1.0 / KNOWN
EXACT_TO = 1e-12
LOOKS = 5
"""How often the series is looked at for its end, two terms further each time."""


def size(dim: int) -> int:
    """How many numbers the statistics of `dim` features take."""
    return 1 + 2 * dim + dim * (dim - 1) // 2


def size_with_intercept(dim: int) -> int:
    """The same with an intercept."""
    return size(dim + 1)


def _coordinates(statistics: Vector, theta0: Vector) -> int:
    """How many coordinates are compared: the features, and an intercept if there is one."""
    dim = theta0.size
    return dim if statistics.size == size(dim) else dim + 1


def _start_of(statistics: Vector, theta0: Vector) -> Vector:
    """θ_0 of all coordinates: an intercept starts at 0."""
    return theta0 if _coordinates(statistics, theta0) == theta0.size else np.append(theta0, 0.0)


def start(statistics: Vector, theta0: Vector) -> None:
    """R17: pulled to θ_0, with P = I/ε."""
    theta0 = _start_of(statistics, theta0)
    dim = theta0.size
    statistics[:] = 0.0
    statistics[1 : 1 + dim] = theta0
    statistics[1 + dim : 1 + 2 * dim] = 1.0 / RIDGE


@inline_jit
def observe(statistics: Vector, room: Vector, x: Vector, y: float, w: float) -> float:
    """Loss of the past's least squares on (x, y); then the statistics take the sample in."""
    d = x.size
    if statistics.size == 1 + 2 * d + d * (d - 1) // 2:
        return _observe(statistics, room, x, y, w)
    z = room[2 * (d + 1) : 3 * (d + 1)]
    for i in range(d):
        z[i] = x[i]
    z[d] = 1.0
    return _observe(statistics, room, z, y, w)


@simd_loop
def _observe(statistics: Vector, room: Vector, x: Vector, y: float, w: float) -> float:
    dim = x.size
    theta = statistics[1 : 1 + dim]
    D = statistics[1 + dim : 1 + 2 * dim]
    f, b = room[:dim], room[dim : 2 * dim]
    error = y - dot(theta, x)
    loss = 0.5 * error * error
    more = 1.0 / w

    U = statistics[1 + 2 * dim :]
    ud.project(U, x, f)
    alpha = ud.update(U, D, f, b, more)
    gain = error / alpha
    for j in range(dim):
        theta[j] += gain * b[j]
    statistics[0] += loss / alpha + 0.0 * alpha  # an infinite α must not pass unnoticed
    return w * loss


def best(statistics: Vector, theta0: Vector, t: int) -> float:
    """R18: min over θ of Σ ½(y_s − θ·x_s)², without the ridge; O(d³) where `quick` does not tell.

    A direction in which Σ (x·v)² stays far below ε is not told from one never seen: there the
    minimum of the ridge's objective stands.
    """
    found = quick(statistics, theta0, t)
    return exact(statistics, theta0) if found is None else found


def quick(statistics: Vector, theta0: Vector, t: int) -> float | None:
    """`best` in O(d²), None where its bound on the error does not hold."""
    room = np.empty(2 * _coordinates(statistics, theta0))
    found: float = _by_series(statistics, theta0, room)
    return None if found < 0.0 else found


def exact(statistics: Vector, theta0: Vector) -> float:
    """`best` by the eigenvalues of P, O(d³), whatever they are."""
    theta0 = _start_of(statistics, theta0)
    dim = theta0.size
    u = statistics[1 : 1 + dim] - theta0
    of_ridge = 0.5 * RIDGE * float(u @ u + RIDGE * _pull(_covariance(statistics, dim), u))
    return max(0.0, float(statistics[0]) - of_ridge)


@kernel(REAL(VECTOR, VECTOR, VECTOR), long=False)
def _by_series(statistics: Vector, theta0: Vector, room: Vector) -> float:
    """J less what the ridge costs, term by term, until the rest is nothing; else −1.

    The room is twice as long as there are coordinates.
    """
    dim = room.size // 2
    J = statistics[0]
    D = statistics[1 + dim : 1 + 2 * dim]
    v, half = room[:dim], room[dim:]
    for j in range(dim):
        v[j] = statistics[1 + j] - (theta0[j] if j < theta0.size else 0.0)
    cost = dot(v, v)
    for _ in range(LOOKS):
        odd, column = 0.0, 1 + 2 * dim
        for j in range(dim):  # half = εDUᵀv, so that vᵀQv = (Uᵀv)ᵀ half
            f = v[j] + dot(statistics[column : column + j], v)
            half[j] = RIDGE * D[j] * f
            odd += half[j] * f
            column += j
        if 0.5 * RIDGE * MOST_OF_REST * odd <= EXACT_TO * J:
            return float(max(0.0, J - 0.5 * RIDGE * cost))
        column = 1 + 2 * dim
        for j in range(dim):  # v ← Qv = U half
            v[j] = half[j]
            move(v, 1.0, half[j], statistics[column : column + j])
            column += j
        cost += odd + dot(v, v)
    return -1.0


def _pull(P: Vector, u: Vector) -> float:
    """uᵀS⁺u where S = P⁻¹ − εI; directions never seen have no part in u."""
    spread, directions = np.linalg.eigh(P)
    s = 1.0 / np.maximum(spread, np.finfo(float).tiny) - RIDGE
    seen = s > SEEN * RIDGE
    return float(np.sum((directions.T @ u)[seen] ** 2 / s[seen]))


def _covariance(statistics: Vector, dim: int) -> Vector:
    """P = U diag(D) Uᵀ."""
    U = np.eye(dim)
    rows, columns = np.triu_indices(dim, 1)
    by_column = np.lexsort((rows, columns))
    U[rows[by_column], columns[by_column]] = statistics[1 + 2 * dim :]
    covariance: Vector = (U * statistics[1 + dim : 1 + 2 * dim]) @ U.T
    return covariance


@inline_jit
def loss(s: float, y: float, p: float) -> float:
    """½(y − s)²."""
    return 0.5 * (y - s) * (y - s)


@inline_jit
def residual(s: float, y: float, p: float) -> float:
    """y − s."""
    return y - s


@inline_jit
def curvature(s: float, y: float, p: float) -> float:
    """1."""
    return 1.0


@inline_jit
def implicit(s: float, q: float, r: float, y: float, p: float) -> tuple[float, float]:
    """k = r(y − s)/(1 + rq), finite even where rq is not."""
    return (y - s) / (1.0 / r + q), r * q


@inline_jit
def mean(s: float, p: float) -> float:
    """The score itself."""
    return s


@inline_jit
def admits(y: float, p: float) -> bool:
    """Every finite y."""
    return True


MODEL = Model(
    name="linear",
    summary="a number from features, by least squares",
    domain="any finite number",
    loss=loss,
    residual=residual,
    curvature=curvature,
    mean=mean,
    admits=admits,
    implicit=implicit,
    comparator=Comparator(
        size=size,
        size_with_intercept=size_with_intercept,
        start=start,
        observe=observe,
        best=best,
        quick=quick,
    ),
)
