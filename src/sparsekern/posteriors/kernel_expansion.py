r"""Posterior draws of a sparse kernel expansion with kernels of fixed or learned width."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..kernels import Kernel
from .datatree import TreeParts
from .expansion import ExpansionPosterior
from .names import Names

_DENSE_SHARE = 0.05  # beyond this share of non-zeros a dense product is the faster one


@dataclass(frozen=True)
class KernelExpansionPosterior(ExpansionPosterior):
    r"""Draws of :math:`f_c(x)=u_c+\sum_l\sum_jk_l(x,x_j)\beta_{clj}` for latent functions c.

    Attributes
    ----------
    kernels : tuple of Kernel
    length_scales : ndarray of shape (chains, draws, kernels, p) or None
        Length scales of each draw where they are learned.
    shared_width : bool
        Whether a kernel's length scales are learned as one number.
    prior_variances : ndarray of shape (chains, draws, 1 + kernels) or None
        Prior variances of intercept and coefficients where they are learned.
    """

    kernels: tuple[Kernel, ...]
    length_scales: np.ndarray | None
    shared_width: bool
    prior_variances: np.ndarray | None

    def thinned(self, thin: int) -> KernelExpansionPosterior:
        """Return every ``thin``-th draw of each chain."""
        scales, variances = self.length_scales, self.prior_variances
        return replace(
            super().thinned(thin),
            length_scales=None if scales is None else scales[:, ::thin],
            prior_variances=None if variances is None else variances[:, ::thin],
        )

    def mean_length_scale(self) -> np.ndarray | None:
        """Return the length scales of the kernel, or kernels, averaged over draws if learned."""
        if not any(kernel.stationary for kernel in self.kernels):
            return None
        scales = np.stack([kernel.length_scale for kernel in self.kernels])
        if self.length_scales is not None:
            scales = self.length_scales.mean(axis=(0, 1))
        return scales if len(self.kernels) > 1 else scales[0]

    def amplitudes(self) -> np.ndarray:
        """Return the amplitude of every kernel, shape (chains, draws, kernels)."""
        assert self.prior_variances is not None
        return np.sqrt(self.prior_variances[..., 1:])

    def attributes(self, names: Names) -> dict[str, Any]:
        """Return what an estimator shows: active rows, widths and, of several, the kernels."""
        found = super().attributes(names) | {"length_scale_": self.mean_length_scale()}
        if len(self.kernels) > 1:
            amplitudes = self.amplitudes()
            found["kernel_weights_"] = amplitudes.mean(axis=(0, 1))
            found["kernel_inclusion_"] = (amplitudes > 0).mean(axis=(0, 1))
        return found

    @staticmethod
    def combined_attributes(members: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the widths and kernels of one-vs-rest models, the models first."""
        names = ("length_scale_", "kernel_weights_", "kernel_inclusion_")
        return {
            name: None if members[0][name] is None else np.stack([m[name] for m in members])
            for name in names
            if name in members[0]
        }

    def scalars(self, names: Names) -> dict[str, np.ndarray]:
        """Return scalars to judge chains by, those of the prior and the widths included."""
        scalars = super().scalars(names)
        variances = self.prior_variances
        if variances is not None:
            if len(self.kernels) == 1:
                scalars["scale"] = 1.0 / variances[..., 1]
            else:
                for number in range(len(self.kernels)):
                    scalars[f"amplitude[{number}]"] = np.sqrt(variances[..., number + 1])
            scalars["intercept_precision"] = 1.0 / variances[..., 0]
        return scalars | self._width_scalars(names)

    def _width_scalars(self, names: Names) -> dict[str, np.ndarray]:
        """Return the learned widths by name; kernels are numbered where there are several."""
        scalars: dict[str, np.ndarray] = {}
        if self.length_scales is None:
            return scalars
        for number, kernel in enumerate(self.kernels):
            if not kernel.stationary:
                continue
            prefix = [str(number)] if len(self.kernels) > 1 else []
            seen = np.flatnonzero(np.isfinite(kernel.length_scale))
            for j in seen[:1] if self.shared_width else seen:
                label = ", ".join(prefix + ([] if self.shared_width else [names.feature(j)]))
                name = f"length_scale[{label}]" if label else "length_scale"
                scalars[name] = self.length_scales[..., number, j]
        return scalars

    def add_to(self, parts: TreeParts, names: Names) -> None:
        """Add coefficients, amplitudes and widths; a width is missing where there is none."""
        super().add_to(parts, names)
        several = len(self.kernels) > 1
        if several and self.prior_variances is not None:
            parts.add("posterior", "amplitude", self.amplitudes(), "kernel")
        if self.length_scales is None or "length_scale" in parts.groups["posterior"]:
            return
        seen = [kernel.stationary & np.isfinite(kernel.length_scale) for kernel in self.kernels]
        scales = np.where(np.array(seen), self.length_scales, np.nan)
        dims = ("kernel", "feature") if several else ("feature",)
        parts.add("posterior", "length_scale", scales if several else scales[:, :, 0], *dims)
        parts.coords["feature"] = names.feature_labels(scales.shape[-1])

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
