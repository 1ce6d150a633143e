r"""The edge at zero of non-negative weights, by expectation propagation.

The integral of a Gaussian over the orthant :math:`w_{a\ge1}\ge0`: each indicator is replaced by
:math:`\exp(h_aw_a-\frac12d_aw_a^2)`. With the cavity (mean m, variance c), :math:`z=m/\sqrt c` and
the moments of the half line,

.. math:: d'=\frac{1-V}{cV},\qquad h'=\frac1{\sqrt c}\Big[\frac{z+r}V-z\Big].

All factors are log-concave: site precisions stay positive and cavities proper.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...random.half_line_moments import half_line_moments, log_normal_cdf
from .machine import solve

_MOST_SWEEPS = 200
_TOLERANCE = 1e-8  # of a site against its cavity, free of any scale
STALLED = 1e-5  # a change that no longer shrinks is rounding of nearly dependent columns
_LEAST_DAMPING = 0.1


@jit
def cavity(mean, variance, site_precision, site_shift):
    """Return mean and variance without one site."""
    left = 1.0 / (1.0 / variance - site_precision)
    return left * (mean / variance - site_shift), left


@jit
def site_log_constant(mean, variance, site_precision, site_shift, log_mass):
    r"""Return the logarithm of the constant that makes a site's mass that of its factor.

    ``mean`` and ``variance`` are those of the cavity, ``log_mass`` the logarithm of the factor's
    mean under it.
    """
    more = 1.0 + site_precision * variance
    exponent = 2.0 * site_shift * mean + site_shift * site_shift * variance
    return log_mass + 0.5 * math.log(more) - 0.5 * (exponent - site_precision * mean * mean) / more


@jit
def edge_site(mean, variance):
    """Return precision and shift of the site of an edge, given its cavity."""
    sd = math.sqrt(variance)
    z = mean / sd
    _, centre, spread = half_line_moments(z)
    return (1.0 - spread) / (variance * spread), (centre / spread - z) / sd


@jit
def edges_log_constant(machine):
    """Return the sum of the edges' log constants at the machine's Gaussian."""
    total = 0.0
    for a in range(machine.free[0], machine.size[0]):
        d, h = machine.edge_precision[a], machine.edge_shift[a]
        m, c = cavity(machine.mean[a], machine.variance[a], d, h)
        total += site_log_constant(m, c, d, h, log_normal_cdf(m / math.sqrt(c)))
    return total


@jit
def move_edges(machine, damping):
    """Move every edge's site towards its fixed point; return the largest change."""
    largest = 0.0
    for a in range(machine.free[0], machine.size[0]):
        d, h = machine.edge_precision[a], machine.edge_shift[a]
        m, c = cavity(machine.mean[a], machine.variance[a], d, h)
        new_d, new_h = edge_site(m, c)
        largest = max(
            largest, abs(new_d - d) / (1.0 / c + d), abs(new_h - h) / math.sqrt(1.0 / c + d)
        )
        machine.edge_precision[a] += damping * (new_d - d)
        machine.edge_shift[a] += damping * (new_h - h)
    return largest


@jit
def fit_edges(machine, product):
    r"""Find all sites for fixed likelihood sites; ``product`` is :math:`\Phi^\top\nu`.

    Returns the logarithm of the integral :math:`\int\exp(w^\top\Phi^\top\nu-\frac12w^\top
    (A+\Phi^\top T\Phi)w)` over the orthant, up to the powers of :math:`2\pi`, or NaN.
    """
    size = machine.size[0]
    shift = np.empty(size)
    damping, before = 1.0, math.inf
    for _ in range(_MOST_SWEEPS):
        for a in range(size):
            shift[a] = product[a] + machine.edge_shift[a]
        value = solve(machine, shift)
        if not math.isfinite(value):
            return math.nan
        if before < _TOLERANCE:
            break
        change = move_edges(machine, damping)
        if change > before:
            damping = max(_LEAST_DAMPING, 0.5 * damping)
            if change < STALLED:
                change = 0.0
        before = change
    return value + edges_log_constant(machine)
