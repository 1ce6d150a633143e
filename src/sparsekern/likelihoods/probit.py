r"""Probit likelihood.

The label :math:`y_i=\pm1` is the sign of :math:`s_i=f_i+\varepsilon_i`, :math:`\varepsilon_i\sim
N(0,1)`. The working response is s with unit precision. Given the active set and the scales, with
the coefficients integrated out, :math:`s\sim N(0,Q)`, :math:`Q^{-1}=I-E^\top E`; the scan draws
each :math:`s_i` from its exact conditional

.. math:: N\big((m_i-h_is_i)/(1-h_i),\ 1/(1-h_i)\big)\ \text{on the side of}\ y_i,\quad
          m_i=E_{\cdot i}^\top c,\ h_i=|E_{\cdot i}|^2,

and keeps :math:`c=Es` up to date, O(k) a row. The radial move redraws the length of s exactly:
:math:`s\leftarrow s\sqrt{\chi^2_n/s^\top Q^{-1}s}`, which leaves every sign as it is.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from .._jit import jit
from ..linalg.triangular import dot
from ..linalg.whitened_response import quadratic_form
from ..random.truncated_normal import normal_on_side


class Probit:
    r"""Two classes, responses -1 and +1, :math:`P(y=1)=\Phi(f)`."""

    name: ClassVar[str] = "probit"
    provides: ClassVar[frozenset[str]] = frozenset({"collapsed latent scan", "unit precision"})

    def mean(self, latent: np.ndarray) -> np.ndarray:
        """Return the probability of +1."""
        return ndtr(latent)

    def link(self, mean: np.ndarray) -> np.ndarray:
        """Return the latent value of a probability."""
        return ndtri(mean)

    def log_likelihood(self, response: np.ndarray, latent: np.ndarray) -> np.ndarray:
        r"""Return :math:`\log\Phi(yf)`."""
        return log_ndtr(response * latent)


@jit
def _add_scaled(target, row, amount, size):
    for a in range(size):
        target[a] += row[a] * amount


@jit
def scan_latents(rng, response, projected, hat, free, side):
    """Draw every latent variable once, in order, keeping ``projected`` equal to E s.

    ``free`` holds 1 - h_i, the reciprocal of each conditional variance.
    """
    size = hat.shape[1]
    for i in range(response.shape[0]):
        row = hat[i]
        left = free[i]
        mean = (dot(row, projected, size) - (1.0 - left) * response[i]) / left
        new = normal_on_side(rng, mean, 1.0 / math.sqrt(left), side[i])
        _add_scaled(projected, row, new - response[i], size)
        response[i] = new


@jit
def rescale_latents(rng, factor):
    """Radial move: redraw the length of s given its direction."""
    response, projected = factor.response[0], factor.projected[0]
    n, size = response.shape[0], factor.n_active[0] + 1
    form = quadratic_form(
        factor, factor.root, factor.projected, factor.variances[0], factor.variances[1],
        dot(response, response, n), dot(projected, projected, size),
    )  # fmt: skip
    stretch = math.sqrt(2.0 * rng.standard_gamma(0.5 * n) / form)
    for i in range(n):
        response[i] *= stretch
    for a in range(size):
        projected[a] *= stretch


@jit
def log_normal_cdf(z):
    r"""Return :math:`\log\Phi(z)`, by the asymptotic series where :math:`\Phi` underflows."""
    if z > 0.0:
        return math.log1p(-0.5 * math.erfc(z * math.sqrt(0.5)))
    if z > -30.0:
        return math.log(0.5 * math.erfc(-z * math.sqrt(0.5)))
    square = 1.0 / (z * z)
    series = 1.0 - square * (1.0 - 3.0 * square * (1.0 - 5.0 * square))
    return -0.5 * z * z - math.log(-z) - 0.5 * math.log(2.0 * math.pi) + math.log(series)


@jit
def scaled_log_likelihood(side, latent, scale):
    r"""Return :math:`\sum_i\log\Phi(\lambda y_if_i)` for the scale :math:`\lambda`."""
    total = 0.0
    for i in range(side.shape[0]):
        total += log_normal_cdf(scale * side[i] * latent[i])
    return total


@jit
def total_log_likelihood(side, latent):
    r"""Return :math:`\sum_i\log\Phi(y_if_i)`."""
    return scaled_log_likelihood(side, latent, 1.0)


@jit
def draw_latents(rng, side, latent, response):
    """Draw every latent variable given the latent function."""
    for i in range(side.shape[0]):
        response[i] = normal_on_side(rng, latent[i], 1.0, side[i])


@jit
def add_site_terms(side, latent, sums):
    r"""Add f, :math:`\ell'(f)` and :math:`-\ell''(f)`, :math:`\ell=\log\Phi(yf)`, to ``sums``.

    With :math:`z=yf` and the hazard :math:`r=\varphi(z)/\Phi(z)` they are :math:`yr` and
    :math:`r(z+r)`.
    """
    half_log = 0.5 * math.log(2.0 * math.pi)
    for i in range(side.shape[0]):
        z = side[i] * latent[i]
        hazard = math.exp(-0.5 * z * z - half_log - log_normal_cdf(z))
        sums[0, i] += latent[i]
        sums[1, i] += side[i] * hazard
        # 0 < r (z + r) < 1; the sum cancels far on the wrong side
        sums[2, i] += min(1.0, max(0.0, hazard * (z + hazard)))


@jit
def probability(latent):
    r"""Return :math:`\Phi(f)`."""
    return 0.5 * math.erfc(-latent * math.sqrt(0.5))
