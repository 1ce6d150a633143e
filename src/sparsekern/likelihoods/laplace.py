r"""Laplace noise: errors that are now and then gross, and mostly small.

:math:`y_i=f_i+\sigma\varepsilon_i` with :math:`p(\varepsilon)=\frac12e^{-|\varepsilon|}`, a
Gaussian mixture (Andrews and Mallows 1974): given :math:`\omega_i\sim IG(\sigma/|y_i-f_i|,1)`
(inverse Gaussian with that mean) the response is Gaussian with precision :math:`\omega_i/\sigma^2`.
:math:`\sigma^2` is handled as for Gaussian noise; the variance of y is twice that.

Laplace approximations need two derivatives. For them the kink is rounded: with
:math:`r=(y-f)/\sigma` the density is
:math:`e^{-\sqrt{\delta^2+r^2}}/(2\sigma\delta K_1(\delta))`, a hyperbolic law that differs from
Laplace's within about :math:`\delta\sigma` of zero.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import k1

from .._jit import jit
from ..random.polya_gamma import inverse_gaussian
from ._augmented import update_by_function
from ._compiled import register

_LARGEST_MEAN = 1e10  # of a weight, on the function itself
ROUNDED = 0.1  # delta
_LOG_CONSTANT = math.log(2.0 * ROUNDED * float(k1(ROUNDED)))


class LaplaceData(NamedTuple):
    """Responses for compiled code."""

    response: np.ndarray  # float64[n]


class Laplace:
    r"""Real responses, :math:`(y-f)/\sigma` from Laplace's law."""

    name: ClassVar[str] = "laplace"
    support: ClassVar[str] = "reals"
    provides: ClassVar[frozenset[str]] = frozenset(
        {"working response", "learned noise", "law", "terms", "heavy tails"}
    )
    last_parameter: ClassVar[str | None] = "noise_variance"

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
        r"""Return :math:`-|y-f|/\sigma-\log2\sigma`."""
        deviation = np.sqrt(variance)
        return -np.abs(response - latent) / deviation - np.log(2.0 * deviation)

    def distribution(
        self, response: np.ndarray, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return P(Y <= y) of a new response."""
        error = (response - latent) / np.sqrt(variance)
        tail = 0.5 * np.exp(-np.abs(error))
        return np.where(error < 0, tail, 1.0 - tail)

    def read_last(self, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return noise variance and parameters that the logarithm of one number stands for."""
        return np.exp(last), np.zeros(0)

    def response_variance(
        self, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        r"""Return :math:`2\sigma^2`."""
        return 2.0 * variance + 0.0 * latent

    def sample(
        self, rng: np.random.Generator, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return f plus noise."""
        return latent + np.sqrt(variance) * rng.laplace(size=latent.shape)

    def start_parameters(self) -> np.ndarray:
        """Return no parameters."""
        return np.zeros(0)

    def start_working(self, response: np.ndarray) -> np.ndarray:
        """Return the response."""
        return np.asarray(response, dtype=np.float64)

    def compiled(self, response: np.ndarray, parameters: np.ndarray) -> LaplaceData:
        """Return the responses for compiled code."""
        return LaplaceData(np.asarray(response, dtype=np.float64))


@jit
def laplace_terms(y, f, last, freedom):
    r"""Return the log density, its kink rounded, and its derivatives, see :mod:`.terms`.

    The information is that of Laplace's law, :math:`1/\sigma^2`.
    """
    variance, error = math.exp(last), y - f
    reach = math.sqrt(ROUNDED * ROUNDED + error * error / variance)
    value = -reach - _LOG_CONSTANT - 0.5 * last
    curvature = ROUNDED * ROUNDED / (variance * reach * reach * reach)
    return value, error / (variance * reach), curvature, 1.0 / variance


@jit
def _draw_working(data, rng, fitted, variance, response, precision):
    """Draw the weights given the function."""
    deviation = math.sqrt(variance)
    for i in range(data.response.shape[0]):
        error = abs(data.response[i] - fitted[i]) / deviation
        precision[i] = inverse_gaussian(rng, 1.0 / max(error, 1.0 / _LARGEST_MEAN))
        response[i] = data.response[i]
    return True


@jit
def _scaled_log_likelihood(data, fitted, scale, variance):
    """Return the log density of all responses."""
    deviation = math.sqrt(variance)
    total = -data.response.shape[0] * math.log(2.0 * deviation)
    for i in range(data.response.shape[0]):
        total -= abs(data.response[i] - scale * fitted[i]) / deviation
    return total


@jit
def _mean_response(data, latent):
    """Return f."""
    return latent


register(
    LaplaceData,
    update_working=update_by_function,
    draw_working=_draw_working,
    scaled_log_likelihood=_scaled_log_likelihood,
    mean_response=_mean_response,
)
