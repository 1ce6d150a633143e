"""Posterior draws of kernel expansions that have features of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..kernels.evaluate import CODES
from ..kernels.feature_sums import expand_draws
from .expansion import ExpansionPosterior


@dataclass(frozen=True)
class FeatureExpansionPosterior(ExpansionPosterior):
    r"""Draws of :math:`f_c(x)=u_c+\sum_jk_{\gamma,\eta}(x,x_j)\beta_{cj}`.

    Attributes
    ----------
    kind : int
        Code of the kernel.
    n_features : ndarray of shape (chains, draws)
        Included features of each draw.
    features, bandwidths : ndarray of shape (chains, draws, s)
        Which, and their bandwidths; only the first ``n_features`` entries hold.
    slab : ndarray of shape (chains, draws, k) or None
        With a continuous spike: which of the coefficients are in the slab.
    """

    kind: int
    n_features: np.ndarray
    features: np.ndarray
    bandwidths: np.ndarray
    slab: np.ndarray | None = None

    def thinned(self, thin: int) -> FeatureExpansionPosterior:
        """Return every ``thin``-th draw of each chain."""
        return replace(
            super().thinned(thin),
            n_features=self.n_features[:, ::thin],
            features=self.features[:, ::thin],
            bandwidths=self.bandwidths[:, ::thin],
            slab=None if self.slab is None else self.slab[:, ::thin],
        )

    def active_counts(self) -> np.ndarray:
        """Return the number of active vectors of each draw, those of the slab if there is one."""
        return self.counts if self.slab is None else self.slab.sum(axis=-1)

    def active_probabilities(self, n_rows: int) -> np.ndarray:
        """Return the share of draws in which each training row is active."""
        if self.slab is None:
            return super().active_probabilities(n_rows)
        visits = np.bincount(self.slots[self.slab > 0], minlength=len(self.rows))
        probabilities = np.zeros(n_rows)
        probabilities[self.rows] = visits / self.n_draws
        return probabilities

    def _kernel_names(self) -> str:
        return next(name for name, code in CODES.items() if code == self.kind)

    def _latent(self, features: np.ndarray) -> list[np.ndarray]:
        draws, latents = self.n_draws, self.n_latents
        out = np.empty((latents, draws, len(features)))
        coefficients = self.coefficients.reshape(draws, latents, -1)
        expand_draws(
            np.ascontiguousarray(features.T), np.ascontiguousarray(self.vectors), self.kind,
            self.counts.ravel(), self.slots.reshape(draws, -1), coefficients,
            self.n_features.ravel(), self.features.reshape(draws, -1),
            self.bandwidths.reshape(draws, -1), out,
        )  # fmt: skip
        return list(out)

    def included(self, n_inputs: int) -> np.ndarray:
        """Return whether each feature is in each draw, shape (chains, draws, features)."""
        held = np.arange(self.features.shape[-1]) < self.n_features[..., None]
        out = np.zeros((*self.n_features.shape, n_inputs + 1), dtype=bool)
        places = np.where(held, self.features, n_inputs)
        np.put_along_axis(out, places.astype(np.intp), True, axis=-1)
        return out[..., :n_inputs]

    def bandwidth_draws(self, feature: int) -> np.ndarray:
        """Return the bandwidth of a feature in each draw, zero where it is not included."""
        held = np.arange(self.features.shape[-1]) < self.n_features[..., None]
        return np.where(held & (self.features == feature), self.bandwidths, 0.0).sum(axis=-1)
