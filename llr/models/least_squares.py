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

from llr.compiled import loop
from llr.types import Vector
from llr.vectors import dot

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
    statistics[0] += loss / alpha
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
    costs, and what θ_ridge loses to the true minimiser.
    """
    dim = theta0.size
    u = statistics[1 : 1 + dim] - theta0
    spread, directions = np.linalg.eigh(_covariance(statistics, dim))
    s = 1.0 / spread - RIDGE
    along = (directions.T @ u) ** 2
    seen = s > 1e-9 * RIDGE
    loss_of_pull = RIDGE**2 * np.sum(along[seen] / s[seen])
    return max(0.0, float(statistics[0] - 0.5 * RIDGE * (u @ u) - 0.5 * loss_of_pull))


def _covariance(statistics: Vector, dim: int) -> Vector:
    """P = U diag(D) Uᵀ."""
    U = np.eye(dim)
    rows, columns = np.triu_indices(dim, 1)
    by_column = np.lexsort((rows, columns))
    U[rows[by_column], columns[by_column]] = statistics[1 + 2 * dim :]
    covariance: Vector = (U * statistics[1 + dim : 1 + 2 * dim]) @ U.T
    return covariance
