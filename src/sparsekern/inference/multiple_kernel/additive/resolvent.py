r"""Solutions with :math:`C_o=v_oI+A` for several noise variances and one matrix A.

One factorisation serves all outputs: Cholesky's where they have the same noise, else the
eigendecomposition of A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, eigh, lapack


@dataclass(frozen=True)
class Resolvent:
    r"""What a bound needs of :math:`C_o^{-1}`.

    Attributes
    ----------
    log_determinants : ndarray of shape (L,)
    solutions : ndarray of shape (N, L)
        :math:`C_o^{-1}t_o`.
    inverse_sum : ndarray of shape (N, N)
        :math:`\sum_oC_o^{-1}`.
    traces : ndarray of shape (L,)
        :math:`\mathrm{tr}\,C_o^{-1}`.
    """

    log_determinants: np.ndarray
    solutions: np.ndarray
    inverse_sum: np.ndarray
    traces: np.ndarray


def shared_root(matrix: np.ndarray, noise: np.ndarray) -> np.ndarray | None:
    """Return Cholesky's factor of v I + A where it serves all outputs.

    None where noise variances differ, or where rounding has left A with eigenvalues below -v: the
    eigendecomposition then mends it.
    """
    if np.ptp(noise) > 0:
        return None
    inner = matrix.copy()
    inner[np.diag_indices_from(inner)] += noise[0]
    try:
        return cholesky(inner, lower=True, overwrite_a=True)
    except np.linalg.LinAlgError:
        return None


def resolve(matrix: np.ndarray, noise: np.ndarray, targets: np.ndarray) -> Resolvent:
    """Solve for all outputs; ``matrix`` is symmetric and is not kept."""
    n_outputs = len(noise)
    root = shared_root(matrix, noise)
    if root is not None:
        solutions = cho_solve((root, True), targets)
        log_determinant = 2.0 * np.log(np.diag(root)).sum()
        lower, _ = lapack.dpotri(root, lower=1)
        inverse = np.tril(lower) + np.tril(lower, -1).T
        trace = np.trace(inverse)
        return Resolvent(
            np.full(n_outputs, log_determinant),
            solutions,
            n_outputs * inverse,
            np.full(n_outputs, trace),
        )
    values, vectors = eigh(matrix, check_finite=False)
    shifted = np.maximum(values, 0.0)[:, None] + noise
    solutions = vectors @ ((vectors.T @ targets) / shifted)
    inverse = (vectors * (1.0 / shifted).sum(axis=1)) @ vectors.T
    return Resolvent(np.log(shifted).sum(axis=0), solutions, inverse, (1.0 / shifted).sum(axis=0))
