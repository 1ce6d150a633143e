"""Class probabilities from the outputs of several kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr
from sklearn.utils.validation import check_is_fitted

from ...likelihoods._largest_normal import winning_probabilities
from ..shared.class_face import by_class, normalized_shares
from .family import MultipleKernelModel

REGRESSION, PROBIT, MULTINOMIAL = "regression", "probit", "multinomial_probit"


class OutputProbabilities(MultipleKernelModel):
    """Probabilities of normal outputs, one for each class or label, or one for two classes."""

    likelihood: str
    classes_: np.ndarray
    temperature_: float
    _centre: np.ndarray
    _spread: np.ndarray
    _margin: float
    _multi_label: bool

    def _mean_response(self, X: Any) -> np.ndarray:
        """Return P(y = classes_[1]), all classes' probabilities, or those of all labels."""
        mean, covariance = self._moments(X)
        variance = np.einsum("noo->no", covariance)
        if self.likelihood == REGRESSION:
            mean, variance = self._in_label_units(mean, mean, variance)
        return self._probabilities(mean, variance)

    def _in_label_units(
        self, centre: np.ndarray, values: np.ndarray, variance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return outputs and their variances in units of labels, spread by the temperature."""
        values = centre + self.temperature_ * (values - centre)
        scale = self.temperature_ * self._spread
        return self._centre + self._spread * values, scale**2 * variance

    def _probabilities(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """Return the probabilities of normal outputs, both of shape (n, L)."""
        if self.likelihood == MULTINOMIAL:
            found = winning_probabilities(mean, variance)
            return found[:, 1] if len(self.classes_) == 2 else found
        if self.likelihood == REGRESSION:
            if mean.shape[1] > 1 and not self._multi_label:
                return winning_probabilities(mean, variance)
            each = ndtr(mean / np.sqrt(variance))
        else:
            deviation = np.sqrt(variance)
            # the margin leaves mass out, so that the two sides are made to add up to one
            high = log_ndtr((mean - self._margin) / deviation)
            low = log_ndtr((-mean - self._margin) / deviation)
            each = np.exp(high - np.logaddexp(high, low))
        if self._multi_label:
            return each
        return each[:, 0] if each.shape[1] == 1 else normalized_shares(list(each.T))

    def sample_proba(self, X: Any, *, thin: int = 1) -> np.ndarray:
        """Return draws of the class probabilities, for histograms of single cases.

        A draw has a function of each output, the same at every call.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        thin : int, default=1
            Return every ``thin``-th draw only.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_classes)
            With ``thin=1`` there are 1,000 of them. For two classes, without ``margin``, their mean
            is ``predict_proba(X)`` but for their number; for more, about that.
        """
        check_is_fitted(self, "elbo_")
        functions, noise = self._draw_outputs(X, thin)
        mean = self._moments(X)[0]
        found = []
        for values, variance in zip(functions, noise, strict=True):
            variance = np.broadcast_to(variance, values.shape)
            if self.likelihood == REGRESSION:
                values, variance = self._in_label_units(mean, values, variance)
            found.append(self._probabilities(values, variance))
        draws = np.stack(found)
        return draws if self._multi_label else by_class(draws, len(self.classes_))
