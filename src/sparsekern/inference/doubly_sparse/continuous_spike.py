r"""The sweep with a continuous spike, for comparison with the point mass.

Every candidate has a column; :math:`\beta_j\sim N(0,\sigma^2\nu_1)` in the slab and
:math:`N(0,\sigma^2\nu_0)` in the spike. The order of the paper does not keep the posterior; this
one does:

1. features and bandwidths, coefficients (and :math:`\sigma^2`) integrated out, all columns in use;
2. :math:`\sigma^2`, coefficients integrated out; 3. coefficients given it, so that both are fresh;
4. :math:`\nu_1\sim IG(a+k/2,\ b+\sum_{slab}\beta_j^2/2\sigma^2)`, without the intercept;
5. membership, with log odds :math:`\log\frac\pi{1-\pi}-\frac12\log\frac{\nu_1}{\nu_0}
   +\frac{\beta_j^2}{2\sigma^2}(\frac1{\nu_0}-\frac1{\nu_1})`;
6. auxiliary variables given the function.

A column is multiplied by :math:`\sqrt{\nu_0/\nu_1}` where it is in the spike, so that one factor
with one variance serves both.
"""

from __future__ import annotations

import math

from ..._jit import jit
from ...likelihoods._compiled import draw_working, monitor, total_log_likelihood
from ...linalg.copies import copy_vector
from ...linalg.whitened_factor import VARIANCE, response_energy
from ...linalg.whitened_response import draw_coefficients, draw_noise
from ...priors.scales import draw_variance
from .sweep import store_features, sweep_features


@jit
def weigh_columns(state, weight, spike_variance):
    """Write the weight of every row's column."""
    inside = math.sqrt(spike_variance / state.variances[1])
    for row in range(weight.shape[0]):
        weight[row] = 1.0 if state.slab[row] > 0 else inside


@jit
def _draw_function(rng, state, work):
    """Draw the noise, the coefficients given it, and the function."""
    factor = work.factor
    draw_noise(rng, factor)
    intercept = draw_coefficients(rng, factor, 0, work.memory.coefficients, work.functions[0])
    for a in range(state.n_active[0]):
        work.memory.coefficients[a] *= work.basis.weight[state.rows[a]]
    return intercept


@jit
def _draw_slab(rng, state, work, prior, settings, spike_variance):
    """Draw the slab's variance, if it is learned, and who belongs to it."""
    noise, coefficients = work.factor.noise[VARIANCE], work.memory.coefficients
    members, squares = 0, 0.0
    for a in range(state.n_active[0]):
        if state.slab[state.rows[a]] > 0:
            members += 1
            squares += coefficients[a] ** 2
    slab = draw_variance(rng, prior, members, squares / noise, state.variances[1])
    state.variances[1] = slab
    constant = settings.log_weights[1] - settings.log_weights[0]
    constant -= 0.5 * math.log(slab / spike_variance)
    for a in range(state.n_active[0]):
        energy = 0.5 * coefficients[a] ** 2 / noise
        odds = constant + energy * (1.0 / spike_variance - 1.0 / slab)
        taken = rng.random() * (1.0 + math.exp(-odds)) < 1.0
        state.slab[state.rows[a]] = 1 if taken else 0
    weigh_columns(state, work.basis.weight, spike_variance)


@jit
def _store(state, work, settings, draws, intercept, at):
    """Write down the function just drawn as kept draw ``at``; spike columns are part of it."""
    functions, noise = work.functions, work.factor.noise[VARIANCE]
    draws.intercept[at, 0] = intercept
    draws.n_active[at] = state.n_active[0]
    for a in range(state.n_active[0]):
        draws.rows[at, a] = state.rows[a]
        draws.coefficients[at, 0, a] = work.memory.coefficients[a]
        draws.slab[at, a] = state.slab[state.rows[a]]
    copy_vector(state.variances, draws.variances[at])
    draws.noise_variance[at] = noise
    copy_vector(state.parameters, draws.parameters[at])
    draws.log_likelihood[at] = total_log_likelihood(work.data, functions, noise)
    for m in range(settings.monitored_rows.shape[0]):
        draws.monitored[at, m] = monitor(work.data, functions, settings.monitored_rows[m])
    store_features(state, draws, at)


@jit
def run_continuous_spike(
    rng, state, work, prior, settings, draws, spike_variance, stop, tune, thin
):
    """Run until ``stop`` sweeps are done; return whether the working response stayed finite."""
    weigh_columns(state, work.basis.weight, spike_variance)
    while state.sweep[0] < stop:
        sweep = state.sweep[0]
        if sweep == tune:
            state.tallies[:] = 0
        sweep_features(rng, state, work, settings, sweep < tune)
        intercept = _draw_function(rng, state, work)
        kept = sweep - tune + 1
        if kept > 0 and kept % thin == 0:
            _store(state, work, settings, draws, intercept, kept // thin - 1)
        _draw_slab(rng, state, work, prior, settings, spike_variance)
        draw_working(
            work.data, rng, work.functions[0], work.factor.noise[VARIANCE], state.response[0],
            state.precision,
        )  # fmt: skip
        members = 0
        for a in range(state.n_active[0]):
            members += state.slab[state.rows[a]]
        draws.size_trace[sweep] = members
        draws.features_trace[sweep] = state.n_features[0]
        state.sweep[0] = sweep + 1
        if not math.isfinite(response_energy(work.factor)):
            return False
    return True
