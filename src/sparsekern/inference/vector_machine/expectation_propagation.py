r"""Expectation propagation: probit likelihood sites and edge sites, parallel and damped.

The likelihood says what site matches it in a cavity
(:func:`~sparsekern.likelihoods.probit.probit_tilted`). All sites move at once, towards their fixed
points by a damping that starts at one and is halved when the changes grow.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...likelihoods.probit import probit_tilted
from ...linalg.blas import multiply_lower_rows
from ...linalg.gram import weighted_gram
from ...linalg.triangular import dot
from .edges import STALLED, cavity, edges_log_constant, move_edges, site_log_constant
from .machine import fitted_values, log_prior_constant, solve

_MOST_SWEEPS = 400
_TOLERANCE = 1e-7
_LEAST_DAMPING = 0.1


@jit
def latent_moments(machine, means, variances):
    r"""Write mean and variance :math:`\phi_n^\top\Sigma\phi_n` of every latent value."""
    size = machine.size[0]
    rows = machine.design[:size].copy()
    multiply_lower_rows(machine.inverse, size, rows)
    variances[:] = 0.0
    for a in range(size):
        for i in range(variances.shape[0]):
            variances[i] += rows[a, i] * rows[a, i]
    fitted_values(machine, machine.mean, means)


@jit
def _move_likelihood_sites(machine, labels, means, variances, damping):
    """Move every likelihood site; return the largest change and the sum of log constants."""
    largest, constants = 0.0, 0.0
    for i in range(labels.shape[0]):
        tau, nu = machine.tau[i], machine.nu[i]
        m, c = cavity(means[i], variances[i], tau, nu)
        log_constant, new_tau, new_nu = probit_tilted(labels[i], m, c)
        constants += site_log_constant(m, c, tau, nu, log_constant)
        largest = max(
            largest,
            abs(new_tau - tau) / (1.0 / c + tau),
            abs(new_nu - nu) / math.sqrt(1.0 / c + tau),
        )
        machine.tau[i] += damping * (new_tau - tau)
        machine.nu[i] += damping * (new_nu - nu)
    return largest, constants


@jit
def refresh_ep(machine, problem):
    """Find the fixed point of all sites, its Gaussian and evidence (NaN without a factor)."""
    n, size = problem.labels.shape[0], machine.size[0]
    means, variances, shift = np.empty(n), np.empty(n), np.empty(size)
    damping, before = 1.0, math.inf
    for _ in range(_MOST_SWEEPS):
        weighted_gram(machine.design, machine.tau, size, machine.gram)
        for a in range(size):
            shift[a] = dot(machine.design[a], machine.nu, n) + machine.edge_shift[a]
        value = solve(machine, shift)
        if not math.isfinite(value):
            machine.evidence[0] = math.nan
            return
        latent_moments(machine, means, variances)
        finished = before < _TOLERANCE
        step = 0.0 if finished else damping
        if problem.signed:
            value += edges_log_constant(machine)
        change, constants = _move_likelihood_sites(machine, problem.labels, means, variances, step)
        if problem.signed:
            change = max(change, move_edges(machine, step))
        value += constants
        if finished:
            break
        if change > before:
            damping = max(_LEAST_DAMPING, 0.5 * damping)
            if change < STALLED:
                change = 0.0
        before = change
    for a in range(size):
        machine.weight[a] = machine.mean[a]
    machine.evidence[0] = value + log_prior_constant(machine, problem.signed)
