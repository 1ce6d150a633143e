"""Moves of the active set against the exact posterior of all 256 sets of eight rows."""

import numpy as np
import pytest
from chain_setup import factor_at, rbf_basis, recompiled, table_basis
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
from sparsekern.bases._compiled import value_newcomer
from sparsekern.inference.moves.active_set import move_active_set, move_probabilities
from sparsekern.linalg.active_moves import value_death
from sparsekern.priors.model_size import beta_binomial_log_weights

N, G, ETA, JITTER = 8, 0.6, 1.1, 1e-6
SCALE = np.array([0.8, 1.0])
MOVES = 1_000_000


def _data():
    rng = np.random.default_rng(20)
    features = rng.standard_normal((N, 2))
    latent = np.array([1.4, -0.9, 0.7, 2.1, -1.6, 0.4, -0.3, 1.2])
    return features, latent


def _exact(largest, shapes):
    features, latent = _data()
    kernel = gaussian_kernel(features, features, SCALE)

    def evidence(rows):
        return log_normal(latent, covariance(kernel, rows, G, ETA, JITTER))

    return exact_set_posterior(N, largest, evidence, shapes)


@jit
def _count_visits(rng, factor, basis, scale, log_weights, pre_drawn, tallies, visits, moves):
    """Make single moves and count the sets they stand at."""
    candidate = np.zeros(1, np.int64)
    n = factor.position.shape[0]
    rows = np.arange(n)
    for _ in range(moves):
        if pre_drawn:
            candidate[0] = rng.integers(0, n)
            move_active_set(rng, factor, basis, scale, log_weights, rows, 1, candidate, tallies)
        else:
            move_active_set(rng, factor, basis, scale, log_weights, rows, 1, candidate[:0], tallies)
        code = 0
        for i in range(n):
            if factor.position[i] >= 0:
                code += 1 << i
        visits[code] += 1


def _visited(count_visits, largest, shapes=(1.0, 1.0), pre_drawn=False, moves=MOVES):
    features, latent = _data()
    basis = rbf_basis(features, JITTER)
    if pre_drawn:
        basis = table_basis(gaussian_kernel(features, features, SCALE), JITTER)
    factor = factor_at(basis, SCALE, [1], latent, G, ETA, largest)
    tallies = np.zeros((4, 2), np.int64)
    visits = np.zeros(2**N)
    weights = beta_binomial_log_weights(N, largest, shapes)
    rng = np.random.default_rng(0)
    count_visits(rng, factor, basis, SCALE[None], weights, pre_drawn, tallies, visits, moves)
    assert tallies[:, 0].sum() == moves
    return visits / moves, tallies


LAWS = [(8, (1.0, 1.0)), (3, (1.0, 1.0)), (8, (2.0, 5.0))]
CASES = [(*law, pre_drawn) for law in LAWS for pre_drawn in (False, True)]
QUICK = [(8, (2.0, 5.0), False)]  # sets that end below: test_largest_active_set.py


@pytest.mark.parametrize(("largest", "shapes", "pre_drawn"), slow_rows_except(CASES, QUICK))
def test_visited_sets(largest, shapes, pre_drawn):
    visited, tallies = _visited(_count_visits, largest, shapes, pre_drawn)
    exact = _exact(largest, shapes)
    distance = total_variation(visited, exact)
    print(f"TV {distance:.4f}, p(k={largest}) {by_size(visited)[largest]:.4f}")
    assert distance < 0.015
    assert np.abs(by_size(visited) - by_size(exact)).max() < 0.006
    assert (tallies[:3, 1] > 1000).all()  # every kind of move was taken


@pytest.mark.slow
def test_one_active_vector_at_most():
    visited, _ = _visited(_count_visits, 1)
    assert total_variation(visited, _exact(1, (1.0, 1.0))) < 0.01


def test_forgotten_proposal_ratio_is_noticed(largest=8):
    """The compiled moves, less the ratio of proposal probabilities, must fail the same check."""

    @njit
    def birth_without(basis, factor, length_scale, row, column):
        k, n = factor.n_active[0], factor.position.shape[0]
        here = move_probabilities(k, largest, n)[0]
        back = move_probabilities(k + 1, largest, n)[1]
        ratio = np.log(back * (n - k) / (here * (k + 1)))
        return value_newcomer(basis, factor, length_scale, row, column) - ratio

    @njit
    def death_without(factor, position, size):
        n = factor.position.shape[0]
        here = move_probabilities(size, largest, n)[1]
        back = move_probabilities(size - 1, largest, n)[0]
        ratio = np.log(back * size / (here * (n - size + 1)))
        return value_death(factor, position, size) - ratio

    wrong = recompiled(move_active_set, value_newcomer=birth_without, value_death=death_without)
    count_visits = recompiled(_count_visits, move_active_set=wrong)
    visited, _ = _visited(count_visits, largest, moves=200_000)
    exact = _exact(largest, (1.0, 1.0))
    print(f"TV {total_variation(visited, exact):.4f}, p(k={largest}) "
          f"{by_size(visited)[largest]:.3f} for {by_size(exact)[largest]:.3f}")  # fmt: skip
    assert total_variation(visited, exact) > 0.06


@pytest.mark.slow
def test_veto_of_near_duplicates_is_noticed():
    """A one-sided veto of births breaks reversibility; it must fail the same check."""

    @njit
    def birth_with_veto(basis, factor, length_scale, row, column):
        value = value_newcomer(basis, factor, length_scale, row, column)
        k = factor.n_active[0]
        return value if factor.prior_root[k, k] > 0.5 else -np.inf

    wrong = recompiled(move_active_set, value_newcomer=birth_with_veto)
    visited, _ = _visited(recompiled(_count_visits, move_active_set=wrong), 8)
    assert total_variation(visited, _exact(8, (1.0, 1.0))) > 0.06
