r"""Births and deaths of several active vectors at once by Laplace's evidence.

It is that of :mod:`sparsekern.bases.laplace_columns`; sizes of blocks and the odds of their
proposals are those of :mod:`.blocks`. A proposal costs a search for a mode, as that of a single
vector does, so where labels hardly care how many vectors there are one block is worth many moves.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit, jit_apart
from ...bases._compiled import judge_proposal
from ...bases.feature_columns import write_sums
from ...linalg.copies import copy_vector
from .active_set import draw_inactive
from .blocks import count_sizes, log_odds_of_block
from .laplace_vectors import keep_set, take_set


@jit
def _write_birth(rng, basis, factor, spare, sums, other_sums, candidates, count):
    """Write the active set and ``count`` inactive candidates to the spare factor."""
    k = factor.n_active[0]
    for a in range(k):
        copy_vector(sums[a], other_sums[a])
        spare.rows[a] = factor.rows[a]
    size = k
    while size < k + count:
        row = draw_inactive(rng, factor, candidates)
        if row in spare.rows[k:size]:
            continue
        spare.rows[size] = row
        write_sums(basis, row, other_sums[size])
        size += 1
    spare.n_active[0] = size


@jit
def _write_death(rng, factor, spare, sums, other_sums, count):
    """Write the active set without ``count`` of its vectors to the spare factor."""
    k = factor.n_active[0]
    order = np.arange(k)
    for place in range(count):
        other = rng.integers(place, k)
        order[place], order[other] = order[other], order[place]
    left = np.sort(order[count:])
    for place in range(k - count):
        copy_vector(sums[left[place]], other_sums[place])
        spare.rows[place] = factor.rows[left[place]]
    spare.n_active[0] = k - count


@jit_apart
def move_vector_blocks(
    rng, basis, factor, spare, sums, other_sums, evidence, log_weights, candidates, moves, tally
):
    """Try ``moves`` blocks; return the log evidence.

    See :func:`.laplace_vectors.move_vectors` for the parameters; ``tally`` is int64[2], attempts
    and acceptances, counted up here.
    """
    n, largest = candidates.shape[0], log_weights.shape[0] - 1
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
            _write_birth(rng, basis, factor, spare, sums, other_sums, candidates, count)
            ratio = log_odds_of_block(n, k, count, log_weights)
        else:
            _write_death(rng, factor, spare, sums, other_sums, count)
            ratio = -log_odds_of_block(n, k - count, count, log_weights)
        value, ratio = judge_proposal(basis, rng, factor, spare, other_sums, evidence, ratio)
        if math.log(rng.random()) < ratio:
            tally[1] += 1
            evidence = value
            take_set(factor, spare, sums, other_sums)
        keep_set(factor, spare)
    return evidence
