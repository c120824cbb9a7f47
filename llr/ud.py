"""A covariance as U·diag(D)·Uᵀ, U unit upper triangular: measured, and updated, in that form.

The textbook update of P = UDUᵀ subtracts numbers of equal size and loses half of the digits, or
its sign. Bierman's keeps every D_j ≥ 0 by construction. For a sample with direction z and
measurement variance R:

    f = Uᵀz,  v_j = D_j f_j,  α_{−1} = R,  b = 0
    for j = 0 … n−1:   α_j = α_{j−1} + f_j v_j        D_j ← D_j α_{j−1}/α_j
                       U_ij ← U_ij − b_i f_j/α_{j−1}  b_i ← b_i + U_ij v_j  (i < j, old U_ij)
                       b_j = v_j

where zᵀPz = Σ D_j f_j², b = Pz and α_{n−1} = R + zᵀPz at the end. U is an array of the columns
above its diagonal, one after the other, n(n − 1)/2 numbers.

Reference: Bierman, *Factorization Methods for Discrete Sequential Estimation*, 1977, chapter V.
"""

from llr.kernels.jit import simd_loop
from llr.kernels.vectors import dot
from llr.types import Vector


def size(n: int) -> int:
    """How many numbers U has."""
    return n * (n - 1) // 2


@simd_loop
def project(U: Vector, z: Vector, f: Vector) -> None:
    """f = Uᵀz."""
    column = 0
    for j in range(f.size):
        f[j] = z[j] + dot(U[column : column + j], z)
        column += j


@simd_loop
def update(U: Vector, D: Vector, f: Vector, b: Vector, R: float) -> float:
    """Take in the sample with this f; fills b = Pz and returns R + zᵀPz."""
    alpha, column = R, 0
    for j in range(f.size):
        v = D[j] * f[j]
        before = alpha
        alpha += f[j] * v
        D[j] *= before / alpha
        _rotate(U[column : column + j], b, -f[j] / before, v)
        b[j] = v
        column += j
    return alpha


@simd_loop
def _rotate(u: Vector, b: Vector, p: float, v: float) -> None:
    """One column of U: (u, b) ← (u + p b, b + v u)."""
    for i in range(u.size):
        old = u[i]
        u[i] = old + p * b[i]
        b[i] += v * old
