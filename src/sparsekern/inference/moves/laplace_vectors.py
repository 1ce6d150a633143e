r"""Birth, death and swap of active vectors by Laplace's evidence.

It is that of :mod:`sparsekern.bases.laplace_columns`. Proposals and their probabilities are those
of :mod:`.active_set`. A try is judged twice (Christen and Fox 2005). First by the Bayes factor
under the sites of the present state x, which costs one kernel column and no search: with
probability :math:`\alpha_1(x,y)=\min(1,r_x(x\to y))` the proposal y is worth the search for its
mode. Then by

.. math:: \min\Big(1,\ \frac{\tilde m(y)p(y)\,q(y\to x)\,\alpha_1(y,x)}
    {\tilde m(x)p(x)\,q(x\to y)\,\alpha_1(x,y)}\Big),

for which the way back is valued under the sites of y.
"""

from __future__ import annotations

import math

from ..._jit import jit, jit_apart
from ...bases._compiled import value_newcomer
from ...bases.feature_columns import write_sums
from ...bases.laplace_columns import load_mode
from ...kernels.feature_sums import kernel_of_sums
from ...linalg.active_moves import value_death
from ...linalg.copies import copy_vector
from .active_set import BIRTH, DEATH, draw_inactive, draw_kind, log_odds_of_change
from .features import take_proposal


@jit
def _write_proposal(basis, factor, spare, sums, other_sums, row, victim):
    """Write the active set without ``victim`` and with ``row``, if any (-1: none), to ``spare``."""
    count = 0
    for a in range(factor.n_active[0]):
        if a != victim:
            copy_vector(factor.whitened[a], spare.whitened[count])
            copy_vector(sums[a], other_sums[count])
            spare.rows[count] = factor.rows[a]
            count += 1
    if row >= 0:
        write_sums(basis, row, other_sums[count])
        kernel_of_sums(other_sums[count], basis.kind, spare.whitened[count])
        spare.rows[count] = row
        count += 1
    spare.n_active[0] = count


@jit
def take_set(factor, spare, sums, other_sums):
    """Make the proposal, its active set included, the present state."""
    for a in range(factor.n_active[0]):
        factor.position[factor.rows[a]] = -1
    factor.n_active[0] = spare.n_active[0]
    for a in range(spare.n_active[0]):
        factor.rows[a] = spare.rows[a]
        factor.position[spare.rows[a]] = a
        for b in range(a):
            factor.prior_root[a, b] = 0.0
        factor.prior_root[a, a] = 1.0  # moves of single vectors value them by it
    take_proposal(factor, spare, sums, other_sums)


@jit
def keep_set(factor, spare):
    """Give the spare factor the active set of the present state again."""
    spare.n_active[0] = factor.n_active[0]
    for a in range(factor.n_active[0]):
        spare.rows[a] = factor.rows[a]


@jit
def _value_by_sites(basis, factor, row, victim, column):
    """Return the log Bayes factor of taking in ``row`` and leaving out ``victim`` by the sites."""
    value, size = 0.0, factor.n_active[0]
    if row >= 0:
        value += value_newcomer(basis, factor, basis.columns, row, column)
        size += 1
    if victim >= 0:
        value += value_death(factor, victim, size)
    return value


@jit_apart
def move_vectors(
    rng, basis, factor, spare, sums, other_sums, evidence, log_weights, candidates, moves, tallies
):
    """Try ``moves`` moves; return the log evidence.

    ``spare`` has an active set of its own, equal to that of ``factor`` before and after; see
    :func:`.active_set.move_active_set` for the rest.
    """
    n, largest = candidates.shape[0], log_weights.shape[0] - 1
    column = factor.long[1]
    for _ in range(moves):
        if factor.abandoned[0] != 0:
            break
        k = factor.n_active[0]
        kind = draw_kind(rng, k, largest, n)
        tallies[kind, 0] += 1
        row = draw_inactive(rng, factor, candidates) if kind != DEATH else -1
        victim = rng.integers(0, k) if kind != BIRTH else -1
        newcomers = n - (k if kind == BIRTH else k - 1)
        prior = log_odds_of_change(kind, k, log_weights, n, newcomers)
        there = prior + _value_by_sites(basis, factor, row, victim, column)
        if not math.log(rng.random()) < there:
            continue
        _write_proposal(basis, factor, spare, sums, other_sums, row, victim)
        value = load_mode(basis, spare)
        ratio = -math.inf
        if value > -math.inf:
            # on the way back the newcomer, which stands last, leaves and the victim comes in
            old = factor.rows[victim] if victim >= 0 else -1
            last = spare.n_active[0] - 1 if row >= 0 else -1
            back = _value_by_sites(basis, spare, old, last, column) - prior
            ratio = value - evidence + prior + min(0.0, back) - min(0.0, there)
        if math.log(rng.random()) < ratio:
            tallies[kind, 1] += 1
            evidence = value
            take_set(factor, spare, sums, other_sums)
        keep_set(factor, spare)
    return evidence
