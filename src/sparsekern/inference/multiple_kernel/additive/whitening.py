r"""Kernels as features: :math:`K=ZZ^\top` by a pivoted Cholesky factor.

With pivot rows :math:`\pi` and :math:`K_{\pi\pi}=LL^\top` the features of any row are
:math:`L^{-1}k_\pi`. The factorisation ends where what is left of the diagonal is rounding, so a
kernel of low rank has few features, and new rows are compared with the pivots only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, solve_triangular

_LEFT_OVER = 1e-10  # of the largest diagonal entry


@dataclass(frozen=True)
class Whitening:
    """Pivots among the rows of a kernel matrix, and the factor at them."""

    pivots: np.ndarray
    root: np.ndarray

    @classmethod
    def of(cls, kernel: np.ndarray) -> Whitening:
        """Factor a symmetric positive semi-definite matrix; it is left as it was."""
        largest = max(float(np.diag(kernel).max()), np.finfo(np.float64).tiny)
        factor, order, rank, _ = lapack.dpstrf(kernel, lower=1, tol=_LEFT_OVER * largest)
        root = np.tril(factor[:rank, :rank])
        return cls(order[:rank].astype(np.int64) - 1, np.ascontiguousarray(root))

    def features(self, cross: np.ndarray) -> np.ndarray:
        """Return features of rows from their kernel with all rows factored, shape (n, rank)."""
        return solve_triangular(self.root, cross[:, self.pivots].T, lower=True).T
