"""Two-class targets and predictions from posterior draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .._checks import check_count
from ..posterior import KernelExpansionPosterior
from .kernel_inputs import KernelInputs


def encode_two_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two classes, sorted, and the labels as -1.0 and +1.0."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}, with {len(classes)} classes; wrap the estimator in "
            "sklearn.multiclass.OneVsRestClassifier for more than two."
        )
    if len(classes) < 2:
        only = classes.tolist()[0]
        raise ValueError(f"y holds one class only ({only!r}); a classifier needs two.")
    return classes, 2.0 * codes - 1.0


class TwoClassPrediction(KernelInputs):
    """Predictions of a fitted two-class model whose posterior is a set of kernel expansions."""

    classes_: np.ndarray
    _draws: KernelExpansionPosterior

    def _positive_probability(self, X: Any) -> np.ndarray:
        features = self._prepare(X)
        return self._draws.mean_response(features)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities, averaged over the kept draws.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns in the order of ``classes_``.
        """
        positive = self._positive_probability(X)
        return np.column_stack([1.0 - positive, positive])

    def decision_function(self, X: Any) -> np.ndarray:
        r"""Return the latent value of the predicted probability, :math:`\Phi^{-1}(P(y=1))`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive where ``predict`` gives ``classes_[1]``; beyond 8.2 in absolute value the
            probability is 0 or 1 to machine precision, and so the value is clipped.
        """
        tiny = np.finfo(np.float64).epsneg
        positive = self._positive_probability(X)
        return self._draws.likelihood.link(np.clip(positive, tiny, 1.0 - tiny))

    def predict(self, X: Any) -> np.ndarray:
        """Return the more probable class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        positive = self._positive_probability(X)
        return self.classes_[(positive > 0.5).astype(np.intp)]

    def sample_proba(self, X: Any, *, thin: int = 1) -> np.ndarray:
        """Return posterior draws of the class probabilities, for histograms of single cases.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        thin : int, default=1
            Return every ``thin``-th draw of each chain only.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, 2)
            Chain after chain. With ``thin=1`` there are ``chains * draws`` of them, and their mean
            is ``predict_proba(X)``.
        """
        features = self._prepare(X)
        positive = self._draws.thinned(check_count("thin", thin)).response_draws(features)
        return np.stack([1.0 - positive, positive], axis=-1)
