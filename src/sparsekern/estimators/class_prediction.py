"""Class labels, and predictions of classes from posterior draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from .._checks import check_count
from .kernel_inputs import KernelInputs


def encode_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes, sorted, and the labels: -1.0 and +1.0 for two, 0.0, 1.0, .. for more."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        only = classes.tolist()[0]
        raise ValueError(f"y holds one class only ({only!r}); a classifier needs two.")
    return classes, 2.0 * codes - 1.0 if len(classes) == 2 else codes.astype(np.float64)


class ClassPrediction(KernelInputs):
    """Predictions of a fitted classifier whose posterior is a set of kernel expansions."""

    classes_: np.ndarray
    _draws: Any  # KernelExpansionPosterior, or what answers like one

    def _mean_response(self, X: Any) -> np.ndarray:
        features = self._prepare(X)  # refuses an estimator that is not fitted
        return self._draws.mean_response(features)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities, averaged over the kept draws.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return _by_class(self._mean_response(X), len(self.classes_))

    def decision_function(self, X: Any) -> np.ndarray:
        r"""Return the link of the predicted probability.

        For two classes that is the latent value whose probability it is, such as
        :math:`\Phi^{-1}(P(y=1))`; for more, the logarithm of every class's probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive where ``predict`` gives ``classes_[1]``, or largest at the class that
            ``predict`` gives. A probability that is 0 or 1 to machine precision is clipped.
        """
        mean = self._mean_response(X)
        if mean.ndim > 1:
            return np.log(np.maximum(mean, np.finfo(np.float64).tiny))
        tiny = np.finfo(np.float64).epsneg
        return self._draws.likelihood.link(np.clip(mean, tiny, 1.0 - tiny))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        mean = self._mean_response(X)
        best = mean.argmax(axis=1) if mean.ndim > 1 else (mean > 0.5).astype(np.intp)
        return self.classes_[best]

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
        return _by_class(means, len(self.classes_))


def _by_class(mean: np.ndarray, n_classes: int) -> np.ndarray:
    """Return probabilities with the classes as last axis."""
    return np.stack([1.0 - mean, mean], axis=-1) if n_classes == 2 else mean
