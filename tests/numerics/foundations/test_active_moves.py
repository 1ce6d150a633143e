"""Birth, death and swap: Bayes factors against dense evidences, factor after many commits."""

import numpy as np
import pytest
from chain_setup import factor_at, rbf_basis
from dense_model import covariance, gaussian_kernel, log_normal
from numpy.testing import assert_allclose

from sparsekern.linalg.active_changes import commit_birth, commit_death
from sparsekern.linalg.active_moves import value_birth, value_death
from sparsekern.linalg.factor_columns import refresh_products
from sparsekern.linalg.whitened_factor import empty_factor, log_evidence, refactor
from sparsekern.linalg.whitened_response import hat_rows

G, ETA = 0.4, 1.3


class Problem:
    """A random problem with both sides of the comparison."""

    def __init__(self, n, p, latents, unit, largest, jitter=1e-6, seed=0, width=0.8):
        self.rng = np.random.default_rng([seed, n, latents])
        self.features = self.rng.standard_normal((n, p))
        self.latent = 1.5 * self.rng.standard_normal((latents, n))
        self.precision = np.ones(n) if unit else self.rng.gamma(2.0, 0.5, n) + 0.05
        self.scale = width * np.sqrt(p) * np.ones(p)
        self.jitter, self.largest = jitter, largest
        self.kernel = gaussian_kernel(self.features, self.features, self.scale)
        self.basis = rbf_basis(self.features, jitter)

    def factor(self, rows):
        return factor_at(
            self.basis, self.scale, rows, self.latent, G, ETA, self.largest, self.precision
        )

    def dense(self, rows):
        q = covariance(self.kernel, rows, G, ETA, self.jitter, self.precision)
        return log_normal(self.latent, q)

    def birth(self, factor, row):
        return value_birth(factor, row, self.kernel[row].copy(), 1.0, self.jitter)

    def swap(self, factor, position, row):
        birth = value_birth(factor, row, self.kernel[row].copy(), 1.0, self.jitter)
        return birth + value_death(factor, position, factor.n_active[0] + 1)


CASES = [
    # n, p, latents, unit precision?, k, tolerance
    (10, 2, 1, True, 0, 1e-10),
    (10, 2, 1, True, 1, 1e-10),
    (10, 2, 2, False, 6, 1e-10),
    (10, 2, 1, True, 9, 1e-10),
    (50, 3, 2, False, 20, 1e-10),
    (200, 5, 1, True, 120, 1e-8),
]


