r"""Student-t noise.

:math:`y_i=f_i+\sigma\varepsilon_i` with :math:`\varepsilon_i` from Student's law of :math:`\nu`
degrees of freedom, a Gaussian mixture: given :math:`\omega_i\sim
Ga(\frac{\nu+1}2,\frac{\nu+(y_i-f_i)^2/\sigma^2}2)` the response is Gaussian with precision
:math:`\omega_i/\sigma^2`. :math:`\sigma^2` is handled as for Gaussian noise. The degrees of freedom
are given, or learned on a grid (uniform prior) with the :math:`\omega` integrated out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import gammaln, stdtr

from .._jit import jit
from ._augmented import update_by_function
from ._compiled import register

GRID = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0)


class StudentData(NamedTuple):
    """Responses for compiled code."""

    response: np.ndarray  # float64[n]
    degrees: np.ndarray  # float64[1], the chain's own
    grid: np.ndarray  # float64[g], values it may take


class StudentT:
    r"""Real responses, :math:`(y-f)/\sigma` from Student's law.

    Parameters
    ----------
    degrees : sequence of float
        Degrees of freedom to choose from; one: they are known.
    """

    name: ClassVar[str] = "student_t"
    support: ClassVar[str] = "reals"
    provides: ClassVar[frozenset[str]] = frozenset(
        {"working response", "learned noise", "law", "terms", "heavy tails", "degrees of freedom"}
    )
    last_parameter: ClassVar[str | None] = "noise_variance"
    parameter_names: ClassVar[tuple[str, ...]] = ("degrees_of_freedom",)

    def __init__(self, degrees: Sequence[float] = GRID) -> None:
        self.degrees = tuple(degrees)

    def mean(self, latent: np.ndarray) -> np.ndarray:
        """Return f itself, the centre of the law."""
        return latent

    def link(self, mean: np.ndarray) -> np.ndarray:
        """Return the centre itself."""
        return mean

    def log_likelihood(
        self,
        response: np.ndarray,
        latent: np.ndarray,
        variance: Any = 1.0,
        parameters: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the log density of Student's law."""
        nu = np.asarray(self.degrees[0] if parameters is None else parameters[..., 0])
        constant = gammaln(0.5 * (nu + 1)) - gammaln(0.5 * nu) - 0.5 * np.log(nu * np.pi * variance)
        return constant - 0.5 * (nu + 1) * np.log1p((response - latent) ** 2 / (nu * variance))

    def distribution(
        self, response: np.ndarray, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return P(Y <= y) of a new response."""
        return stdtr(parameters[..., 0], (response - latent) / np.sqrt(variance))

    def read_last(self, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return noise variance and parameters that the logarithm of one number stands for."""
        return np.exp(last), np.array(self.degrees[:1])

    def response_variance(
        self, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        r"""Return :math:`\sigma^2\nu/(\nu-2)`, infinite up to two degrees of freedom."""
        nu = parameters[..., 0]
        factor = np.where(nu > 2, nu / np.maximum(nu - 2, 1e-300), np.inf)
        return variance * factor + 0.0 * latent

    def sample(
        self, rng: np.random.Generator, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return f plus noise."""
        degrees = np.broadcast_to(parameters[..., 0], latent.shape)
        return latent + np.sqrt(variance) * rng.standard_t(degrees)

    def start_parameters(self) -> np.ndarray:
        """Return the middle of the grid."""
        return np.array([self.degrees[len(self.degrees) // 2]])

    def start_working(self, response: np.ndarray) -> np.ndarray:
        """Return the response."""
        return np.asarray(response, dtype=np.float64)

    def compiled(self, response: np.ndarray, parameters: np.ndarray) -> StudentData:
        """Return the responses for compiled code."""
        response = np.asarray(response, dtype=np.float64)
        return StudentData(response, parameters, np.array(self.degrees))


@jit
def student_terms(y, f, last, freedom):
    r"""Return the log density and its derivatives, see :mod:`.terms`.

    Where the curvature is negative, far from y, it is the weight
    :math:`(\nu+1)/(\nu\sigma^2+e^2)` of iterated least squares: Newton's step leads uphill all the
    same. The information is :math:`(\nu+1)/((\nu+3)\sigma^2)`.
    """
    variance, error = math.exp(last), y - f
    scaled = error * error / (freedom * variance)
    value = math.lgamma(0.5 * (freedom + 1.0)) - math.lgamma(0.5 * freedom)
    value -= 0.5 * math.log(freedom * math.pi * variance)
    value -= 0.5 * (freedom + 1.0) * math.log1p(scaled)
    weight = (freedom + 1.0) / (freedom * variance * (1.0 + scaled))
    curvature = weight * (1.0 - scaled) / (1.0 + scaled)
    information = (freedom + 1.0) / ((freedom + 3.0) * variance)
    return value, weight * error, curvature if curvature > 0.0 else weight, information


@jit
def _log_density(data, fitted, scale, variance, nu):
    constant = math.lgamma(0.5 * (nu + 1.0)) - math.lgamma(0.5 * nu)
    constant -= 0.5 * math.log(nu * math.pi * variance)
    total = data.response.shape[0] * constant
    for i in range(data.response.shape[0]):
        residual = data.response[i] - scale * fitted[i]
        total -= 0.5 * (nu + 1.0) * math.log1p(residual * residual / (nu * variance))
    return total


@jit
def _draw_degrees(data, rng, fitted, variance):
    """Draw the degrees of freedom on their grid, the weights integrated out."""
    size = data.grid.shape[0]
    logs = np.empty(size)
    for g in range(size):
        logs[g] = _log_density(data, fitted, 1.0, variance, data.grid[g])
    weights = np.exp(logs - logs.max())
    level = rng.random() * weights.sum()
    for g in range(size):
        level -= weights[g]
        if level <= 0.0 or g == size - 1:
            data.degrees[0] = data.grid[g]
            return


@jit
def _draw_working(data, rng, fitted, variance, response, precision):
    """Draw the degrees of freedom, then the weights given them and the function."""
    if data.grid.shape[0] > 1:
        _draw_degrees(data, rng, fitted, variance)
    nu = data.degrees[0]
    for i in range(data.response.shape[0]):
        residual = data.response[i] - fitted[i]
        rate = 0.5 * (nu + residual * residual / variance)
        precision[i] = rng.standard_gamma(0.5 * (nu + 1.0)) / rate
        response[i] = data.response[i]
    return True


@jit
def _scaled_log_likelihood(data, fitted, scale, variance):
    """Return the log density of all responses."""
    return _log_density(data, fitted, scale, variance, data.degrees[0])


@jit
def _add_site_terms(data, fitted, sums):
    """Add f, the score and, where it is positive, the negative curvature (unit noise)."""
    nu = data.degrees[0]
    for i in range(data.response.shape[0]):
        residual = data.response[i] - fitted[i]
        weight = (nu + 1.0) / (nu + residual * residual)
        sums[0, i] += fitted[i]
        sums[1, i] += weight * residual
        sums[2, i] += max(0.0, weight * (2.0 * nu / (nu + residual * residual) - 1.0))


@jit
def _mean_response(data, latent):
    """Return f."""
    return latent


register(
    StudentData,
    update_working=update_by_function,
    draw_working=_draw_working,
    scaled_log_likelihood=_scaled_log_likelihood,
    add_site_terms=_add_site_terms,
    mean_response=_mean_response,
)
