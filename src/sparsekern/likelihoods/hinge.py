r"""Hinge pseudo-likelihood: the Bayesian support vector machine.

:math:`L(f)=\exp(-2\max(1-yf,0))`, a Gaussian mixture (Polson and Scott 2011): given
:math:`1/\lambda_i\sim IG(1/|1-y_if_i|,1)` (inverse Gaussian with that mean) it is Gaussian in f
with precision :math:`1/\lambda_i` and response :math:`y_i(1+\lambda_i)`.

It is not a model of y: :math:`L(y=1)+L(y=-1)` depends on f. The probability given here normalises
over the two labels at each draw, :math:`L(1)/(L(1)+L(-1))`, a heuristic; calibrate it on held-out
data where probabilities matter.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, logit

from .._jit import jit
from ..random.polya_gamma import inverse_gaussian
from ._augmented import update_by_function
from ._compiled import register
from ._without_parameters import WithoutParameters

_LARGEST_MEAN = 1e10  # of 1/lambda, on the margin itself
_CURVATURE_WIDTH = 0.5
_SHARPNESS = 5.0  # of the smooth hinge: sharper, its mode is hard to find and its curvature a spike


class HingeData(NamedTuple):
    """Labels for compiled code."""

    side: np.ndarray  # float64[n], -1 or +1


class Hinge(WithoutParameters):
    r"""Two classes, responses -1 and +1, pseudo-likelihood :math:`\exp(-2\max(1-yf,0))`."""

    name: ClassVar[str] = "hinge"
    support: ClassVar[str] = "labels"
    provides: ClassVar[frozenset[str]] = frozenset(
        {"working response", "function moves", "concave terms"}
    )

    def mean(self, latent: np.ndarray) -> np.ndarray:
        """Return the heuristic probability of +1."""
        log_odds = 2.0 * (np.maximum(1.0 + latent, 0.0) - np.maximum(1.0 - latent, 0.0))
        return expit(log_odds)

    def link(self, mean: np.ndarray) -> np.ndarray:
        """Return the latent value of a heuristic probability."""
        log_odds = logit(mean)
        # log odds are 4f within the margins and 2 (f + sign f) beyond
        return np.where(
            np.abs(log_odds) <= 4.0, 0.25 * log_odds, 0.5 * log_odds - np.sign(log_odds)
        )

    def log_likelihood(
        self,
        response: np.ndarray,
        latent: np.ndarray,
        variance: Any = 1.0,
        parameters: np.ndarray | None = None,
    ) -> np.ndarray:
        r"""Return :math:`-2\max(1-yf,0)`, not normalised over y."""
        return -2.0 * np.maximum(1.0 - response * latent, 0.0)

    def compiled(self, response: np.ndarray, parameters: np.ndarray) -> HingeData:
        """Return the labels for compiled code."""
        return HingeData(np.asarray(response, dtype=np.float64))


@jit
def hinge_terms(y, f, last, freedom):
    r"""Return the smooth hinge :math:`-\frac2s\log(1+e^{s(1-yf)})` and its derivatives.

    The hinge itself has no curvature to find a mode by; what is made of this one is corrected by
    :func:`hinge_log_density`.
    """
    gap = _SHARPNESS * (1.0 - y * f)
    small = math.exp(-abs(gap))
    value = max(gap, 0.0) + math.log1p(small)
    inside = (1.0 if gap > 0.0 else small) / (1.0 + small)
    curvature = 2.0 * _SHARPNESS * small / ((1.0 + small) * (1.0 + small))
    return -2.0 * value / _SHARPNESS, 2.0 * y * inside, curvature, curvature


@jit
def hinge_log_density(y, f):
    r"""Return :math:`-2\max(1-yf,0)`."""
    return -2.0 * max(1.0 - y * f, 0.0)


@jit
def _draw_working(data, rng, fitted, variance, response, precision):
    """Draw the mixing variables given the function."""
    for i in range(fitted.shape[0]):
        distance = abs(1.0 - data.side[i] * fitted[i])
        mean = 1.0 / max(distance, 1.0 / _LARGEST_MEAN)
        precision[i] = inverse_gaussian(rng, mean)
        response[i] = data.side[i] * (1.0 + 1.0 / precision[i])
    return True


@jit
def _scaled_log_likelihood(data, fitted, scale, variance):
    r"""Return :math:`-2\sum_i\max(1-\lambda y_if_i,0)`."""
    total = 0.0
    for i in range(fitted.shape[0]):
        total -= 2.0 * max(1.0 - scale * data.side[i] * fitted[i], 0.0)
    return total


@jit
def _add_site_terms(data, fitted, sums):
    """Add f, the score and, in place of the curvature (a spike), that of the majorising mixture.

    They only shape proposals; what is proposed is judged by the hinge itself.
    """
    for i in range(fitted.shape[0]):
        gap = 1.0 - data.side[i] * fitted[i]
        sums[0, i] += fitted[i]
        sums[1, i] += 2.0 * data.side[i] if gap > 0.0 else 0.0
        sums[2, i] += 1.0 / max(abs(gap), _CURVATURE_WIDTH)


@jit
def _mean_response(data, latent):
    """Return the heuristic probability of +1."""
    odds = 2.0 * (max(1.0 + latent, 0.0) - max(1.0 - latent, 0.0))
    return 1.0 / (1.0 + math.exp(-odds))


register(
    HingeData,
    update_working=update_by_function,
    draw_working=_draw_working,
    scaled_log_likelihood=_scaled_log_likelihood,
    add_site_terms=_add_site_terms,
    mean_response=_mean_response,
)
