"""Class probabilities from the outputs of several kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtr

from ...likelihoods._largest_normal import winning_probabilities
from ...predictive.class_shares import normalized_shares

REGRESSION, PROBIT, MULTINOMIAL = "regression", "probit", "multinomial_probit"


@dataclass(frozen=True)
class OutputProbabilities:
    """Probabilities of normal outputs, one for each class or label, or one for two classes.

    Attributes
    ----------
    likelihood : {"regression", "probit", "multinomial_probit"}
    multi_label : bool
        Whether outputs are labels that do not exclude each other.
    margin : float
        Of ``"probit"``.
    centre, spread : ndarray of shape (L,)
        What makes labels of the outputs of ``"regression"``.
    temperature : float
        By which these are spread around their means.
    """

    likelihood: str
    multi_label: bool
    margin: float
    centre: np.ndarray
    spread: np.ndarray
    temperature: float = 1.0

    def at(self, centre: np.ndarray, values: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """Return P(y = second class), shape (n,), or those of all classes or labels, (n, L).

        Parameters
        ----------
        centre : ndarray of shape (n, L)
            Posterior means of the outputs.
        values, variance : ndarray of shape (n, L)
            Outputs, such as these means or a draw, and what is not known beyond.
        """
        if self.likelihood == REGRESSION:
            values = self.centre + self.spread * (centre + self.temperature * (values - centre))
            variance = (self.temperature * self.spread) ** 2 * variance
        if self.likelihood == MULTINOMIAL:
            found = winning_probabilities(values, variance)
            return found[:, 1] if found.shape[1] == 2 else found
        if self.likelihood == REGRESSION:
            if values.shape[1] > 1 and not self.multi_label:
                return winning_probabilities(values, variance)
            each = ndtr(values / np.sqrt(variance))
        else:
            deviation = np.sqrt(variance)
            # the margin leaves mass out, so that the two sides are made to add up to one
            high = log_ndtr((values - self.margin) / deviation)
            low = log_ndtr((-values - self.margin) / deviation)
            each = np.exp(high - np.logaddexp(high, low))
        if self.multi_label:
            return each
        return each[:, 0] if each.shape[1] == 1 else normalized_shares(list(each.T))
