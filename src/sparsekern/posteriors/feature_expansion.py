"""Posterior draws of kernel expansions that have features of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from arviz_stats.base import array_stats

from ..kernels.evaluate import CODES, LAPLACIAN
from ..kernels.feature_sums import expand_draws
from .datatree import TreeParts
from .expansion import ExpansionPosterior
from .names import Names


@dataclass(frozen=True)
class FeatureExpansionPosterior(ExpansionPosterior):
    r"""Draws of :math:`f_c(x)=u_c+\sum_jk_{\gamma,\eta}(x,x_j)\beta_{cj}`.

    Attributes
    ----------
    kind : int
        Code of the kernel.
    n_inputs : int
        Features of the training data.
    slab_variances : ndarray of shape (chains, draws)
        Prior variance of the coefficients.
    n_features : ndarray of shape (chains, draws)
        Included features of each draw.
    features, bandwidths : ndarray of shape (chains, draws, s)
        Which, and their :math:`\eta`; only the first ``n_features`` entries hold.
    slab : ndarray of shape (chains, draws, k) or None
        With a continuous spike: which of the coefficients are in the slab.
    """

    kind: int
    n_inputs: int
    slab_variances: np.ndarray
    n_features: np.ndarray
    features: np.ndarray
    bandwidths: np.ndarray
    slab: np.ndarray | None = None

    def thinned(self, thin: int) -> FeatureExpansionPosterior:
        """Return every ``thin``-th draw of each chain."""
        return replace(
            super().thinned(thin),
            slab_variances=self.slab_variances[:, ::thin],
            n_features=self.n_features[:, ::thin],
            features=self.features[:, ::thin],
            bandwidths=self.bandwidths[:, ::thin],
            slab=None if self.slab is None else self.slab[:, ::thin],
        )

    def active_counts(self) -> np.ndarray:
        """Return the number of active vectors of each draw, those of the slab if there is one."""
        return self.counts if self.slab is None else self.slab.sum(axis=-1)

    def _active(self) -> np.ndarray:
        return super()._active() if self.slab is None else self.slab > 0

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

    @property
    def _held(self) -> np.ndarray:
        return np.arange(self.features.shape[-1]) < self.n_features[..., None]

    def attributes(self, names: Names) -> dict[str, Any]:
        """Return what an estimator shows: active rows, and how probable each feature is."""
        included = self.included()
        inclusion = included.mean(axis=(0, 1))
        error = np.zeros(len(inclusion))
        varying = (inclusion > 0) & (inclusion < 1)
        if included.shape[1] < 4:
            error[varying] = np.nan
        else:
            for feature in np.flatnonzero(varying):
                draws = included[..., feature].astype(np.float64)
                error[feature] = array_stats.mcse(draws, method="mean")
        return super().attributes(names) | {
            "feature_inclusion_": inclusion,
            "feature_inclusion_error_": error,
            "feature_inclusion_by_chain_": included.mean(axis=1),
        }

    @staticmethod
    def combined_attributes(members: list[dict[str, Any]]) -> dict[str, Any]:
        """One-vs-rest: a feature counts as included if it is in any of the models."""
        outside = np.array([1.0 - member["feature_inclusion_"] for member in members])
        absent = np.prod(outside, axis=0)
        errors = np.array([member["feature_inclusion_error_"] for member in members])
        errors = errors * (absent / np.maximum(outside, 1e-300))
        by_chain = [1.0 - member["feature_inclusion_by_chain_"] for member in members]
        return {
            "feature_inclusion_": 1.0 - absent,
            "feature_inclusion_error_": np.sqrt(np.sum(np.square(errors), axis=0)),
            "feature_inclusion_by_chain_": 1.0 - np.prod(by_chain, axis=0),
        }

    def included(self) -> np.ndarray:
        """Return whether each feature is in each draw, shape (chains, draws, features)."""
        out = np.zeros((*self.n_features.shape, self.n_inputs + 1), dtype=bool)
        places = np.where(self._held, self.features, self.n_inputs)
        np.put_along_axis(out, places.astype(np.intp), True, axis=-1)
        return out[..., : self.n_inputs]

    @property
    def _inverse_length_scales(self) -> np.ndarray:
        r"""One over the length scale of each included feature, and zero in places beyond.

        :math:`\ell=1/\sqrt{2\eta}`, for the Laplacian kernel :math:`1/\eta`.
        """
        eta = np.where(self._held, self.bandwidths, 0.0)
        return eta if self.kind == LAPLACIAN else np.sqrt(2.0 * eta)

    def inverse_length_scale(self, feature: int) -> np.ndarray:
        """Return one over the length scale of a feature in each draw, zero where it is out."""
        return np.where(self.features == feature, self._inverse_length_scales, 0.0).sum(axis=-1)

    def _mostly_in(self) -> np.ndarray:
        """Return the features that are in at least half of the draws."""
        counts = np.bincount(self.features[self._held], minlength=self.n_inputs)
        return np.flatnonzero(counts >= 0.5 * self.n_features.size)

    def scalars(self, names: Names) -> dict[str, np.ndarray]:
        """Return scalars to judge chains by.

        The inverse of a length scale is zero while its feature is out: the kernel does not see it
        then.
        """
        scalars = super().scalars(names)
        scalars["n_features"] = self.n_features.astype(np.float64)
        scalars["slab_variance"] = self.slab_variances
        for feature in self._mostly_in():
            name = f"inverse_length_scale[{names.feature(feature)}]"
            scalars[name] = self.inverse_length_scale(feature)
        return scalars

    def add_to(self, parts: TreeParts, names: Names) -> None:
        """Add coefficients, features and length scales, which are missing where a feature is out.

        Their inverses, which chains are judged by, are zero there.
        """
        super().add_to(parts, names)
        features = np.where(self._held, self.features, -1)
        lengths = _inverse(self._inverse_length_scales)
        parts.add("sparse_features", "feature", features, "place")
        parts.add("sparse_features", "feature_length_scale", lengths, "place")
        chosen = self._mostly_in()
        if len(chosen):
            inverse = np.stack([self.inverse_length_scale(j) for j in chosen], axis=-1)
            parts.add("posterior", "length_scale", _inverse(inverse), "selected_feature")
            parts.add("posterior", "inverse_length_scale", inverse, "selected_feature")
            parts.coords["selected_feature"] = [names.feature(feature) for feature in chosen]


def _inverse(values: np.ndarray) -> np.ndarray:
    """Return one over each value, NaN for zero."""
    return np.divide(1.0, values, out=np.full(values.shape, np.nan), where=values > 0)
