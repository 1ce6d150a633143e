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

from ..._jit import jit, jit_apart
from ...linalg.blas import cholesky_in_place
from ...linalg.triangular import dot, solve_lower, solve_lower_transposed
from ...linalg.whitened_factor import (
    SHAPE,
    count_columns,
    exponent,
    factorize,
    quadratic_form,
    response_energy,
    write_column_scales,
)
from ...priors.scales import log_density_of_intercept, log_density_of_scale

# directions in (log eta, log g, log lambda)
DIRECTIONS = np.array(
    [
        [0.0, 1.0, 0.0],
        [1.0, 0.0, 0.0],
        [-2.0, -2.0, 1.0],
        [0.0, -2.0, 1.0],  # as the one before, for an intercept of fixed variance
    ]
)
_MOST_STEPS = 100


@jit
def _intercept_terms(factor, root):
    r"""Return the two numbers that the density of eta depends on; O(nq + q^3).

    With :math:`M=I+\Omega^{1/2}\sum_lv_lW_lW_l^\top\Omega^{1/2}` and :math:`o'=\Omega^{1/2}o`
    they are :math:`a=o'^\top M^{-1}o'` and :math:`b=\sum_c(o'^\top M^{-1}\Omega^{1/2}z_c)^2`. They
    are made from the residual :math:`M^{-1}o'` itself: as differences of inner products both would
    cancel where the active vectors explain a constant almost exactly.
    """
    q = count_columns(factor)
    alpha = np.empty(q)
    residual, scale = factor.long[0], factor.short[2]
    write_column_scales(factor, factor.variances, q, scale)
    residual[:] = 0.0
    weight = 0.0
    if q > 0:
        for a in range(q):
            row, gram_row = root[a], factor.gram[a + 1]
            for b in range(a + 1):
                row[b] = scale[a + 1] * scale[b + 1] * gram_row[b + 1]
            row[a] += 1.0
            alpha[a] = scale[a + 1] * gram_row[0]
        cholesky_in_place(root, q)
        solve_lower(root, q, alpha)
        solve_lower_transposed(root, q, alpha)
        weight = dot(alpha, alpha, q)
        for a in range(q):
            alpha[a] *= scale[a + 1]
        np.dot(alpha, factor.whitened[:q], residual)
    for i in range(residual.shape[0]):
        left = factor.ones[i] - residual[i]
        residual[i] = factor.precision[i] * left
        weight += residual[i] * left
    squares = 0.0
    for c in range(factor.response.shape[0]):
        squares += dot(residual, factor.response[c], residual.shape[0]) ** 2
    return weight, squares


@jit
def _summarize(factor, direction, root, projected):
    r"""Return what every evaluation along ``direction`` uses.

    That is :math:`z^\top\Omega z`; along eta alone also the two intercept terms a, b and
    :math:`q_M=z^\top\Omega^{1/2}M^{-1}\Omega^{1/2}z=q+v_0b/(1+av_0)`, which eta does not change.
    """
    summary = np.zeros(4)
    summary[0] = response_energy(factor)
    if direction[1] == 0.0 and direction[2] == 0.0:
        summary[1], summary[2] = _intercept_terms(factor, root)
        if factor.noise[SHAPE] > 0.0:
            _, squares = factorize(factor, root, projected, factor.variances)
            form = quadratic_form(factor, root, projected, factor.variances, summary[0], squares)
            variance = factor.variances[0]
            summary[3] = form + variance * summary[2] / (1.0 + summary[1] * variance)
    return summary


@jit
def _log_density(factor, prior, root, projected, start, direction, summary, x):
    r"""Return the log density at ``x`` along ``direction``, up to a constant.

    ``start`` holds log eta and log g. Along eta alone :math:`q=q_M-v_0b/(1+av_0)` and
    :math:`\log|Q|` grows by :math:`\log(1+av_0)`; no factorisation is needed.
    """
    log_intercept = start[0] + direction[0] * x
    log_scale = start[1] + direction[1] * x
    variances = np.empty(2)
    variances[0], variances[1] = math.exp(-log_intercept), math.exp(-log_scale)
    latents = factor.response.shape[0]
    value = 0.0
    if direction[0] != 0.0:
        value += log_density_of_intercept(prior, log_intercept)
    if direction[1] != 0.0:
        value += log_density_of_scale(prior, log_scale)
        if value == -math.inf:
            return value
    if direction[1] == 0.0 and direction[2] == 0.0:
        ratio = 1.0 + summary[1] * variances[0]
        form = summary[3] - variances[0] * summary[2] / ratio
        return value - 0.5 * latents * math.log(ratio) + exponent(factor.noise, form)
    log_root, squares = factorize(factor, root, projected, variances)
    form = quadratic_form(factor, root, projected, variances, summary[0], squares)
    value += latents * (factor.response.shape[1] * direction[2] * x - log_root)
    return value + exponent(factor.noise, math.exp(2.0 * direction[2] * x) * form)


@jit_apart
def slice_scales(rng, factor, prior, direction, width, root, projected):
    """Move the scales along ``direction`` by one slice step from the present point; O(q^3).

    Steps out from a random bracket of ``width``, then shrinks (Neal 2003). ``root`` and
    ``projected`` are scratch buffers shaped like the factor's. Returns the signed step; the
    factor's response and cross products are stretched along, its root is left stale.
    """
    start = np.empty(2)
    start[0] = -math.log(factor.variances[0])
    start[1] = -math.log(factor.variances[1])
    summary = _summarize(factor, direction, root, projected)
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
    for v in range(2):
        if direction[v] != 0.0:
            factor.variances[v] = math.exp(-(start[v] + direction[v] * x))
    if direction[2] != 0.0:
        stretch = math.exp(direction[2] * x)
        response, cross = factor.response, factor.cross
        response *= stretch
        cross *= stretch
    return x


@jit
def adapt_width(width, step, sweep):
    """Return a slice width drawn towards three times the mean absolute step."""
    gain = (sweep + 1.0) ** -0.6
    return min(5.0, max(1e-3, width + gain * (3.0 * abs(step) - width)))
