r"""Predictions of training rows by the model without them, and probabilities sharpened by these.

In a Gaussian model whose scales are held, a row with response t, posterior function
:math:`N(m,s^2)` and noise v is predicted from all others by

.. math:: N\Big(t-\frac{t-m}{g},\ \frac vg\Big),\qquad g=1-s^2/v=vC^{-1}_{ii},

so that no other fit is needed. Responses of -1 and +1 have no normal noise: where classes are far
apart, the predictive deviation is too wide for the probabilities made of it. One factor for all
deviations, the temperature t, is chosen by the log-loss of the predictions left out, under the
prior :math:`\log t\sim N(0,1/4)` that keeps it near one where few rows speak.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr

from ....likelihoods._largest_normal import winning_probabilities
from .forms import ColumnForm
from .posterior import AdditivePosterior

_PRIOR_DEVIATION = 0.5
_FARTHEST = 3.0  # of log t
_LEAST_GAP = 1e-12  # of g, against rounding
_ROWS = 2000  # at a time


def left_out_moments(
    posterior: AdditivePosterior, targets: np.ndarray, fitted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return means and variances of the responses left out, noise included, shape (n, L).

    ``posterior`` is that of a fit, not yet cut down to what predictions need.
    """
    noise = posterior.scales.noise
    gap = np.maximum(_unexplained(posterior), _LEAST_GAP)
    mean = targets - (targets - fitted) / gap
    return mean, noise / gap + (posterior.noise_variance - noise)


def _unexplained(posterior: AdditivePosterior) -> np.ndarray:
    """Return 1 - s^2/v at the training rows, shape (n, L)."""
    form, spread, noise = posterior.model.form, posterior.spread, posterior.scales.noise
    n = form.n_samples
    if not isinstance(form, ColumnForm):
        return noise * spread.quadratic(np.eye(n))  # v C^-1
    reach = form.reach(posterior.model.component_scales(posterior.scales))
    parts = []
    for start in range(0, n, _ROWS):
        rows = form.columns[start : start + _ROWS]
        parts.append(1.0 - spread.quadratic(np.column_stack([rows, np.ones(len(rows))]) * reach))
    return np.concatenate(parts)


def choose_temperature(
    mean: np.ndarray, variance: np.ndarray, signs: np.ndarray, classes: np.ndarray | None
) -> float:
    """Return the factor of all deviations.

    Parameters
    ----------
    mean, variance : ndarray of shape (n, L)
        Of the values left out.
    signs : ndarray of shape (n, L)
        Labels of -1 and +1, each judged on its own if ``classes`` is None.
    classes : ndarray of int of shape (n,) or None
        Which output is the largest.
    """

    def log_likelihood(factor: float) -> float:
        spread = factor**2 * variance
        if classes is None:
            return float(log_ndtr(signs * mean / np.sqrt(spread)).sum())
        shares = winning_probabilities(mean, spread)
        return float(np.log(shares[np.arange(len(shares)), classes]).sum())

    def negative(log_factor: float) -> float:
        prior = 0.5 * (log_factor / _PRIOR_DEVIATION) ** 2
        return prior - log_likelihood(math.exp(log_factor))

    found = minimize_scalar(negative, bounds=(-_FARTHEST, _FARTHEST), method="bounded")
    return math.exp(float(found.x))
