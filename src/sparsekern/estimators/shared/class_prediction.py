"""Predictions of classes from posterior draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from .class_face import ClassFace


class ClassPrediction(ClassFace):
    """Predictions of a fitted classifier whose posterior is a set of kernel expansions."""

    _prepare: Any
    _draws: Any  # KernelExpansionPosterior, or what answers like one

    def _mean_response(self, X: Any) -> np.ndarray:
        features = self._prepare(X)  # refuses an estimator that is not fitted
        return self._draws.mean_response(features)

    def _response_draws(self, X: Any, thin: int) -> np.ndarray:
        features = self._prepare(X)
        return self._draws.thinned(thin).response_draws(features)

    def _link(self, probability: np.ndarray) -> np.ndarray:
        return self._draws.likelihood.link(probability)
