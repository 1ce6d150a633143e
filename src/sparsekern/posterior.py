r"""Posterior draws of a sparse kernel expansion, and everything that is read from them.

Draw t holds an intercept :math:`u_t` and coefficients :math:`\beta_t` at its own few active
vectors. The union of active vectors over all draws is kept once; a draw is a row of indices into
it. Prediction averages the response over draws,
:math:`\frac1T\sum_t\mathrm{mean}(u_t+k_t(x)^\top\beta_t)`, in blocks of bounded memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from .kernels import Kernel
from .likelihoods._contract import Likelihood

_BLOCK_NUMBERS = 4_000_000  # latent values held at once
_DENSE_SHARE = 0.05  # beyond this share of non-zeros a dense product is the faster one


@dataclass(frozen=True)
class KernelExpansionPosterior:
    r"""Draws of :math:`f(x)=u+\sum_j k(x,x_j)\beta_j`.

    Attributes
    ----------
    kernel : Kernel
    likelihood : Likelihood
    rows : ndarray of shape (v,)
        Sorted training rows that are active in any draw.
    vectors : ndarray of shape (v, p)
        Their features (empty columns for a precomputed kernel).
    counts : ndarray of shape (chains, draws)
        Active vectors of each draw.
    slots : ndarray of shape (chains, draws, k)
        Indices into ``rows``; only the first ``counts`` entries hold.
    coefficients : ndarray of shape (chains, draws, k)
    intercepts : ndarray of shape (chains, draws)
    length_scales : ndarray of shape (chains, draws, p) or None
        Length scales of each draw where they are learned.
    """

    kernel: Kernel
    likelihood: Likelihood
    rows: np.ndarray
    vectors: np.ndarray
    counts: np.ndarray
    slots: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    length_scales: np.ndarray | None

    @property
    def n_draws(self) -> int:
        """Draws over all chains."""
        return self.counts.size

    def thinned(self, thin: int) -> KernelExpansionPosterior:
        """Return every ``thin``-th draw of each chain."""
        kept = slice(None, None, thin)
        scales = self.length_scales
        return replace(
            self,
            counts=self.counts[:, kept],
            slots=self.slots[:, kept],
            coefficients=self.coefficients[:, kept],
            intercepts=self.intercepts[:, kept],
            length_scales=None if scales is None else scales[:, kept],
        )

    def matrix(self) -> sparse.csr_array:
        """Return the coefficients of all draws as a sparse matrix (draws by union)."""
        counts = self.counts.ravel()
        width = self.slots.shape[-1]
        held = np.arange(width)[None, :] < counts[:, None]
        slots = self.slots.reshape(-1, width)[held]
        values = self.coefficients.reshape(-1, width)[held]
        pointer = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return sparse.csr_array((values, slots, pointer), shape=(counts.size, len(self.rows)))

    def active_probabilities(self, n_rows: int) -> np.ndarray:
        """Return the share of draws in which each training row is active."""
        width = self.slots.shape[-1]
        held = np.arange(width) < self.counts[..., None]
        visits = np.bincount(self.slots[held], minlength=len(self.rows))
        probabilities = np.zeros(n_rows)
        probabilities[self.rows] = visits[: len(self.rows)] / self.n_draws
        return probabilities

    def latent_blocks(self, features: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows of ``features``, latent draws of shape (draws, rows)), block after block."""
        step = max(1, _BLOCK_NUMBERS // max(1, self.n_draws))
        matrix = self.matrix()
        product: np.ndarray | sparse.csr_array = matrix
        if matrix.nnz > _DENSE_SHARE * self.n_draws * len(self.rows):
            product = matrix.toarray()
        for start in range(0, len(features), step):
            block = slice(start, min(start + step, len(features)))
            with np.errstate(over="ignore", invalid="ignore"):  # judged once, below
                if self.length_scales is not None:
                    latent = self._latent_by_width(matrix, features[block])
                elif self.kernel.precomputed:
                    latent = product @ np.ascontiguousarray(features[block, self.rows].T)
                else:
                    latent = product @ self.kernel.matrix(self.vectors, features[block])
                latent += self.intercepts.reshape(-1, 1)
            if not np.isfinite(latent).all():
                raise ValueError(
                    f"kernel={self.kernel.name} overflows at some rows of X: their values are too "
                    "large; check their units against the training data."
                )
            yield block, latent

    def _latent_by_width(self, matrix: sparse.csr_array, features: np.ndarray) -> np.ndarray:
        """Learned widths: draws that share one share the kernel matrix at their own vectors."""
        assert self.length_scales is not None
        scales = self.length_scales.reshape(self.n_draws, -1)
        values, group = np.unique(scales, axis=0, return_inverse=True)
        latent = np.empty((self.n_draws, len(features)))
        order = np.argsort(group.ravel(), kind="stable")
        bounds = np.searchsorted(group.ravel()[order], np.arange(len(values) + 1))
        for g, value in enumerate(values):
            members = order[bounds[g] : bounds[g + 1]]
            part = matrix[members]
            used = np.unique(part.indices)
            kernel = self.kernel.with_length_scale(value)
            latent[members] = part[:, used] @ kernel.matrix(self.vectors[used], features)
        return latent

    def mean_response(self, features: np.ndarray) -> np.ndarray:
        """Return the expected response at each row, averaged over draws."""
        out = np.empty(len(features))
        for block, latent in self.latent_blocks(features):
            out[block] = self.likelihood.mean(latent).mean(axis=0)
        return out

    def response_draws(self, features: np.ndarray) -> np.ndarray:
        """Return the expected response of every draw at each row, shape (draws, rows)."""
        out = np.empty((self.n_draws, len(features)))
        for block, latent in self.latent_blocks(features):
            out[:, block] = self.likelihood.mean(latent)
        return out

    def pointwise_log_likelihood(self, features: np.ndarray, response: np.ndarray) -> np.ndarray:
        """Return log p(y_i | draw) with shape (chains, draws, rows)."""
        out = np.empty((self.n_draws, len(features)))
        for block, latent in self.latent_blocks(features):
            out[:, block] = self.likelihood.log_likelihood(response[block], latent)
        return out.reshape(*self.counts.shape, len(features))
