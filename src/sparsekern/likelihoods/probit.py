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
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from .._jit import jit, jit_apart
from ..linalg.factor_columns import refresh_cross
from ..linalg.triangular import dot
from ..linalg.whitened_factor import count_columns, quadratic_form, refactor
from ..linalg.whitened_response import hat_rows
from ..random.half_line_moments import half_line_moments, inverse_mills, log_normal_cdf
from ..random.truncated_normal import normal_on_side
from ._compiled import register
from ._without_parameters import WithoutParameters


class ProbitData(NamedTuple):
    """Labels for compiled code."""

    side: np.ndarray  # float64[n], -1 or +1


class Probit(WithoutParameters):
    r"""Two classes, responses -1 and +1, :math:`P(y=1)=\Phi(f)`."""

    name: ClassVar[str] = "probit"
    support: ClassVar[str] = "labels"
    provides: ClassVar[frozenset[str]] = frozenset(
        {
            "working response", "function moves", "concave terms", "free latents", "terms",
            "averaged mean", "averaged argument", "truncated latents", "probabilities",
        }
    )  # fmt: skip

    def mean(self, latent: np.ndarray) -> np.ndarray:
        """Return the probability of +1."""
        return ndtr(latent)

    def link(self, mean: np.ndarray) -> np.ndarray:
        """Return the latent value of a probability."""
        return ndtri(mean)

    def averaged_mean(self, means: np.ndarray, variances: np.ndarray) -> np.ndarray:
        r"""Return the probability of +1 for a normal f, :math:`\Phi(\mu/\sqrt{1+v})`."""
        return ndtr(self.averaged_argument(means, variances))

    def averaged_argument(self, means: np.ndarray, variances: np.ndarray) -> np.ndarray:
        """Return the latent value whose mean is that of a normal f."""
        return means / np.sqrt(1.0 + variances)

    def truncated_start(self, response: np.ndarray, margin: float = 0.0) -> np.ndarray:
        """Return latent means on the side of the label."""
        return response * (1.0 + margin)

    def truncated_shift(
        self, response: np.ndarray, latent: np.ndarray, margin: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        r"""Return :math:`E[s]-f` of :math:`s\sim N(f,1)` given :math:`ys>\nu`, and log Z.

        :math:`\nu` is the margin, Z the probability of what is given.
        """
        z = response * latent - margin
        return response * inverse_mills(z), log_ndtr(z)

    def log_likelihood(
        self,
        response: np.ndarray,
        latent: np.ndarray,
        variance: Any = 1.0,
        parameters: np.ndarray | None = None,
    ) -> np.ndarray:
        r"""Return :math:`\log\Phi(yf)`."""
        return log_ndtr(response * latent)

    def compiled(self, response: np.ndarray, parameters: np.ndarray) -> ProbitData:
        """Return the labels for compiled code."""
        return ProbitData(np.asarray(response, dtype=np.float64))


@jit
def probit_terms(y, f, last, freedom):
    r"""Return :math:`\log\Phi(yf)` and its derivatives, see :mod:`.terms`.

    With :math:`z=yf` and :math:`r=\varphi(z)/\Phi(z)` they are :math:`yr` and :math:`r(z+r)`.
    """
    z = y * f
    ratio, rest, _ = half_line_moments(z)
    return log_normal_cdf(z), y * ratio, ratio * rest, ratio * rest


@jit
def probit_tilted(y, mean, variance):
    r"""Return log Z, precision and shift of the site that matches :math:`N(f;m,c)\Phi(yf)`.

    With :math:`z=ym/\sqrt{1+c}` and the moments of the half line,

    .. math:: Z=\Phi(z),\qquad\tau=\frac{r(r+z)}{1+cV},\qquad
              \nu=\frac{y\,r\sqrt{1+c}+r(r+z)m}{1+cV}.
    """
    root = math.sqrt(1.0 + variance)
    z = y * mean / root
    ratio, centre, spread = half_line_moments(z)
    below = 1.0 + variance * spread
    precision = ratio * centre / below
    return log_normal_cdf(z), precision, (y * ratio * root + ratio * centre * mean) / below


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
    n, size = response.shape[0], count_columns(factor) + 1
    form = quadratic_form(
        factor, factor.root, factor.projected, factor.variances, dot(response, response, n),
        dot(projected, projected, size),
    )  # fmt: skip
    stretch = math.sqrt(2.0 * rng.standard_gamma(0.5 * n) / form)
    for i in range(n):
        response[i] *= stretch
    for a in range(size):
        projected[a] *= stretch


@jit
def least_free(factor, diagonal, hat, free):
    """Write 1 - h_i, kept above the exact lower bound that rounding may cross."""
    size = hat.shape[1]
    for i in range(hat.shape[0]):
        most = 1.0 + factor.variances[0]
        for kernel in range(diagonal.shape[0]):
            most += factor.variances[kernel + 1] * diagonal[kernel, i]
        free[i] = max(1.0 - dot(hat[i], hat[i], size), 1.0 / most)


@jit_apart
def _update_working(data, rng, factor, diagonal, scans, memory):
    """Draw the latent variables with coefficients integrated out; the factor is left exact."""
    hat, free = hat_rows(factor, memory.hat), memory.free
    least_free(factor, diagonal, hat, free)
    response, projected = factor.response[0], factor.projected[0]
    for _ in range(scans):
        if factor.abandoned[0] != 0:
            break
        scan_latents(rng, response, projected, hat, free, data.side)
        rescale_latents(rng, factor)
    refresh_cross(factor)
    refactor(factor)


@jit
def _scaled_log_likelihood(data, fitted, scale, variance):
    r"""Return :math:`\sum_i\log\Phi(\lambda y_if_i)` for the scale :math:`\lambda`."""
    total = 0.0
    for i in range(data.side.shape[0]):
        total += log_normal_cdf(scale * data.side[i] * fitted[i])
    return total


@jit
def _draw_working(data, rng, fitted, variance, response, precision):
    """Draw every latent variable given the latent function; the precision stays one."""
    for i in range(fitted.shape[0]):
        response[i] = normal_on_side(rng, fitted[i], 1.0, data.side[i])
    return False


@jit
def _add_site_terms(data, fitted, sums):
    r"""Add f, :math:`\ell'(f)` and :math:`-\ell''(f)`, :math:`\ell=\log\Phi(yf)`, to ``sums``."""
    for i in range(fitted.shape[0]):
        _, slope, curvature, _ = probit_terms(data.side[i], fitted[i], 0.0, 0.0)
        sums[0, i] += fitted[i]
        sums[1, i] += slope
        sums[2, i] += curvature


@jit
def _mean_response(data, latent):
    r"""Return :math:`\Phi(f)`."""
    return 0.5 * math.erfc(-latent * math.sqrt(0.5))


register(
    ProbitData,
    update_working=_update_working,
    draw_working=_draw_working,
    scaled_log_likelihood=_scaled_log_likelihood,
    add_site_terms=_add_site_terms,
    mean_response=_mean_response,
)
