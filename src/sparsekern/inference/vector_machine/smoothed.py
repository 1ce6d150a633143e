r"""The paper's smoothed edge: :math:`\sigma(\beta w)`, :math:`\beta=3`, for :math:`1[w\ge0]`.

Kept for comparison. :math:`\beta` sets a scale on the weights, and a data gradient below
:math:`-\beta` makes a weight negative. Newton steps on :math:`\ell-\frac12w^\top Aw+\sum\log
\sigma(\beta w_a)` with :math:`k_a=\beta\sigma(-\beta w_a)`,
:math:`d_a=\beta^2\sigma(\beta w_a)\sigma(-\beta w_a)`; the log evidence is

.. math:: \ell+\sum_{a\ge1}\log2\sigma(\beta w_a)-\tfrac12w^\top Aw+\tfrac12\sum\log\alpha_a
          -\tfrac12\log|H|.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...likelihoods.terms import LOGIT, response_terms, write_terms
from ...linalg.gram import weighted_gram
from ...linalg.triangular import dot
from .laplace import ROUNDING
from .machine import fitted_values, log_prior_constant, solve

SHARPNESS = 3.0
_MOST_STEPS = 200
_DECREMENT = 1e-12
_SMALL = 1e-6


@jit
def _objective(machine, problem, weight, latent, gradient, curvature):
    fitted_values(machine, weight, latent)
    total = write_terms(problem.likelihood, problem.labels, latent, 0.0, 0.0, gradient, curvature)
    for a in range(machine.size[0]):
        total -= 0.5 * machine.alpha[a] * weight[a] * weight[a]
        if a > 0:
            total += response_terms(LOGIT, 1.0, SHARPNESS * weight[a], 0.0, 0.0)[0]
    return total


@jit
def refresh_smoothed(machine, problem):
    """Find mode, sites, Gaussian and evidence (NaN where a matrix has no factor)."""
    n, size = problem.labels.shape[0], machine.size[0]
    latent, gradient, trial = np.empty(n), np.empty(n), np.empty(size)
    shift = np.empty(size)
    weight = machine.weight
    value = _objective(machine, problem, weight, latent, gradient, machine.tau)
    for _ in range(_MOST_STEPS):
        weighted_gram(machine.design, machine.tau, size, machine.gram)
        for i in range(n):
            machine.nu[i] = gradient[i] + machine.tau[i] * latent[i]
        for a in range(size):
            if a > 0:
                _, push, bend, _ = response_terms(LOGIT, 1.0, SHARPNESS * weight[a], 0.0, 0.0)
                machine.edge_precision[a] = SHARPNESS * SHARPNESS * bend
                machine.edge_shift[a] = SHARPNESS * push + machine.edge_precision[a] * weight[a]
            shift[a] = dot(machine.design[a], machine.nu, n) + machine.edge_shift[a]
        half = solve(machine, shift)  # the mean is where a full Newton step leads
        if not math.isfinite(half):
            machine.evidence[0] = math.nan
            return
        promised, form = 0.0, 0.0
        for a in range(size):
            form += shift[a] * machine.mean[a]
            step = machine.mean[a] - weight[a]
            slope = shift[a] - (machine.alpha[a] + machine.edge_precision[a]) * weight[a]
            for b in range(size):
                slope -= machine.gram[a, b] * weight[b]
            promised += slope * step
        if promised < _DECREMENT:
            break
        length, moved = 1.0, False
        for _ in range(40):
            for a in range(size):
                trial[a] = weight[a] + length * (machine.mean[a] - weight[a])
            new = _objective(machine, problem, trial, latent, gradient, machine.tau)
            if new >= value + 1e-4 * length * promised - ROUNDING * abs(value):
                moved = True
                break
            length *= 0.5
        if not moved:  # rounding leaves nothing to gain
            value = _objective(machine, problem, weight, latent, gradient, machine.tau)
            break
        stalled = new - value <= ROUNDING * abs(value) and promised < _SMALL
        value = new
        for a in range(size):
            weight[a] = trial[a]
        if stalled:
            break
    half_log_determinant = 0.5 * form - half
    machine.evidence[0] = value - half_log_determinant + log_prior_constant(machine, True)
