"""Predictions of the kernel projection classifier, and where rows lie in its components."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.base import TransformerMixin

from ...posteriors.projection import ProjectionPosterior
from ..shared.class_face import ClassFace


class ProjectionPrediction(TransformerMixin, ClassFace):
    """Predictions from posterior draws on kernel principal components."""

    projection: bool
    _prepare: Any
    _is_precomputed: Any
    _draws: ProjectionPosterior

    def _mean_response(self, X: Any) -> np.ndarray:
        columns = self._posterior_columns(X)
        found = self._draws.probabilities(columns)
        return found[:, 1] if found.shape[1] == 2 else found

    def _posterior_columns(self, X: Any) -> np.ndarray:
        features = self._prepare(X)  # refuses an estimator that is not fitted
        return self._draws.columns(features)

    def _link(self, probability: np.ndarray) -> np.ndarray:
        return logit(probability)

    def _response_draws(self, X: Any, thin: int) -> np.ndarray:
        columns = self._posterior_columns(X)
        found = self._draws.thinned(thin).probability_draws(columns)
        return found[:, :, 1] if found.shape[2] == 2 else found

    def transform(self, X: Any) -> np.ndarray:
        """Return the kernel principal components of rows.

        With ``projection=False``, the kernel between rows and training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        features = self._prepare(X)
        return np.hstack([source.project(features)[0] for source in self._draws.sources])

    def projection_residual(self, X: Any) -> np.ndarray:
        r"""Return how much of each row the components do not see.

        :math:`1-\|p_*\|^2/\|\phi(x_*)-\bar\phi\|^2`, the share of the squared distance from the
        centre of the training rows, in the kernel's feature space, that lies outside of the
        components (with several kernels: of the sum over kernels). Near 1 for rows unlike all
        training rows. Their class probabilities tend to a constant and do not say so.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Between 0 and 1.
        """
        features = self._prepare(X)
        if self._is_precomputed():
            raise ValueError(
                "projection_residual needs the kernel of each row with itself, which "
                "kernel='precomputed' does not tell; give the kernel as a function."
            )
        if not self.projection:
            raise ValueError(
                "projection_residual measures what projections leave out, but projection=False "
                "makes none; set projection=True."
            )
        seen, total = np.zeros(len(features)), np.zeros(len(features))
        for source in self._draws.sources:
            components, squared = source.project(features)
            seen += np.einsum("ij,ij->i", components, components)
            if squared is not None:
                total += squared
        return np.clip(1.0 - seen / np.where(total > 0.0, total, 1.0), 0.0, 1.0)
