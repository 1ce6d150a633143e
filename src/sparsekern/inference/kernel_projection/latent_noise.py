r"""The model of the paper: softmax of :math:`z_k\sim N(P\beta_k,\sigma^2I)`.

:math:`\beta_{lk}\sim N(0,\sigma^2/\tau_{lk})`, :math:`\tau_{lk}\sim\mathrm{Ga}(\gamma_3,\gamma_4)`,
:math:`1/\sigma^2\sim\mathrm{Ga}(\gamma_1,\gamma_2)`. A sweep, in this order:

1. every row of z jointly over classes, by elliptical slice sampling around :math:`\mu=P\beta`;
2. twice :math:`(z,\beta,\sigma^2)\to(\rho z,\rho\beta,\rho^2\sigma^2)`, accepted with
   :math:`\frac{L(y|\rho z)}{L(y|z)}\rho^{-2\gamma_1}\exp[-\frac{\gamma_2}{\sigma^2}(\rho^{-2}-1)]`:
   all Gaussian factors cancel against the Jacobian;
3. with selection, components (shared by the classes) given :math:`z,\tau,\sigma^2`, with the odds
   :math:`\frac\pi{1-\pi}\prod_k\sqrt{\frac{\tau_{lk}}{\ell_l+\tau_{lk}}}
   \exp\frac{(P_{\cdot l}'z_k)^2}{2\sigma^2(\ell_l+\tau_{lk})}`;
4. :math:`\sigma^2\sim IG(\gamma_1+\frac{nC}2,\ \gamma_2+\frac12\sum_k(z_k'z_k-m_k'V_k^{-1}m_k))`,
   which has :math:`\beta` integrated out, and so right after it
5. :math:`\beta_k\sim N(m_k,\sigma^2V_k)`, :math:`V_k=(P'P+T_k)^{-1}`, :math:`m_k=V_kP'z_k`;
6. :math:`\tau_{lk}\sim\mathrm{Ga}(\gamma_3+\frac12,\gamma_4+\beta_{lk}^2/2\sigma^2)`.

:math:`P'P` is diagonal, so :math:`V_k` is, and step 4 and 5 need one product :math:`P'Z`. Only the
kernel matrix itself as design (BMKC) takes a Cholesky factor for every class and sweep.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit, jit_apart
from ...linalg.blas import cholesky_in_place
from ...linalg.copies import copy_matrix
from ...linalg.triangular import dot, solve_lower, solve_lower_transposed
from .moves import adapt, draw_precision, draw_share, log_inclusion_odds
from .softmax import log_likelihood, row_log_likelihood

SCALE_MOVES = 2


@jit
def slice_row(rng, latent, centre, spare, row, sd, label, reference):
    """Move the latent values of one row along an ellipse around their prior mean.

    ``spare`` is memory; on return its column ``row`` is of no meaning.
    """
    classes = latent.shape[0]
    level = row_log_likelihood(latent, row, label, reference) - rng.standard_exponential()
    angle = 2.0 * math.pi * rng.random()
    low, high = angle - 2.0 * math.pi, angle
    old, other = np.empty(classes), np.empty(classes)
    for k in range(classes):
        old[k] = latent[k, row] - centre[k, row]
        other[k] = sd * rng.standard_normal()
    while True:
        cosine, sine = math.cos(angle), math.sin(angle)
        for k in range(classes):
            spare[k, row] = centre[k, row] + old[k] * cosine + other[k] * sine
        if row_log_likelihood(spare, row, label, reference) > level:
            for k in range(classes):
                latent[k, row] = spare[k, row]
            return
        if angle < 0.0:
            low = angle
        else:
            high = angle
        if high - low < 1e-14:  # rounding: the current point itself is always allowed
            return
        angle = low + (high - low) * rng.random()


@jit_apart
def _move_scale(rng, state, work, settings, tuning):
    """Scale latent values, coefficients and noise by one factor."""
    latent, proposal = state.latent, work.other
    shape, rate = settings.noise_prior
    current = log_likelihood(latent, settings.labels, settings.reference)
    for _ in range(SCALE_MOVES):
        log_factor = math.exp(state.log_step[0]) * rng.standard_normal()
        factor = math.exp(log_factor)
        for k in range(latent.shape[0]):
            for i in range(latent.shape[1]):
                proposal[k, i] = factor * latent[k, i]
        value = log_likelihood(proposal, settings.labels, settings.reference)
        ratio = value - current - 2.0 * shape * log_factor
        ratio -= rate / state.noise[0] * (factor**-2.0 - 1.0)
        probability = math.exp(min(0.0, ratio)) if ratio == ratio else 0.0
        state.tallies[0, 0] += 1
        if rng.random() < probability:
            state.tallies[0, 1] += 1
            current = value
            copy_matrix(proposal, latent)
            state.noise[0] *= factor * factor
            for k in range(latent.shape[0]):
                for a in range(state.coefficients.shape[1]):
                    state.coefficients[k, a] *= factor
        if tuning:
            state.log_step[0] = adapt(state.log_step[0], probability, state.sweep[0])


@jit_apart
def _select(rng, state, work, settings):
    """Draw which components are in the model, for all classes at once."""
    classes, m = state.coefficients.shape
    inside, total = 0, 0
    prior = math.log(state.share[0] / (1.0 - state.share[0]))
    for a in range(m):
        if settings.block[a] < 0:
            continue
        odds = prior
        for k in range(classes):
            odds += log_inclusion_odds(
                0.5, state.precisions[k, a], settings.squares[a], work.right[k, a], state.noise[0]
            )
        chosen = 1 if math.log(rng.random()) < -math.log1p(math.exp(min(-odds, 700.0))) else 0
        for k in range(classes):
            state.included[k, a] = chosen
        inside += chosen
        total += 1
    state.share[0] = draw_share(rng, inside, total)


@jit_apart
def _condition(rng, state, work, settings, mean, spread):
    """Write means of the coefficients and noise for them; return the energy that is explained.

    Coefficients are then ``mean + sigma * spread``. The energy is NaN if a matrix has no factor.
    """
    classes, m = state.coefficients.shape
    explained = 0.0
    for k in range(classes):
        if settings.gram.shape[0] == 0:
            for a in range(m):
                mean[k, a], spread[k, a] = 0.0, 0.0
                if state.included[k, a] == 1:
                    total = settings.squares[a] + state.precisions[k, a]
                    mean[k, a] = work.right[k, a] / total
                    spread[k, a] = rng.standard_normal() / math.sqrt(total)
        else:
            root = work.root
            copy_matrix(settings.gram, root)
            for a in range(m):
                root[a, a] += state.precisions[k, a]
                mean[k, a] = work.right[k, a]
                spread[k, a] = rng.standard_normal()
            if cholesky_in_place(root, m) != 0:
                return math.nan
            solve_lower(root, m, mean[k])
            solve_lower_transposed(root, m, mean[k])
            solve_lower_transposed(root, m, spread[k])
        explained += dot(mean[k], work.right[k], m)
    return explained


@jit
def noise_shape(settings, rows, classes):
    """Return the shape of the noise's law with the coefficients integrated out."""
    return settings.noise_prior[0] + 0.5 * rows * classes


