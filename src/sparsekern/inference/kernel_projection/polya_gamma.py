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
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...linalg.blas import cholesky_in_place
from ...linalg.triangular import dot, solve_lower, solve_lower_transposed
from ...random.polya_gamma import polya_gamma
from .hamiltonian import move_along_path, translate
from .moves import draw_precision, draw_share, log_inclusion_odds, prior_precision
from .scales import draw_scales, move_scale
from .softmax import log_sum_of_others


@jit
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


@jit
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
        odds = log_inclusion_odds(state.share[0], precision, information, right, 1.0)
        beta[a] = 0.0
        state.included[k, a] = 0
        if math.log(rng.random()) < -math.log1p(math.exp(min(-odds, 700.0))):
            state.included[k, a] = 1
            total = information + precision
            beta[a] = right / total + rng.standard_normal() / math.sqrt(total)


@jit
def _draw_coefficients(rng, state, work, settings, k):
    """Draw the coefficients of a class that are not zero; returns whether that was possible."""
    count = 0
    for a in range(settings.design.shape[0]):
        if state.included[k, a] == 1:
            work.places[count] = a
            count += 1
    root, vector = work.root, work.vector
    for i in range(count):
        a = work.places[i]
        for j in range(i):
            root[i, j] = work.matrix[a, work.places[j]]
        root[i, i] = work.matrix[a, a] + prior_precision(state, settings, k, a)
        vector[i] = work.right[k, a]
    if count > 0 and cholesky_in_place(root, count) != 0:
        return False
    solve_lower(root, count, vector)
    for i in range(count):
        vector[i] += rng.standard_normal()
    solve_lower_transposed(root, count, vector)
    for i in range(count):
        state.coefficients[k, work.places[i]] = vector[i]
    return True


@jit
def _draw_precisions(rng, state, settings):
    """Draw the intercepts' precisions and, where they are free, those of all coefficients."""
    classes, m = state.coefficients.shape
    for k in range(classes):
        for a in range(m):
            block = settings.block[a]
            square = state.coefficients[k, a] ** 2
            if block < 0:
                state.precisions[k, a] = draw_precision(rng, settings.intercept_prior, square, 1)
            elif settings.own_precisions:
                state.precisions[k, a] = draw_precision(
                    rng,
                    settings.precision_prior,
                    square / state.scales[block],
                    state.included[k, a],
                )


@jit
def sweep_once(rng, state, work, settings, tuning):
    """Carry out one sweep; returns whether every matrix could be factored."""
    classes, m = state.coefficients.shape
    for k in range(classes):
        if not settings.average and k != state.sweep[0] % classes:
            continue
        _augment(rng, state, work, settings, k)
        if settings.average:
            _select(rng, state, work, settings, k)
        if not _draw_coefficients(rng, state, work, settings, k):
            return False
        np.dot(state.coefficients[k], settings.design, state.latent[k])
    move_along_path(rng, state, work, settings, tuning)
    if not settings.reference:
        translate(rng, state, work, settings)
    draw_scales(rng, state, settings)
    for block in range(state.scales.shape[0]):
        move_scale(rng, state, work, settings, block, tuning)
    _draw_precisions(rng, state, settings)
    if settings.average:
        inside, total = 0, 0
        for k in range(classes):
            for a in range(m):
                if settings.block[a] >= 0:
                    total += 1
                    inside += state.included[k, a]
        state.share[0] = draw_share(rng, inside, total)
    return True
