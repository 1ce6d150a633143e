r"""Slice moves of the scales g and eta with the coefficients integrated out.

All three moves are slices through one density along a line,

.. math::
    (\log\eta,\log g,\log\lambda)\ \mapsto\ \lambda^{nC}\,N(\lambda z;0,Q_{g,\eta})\,p(\log
    g)\,p(\log\eta):

g alone, eta alone, and the joint scale move :math:`(\lambda z,\ g/\lambda^2,\ \eta/\lambda^2)`
along the ridge that makes latent-variable samplers slow. One evaluation is one Cholesky
factorisation from the cached Gram matrix; no row of the data is touched. Slice widths adapt while
the chain is tuned.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...linalg.blas import cholesky_in_place
from ...linalg.triangular import dot, solve_lower, solve_lower_transposed
from ...linalg.whitened_factor import factorize
from ...linalg.whitened_response import quadratic_form, response_energy

# directions in (log eta, log g, log lambda)
DIRECTIONS = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [-2.0, -2.0, 1.0]])
_MOST_STEPS = 100


@jit
def _intercept_terms(factor, root):
    r"""Return the two numbers that the density of eta depends on; O(nk + k^3).

    With :math:`M=I+v_1\Omega^{1/2}WW^\top\Omega^{1/2}` and :math:`o=\Omega^{1/2}1` they are
    :math:`a=o^\top M^{-1}o` and :math:`b=\sum_c(o^\top M^{-1}\Omega^{1/2}z_c)^2`. They are made
    from the residual :math:`M^{-1}o` itself: as differences of inner products both would cancel
    where the active vectors explain a constant almost exactly.
    """
    k = factor.n_active[0]
    scale = math.sqrt(factor.variances[1])
    alpha = np.empty(k)
    residual = factor.long[0]
    residual[:] = 0.0
    weight = 0.0
    if k > 0:
        for a in range(k):
            row = root[a]
            for b in range(a + 1):
                row[b] = factor.variances[1] * factor.gram[a + 1, b + 1]
            row[a] += 1.0
            alpha[a] = scale * factor.gram[a + 1, 0]
        cholesky_in_place(root, k)
        solve_lower(root, k, alpha)
        solve_lower_transposed(root, k, alpha)
        weight = dot(alpha, alpha, k)
        np.dot(alpha, factor.whitened[:k], residual)
    for i in range(residual.shape[0]):
        left = 1.0 - scale * residual[i]
        residual[i] = factor.precision[i] * left
        weight += residual[i] * left
    squares = 0.0
    for c in range(factor.response.shape[0]):
        squares += dot(residual, factor.response[c], residual.shape[0]) ** 2
    return weight, squares


@jit
def _summarize(factor, direction, root):
    """Return what every evaluation along ``direction`` uses: response energy, intercept terms."""
    summary = np.zeros(3)
    summary[0] = response_energy(factor)
    if direction[1] == 0.0 and direction[2] == 0.0:
        summary[1], summary[2] = _intercept_terms(factor, root)
    return summary


@jit
def _log_density(factor, prior, root, projected, start, direction, summary, x):
    r"""Return the log density at ``x`` along ``direction``, up to a constant.

    ``summary`` holds :math:`z^\top\Omega z` and the two intercept terms. Along eta alone
    :math:`\log p=-\frac C2\log(1+av_0)+\frac{v_0b}{2(1+av_0)}`.
    """
    log_intercept = start[0] + direction[0] * x
    log_scale = start[1] + direction[1] * x
    variance0, variance1 = math.exp(-log_intercept), math.exp(-log_scale)
    latents = factor.response.shape[0]
    value = (
        prior.intercept_shape * log_intercept
        - prior.intercept_rate * math.exp(log_intercept)
        + prior.scale_shape * log_scale
        - prior.scale_rate * math.exp(log_scale)
    )
    if direction[1] == 0.0 and direction[2] == 0.0:
        ratio = 1.0 + summary[1] * variance0
        return value - 0.5 * latents * math.log(ratio) + 0.5 * variance0 * summary[2] / ratio
    log_root, squares = factorize(factor, root, projected, variance0, variance1)
    form = quadratic_form(factor, root, projected, variance0, variance1, summary[0], squares)
    value += latents * (factor.response.shape[1] * direction[2] * x - log_root)
    return value - 0.5 * math.exp(2.0 * direction[2] * x) * form


@jit
def slice_scales(rng, factor, prior, direction, width, root, projected):
    """Move the scales along ``direction`` by one slice step from the present point; O(k^3).

    Steps out from a random bracket of ``width``, then shrinks (Neal 2003). ``root`` and
    ``projected`` are scratch buffers shaped like the factor's. Returns the signed step; the
    factor's response and cross products are stretched along, its root is left stale.
    """
    start = np.empty(2)
    start[0] = -math.log(factor.variances[0])
    start[1] = -math.log(factor.variances[1])
    summary = _summarize(factor, direction, root)
    level = _log_density(factor, prior, root, projected, start, direction, summary, 0.0)
    level -= rng.standard_exponential()
    low = -width * rng.random()
    high = low + width
    steps_down = rng.integers(0, _MOST_STEPS)  # a random share keeps the limit reversible
    for _ in range(steps_down):
        if _log_density(factor, prior, root, projected, start, direction, summary, low) <= level:
            break
        low -= width
    for _ in range(_MOST_STEPS - 1 - steps_down):
        if _log_density(factor, prior, root, projected, start, direction, summary, high) <= level:
            break
        high += width
    x = 0.0
    for _ in range(_MOST_STEPS):
        x = low + (high - low) * rng.random()
        if _log_density(factor, prior, root, projected, start, direction, summary, x) > level:
            break
        if x < 0.0:
            low = x
        else:
            high = x
        x = 0.0
    factor.variances[0] = math.exp(-(start[0] + direction[0] * x))
    factor.variances[1] = math.exp(-(start[1] + direction[1] * x))
    if direction[2] != 0.0:
        stretch = math.exp(direction[2] * x)
        factor.response[:] *= stretch
        factor.cross[:] *= stretch
    return x


@jit
def adapt_width(width, step, sweep):
    """Return a slice width drawn towards three times the mean absolute step."""
    gain = (sweep + 1.0) ** -0.6
    return min(5.0, max(1e-3, width + gain * (3.0 * abs(step) - width)))