@jit_apart
def draw_noise_and_coefficients(rng, state, work, settings, mean, spread):
    """Draw the noise with the coefficients integrated out, then the coefficients."""
    classes, m = state.coefficients.shape
    n = settings.labels.shape[0]
    energy = 0.0
    for k in range(classes):
        energy += dot(state.latent[k], state.latent[k], n)
        for a in range(m):
            work.right[k, a] = dot(settings.design[a], state.latent[k], n)
    if settings.average:
        _select(rng, state, work, settings)
    explained = _condition(rng, state, work, settings, mean, spread)
    if not math.isfinite(explained):
        return False
    rate = settings.noise_prior[1] + 0.5 * max(0.0, energy - explained)
    state.noise[0] = rate / rng.standard_gamma(noise_shape(settings, n, classes))
    sd = math.sqrt(state.noise[0])
    for k in range(classes):
        for a in range(m):
            state.coefficients[k, a] = mean[k, a] + sd * spread[k, a]
    return True


@jit_apart
def sweep_once(rng, state, work, settings, tuning):
    """Carry out one sweep; returns whether every matrix could be factored.

    ``work.rows`` holds the values of the functions before and after.
    """
    classes, m = state.coefficients.shape
    n = settings.labels.shape[0]
    np.dot(state.coefficients, settings.design, work.rows)
    sd = math.sqrt(state.noise[0])
    for i in range(n):
        slice_row(
            rng, state.latent, work.rows, work.other, i, sd, settings.labels[i], settings.reference
        )
    _move_scale(rng, state, work, settings, tuning)
    mean, spread = np.empty((classes, m)), np.empty((classes, m))
    if not draw_noise_and_coefficients(rng, state, work, settings, mean, spread):
        return False
    for k in range(classes):
        for a in range(m):
            prior = settings.intercept_prior if settings.block[a] < 0 else settings.precision_prior
            square = state.coefficients[k, a] ** 2 / state.noise[0]
            state.precisions[k, a] = draw_precision(rng, prior, square, state.included[k, a])
    np.dot(state.coefficients, settings.design, work.rows)
    return True
