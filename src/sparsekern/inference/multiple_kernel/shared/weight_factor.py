r"""The covariance of the sample weights, :math:`\Sigma_a=(\mathrm{diag}\lambda+\upsilon S)^{-1}`.

Dense: with :math:`\rho=\lambda^{-1/2}` the matrix :math:`B=I+\upsilon\,\mathrm{diag}(\rho)S
\,\mathrm{diag}(\rho)=CC^\top` has eigenvalues of at least one however sparse the weights are, and
:math:`\Sigma_a=\mathrm{diag}(\rho)B^{-1}\mathrm{diag}(\rho)`.

Low rank: for :math:`S=UU^\top` with few columns, :math:`I+\upsilon U^\top\mathrm{diag}(1/\lambda)U
=CC^\top`, :math:`W=C^{-1}U^\top\mathrm{diag}(1/\lambda)` and
:math:`\Sigma_a=\mathrm{diag}(1/\lambda)-\upsilon W^\top W`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_solve, cholesky, lapack, solve_triangular


@dataclass(frozen=True)
class DenseFactor:
    """Cholesky's factor C and rho."""

    root: np.ndarray
    reach: np.ndarray

    @classmethod
    def of(cls, gram: np.ndarray, precision: np.ndarray, noise: float) -> DenseFactor:
        """Factor."""
        reach = precision**-0.5
        inner = (noise * reach)[:, None] * gram * reach
        inner[np.diag_indices_from(inner)] += 1.0
        return cls(cholesky(inner, lower=True, overwrite_a=True, check_finite=False), reach)

    def solve(self, product: np.ndarray) -> np.ndarray:
        """Return the covariance times a vector."""
        return self.reach * cho_solve((self.root, True), self.reach * product)

    def variances(self) -> np.ndarray:
        """Return the diagonal."""
        inverse, _ = lapack.dtrtri(self.root, lower=1)
        return self.reach**2 * np.einsum("cd,cd->d", inverse, inverse)

    def log_determinant(self) -> float:
        """Return the logarithm of the covariance's determinant."""
        return float(2.0 * np.log(self.reach).sum() - 2.0 * np.log(np.diag(self.root)).sum())

    def covariances(self, kernels: np.ndarray) -> np.ndarray:
        """Return k_m' Sigma k_l for each of n rows; ``kernels`` (P, D, n)."""
        p, d, n = kernels.shape
        side_by_side = np.concatenate(list(kernels), axis=1) * self.reach[:, None]
        spread = solve_triangular(self.root, side_by_side, lower=True).reshape(d, p, n)
        return np.einsum("dmn,dkn->nmk", spread, spread, optimize=True)

    def rescaled(self, c: float) -> DenseFactor:
        """Return the factor of c times the weights."""
        return replace(self, reach=c * self.reach)


@dataclass(frozen=True)
class LowRankFactor:
    """Cholesky's factor C, W, the prior variances 1/lambda, and upsilon."""

    root: np.ndarray
    half: np.ndarray
    prior: np.ndarray
    noise: float

    @classmethod
    def of(cls, columns: np.ndarray, precision: np.ndarray, noise: float) -> LowRankFactor:
        """Factor; ``columns`` is U."""
        prior = 1.0 / precision
        scaled = prior[:, None] * columns
        inner = noise * (columns.T @ scaled)
        inner[np.diag_indices_from(inner)] += 1.0
        root = cholesky(inner, lower=True, overwrite_a=True, check_finite=False)
        return cls(root, solve_triangular(root, scaled.T, lower=True), prior, noise)

    def solve(self, product: np.ndarray) -> np.ndarray:
        """Return the covariance times a vector."""
        return self.prior * product - self.noise * (self.half.T @ (self.half @ product))

    def variances(self) -> np.ndarray:
        """Return the diagonal."""
        return self.prior - self.noise * np.einsum("cd,cd->d", self.half, self.half)

    def log_determinant(self) -> float:
        """Return the logarithm of the covariance's determinant."""
        return float(np.log(self.prior).sum() - 2.0 * np.log(np.diag(self.root)).sum())

    def covariances(self, kernels: np.ndarray) -> np.ndarray:
        """Return k_m' Sigma k_l for each of n rows; ``kernels`` (P, D, n)."""
        scaled = kernels * self.prior[:, None]
        found = np.einsum("mdn,kdn->nmk", kernels, scaled, optimize=True)
        turned = np.matmul(self.half, kernels)  # (P, R, n)
        return found - self.noise * np.einsum("mrn,krn->nmk", turned, turned, optimize=True)

    def rescaled(self, c: float) -> LowRankFactor:
        """Return the factor of c times the weights."""
        square = c * c
        return LowRankFactor(
            self.root, square * self.half, square * self.prior, self.noise / square
        )