@pytest.mark.parametrize(("n", "p", "latents", "unit", "k", "tolerance"), CASES)
def test_bayes_factors(n, p, latents, unit, k, tolerance):
    problem = Problem(n, p, latents, unit, largest=k + 1)
    order = problem.rng.permutation(n)
    rows, others = list(order[:k]), order[k:][:4]
    factor = problem.factor(rows)
    base = problem.dense(rows)
    close = {"rtol": tolerance, "atol": tolerance}
    for row in others:
        assert_allclose(problem.birth(factor, row), problem.dense([*rows, row]) - base, **close)
        for position in {0, k // 2, k - 1} if k else ():
            swapped = [r for r in rows if r != rows[position]] + [row]
            value = problem.swap(factor, position, row)
            assert_allclose(value, problem.dense(swapped) - base, **close)
    for position in range(0, k, max(1, k // 7)):
        rest = [r for r in rows if r != rows[position]]
        assert_allclose(value_death(factor, position, k), problem.dense(rest) - base, **close)


def _check_against_dense(problem, factor, rows, tolerance):
    """Every live array of the factor, given the order in which it holds the rows."""
    k = len(rows)
    n = len(problem.kernel)
    held = factor.rows[:k].copy()
    assert sorted(held) == sorted(rows)
    position = np.full(n, -1)
    position[held] = np.arange(k)
    assert (factor.position == position).all()

    prior_root = np.linalg.cholesky(problem.kernel[np.ix_(held, held)] + problem.jitter * np.eye(k))
    whitened = np.linalg.solve(prior_root, problem.kernel[held])
    wide = np.vstack([np.ones(n), whitened])
    scale = np.sqrt(np.r_[1 / ETA, np.full(k, 1 / G)])
    gram = wide @ (problem.precision[:, None] * wide.T)
    cross = (problem.precision * problem.latent) @ wide.T
    root = np.linalg.cholesky(np.eye(k + 1) + scale[:, None] * gram * scale)
    projected = np.linalg.solve(root, (cross * scale).T).T
    pairs = [
        (np.tril(factor.prior_root[:k, :k]), prior_root),
        (factor.whitened[:k], whitened),
        (factor.gram[: k + 1, : k + 1], gram),
        (factor.cross[:, : k + 1], cross),
        (np.tril(factor.root[: k + 1, : k + 1]), root),
        (factor.projected[:, : k + 1], projected),
    ]
    for ours, dense in pairs:
        limit = tolerance * max(1.0, np.abs(dense).max(initial=0.0))
        assert_allclose(ours, dense, rtol=0, atol=limit)
    hat = hat_rows(factor, np.empty(n * (k + 1)))
    q = covariance(problem.kernel, held, G, ETA, problem.jitter, problem.precision)
    leverage = 1 - np.diag(np.linalg.inv(q)) / problem.precision
    assert_allclose((hat**2).sum(1), leverage, rtol=0, atol=tolerance)
    assert_allclose(hat, (np.linalg.solve(root, scale[:, None] * wide)).T
                    * np.sqrt(problem.precision)[:, None], rtol=0, atol=tolerance)  # fmt: skip


def _walk(problem, factor, rows, commits):
    """Commit random moves, with uncommitted valuations in between, and track the evidence."""
    rng, n, total = problem.rng, len(problem.kernel), 0.0
    rows = list(rows)
    for _ in range(commits):
        k = len(rows)
        inactive = np.setdiff1d(np.arange(n), rows)
        if k and len(inactive):  # looked at, not taken
            problem.swap(factor, rng.integers(k), rng.choice(inactive))
        if k:
            value_death(factor, rng.integers(k), k)
        kind = rng.integers(3)
        if k == 0 or (kind == 0 and k < problem.largest and len(inactive)):
            row = rng.choice(inactive)
            total += problem.birth(factor, row)
            commit_birth(factor, row)
            rows.append(row)
        elif kind == 1 or not len(inactive):
            position = rng.integers(k)
            total += value_death(factor, position, k)
            rows.remove(factor.rows[position])
            commit_death(factor, position)
        else:
            position, row = rng.integers(k), rng.choice(inactive)
            total += problem.swap(factor, position, row)
            rows.remove(factor.rows[position])
            rows.append(row)
            commit_birth(factor, row)
            commit_death(factor, position)
    return rows, total


@pytest.mark.parametrize(
    ("n", "latents", "unit", "largest", "start", "tolerance"),
    [
        (9, 1, True, 9, 0, 1e-10),
        (9, 2, False, 4, 4, 1e-10),
        (40, 2, False, 20, 10, 1e-10),
        (700, 1, True, 30, 25, 1e-10),  # more rows than one block of the rotations
        (150, 1, True, 130, 120, 1e-8),
    ],
)
def test_hundreds_of_commits(n, latents, unit, largest, start, tolerance):
    problem = Problem(n, 3, latents, unit, largest, jitter=1e-4)
    rows = list(problem.rng.permutation(n)[:start])
    factor = problem.factor(rows)
    first = log_evidence(factor)
    total = 0.0
    for _ in range(4):
        rows, gained = _walk(problem, factor, rows, 150)
        total += gained
        _check_against_dense(problem, factor, rows, tolerance)
    # the Bayes factors add up to the difference of the evidences
    assert_allclose(log_evidence(factor) - first, total, rtol=tolerance, atol=100 * tolerance)


@pytest.mark.parametrize("largest", [6, 3])
def test_every_row_in_and_out_again(largest):
    """k climbs to its bound and falls to zero; the empty factor is the intercept's."""
    problem = Problem(6, 2, 1, True, largest)
    factor = problem.factor([])
    rows = list(problem.rng.permutation(6)[:largest])
    for row in rows:
        problem.birth(factor, row)
        commit_birth(factor, row)
    _check_against_dense(problem, factor, rows, 1e-10)
    while rows:
        position = len(rows) // 2
        rows.remove(factor.rows[position])
        commit_death(factor, position)
        _check_against_dense(problem, factor, rows, 1e-10)


@pytest.mark.parametrize("n", [2047, 2048, 4500])
def test_birth_in_several_blocks(n):
    """The blocks of rows meet without gap or overlap: the newcomer's entries as made at once."""
    rng = np.random.default_rng(n)
    factor = empty_factor(n, 4, 2)
    factor.n_active[0] = 3
    factor.whitened[:3] = rng.normal(0.2, 1.0, size=(3, n))
    factor.prior_root[:3, :3] = np.eye(3)
    factor.response[:] = rng.normal(-0.4, 1.0, size=(2, n))
    factor.precision[:] = rng.uniform(0.5, 2.0, size=n)
    refresh_products(factor)
    refactor(factor)
    column = rng.normal(0.1, 1.0, size=n)
    shares = factor.whitened[:3, 7].copy()
    value_birth(factor, 7, column, 40.0, 1e-8)
    made = (column - shares @ factor.whitened[:3]) / np.sqrt(40.0 + 1e-8 - shares @ shares)
    assert_allclose(factor.whitened[3], made, rtol=1e-10, atol=1e-13)
    design = np.vstack([np.ones(n), factor.whitened[:4]]) * factor.precision
    assert_allclose(factor.gram[4, :5], design @ made, rtol=1e-9, atol=1e-11)
    assert_allclose(factor.cross[:, 4], factor.response * factor.precision @ made, rtol=1e-9)
