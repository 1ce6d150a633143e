"""What engines ask of the training responses: names found by the type of a likelihood's data.

Each likelihood has a NamedTuple that holds the training responses as its compiled functions want
them, and registers functions for it (:mod:`.._dispatch`). Engines call the names below and know no
likelihood.
"""

from __future__ import annotations

import numpy as np

from .._dispatch import generic, set_default
from .._dispatch import register as register
from .._jit import jit

# (data, rng, factor, diagonal, scans, memory): renew working response and precision by a move that
# keeps the posterior, and leave the factor exact
update_working = generic("update_working")
# (data, rng, fitted, variance, response, precision): draw auxiliary variables given the function,
# and write the working response and precision they make
draw_working = generic("draw_working")
# (data, fitted, scale, variance): log-likelihood of all responses at ``scale`` times the function
scaled_log_likelihood = generic("scaled_log_likelihood")
# (data, fitted, sums): add f, l'(f) and -l''(f) to the three rows of ``sums``
add_site_terms = generic("add_site_terms")
# (data, latent): expected response at one latent value
mean_response = generic("mean_response")
# (data, functions, variance): log-likelihood of all responses at all latent functions
total_log_likelihood = generic("total_log_likelihood")
# (data, functions, row): what convergence is judged by at one training row
monitor = generic("monitor")


@jit
def _total_log_likelihood(data, functions, variance):
    return scaled_log_likelihood(data, functions[0], 1.0, variance)


@jit
def _monitor(data, functions, row):
    return mean_response(data, functions[0, row])


# Engines are compiled with all their moves. A likelihood without the ability "function moves" is
# never asked for the following; they let it compile, and would spoil a chain that did ask.
@jit
def _absent_draw(data, rng, fitted, variance, response, precision):
    response[:] = np.nan
    return False


@jit
def _absent_value(data, fitted, scale, variance):
    return np.nan


@jit
def _absent_terms(data, fitted, sums):
    sums[:] = np.nan


set_default(
    total_log_likelihood=_total_log_likelihood,
    monitor=_monitor,
    draw_working=_absent_draw,
    scaled_log_likelihood=_absent_value,
    add_site_terms=_absent_terms,
)
