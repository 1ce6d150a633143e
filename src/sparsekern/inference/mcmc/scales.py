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
from ...linalg.whitened_factor import factorize, quadratic_form, response_energy

# directions in (log eta, log g, log lambda)
DIRECTIONS = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [-2.0, -2.0, 1.0]])
_MOST_STEPS = 60


@jit
def _log_density(factor, prior, root, projected, start, direction, energy, x):
    log_intercept = start[0] + direction[0] * x
    log_scale = start[1] + direction[1] * x
    variance0, variance1 = math.exp(-log_intercept), math.exp(-log_scale)
    log_root, squares = factorize(factor, root, projected, variance0, variance1)
    form = quadratic_form(factor, root, projected, variance0, variance1, energy, squares)
    latents = factor.response.shape[0]
    stretch = math.exp(2.0 * direction[2] * x)
    return (
        latents * (factor.response.shape[1] * direction[2] * x - log_root)
        - 0.5 * stretch * form
        + prior.intercept_shape * log_intercept
        - prior.intercept_rate * math.exp(log_intercept)
        + prior.scale_shape * log_scale
        - prior.scale_rate * math.exp(log_scale)
    )


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
    energy = response_energy(factor)
    level = _log_density(factor, prior, root, projected, start, direction, energy, 0.0)
    level -= rng.standard_exponential()
    low = -width * rng.random()
    high = low + width
    for _ in range(_MOST_STEPS):
        if _log_density(factor, prior, root, projected, start, direction, energy, low) <= level:
            break
        low -= width
    for _ in range(_MOST_STEPS):
        if _log_density(factor, prior, root, projected, start, direction, energy, high) <= level:
            break
        high += width
    x = 0.0
    for _ in range(_MOST_STEPS):
        x = low + (high - low) * rng.random()
        if _log_density(factor, prior, root, projected, start, direction, energy, x) > level:
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
