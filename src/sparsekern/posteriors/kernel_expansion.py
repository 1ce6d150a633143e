r"""Posterior draws of a sparse kernel expansion with kernels of fixed or learned width."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ..kernels import Kernel
from .expansion import ExpansionPosterior

_DENSE_SHARE = 0.05  # beyond this share of non-zeros a dense product is the faster one


@dataclass(frozen=True)
class KernelExpansionPosterior(ExpansionPosterior):
    r"""Draws of :math:`f_c(x)=u_c+\sum_l\sum_jk_l(x,x_j)\beta_{clj}` for latent functions c.

    Attributes
    ----------
    kernels : tuple of Kernel
    length_scales : ndarray of shape (chains, draws, kernels, p) or None
        Length scales of each draw where they are learned.
    """

    kernels: tuple[Kernel, ...]
    length_scales: np.ndarray | None

    def thinned(self, thin: int) -> KernelExpansionPosterior:
        """Return every ``thin``-th draw of each chain."""
        scales = self.length_scales
        fewer = super().thinned(thin)
        return replace(fewer, length_scales=None if scales is None else scales[:, ::thin])

    def _kernel_names(self) -> str:
        return ", ".join(kernel.name for kernel in self.kernels)

    def matrix(self, latent: int = 0, kernel: int = 0) -> sparse.csr_array:
        """Return one function's coefficients of one kernel as a sparse matrix (draws by union)."""
        counts = self.counts.ravel()
        width = self.slots.shape[-1]
        held = np.arange(width)[None, :] < counts[:, None]
        slots = self.slots.reshape(-1, width)[held]
        values = self.coefficients[:, :, latent, :, kernel].reshape(-1, width)[held]
        pointer = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return sparse.csr_array((values, slots, pointer), shape=(counts.size, len(self.rows)))

    def _latent(self, features: np.ndarray) -> list[np.ndarray]:
        """Return the latent functions without intercept, each (draws, rows)."""
        parts = [
            [self.matrix(c, k) for k in range(len(self.kernels))] for c in range(self.n_latents)
        ]
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
