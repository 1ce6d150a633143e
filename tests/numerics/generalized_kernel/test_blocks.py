"""Births and deaths of several vectors at once: against all 256 sets, and move by move."""

import numpy as np
import pytest
from chain_setup import factor_at, rbf_basis, recompiled
from dense_model import (
    by_size,
    covariance,
    exact_set_posterior,
    gaussian_kernel,
    log_normal,
    total_variation,
)
from numba import njit
from speed import slow_rows_except

from sparsekern._jit import jit
from sparsekern.bases.kernel_columns import rebuild
from sparsekern.inference.moves import blocks
from sparsekern.inference.moves.active_set import move_active_set
from sparsekern.inference.moves.blocks import move_blocks
from sparsekern.linalg.active_moves import value_removal
from sparsekern.linalg.whitened_factor import FORM, RATE, SHAPE, log_evidence
from sparsekern.priors.model_size import beta_binomial_log_weights

N, G, ETA, JITTER = 8, 0.6, 1.1, 1e-6
SCALE = np.array([0.8, 1.0])


def _data(latents=1):
    rng = np.random.default_rng(20)
    features = rng.standard_normal((N, 2))
    latent = np.array([1.4, -0.9, 0.7, 2.1, -1.6, 0.4, -0.3, 1.2])
    return features, np.vstack([latent, rng.standard_normal((latents - 1, N))])


@pytest.mark.parametrize(("largest", "sizes"), [(3, 5), (100, 5), (192, 6), (400, 7), (4000, 7)])
def test_blocks_have_up_to_a_third_of_the_largest_set(largest, sizes):
    assert blocks.count_sizes(largest) == sizes
    assert sizes == 5 or 2**sizes <= largest / 3


@jit
def _count_visits(rng, factor, basis, scale, log_weights, tallies, block, visits, moves):
    """Make one single move and one block at a time, and count the sets after both."""
    rows = np.arange(factor.position.shape[0])
    for _ in range(moves):
        move_active_set(rng, factor, basis, scale, log_weights, rows, 1, rows[:0], tallies)
        move_blocks(rng, factor, basis, scale, log_weights, rows, 1, block)
        code = 0
        for i in range(rows.shape[0]):
            if factor.position[i] >= 0:
                code += 1 << i
        visits[code] += 1


def _distance(count_visits, largest=N, shapes=(1.0, 1.0), moves=300_000):
    """Return the distance to the exact posterior of sets, the largest in sizes, and the tally."""
    features, latent = _data()
    factor = factor_at(rbf_basis(features, JITTER), SCALE, [1], latent, G, ETA, largest)
    tallies, block, visits = np.zeros((3, 2), np.int64), np.zeros(2, np.int64), np.zeros(2**N)
    weights = beta_binomial_log_weights(N, largest, shapes)
    basis, rng = rbf_basis(features, JITTER), np.random.default_rng(0)
    count_visits(rng, factor, basis, SCALE[None], weights, tallies, block, visits, moves)
    visited = visits / moves
    kernel = gaussian_kernel(features, features, SCALE)
    exact = exact_set_posterior(
        N, largest,
        lambda rows: log_normal(latent[0], covariance(kernel, rows, G, ETA, JITTER)), shapes,
    )  # fmt: skip
    sizes = np.abs(by_size(visited) - by_size(exact)).max()
    print(f"TV {total_variation(visited, exact):.4f}, sizes {sizes:.4f}, blocks {block}")
    return total_variation(visited, exact), sizes, block


LAWS = [(8, (1.0, 1.0)), (3, (1.0, 1.0)), (8, (2.0, 5.0))]


@pytest.mark.parametrize(("largest", "shapes"), slow_rows_except(LAWS, LAWS[2:]))
def test_visited_sets(largest, shapes):
    distance, sizes, block = _distance(_count_visits, largest, shapes)
    assert distance < 0.016
    assert sizes < 0.005
    assert block[0] == 300_000 and block[1] > 5000


def _wrong(**pieces):
    births = {name: pieces[name] for name in ("log_odds_of_block",) if name in pieces}
    parts = {
        name: recompiled(getattr(blocks, name), **births) for name in ("_try_birth", "_try_death")
    }
    wrong = recompiled(move_blocks, **parts | pieces)
    return recompiled(_count_visits, move_blocks=wrong)


@pytest.mark.slow
def test_forgotten_ways_are_noticed():
    """Births and deaths of a block have different numbers of ways."""

    @njit
    def log_odds(n, size, count, log_weights):
        return log_weights[size + count] - log_weights[size]

    distance, sizes, _ = _distance(_wrong(log_odds_of_block=log_odds))
    assert distance > 0.06 and sizes > 0.03


@pytest.mark.slow
def test_a_death_judged_as_a_whole_is_noticed():
    """Births are judged in two steps; deaths judged in one would be taken too often."""

    @njit
    def try_death(rng, factor, log_weights, candidates, count):
        gains, k = np.empty(count), factor.n_active[0]
        chosen = rng.permutation(k)[:count]
        value_removal(factor, chosen, k, gains)
        odds = blocks.log_odds_of_block(candidates.shape[0], k - count, count, log_weights)
        if not np.log(rng.random()) < gains[count - 1] - odds:
            return False
        chosen.sort()
        for place in range(count - 1, -1, -1):
            blocks.commit_death(factor, chosen[place])
        return True

    distance, sizes, _ = _distance(_wrong(_try_death=try_death))
    assert distance > 0.02 and sizes > 0.008


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("latents", [1, 2])
def test_removals_one_by_one(latents, learned):
    """Gains of removing more and more vectors are differences of evidences made from scratch."""
    features, response = _data(latents)
    basis = rbf_basis(features, JITTER)

    def evidence(rows):
        factor = factor_at(basis, SCALE, rows, response, G, ETA, N)
        if learned:
            factor.noise[SHAPE], factor.noise[RATE] = 2.0 + 0.5 * N * latents, 0.7
            rebuild(factor, basis, SCALE[None])
        return log_evidence(factor), factor

    rows, positions = [3, 0, 6, 5, 2, 7], np.array([4, 1, 3])
    whole, factor = evidence(rows)
    gains = np.empty(3)
    value_removal(factor, positions, len(rows), gains)
    for count in (1, 2, 3):
        left = [row for place, row in enumerate(rows) if place not in positions[:count]]
        assert abs(evidence(left)[0] - whole - gains[count - 1]) < 1e-8


def test_the_factor_stays_exact():
    """After many blocks, taken and refused, the factor is that of its rows; noise is learned."""
    features, response = _data()
    basis, rng = rbf_basis(features, JITTER), np.random.default_rng(5)
    factor = factor_at(basis, SCALE, [1, 4], response, G, ETA, N)
    factor.noise[SHAPE], factor.noise[RATE] = 2.0 + 0.5 * N, 0.7
    rebuild(factor, basis, SCALE[None])
    weights, tally = beta_binomial_log_weights(N, N, (1.0, 1.0)), np.zeros(2, np.int64)
    for _ in range(40):
        move_blocks(rng, factor, basis, SCALE[None], weights, np.arange(N), 5, tally)
        form, evidence = factor.noise[FORM], log_evidence(factor)
        active = np.flatnonzero(factor.position >= 0)
        assert set(active) == set(factor.rows[: factor.n_active[0]])
        rebuild(factor, basis, SCALE[None])
        assert abs(factor.noise[FORM] - form) < 1e-7 * form
        assert abs(log_evidence(factor) - evidence) < 1e-7
    assert 0 < tally[1] < tally[0]
