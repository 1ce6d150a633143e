r"""Gaussian noise of unknown variance.

:math:`y_i\sim N(f_i,\sigma^2)`, coefficients with prior covariance proportional to
:math:`\sigma^2`, and :math:`\sigma^{-2}\sim Ga(a,b)`: the working response is y itself with unit
precision, and :math:`\sigma^2` is integrated out of every move (:mod:`..linalg.whitened_factor`).
A row of weight w has the likelihood to the power w: its working precision is w.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import ndtr

from .._jit import jit
from ._augmented import keep_working
from ._compiled import register
from ._row_weights import row_weights


class GaussianData(NamedTuple):
    """Responses for compiled code."""

    response: np.ndarray  # float64[n]
    weight: np.ndarray  # float64[n]
    counted: np.ndarray  # float64[1], responses that the log-likelihood counts


class Gaussian:
    r"""Real responses, :math:`y\sim N(f,\sigma^2)`.

    Parameters
    ----------
    weights : array of shape (n,) or None
        How often each training row counts; None: once.
    """

    name: ClassVar[str] = "gaussian"
    support: ClassVar[str] = "reals"
    provides: ClassVar[frozenset[str]] = frozenset(
        {
            "working response", "learned noise", "inner products suffice", "law", "normal noise",
            "row weights",
        }
    )  # fmt: skip
    last_parameter: ClassVar[str | None] = "noise_variance"

    def __init__(self, weights: np.ndarray | None = None) -> None:
        self.weights = weights

    def at_rows(self, rows: np.ndarray) -> Self:
        """Return the same for some of the training rows."""
        return type(self)(None if self.weights is None else self.weights[rows])

    def mean(self, latent: np.ndarray) -> np.ndarray:
        """Return f itself."""
        return latent

    def link(self, mean: np.ndarray) -> np.ndarray:
        """Return the mean itself."""
        return mean

    def log_likelihood(
        self,
        response: np.ndarray,
        latent: np.ndarray,
        variance: Any = 1.0,
        parameters: np.ndarray | None = None,
    ) -> np.ndarray:
        r"""Return :math:`\log N(y;f,\sigma^2)`."""
        return -0.5 * (np.log(2 * np.pi * variance) + (response - latent) ** 2 / variance)

    def distribution(
        self, response: np.ndarray, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return P(Y <= y) of a new response."""
        return ndtr((response - latent) / np.sqrt(variance))

    def read_last(self, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return noise variance and parameters that the logarithm of one number stands for."""
        return np.exp(last), np.zeros(0)

    def response_variance(
        self, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return the variance of the noise."""
        return np.broadcast_to(variance, np.broadcast_shapes(latent.shape, np.shape(variance)))

    def sample(
        self, rng: np.random.Generator, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return f plus noise."""
        return latent + np.sqrt(variance) * rng.standard_normal(latent.shape)

    def start_parameters(self) -> np.ndarray:
        """Return no parameters."""
        return np.zeros(0)

    def start_working(self, response: np.ndarray) -> np.ndarray:
        """Return the response."""
        return np.asarray(response, dtype=np.float64)

    def compiled(self, response: np.ndarray, parameters: np.ndarray) -> GaussianData:
        """Return the responses for compiled code."""
        response = np.asarray(response, dtype=np.float64)
        weights = row_weights(self, len(response))
        return GaussianData(response, weights, np.array([weights.sum()]))


@jit
def _draw_working(data, rng, fitted, variance, response, precision):
    """Nothing is hidden."""
    return False


@jit
def _scaled_log_likelihood(data, fitted, scale, variance):
    r"""Return :math:`\sum_iw_i\log N(y_i;\lambda f_i,\sigma^2)`."""
    squares = 0.0
    for i in range(data.response.shape[0]):
        squares += data.weight[i] * (data.response[i] - scale * fitted[i]) ** 2
    return -0.5 * (data.counted[0] * math.log(2.0 * math.pi * variance) + squares / variance)


@jit
def _add_site_terms(data, fitted, sums):
    """Add f, the residual and one (noise of unit variance), these two times the weight."""
    for i in range(data.response.shape[0]):
        sums[0, i] += fitted[i]
        sums[1, i] += data.weight[i] * (data.response[i] - fitted[i])
        sums[2, i] += data.weight[i]


@jit
def _mean_response(data, latent):
    """Return f."""
    return latent


register(
    GaussianData,
    update_working=keep_working,
    draw_working=_draw_working,
    scaled_log_likelihood=_scaled_log_likelihood,
    add_site_terms=_add_site_terms,
    mean_response=_mean_response,
)
