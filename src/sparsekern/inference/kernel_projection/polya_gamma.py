r"""The noise-free model: softmax of :math:`z=P\beta`, by Polya-Gamma augmentation.

One class after the other: with :math:`c_{ik}=\log\sum_{q\ne k}e^{z_{iq}}` and
:math:`\omega_{ik}\sim PG(1,z_{ik}-c_{ik})`,

.. math:: \beta_k\sim N(VP'[1(y=k)-\tfrac12+\omega_kc_k],\ V),\qquad
          V=(P'\Omega_kP+T_k)^{-1},

where :math:`T_k` holds the prior precisions: :math:`\beta_{lk}\sim N(0,s^2/\tau_{lk})`, and
:math:`\tau_{0k}` for the intercept, which has no part in the scale s of :mod:`.scales`. Fresh
:math:`\omega` are drawn for every class, so none must be kept consistent with a moved z.

A sweep draws one class in turn so, moves all classes together along a path of :mod:`.hamiltonian`,
which costs less and goes farther, then the scales and the precisions. The path alone would do in
most cases; the Polya-Gamma step needs no tuning and moves wherever a path is refused.

With selection each coefficient is zero with probability :math:`1-\pi`: given :math:`\omega_k` and
the other coefficients of its class, indicator and coefficient are drawn together, and then all that
are not zero at once; for that every class has its turn in every sweep.

With several kernels, each may have no part in the function of a class (its amplitude there is zero
with probability :math:`1-\pi`): with :math:`q=P'[1(y=k)-\frac12+\omega_kc_k]` and
:math:`A=P'\Omega_kP+T_k` for the coefficients of kernels that have a part, the log density
with these integrated out is :math:`\frac12\log|T_k|-\frac12\log|A|+\frac12q'A^{-1}q`.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit_apart
from ...linalg.blas import cholesky_in_place
from ...linalg.triangular import dot, solve_lower, solve_lower_transposed
from ...random.polya_gamma import polya_gamma
from .hamiltonian import move_along_path, translate
from .moves import (
    draw_precisions,
    draw_share_of_all,
    draw_use,
    find_included,
    log_inclusion_odds,
    prior_precision,
    use_kernel,
)
from .scales import draw_scales, move_scale
from .softmax import log_sum_of_others


@jit_apart
def _augment(rng, state, work, settings, k):
    """Draw the Polya-Gamma variables of a class; leave information and right side in ``work``."""
    design, latent = settings.design, state.latent
    m, n = design.shape
    for i in range(n):
        others = log_sum_of_others(latent, i, k, settings.reference)
        omega = polya_gamma(rng, latent[k, i] - others)
        work.rows[0, i] = omega
        work.response[i] = (0.5 if settings.labels[i] == k else -0.5) + omega * others
    for a in range(m):
        for i in range(n):
            work.weighted[a, i] = design[a, i] * work.rows[0, i]
        work.right[k, a] = dot(design[a], work.response, n)
    np.dot(work.weighted, design.T, work.matrix)


@jit_apart
def _select(rng, state, work, settings, k):
    """Draw which coefficients of a class are zero, each given the others."""
    m = settings.design.shape[0]
    beta = state.coefficients[k]
    for a in range(m):
        if settings.block[a] < 0:
            continue
        information = work.matrix[a, a]
        right = work.right[k, a] - dot(work.matrix[a], beta, m) + information * beta[a]
        precision = prior_precision(state, settings, k, a)
        gain = log_inclusion_odds(0.5, precision, information, right, 1.0)
        beta[a] = 0.0
        state.included[k, a] = draw_use(rng, state.share[0], gain)
        if state.included[k, a] == 1:
            total = information + precision
            beta[a] = right / total + rng.standard_normal() / math.sqrt(total)


@jit_apart
def _condition(state, work, settings, k):
    """Factor the precision of the coefficients that are not zero and half-solve for their mean.

    Returns their number, -1 if there is no factor, and the log density of the augmented labels
    with these coefficients integrated out, up to what does not depend on which they are.
    """
    count = find_included(state, work, k)
    root, vector = work.root, work.vector
    value = 0.0
    for i in range(count):
        a = work.places[i]
        for j in range(i):
            root[i, j] = work.matrix[a, work.places[j]]
        prior = prior_precision(state, settings, k, a)
        root[i, i] = work.matrix[a, a] + prior
        vector[i] = work.right[k, a]
        value += 0.5 * math.log(prior)
    if count > 0 and cholesky_in_place(root, count) != 0:
        return -1, -math.inf
    solve_lower(root, count, vector)
    for i in range(count):
        value -= math.log(root[i, i])
    return count, value + 0.5 * dot(vector, vector, count)


@jit_apart
def _select_kernels(rng, state, work, settings, k):
    """Draw which kernels have a part in a class's function, coefficients integrated out."""
    for kernel in range(state.used.shape[1]):
        if settings.sizes[kernel] == 0:
            continue
        use_kernel(state, settings, k, kernel, 0)
        without = _condition(state, work, settings, k)[1]
        use_kernel(state, settings, k, kernel, 1)
        gain = _condition(state, work, settings, k)[1] - without
        use_kernel(state, settings, k, kernel, draw_use(rng, state.share[0], gain))
    for a in range(settings.design.shape[0]):
        if state.included[k, a] == 0:
            state.coefficients[k, a] = 0.0


@jit_apart
def _draw_coefficients(rng, state, work, settings, k):
    """Draw the coefficients of a class that are not zero; returns whether that was possible."""
    count, _ = _condition(state, work, settings, k)
    if count < 0:
        return False
    root, vector = work.root, work.vector
    for i in range(count):
        vector[i] += rng.standard_normal()
    solve_lower_transposed(root, count, vector)
    for i in range(count):
        state.coefficients[k, work.places[i]] = vector[i]
    return True


@jit_apart
def sweep_once(rng, state, work, settings, tuning):
    """Carry out one sweep; returns whether every matrix could be factored."""
    classes = state.coefficients.shape[0]
    for k in range(classes):
        if not settings.average and k != state.sweep[0] % classes:
            continue
        _augment(rng, state, work, settings, k)
        if settings.average:
            _select(rng, state, work, settings, k)
        if settings.select_kernels:
            _select_kernels(rng, state, work, settings, k)
        if not _draw_coefficients(rng, state, work, settings, k):
            return False
        np.dot(state.coefficients[k], settings.design, state.latent[k])
    move_along_path(rng, state, work, settings, tuning)
    if not settings.reference:
        translate(rng, state, work, settings)
    draw_scales(rng, state, settings)
    for block in range(state.scales.shape[0]):
        move_scale(rng, state, work, settings, block, tuning)
    draw_precisions(rng, state, settings)
    if settings.average or settings.select_kernels:
        draw_share_of_all(rng, state, settings)
    return True
