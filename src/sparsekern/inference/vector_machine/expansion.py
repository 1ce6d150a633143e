"""A fitted function: a bias and a few kernel columns, with the covariance of their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from ...kernels.resolve import Kernel

_BLOCK_NUMBERS = 4_000_000  # of a kernel block held at once


def kernel_columns(
    kernel: Kernel, features: np.ndarray, vectors: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Return the kernel between rows of ``features`` and vectors, a row for each vector.

    ``rows`` are the vectors' training rows, for a precomputed kernel.
    """
    if kernel.precomputed:
        return features[:, rows].T
    if kernel.function is None:  # symmetric; the long side of the loop is then the inner one
        return kernel.matrix(vectors, features)
    return kernel.matrix(features, vectors).T


def refuse_overflow(kernel: Kernel) -> NoReturn:
    """Refuse new rows whose latent moments are no numbers."""
    raise ValueError(
        f"kernel={kernel.name} overflows at some rows of X: their values are too large; check "
        "their units against the training data."
    )


@dataclass(frozen=True)
class KernelExpansion:
    r"""Normal latent values :math:`f(x)=w_0+\sum_aw_a\,\epsilon_a\,\phi(x,x_a)`.

    Attributes
    ----------
    kernel : Kernel
    rows : ndarray of shape (m,)
        Training rows of the columns.
    vectors : ndarray of shape (m, p)
        Their features (nothing for a precomputed kernel).
    signs : ndarray of shape (m,)
    mean : ndarray of shape (m + 1, outputs)
    inverse : ndarray of shape (m + 1, m + 1)
        Lower triangular; :math:`\Sigma=C^{-\top}C^{-1}`.
    """

    kernel: Kernel
    rows: np.ndarray
    vectors: np.ndarray
    signs: np.ndarray
    mean: np.ndarray
    inverse: np.ndarray

    def columns(self, features: np.ndarray) -> np.ndarray:
        """Return the design at new rows, bias first, a row for each column."""
        out = np.ones((len(self.rows) + 1, len(features)))
        if len(self.rows):
            values = kernel_columns(self.kernel, features, self.vectors, self.rows)
            np.multiply(values, self.signs[:, None], out=out[1:])
        return out

    def moments(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return latent means, shape (n, outputs), and the variance of each row, shape (n,)."""
        n = len(features)
        mean, variance = np.empty((n, self.mean.shape[1])), np.empty(n)
        step = max(1, _BLOCK_NUMBERS // (len(self.rows) + 1))
        for start in range(0, n, step):
            block = slice(start, start + step)
            with np.errstate(over="ignore", invalid="ignore"):  # judged once, below
                design = self.columns(features[block])
                mean[block] = design.T @ self.mean
                projected = self.inverse @ design
                variance[block] = np.einsum("an,an->n", projected, projected)
        if not (np.isfinite(mean).all() and np.isfinite(variance).all()):
            refuse_overflow(self.kernel)
        return mean, variance
