"""Predictions of classes from posterior draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from .class_face import ClassFace, by_class
from .counts import check_count
from .kernel_inputs import KernelInputs


class ClassPrediction(ClassFace, KernelInputs):
    """Predictions of a fitted classifier whose posterior is a set of kernel expansions."""

    _draws: Any  # KernelExpansionPosterior, or what answers like one

    def _mean_response(self, X: Any) -> np.ndarray:
        features = self._prepare(X)  # refuses an estimator that is not fitted
        return self._draws.mean_response(features)

    def _link(self, probability: np.ndarray) -> np.ndarray:
        return self._draws.likelihood.link(probability)

    def sample_proba(self, X: Any, *, thin: int = 1) -> np.ndarray:
        """Return posterior draws of the class probabilities, for histograms of single cases.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        thin : int, default=1
            Return every ``thin``-th draw of each chain only.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_classes)
            Chain after chain. With ``thin=1`` there are ``chains * draws`` of them, and their mean
            is ``predict_proba(X)``.
        """
        features = self._prepare(X)
        means = self._draws.thinned(check_count("thin", thin)).response_draws(features)
        return by_class(means, len(self.classes_))
