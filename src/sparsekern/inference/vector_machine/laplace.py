r"""Laplace's method with non-negative weights kept exactly, or without any constraint.

The mode of :math:`\ell(\Phi w)-\frac12w^\top Aw` on :math:`w_{a\ge1}\ge0` is unique. It is found
by Newton steps to the largest value of the quadratic model on the orthant. At the mode
:math:`\tau=B`, :math:`\nu=g+Bf^*` make a Gaussian whose integral over the orthant is taken by
expectation propagation (:mod:`.edges`). The log evidence is

.. math:: \ell(f^*)-g^\top f^*-\tfrac12\sum Bf^{*2}+(M-1)\log2+\tfrac12\sum\log\alpha_a
          +\sum_a\log c_a-\tfrac12\log|H|+\tfrac12(\Phi^\top\nu+h)^\top\mu.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...likelihoods.terms import write_terms
from ...linalg.gram import weighted_gram
from ...linalg.triangular import dot
from .edges import fit_edges
from .machine import fitted_values, log_prior_constant, solve
from .orthant_quadratic import maximize_on_orthant

_MOST_STEPS = 200
_DECREMENT = 1e-12  # squared length of a Newton step in posterior standard deviations
_SMALL = 1e-6  # such a length at which a step without a visible gain is the last
_SUFFICIENT = 1e-4
ROUNDING = 1e-14  # of the objective: a full step may seem to lose so much


@jit
def _objective(machine, problem, weight, latent, gradient, curvature):
    fitted_values(machine, weight, latent)
    total = write_terms(problem.likelihood, problem.labels, latent, 0.0, 0.0, gradient, curvature)
    for a in range(machine.size[0]):
        total -= 0.5 * machine.alpha[a] * weight[a] * weight[a]
    return total


@jit
def find_mode(machine, problem, latent, gradient):
    r"""Move ``machine.weight`` to the mode; return the log-likelihood there, or NaN.

    ``latent`` and ``gradient`` are written, ``machine.tau`` holds the curvatures and
    ``machine.gram`` their Gram matrix at the mode.
    """
    size = machine.size[0]
    weight, tau = machine.weight, machine.tau
    first_edge = machine.free[0] if problem.signed else size
    hessian, linear = np.empty((size, size)), np.empty(size)
    best, trial = np.empty(size), np.empty(size)
    for a in range(first_edge, size):
        weight[a] = max(weight[a], 0.0)
    value = _objective(machine, problem, weight, latent, gradient, tau)
    for _ in range(_MOST_STEPS):
        weighted_gram(machine.design, tau, size, machine.gram)
        for a in range(size):
            hessian[a] = machine.gram[a, :size]
            hessian[a, a] += machine.alpha[a]
            best[a] = weight[a]
        for a in range(size):  # of the quadratic model at zero
            linear[a] = dot(machine.design[a], gradient, gradient.shape[0])
            linear[a] += dot(machine.gram[a], weight, size)
        if not maximize_on_orthant(hessian, linear, first_edge, best):
            return math.nan
        promised = 0.0
        for a in range(size):
            slope = linear[a] - dot(hessian[a], weight, size)
            promised += slope * (best[a] - weight[a])
        if promised < _DECREMENT:
            break
        length, moved = 1.0, False
        for _ in range(40):
            for a in range(size):
                trial[a] = weight[a] + length * (best[a] - weight[a])
            new = _objective(machine, problem, trial, latent, gradient, tau)
            if new >= value + _SUFFICIENT * length * promised - ROUNDING * abs(value):
                moved = True
                break
            length *= 0.5
        if not moved:  # rounding leaves nothing to gain
            value = _objective(machine, problem, weight, latent, gradient, tau)
            weighted_gram(machine.design, tau, size, machine.gram)
            break
        stalled = new - value <= ROUNDING * abs(value) and promised < _SMALL
        value = new
        for a in range(size):
            weight[a] = trial[a]
        if stalled:  # nearly dependent columns: the rest is rounding
            weighted_gram(machine.design, tau, size, machine.gram)
            break
    for a in range(size):
        value += 0.5 * machine.alpha[a] * weight[a] * weight[a]
    return value


@jit
def refresh_laplace(machine, problem):
    """Find mode, sites, Gaussian and evidence (NaN where a matrix has no factor)."""
    n, size = problem.labels.shape[0], machine.size[0]
    latent, gradient = np.empty(n), np.empty(n)
    evidence = find_mode(machine, problem, latent, gradient)
    for i in range(n):
        evidence -= latent[i] * (gradient[i] + 0.5 * machine.tau[i] * latent[i])
        machine.nu[i] = gradient[i] + machine.tau[i] * latent[i]
    product = np.empty(size)
    for a in range(size):
        product[a] = dot(machine.design[a], machine.nu, n)
    evidence += fit_edges(machine, product) if problem.signed else solve(machine, product)
    machine.evidence[0] = evidence + log_prior_constant(machine, problem.signed)
