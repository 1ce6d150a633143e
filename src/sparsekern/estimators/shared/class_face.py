"""The face of every classifier: probabilities, their link, the most probable class."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

_TINY = np.finfo(np.float64).tiny
_CLOSE_TO_ONE = np.finfo(np.float64).epsneg


def encode_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes, sorted, and the labels: -1.0 and +1.0 for two, 0.0, 1.0, .. for more."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        only = classes.tolist()[0]
        raise ValueError(f"y holds one class only ({only!r}); a classifier needs two.")
    return classes, 2.0 * codes - 1.0 if len(classes) == 2 else codes.astype(np.float64)


def normalized_shares(positive: list[np.ndarray]) -> np.ndarray:
    """Return the probabilities of models of one class each as shares, classes last."""
    # none is quite zero, so that there is always something to share
    stacked = np.maximum(np.stack(positive, axis=-1), _TINY)
    return stacked / stacked.sum(axis=-1, keepdims=True)


def by_class(response: np.ndarray, n_classes: int) -> np.ndarray:
    """Return probabilities with the classes as last axis, none outside [0, 1]."""
    # weights of a mean may sum to a little more than one
    response = np.clip(response, 0.0, 1.0)
    return np.stack([1.0 - response, response], axis=-1) if n_classes == 2 else response


class ClassFace:
    """Predictions from the probability of the second class, or from those of all classes."""

    classes_: np.ndarray

    def _mean_response(self, X: Any) -> np.ndarray:
        """Return P(y = classes_[1]), shape (n,), or all probabilities, shape (n, classes)."""
        raise NotImplementedError

    def _link(self, probability: np.ndarray) -> np.ndarray:
        """Return the latent value of a probability, for two classes."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities, averaged over everything that is not known.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        mean = self._mean_response(X)  # refuses an estimator that is not fitted
        return by_class(mean, len(self.classes_))

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
            return np.log(np.maximum(mean, _TINY))
        return self._link(np.clip(mean, _CLOSE_TO_ONE, 1.0 - _CLOSE_TO_ONE))

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
