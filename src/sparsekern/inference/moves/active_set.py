r"""Birth, death and swap moves of the active set.

They target :math:`p(\gamma\mid z,\dots)\propto p(z\mid\gamma)p(\gamma)` with the coefficients
integrated out. A birth proposes an inactive candidate uniformly, a death an active one, a swap one
of each; with b and d the probabilities of trying a birth and a death at the present size k and
:math:`p_k` the prior weight of one set of size k, a birth is accepted with probability
:math:`\min(1,e^A)`,

.. math:: A=\log BF+\log\frac{p_{k+1}}{p_k}+\log\frac{d_{k+1}\,(n-k)}{b_k\,(k+1)},

a death with the reverse, a swap on its Bayes factor alone. The file knows no likelihood and no
kernel by name.
"""

from __future__ import annotations

import math

from ..._jit import jit, jit_apart
from ...bases._compiled import value_newcomer
from ...linalg.active_changes import commit_birth, commit_death
from ...linalg.active_moves import value_death

BIRTH, DEATH, SWAP = range(3)


@jit
def move_probabilities(size, largest, n_rows):
    """Return the probabilities of trying a birth and a death at ``size``; the rest is swaps."""
    if size == 0:
        return 1.0, 0.0
    if size == n_rows:  # nothing is left to swap with
        return 0.0, 1.0
    if size == largest:
        return 0.0, 0.3
    return 0.3, 0.3


@jit
def draw_inactive(rng, factor, candidates):
    """Return an inactive candidate, drawn uniformly."""
    while True:
        row = candidates[rng.integers(0, candidates.shape[0])]
        if factor.position[row] < 0:
            return row


@jit
def draw_kind(rng, size, largest, n_rows):
    """Return which kind of change to try at ``size``."""
    birth, death = move_probabilities(size, largest, n_rows)
    choice = rng.random()
    return BIRTH if choice < birth else (DEATH if choice < birth + death else SWAP)


@jit
def log_odds_of_change(kind, size, log_weights, n_rows, newcomers):
    """Return what the log acceptance ratio of a change holds besides its Bayes factor.

    ``newcomers``: among how many a birth from ``size``, or back to it, is drawn.
    """
    largest = log_weights.shape[0] - 1
    if kind == SWAP:
        return 0.0
    smaller = size if kind == BIRTH else size - 1
    birth = move_probabilities(smaller, largest, n_rows)[0]
    death = move_probabilities(smaller + 1, largest, n_rows)[1]
    value = log_weights[smaller + 1] - log_weights[smaller]
    value += math.log(death * newcomers / (birth * (smaller + 1)))
    return value if kind == BIRTH else -value


@jit_apart
def move_active_set(
    rng, factor, basis, length_scale, log_weights, candidates, moves, drawn, tallies
):
    """Try ``moves`` moves.

    Parameters
    ----------
    rng : Generator
    factor : WhitenedFactor
    basis : KernelColumns or FeatureColumns
    length_scale : float64[L, p]
    log_weights : float64[max_active + 1]
        Log prior weight of one active set, by size.
    candidates : int64[n]
        Rows that may become active; "n" in the formula counts them.
    moves : int
    drawn : int64[moves] or int64[0]
        Empty: newcomers are drawn among the inactive candidates. Otherwise move i may only bring in
        row ``drawn[i]``, drawn beforehand from all candidates (its kernel column is in the table);
        one that is active already makes the move a null move, and "n" replaces "n - k" in the
        acceptance ratio.
    tallies : int64[3, 2]
        Attempts and acceptances of births, deaths and swaps, counted up here.
    """
    n = candidates.shape[0]
    largest = log_weights.shape[0] - 1
    drawn_before = drawn.shape[0] > 0
    column = factor.long[1]
    for move in range(moves):
        if factor.abandoned[0] != 0:
            break
        k = factor.n_active[0]
        kind = draw_kind(rng, k, largest, n)
        tallies[kind, 0] += 1
        row, victim, size = -1, -1, k
        accept = 0.0  # log of the acceptance ratio
        if kind != DEATH:
            row = drawn[move] if drawn_before else draw_inactive(rng, factor, candidates)
            if factor.position[row] >= 0:
                continue
            accept += value_newcomer(basis, factor, length_scale, row, column)
            size += 1  # a swap is valued as: newcomer in, then victim out
        if kind != BIRTH:
            victim = rng.integers(0, k)
            accept += value_death(factor, victim, size)
        newcomers = n if drawn_before else n - (k if kind == BIRTH else k - 1)
        accept += log_odds_of_change(kind, k, log_weights, n, newcomers)
        if math.log(rng.random()) < accept:
            tallies[kind, 1] += 1
            if kind != DEATH:
                commit_birth(factor, row)
            if kind != BIRTH:
                commit_death(factor, victim)
