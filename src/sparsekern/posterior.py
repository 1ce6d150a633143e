r"""Posterior draws of a sparse kernel expansion, and everything that is read from them.

Draw t holds an intercept :math:`u_t` and coefficients :math:`\beta_{lt}` of each kernel at its own
few active vectors. The union of active vectors over all draws is kept once; a draw is a row of
indices into it. Prediction averages the response over draws,
:math:`\frac1T\sum_t\mathrm{mean}(u_t+\sum_lk_{lt}(x)^\top\beta_{lt})`, in blocks of bounded memory.
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
    r"""Draws of :math:`f_c(x)=u_c+\sum_l\sum_jk_l(x,x_j)\beta_{clj}` for latent functions c.

    Attributes
    ----------
    kernels : tuple of Kernel
    likelihood : Likelihood
    rows : ndarray of shape (v,)
        Sorted training rows that are active in any draw.
    vectors : ndarray of shape (v, p)
        Their features (empty columns for a precomputed kernel).
    counts : ndarray of shape (chains, draws)
        Active vectors of each draw.
    slots : ndarray of shape (chains, draws, k)
        Indices into ``rows``; only the first ``counts`` entries hold.
    coefficients : ndarray of shape (chains, draws, latents, k, kernels)
    intercepts : ndarray of shape (chains, draws, latents)
    length_scales : ndarray of shape (chains, draws, kernels, p) or None
        Length scales of each draw where they are learned.
    noise_variances : ndarray of shape (chains, draws)
        Variance of the noise, one where it is known.
    parameters : ndarray of shape (chains, draws, r)
        The likelihood's own parameters.
    """

    kernels: tuple[Kernel, ...]
    likelihood: Likelihood
    rows: np.ndarray
    vectors: np.ndarray
    counts: np.ndarray
    slots: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    length_scales: np.ndarray | None
    noise_variances: np.ndarray
    parameters: np.ndarray

    @property
    def n_draws(self) -> int:
        """Draws over all chains."""
        return self.counts.size

    @property
    def n_latents(self) -> int:
        """Latent functions of each draw."""
        return self.intercepts.shape[-1]

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
            noise_variances=self.noise_variances[:, kept],
            parameters=self.parameters[:, kept],
        )

    def matrix(self, latent: int = 0, kernel: int = 0) -> sparse.csr_array:
        """Return one function's coefficients of one kernel as a sparse matrix (draws by union)."""
        counts = self.counts.ravel()
        width = self.slots.shape[-1]
        held = np.arange(width)[None, :] < counts[:, None]
        slots = self.slots.reshape(-1, width)[held]
        values = self.coefficients[:, :, latent, :, kernel].reshape(-1, width)[held]
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
        """Yield (rows of ``features``, latent draws of shape (draws, rows)), block after block.

        With several latent functions the latent draws have a third axis.
        """
        latents = range(self.n_latents)
        step = max(1, _BLOCK_NUMBERS // max(1, self.n_draws * self.n_latents))
        parts = [[self.matrix(c, k) for k in range(len(self.kernels))] for c in latents]
        for start in range(0, len(features), step):
            block = slice(start, min(start + step, len(features)))
            with np.errstate(over="ignore", invalid="ignore"):  # judged once, below
                latent = np.stack(self._latent(parts, features[block]), axis=-1)
                latent += self.intercepts.reshape(-1, 1, self.n_latents)
            if not np.isfinite(latent).all():
                names = ", ".join(kernel.name for kernel in self.kernels)
                raise ValueError(
                    f"kernel={names} overflows at some rows of X: their values are too "
                    "large; check their units against the training data."
                )
            yield block, latent[..., 0] if self.n_latents == 1 else latent

    def _latent(
        self, parts: list[list[sparse.csr_array]], features: np.ndarray
    ) -> list[np.ndarray]:
        """Return the latent functions without intercept, each (draws, rows)."""
        sums = [np.zeros((self.n_draws, len(features))) for _ in parts]
        for number, kernel in enumerate(self.kernels):
            matrices = [part[number] for part in parts]
            if self.length_scales is not None:
                self._add_by_width(sums, matrices, number, features)
                continue
            if kernel.precomputed:
                values = np.ascontiguousarray(features[:, self.rows].T)
            else:
                values = kernel.matrix(self.vectors, features)
            for total, matrix in zip(sums, matrices, strict=True):
                dense = matrix.nnz > _DENSE_SHARE * self.n_draws * len(self.rows)
                total += (matrix.toarray() if dense else matrix) @ values
        return sums

    def _add_by_width(
        self,
        sums: list[np.ndarray],
        matrices: list[sparse.csr_array],
        number: int,
        features: np.ndarray,
    ) -> None:
        """Learned widths: draws that share one share the kernel matrix at their own vectors."""
        assert self.length_scales is not None
        scales = self.length_scales[:, :, number].reshape(self.n_draws, -1)
        values, group = np.unique(scales, axis=0, return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
        bounds = np.searchsorted(group.ravel()[order], np.arange(len(values) + 1))
        for g, value in enumerate(values):
            members = order[bounds[g] : bounds[g + 1]]
            parts = [matrix[members] for matrix in matrices]
            used = np.unique(np.concatenate([part.indices for part in parts]))
            kernel = self.kernels[number].with_length_scale(value)
            columns = kernel.matrix(self.vectors[used], features)
            for total, part in zip(sums, parts, strict=True):
                total[members] += part[:, used] @ columns

    def mean_response(self, features: np.ndarray) -> np.ndarray:
        """Return the expected response at each row, averaged over draws."""
        blocks = [self.likelihood.mean(f).mean(axis=0) for _, f in self.latent_blocks(features)]
        return np.concatenate(blocks)

    def response_draws(self, features: np.ndarray) -> np.ndarray:
        """Return the expected response of every draw at each row, shape (draws, rows[, ..])."""
        blocks = [self.likelihood.mean(latent) for _, latent in self.latent_blocks(features)]
        return np.concatenate(blocks, axis=1)

    def pointwise_log_likelihood(self, features: np.ndarray, response: np.ndarray) -> np.ndarray:
        """Return log p(y_i | draw) with shape (chains, draws, rows)."""
        out = np.empty((self.n_draws, len(features)))
        variance = self.noise_variances.reshape(-1, 1)
        parameters = self.parameters.reshape(self.n_draws, 1, -1)
        for block, latent in self.latent_blocks(features):
            out[:, block] = self.likelihood.log_likelihood(
                response[block], latent, variance, parameters
            )
        return out.reshape(*self.counts.shape, len(features))
