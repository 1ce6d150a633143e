r"""Births and deaths of several active vectors at once.

Where the data hardly care how many vectors there are, single births and deaths are nearly always
accepted, and the size of the active set walks at random in steps of one: hundreds of moves lie
between two independent sizes. Here b vectors come in or go out together, b = 2, 4, .. 32, and,
where there is room, up to 128, but no more than a third of the largest size there may be.

A birth draws a vector r and b - 1 others among the inactive candidates, a death the same among the
active. Let :math:`\rho_1` be the ratio of a single birth of r from size k (as in
:mod:`.active_set`, births and deaths being equally probable), :math:`\rho_2` that of the others
from there. A birth is accepted with probability :math:`\min(1,\rho_1)\min(1,\rho_2)`, a death,
which takes the others first, with :math:`\min(1,\rho_2^{-1})\min(1,\rho_1^{-1})`: detailed balance
holds factor by factor, and where single births are refused a block costs no more than one of them.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit, jit_apart
from ...bases._compiled import value_newcomer
from ...linalg.active_changes import commit_birth, commit_death
from ...linalg.active_moves import value_removal
from ...linalg.whitened_factor import FORM
from .active_set import draw_inactive

_FEWEST_SIZES, _MOST_SIZES = 5, 7  # blocks have 2, 4, .. 32 or 128 vectors


@jit
def count_sizes(largest):
    """Return how many sizes of blocks there are where an active set has at most ``largest``."""
    sizes = _FEWEST_SIZES
    while sizes < _MOST_SIZES and 6 << sizes <= largest:
        sizes += 1
    return sizes


@jit
def _log_ways(n, size, count):
    """Return the log ratio of the ways to choose ``count`` vectors to come in and to go out."""
    value = 0.0
    for i in range(count):
        value += math.log((n - size - i) / (size + count - i))
    return value


@jit
def log_odds_of_block(n, size, count, log_weights):
    """Return what a birth of ``count`` vectors has besides its Bayes factor."""
    return log_weights[size + count] - log_weights[size] + _log_ways(n, size, count)


@jit
def _try_birth(rng, factor, basis, length_scale, log_weights, candidates, count):
    """Try to take in ``count`` vectors; return whether they were."""
    n, k, column = candidates.shape[0], factor.n_active[0], factor.long[1]
    form, value, first, taken = factor.noise[FORM], 0.0, 0.0, True
    for place in range(count):
        row = draw_inactive(rng, factor, candidates)
        value += value_newcomer(basis, factor, length_scale, row, column)
        commit_birth(factor, row)
        if place == 0:
            first = value + log_odds_of_block(n, k, 1, log_weights)
            taken = math.log(rng.random()) < first
            if not taken:
                break
    if taken:
        taken = math.log(rng.random()) < value + log_odds_of_block(n, k, count, log_weights) - first
    if not taken:  # columns behind the last one are free for the next newcomer: no more to undo
        for a in range(k, factor.n_active[0]):
            factor.position[factor.rows[a]] = -1
        factor.n_active[0] = k
        factor.noise[FORM] = form
    return taken


@jit
def _try_death(rng, factor, log_weights, candidates, count):
    """Try to leave out ``count`` vectors, the first to come in again last; return whether so."""
    n, k = candidates.shape[0], factor.n_active[0]
    chosen, gains = np.arange(k), np.empty(count)
    for place in range(count):
        other = rng.integers(place, k)
        chosen[place], chosen[other] = chosen[other], chosen[place]
    chosen = chosen[:count]
    value_removal(factor, chosen, k, gains)
    left = k - count
    first = gains[count - 2] - gains[count - 1] + log_odds_of_block(n, left, 1, log_weights)
    others = log_odds_of_block(n, left, count, log_weights) - gains[count - 1] - first
    if not (math.log(rng.random()) < -others and math.log(rng.random()) < -first):
        return False
    chosen.sort()
    for place in range(count - 1, -1, -1):
        commit_death(factor, chosen[place])
    return True


@jit_apart
def move_blocks(rng, factor, basis, length_scale, log_weights, candidates, moves, tally):
    """Try ``moves`` blocks; see :func:`.active_set.move_active_set` for the parameters.

    ``tally`` is int64[2], attempts and acceptances, counted up here.
    """
    largest = log_weights.shape[0] - 1
    sizes = count_sizes(largest)
    for _ in range(moves):
        if factor.abandoned[0] != 0:
            break
        count = 2 << rng.integers(0, sizes)
        birth = rng.random() < 0.5
        k = factor.n_active[0]
        tally[0] += 1
        if (k + count > largest) if birth else (k < count):
            continue
        if birth:
            taken = _try_birth(rng, factor, basis, length_scale, log_weights, candidates, count)
        else:
            taken = _try_death(rng, factor, log_weights, candidates, count)
        tally[1] += 1 if taken else 0
