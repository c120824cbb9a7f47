"""Least squares as the samples come: the exact comparator of linear regression (R17, R18).

The running maximum likelihood minimises ½Σ(y_s − θ·x_s)² + ½ε|θ − θ_0|² over the past, ε = 1e−6.
Its covariance P = (εI + Σ x xᵀ)⁻¹ starts at 1e6·I, and the textbook update of P loses half of the
digits there. So P is kept as U·diag(D)·Uᵀ, U unit upper triangular, and updated in that form:

    f = Uᵀx,  v_j = D_j f_j,  α_{−1} = 1,  b = 0
    for j = 0 … d−1:   α_j = α_{j−1} + f_j v_j        D_j ← D_j α_{j−1}/α_j
                       U_ij ← U_ij − b_i f_j/α_{j−1}  b_i ← b_i + U_ij v_j  (i < j, old U_ij)
                       b_j = v_j
    θ ← θ + (y − θ·x) b/α_{d−1}

where b = Px at the end. α_{d−1} = 1 + xᵀPx also gives the minimum of the objective as a sum of
positive terms, J = ½Σ (y_s − θ_s·x_s)²/α_s: no cancellation however good the fit.

Layout of the statistics: J, θ (d), D (d), then the columns of U above the diagonal.

Reference: Bierman, *Factorization Methods for Discrete Sequential Estimation*, 1977, chapter V.
"""

import numpy as np

from llr.compiled import FOUR_REALS, VECTOR, kernel, loop
from llr.types import Vector
from llr.vectors import dot, move

RIDGE = 1e-6


def size(dim: int) -> int:
    """How many numbers the statistics of `dim` features take."""
    return 1 + 2 * dim + dim * (dim - 1) // 2


def start(statistics: Vector, theta0: Vector) -> None:
    """R17: pulled to θ_0, with P = I/ε."""
    dim = theta0.size
    statistics[:] = 0.0
    statistics[1 : 1 + dim] = theta0
    statistics[1 + dim : 1 + 2 * dim] = 1.0 / RIDGE


@loop
def observe(statistics: Vector, room: Vector, x: Vector, y: float, t: int) -> float:
    """Loss of the past's least squares on (x, y); then the statistics take the sample in."""
    dim = x.size
    theta = statistics[1 : 1 + dim]
    D = statistics[1 + dim : 1 + 2 * dim]
    f, b = room[:dim], room[dim:]
    error = y - dot(theta, x)
    loss = 0.5 * error * error

    alpha, column = 1.0, 1 + 2 * dim
    for j in range(dim):
        u = statistics[column : column + j]
        f[j] = x[j] + dot(u, x)
        column += j
    column = 1 + 2 * dim
    for j in range(dim):
        v = D[j] * f[j]
        before = alpha
        alpha += f[j] * v
        D[j] *= before / alpha
        _rotate(statistics[column : column + j], b, -f[j] / before, v)
        b[j] = v
        column += j
    gain = error / alpha
    for j in range(dim):
        theta[j] += gain * b[j]
    statistics[0] += loss / alpha + 0.0 * alpha  # an infinite α must not pass unnoticed
    return loss


@loop
def _rotate(u: Vector, b: Vector, p: float, v: float) -> None:
    """One column of U: (u, b) ← (u + p b, b + v u)."""
    for i in range(u.size):
        old = u[i]
        u[i] = old + p * b[i]
        b[i] += v * old


def best(statistics: Vector, theta0: Vector, t: int) -> float:
    """R18: min over θ of Σ ½(y_s − θ·x_s)², without the ridge.

    With u = θ_ridge − θ_0 and S = Σ x xᵀ it is J − ½ε|u|² − ½ε² uᵀS⁺u: what the ridge itself
    costs, and what θ_ridge loses to the true minimiser. A direction in which Σ (x·v)² stays far
    below ε is not told from one never seen: there the minimum of the ridge's objective stands.
    """
    dim = theta0.size
    room = np.empty(3 * dim)
    trace, distance, once, twice = _weigh(statistics, theta0, room)
    if RIDGE * trace < 1e-4:  # every direction is well known: S⁻¹ = P + εP² to 8 digits
        pull = once + RIDGE * twice
    else:
        pull = _pull(_covariance(statistics, dim), room[:dim])
    of_ridge = 0.5 * RIDGE * float(distance) + 0.5 * RIDGE**2 * float(pull)
    return max(0.0, float(statistics[0]) - of_ridge)


@kernel(FOUR_REALS(VECTOR, VECTOR, VECTOR), long=False)
def _weigh(statistics: Vector, theta0: Vector, room: Vector) -> tuple[float, float, float, float]:
    """The trace of P, |u|², uᵀPu and |Pu|², with u left at the start of the room."""
    dim = theta0.size
    D = statistics[1 + dim : 1 + 2 * dim]
    u, v, Pu = room[:dim], room[dim : 2 * dim], room[2 * dim :]
    for j in range(dim):
        u[j] = statistics[1 + j] - theta0[j]
    trace, distance, once, twice = 0.0, dot(u, u), 0.0, 0.0
    column = 1 + 2 * dim
    for j in range(dim):
        above = statistics[column : column + j]
        v[j] = D[j] * (u[j] + dot(above, u))
        trace += D[j] * (1.0 + dot(above, above))
        column += j
    column = 1 + 2 * dim
    for j in range(dim):
        Pu[j] = v[j]
        move(Pu, 1.0, v[j], statistics[column : column + j])
        column += j
    for j in range(dim):
        once += u[j] * Pu[j]
        twice += Pu[j] * Pu[j]
    return trace, distance, once, twice


def _pull(P: Vector, u: Vector) -> float:
    """uᵀS⁺u where S = P⁻¹ − εI; directions never seen have no part in u."""
    spread, directions = np.linalg.eigh(P)
    s = 1.0 / np.maximum(spread, np.finfo(float).tiny) - RIDGE
    seen = s > 1e-9 * RIDGE
    return float(np.sum((directions.T @ u)[seen] ** 2 / s[seen]))


def _covariance(statistics: Vector, dim: int) -> Vector:
    """P = U diag(D) Uᵀ."""
    U = np.eye(dim)
    rows, columns = np.triu_indices(dim, 1)
    by_column = np.lexsort((rows, columns))
    U[rows[by_column], columns[by_column]] = statistics[1 + 2 * dim :]
    covariance: Vector = (U * statistics[1 + dim : 1 + 2 * dim]) @ U.T
    return covariance
