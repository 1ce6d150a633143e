r"""Logistic likelihood through Polya-Gamma variables.

:math:`P(y=\pm1)=1/(1+e^{-yf})`. Given :math:`\omega_i\sim PG(1,f_i)` the likelihood is Gaussian in
f with precision :math:`\omega_i` and response :math:`z_i=y_i/(2\omega_i)` (Polson, Scott and Windle
2013).

A row of weight w would need :math:`PG(w,f_i)`, which is drawn exactly for whole numbers only. Where
weights are fractions the law is sampled by its terms (:mod:`._by_terms`).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, logit

from .._jit import jit
from ..random.polya_gamma import polya_gamma
from ._augmented import update_by_function
from ._by_terms import ByTerms
from ._compiled import register
from ._without_parameters import WithoutParameters

_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_NODE_WEIGHTS = _NODE_WEIGHTS / _NODE_WEIGHTS.sum()


class LogitData(NamedTuple):
    """Labels for compiled code."""

    side: np.ndarray  # float64[n], -1 or +1


class Logit(WithoutParameters):
    r"""Two classes, responses -1 and +1, :math:`P(y=1)=1/(1+e^{-f})`."""

    name: ClassVar[str] = "logit"
    support: ClassVar[str] = "labels"
    provides: ClassVar[frozenset[str]] = frozenset(
        {
            "working response", "function moves", "concave terms", "terms", "averaged mean",
            "averaged argument", "probabilities", "weighted form",
        }
    )  # fmt: skip

    def mean(self, latent: np.ndarray) -> np.ndarray:
        """Return the probability of +1."""
        return expit(latent)

    def link(self, mean: np.ndarray) -> np.ndarray:
        """Return the latent value of a probability."""
        return logit(mean)

    def averaged_mean(self, means: np.ndarray, variances: np.ndarray) -> np.ndarray:
        """Return the probability of +1 for a normal f, by Gauss and Hermite's rule."""
        total = np.zeros(np.shape(means))
        deviation = np.sqrt(variances)
        for node, weight in zip(_NODES, _NODE_WEIGHTS, strict=True):
            total += weight * expit(means + node * deviation)
        return total

    def averaged_argument(self, means: np.ndarray, variances: np.ndarray) -> np.ndarray:
        r"""Return :math:`\mu/\sqrt{1+\pi v/8}`, whose mean is nearly that of a normal f."""
        return means / np.sqrt(1.0 + np.pi * variances / 8.0)

    def log_likelihood(
        self,
        response: np.ndarray,
        latent: np.ndarray,
        variance: Any = 1.0,
        parameters: np.ndarray | None = None,
    ) -> np.ndarray:
        r"""Return :math:`-\log(1+e^{-yf})`."""
        return -np.logaddexp(0.0, -response * latent)

    def weighted(self, weights: np.ndarray) -> WeightedLogit:
        """Return the same law with weights of rows."""
        return WeightedLogit(weights=weights)

    def compiled(self, response: np.ndarray, parameters: np.ndarray) -> Any:
        """Return the labels for compiled code."""
        return LogitData(np.asarray(response, dtype=np.float64))


class WeightedLogit(ByTerms, Logit):
    """The law with weights of rows, which samplers know by its terms."""

    provides: ClassVar[frozenset[str]] = (
        Logit.provides - {"working response", "function moves", "weighted form"}
    ) | {"stand-in", "row weights"}
    last_parameter: ClassVar[str | None] = None

    def start_working(self, response: np.ndarray) -> np.ndarray:
        """Return a working response to start from."""
        return WithoutParameters.start_working(self, response)


@jit
def logit_terms(y, f, last, freedom):
    r"""Return :math:`-\log(1+e^{-yf})` and its derivatives, see :mod:`.terms`."""
    z = y * f
    small = math.exp(-abs(z))  # at most one, so that nothing overflows or cancels
    value = min(z, 0.0) - math.log1p(small)
    wrong = (small if z > 0.0 else 1.0) / (1.0 + small)
    curvature = small / ((1.0 + small) * (1.0 + small))
    return value, y * wrong, curvature, curvature


@jit
def _draw_working(data, rng, fitted, variance, response, precision):
    """Draw the Polya-Gamma variables given the function."""
    for i in range(fitted.shape[0]):
        precision[i] = polya_gamma(rng, fitted[i])
        response[i] = 0.5 * data.side[i] / precision[i]
    return True


@jit
def _scaled_log_likelihood(data, fitted, scale, variance):
    r"""Return :math:`-\sum_i\log(1+e^{-\lambda y_if_i})`."""
    total = 0.0
    for i in range(fitted.shape[0]):
        total += logit_terms(data.side[i], scale * fitted[i], 0.0, 0.0)[0]
    return total


@jit
def _add_site_terms(data, fitted, sums):
    r"""Add f, :math:`y(1-p)` and :math:`p(1-p)`, :math:`p=P(y_i)`, to ``sums``."""
    for i in range(fitted.shape[0]):
        _, slope, curvature, _ = logit_terms(data.side[i], fitted[i], 0.0, 0.0)
        sums[0, i] += fitted[i]
        sums[1, i] += slope
        sums[2, i] += curvature


@jit
def _mean_response(data, latent):
    """Return the probability of +1."""
    return 1.0 / (1.0 + math.exp(-latent))


register(
    LogitData,
    update_working=update_by_function,
    draw_working=_draw_working,
    scaled_log_likelihood=_scaled_log_likelihood,
    add_site_terms=_add_site_terms,
    mean_response=_mean_response,
)
