r"""Class labels as Gaussian responses: every row speaks, not only those near a boundary.

The responses :math:`r_{ik}=10[1(y_i=k)-\frac1K]` (with a reference class,
:math:`10[1(y_i=k)-1(y_i=K)]`) are taken to be

.. math:: r_k\sim N(P\beta_k,\sigma^2I),\qquad\beta_{lk}\sim N(0,s^2/\tau_{lk}),\qquad
          1/\sigma^2\sim\mathrm{Ga}(\gamma_1,\gamma_2),

the intercept with its precision :math:`\tau_{0k}` and s with its law as in :mod:`.scales`. Class
probabilities are softmax of :math:`P\beta`; at the responses themselves that is .9999 or so for the
own class. This is discriminant analysis in the space of the kernel (flexible discriminant analysis;
least-squares classification), with its shrinkage sampled.

Everything but :math:`\theta=(\log s,\log\sigma^2)` can be integrated out: with
:math:`q=P'r_k/\sigma^2`, :math:`A=P'P/\sigma^2+D_k`, :math:`D_k` the prior precisions,

.. math:: \log p(r\mid\theta)=\sum_k\tfrac12\log|D_k|-\tfrac12\log|A|+\tfrac12q'A^{-1}q
          -\tfrac n2\log\sigma^2-\tfrac1{2\sigma^2}r_k'r_k .

A sweep moves :math:`\theta` by slices of that density, one parameter after the other, draws
:math:`\beta_k\sim N(A^{-1}q,A^{-1})` right after, and then s, :math:`\sigma^2` and the precisions
given :math:`\beta`. For projections by one kernel A is diagonal, and draws are nearly independent.
Otherwise A has a Cholesky factor, the same for all classes up to the intercept unless coefficients
have precisions of their own, and one parameter of :math:`\theta` has its turn in a sweep.

With selection each coefficient is zero with probability :math:`1-\pi`, independently given the rest
as A is diagonal then. With several kernels, each may have no part in any function (its amplitude is
zero with probability :math:`1-\pi`): one of them in turn is drawn together with its scale by the
evidence, then offered in exchange for another.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit, jit_apart
from ...linalg.triangular import dot, solve_lower, solve_lower_transposed
from .kernel_parts import select_kernels
from .moves import draw_precisions, draw_share_of_all, draw_use, log_inclusion_odds, prior_precision
from .responses import factor_precision, log_evidence
from .scales import draw_scales, log_scale_prior

_BRACKET = 1.0  # first width of the slice's bracket; any gives the right law


@jit
def log_density_of(state, work, settings, place, value):
    """Set one parameter of theta and return the log density there, coefficients integrated out.

    Places are the kernels' log s, and the log variance of the noise after them.
    """
    if place < state.scales.shape[0]:
        state.scales[place] = math.exp(2.0 * value)
        prior = log_scale_prior(settings, value)
    else:
        state.noise[0] = math.exp(value)
        prior = -settings.noise_prior[0] * value - settings.noise_prior[1] * math.exp(-value)
    found = prior + log_evidence(state, work, settings)
    return found if found == found else -math.inf


@jit_apart
def slice_parameter(rng, state, work, settings, place):
    """Move one parameter of theta by a slice step, coefficients integrated out."""
    if place < state.scales.shape[0]:
        current = 0.5 * math.log(state.scales[place])
    else:
        current = math.log(state.noise[0])
    level = log_density_of(state, work, settings, place, current) - rng.standard_exponential()
    low = current - _BRACKET * rng.random()
    high = low + _BRACKET
    while log_density_of(state, work, settings, place, low) > level:
        low -= _BRACKET
    while log_density_of(state, work, settings, place, high) > level:
        high += _BRACKET
    while high - low > 1e-13 * max(1.0, abs(current)):
        proposal = low + (high - low) * rng.random()
        if log_density_of(state, work, settings, place, proposal) > level:
            return
        if proposal < current:
            low = proposal
        else:
            high = proposal
    log_density_of(state, work, settings, place, current)  # rounding: the current value is allowed


@jit_apart
def draw_coefficients(rng, state, work, settings):
    """Draw all coefficients, with selection those that are not zero; returns whether it could."""
    classes, m = state.coefficients.shape
    noise = state.noise[0]
    for k in range(classes):
        beta = state.coefficients[k]
        if settings.gram.shape[0] == 0:
            for a in range(m):
                prior = prior_precision(state, settings, k, a)
                information, right = settings.squares[a] / noise, settings.products[k, a] / noise
                if settings.average and settings.block[a] >= 0:
                    gain = log_inclusion_odds(0.5, prior, information, right, 1.0)
                    state.included[k, a] = draw_use(rng, state.share[0], gain)
                beta[a] = 0.0
                if state.included[k, a] == 1:
                    posterior = information + prior
                    beta[a] = right / posterior + rng.standard_normal() / math.sqrt(posterior)
        else:
            count = factor_precision(state, work, settings, k)
            if count < 0:
                return False
            for i in range(count):
                work.vector[i] = settings.products[k, work.places[i]] / noise
            solve_lower(work.root, count, work.vector)
            for i in range(count):
                work.vector[i] += rng.standard_normal()
            solve_lower_transposed(work.root, count, work.vector)
            beta[:] = 0.0
            for i in range(count):
                beta[work.places[i]] = work.vector[i]
    np.dot(state.coefficients, settings.design, state.latent)
    return True


@jit
def _draw_noise(rng, state, settings):
    """Draw the noise given the coefficients."""
    classes, m = state.coefficients.shape
    n = settings.design.shape[1]
    energy = 0.0
    for k in range(classes):
        energy += settings.energies[k] + dot(state.latent[k], state.latent[k], n)
        energy -= 2.0 * dot(state.coefficients[k], settings.products[k], m)
    rate = settings.noise_prior[1] + 0.5 * max(0.0, energy)
    state.noise[0] = rate / rng.standard_gamma(settings.noise_prior[0] + 0.5 * n * classes)


@jit_apart
def sweep_once(rng, state, work, settings, tuning):
    """Carry out one sweep; returns whether every matrix could be factored."""
    places = state.scales.shape[0] + 1
    for place in range(places):
        if settings.gram.shape[0] == 0 or place == state.sweep[0] % places:
            slice_parameter(rng, state, work, settings, place)
    if settings.select_kernels:
        select_kernels(rng, state, work, settings)
    if not draw_coefficients(rng, state, work, settings):
        return False
    draw_scales(rng, state, settings)
    _draw_noise(rng, state, settings)
    draw_precisions(rng, state, settings)
    if settings.average:
        draw_share_of_all(rng, state, settings)
    return True
