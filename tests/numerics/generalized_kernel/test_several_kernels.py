"""Several kernels, candidates and rotated data against dense algebra, quadrature, plain runs."""

import itertools

import numpy as np
import pytest
from dense_model import batch_error, log_normal, set_log_prior, total_variation
from family_setup import JITTER, make_sampler, run
from numpy.testing import assert_allclose
from scipy.special import gammaln
from sklearn.gaussian_process.kernels import RBF, Matern

from sparsekern._jit import jit
from sparsekern.bases._compiled import value_newcomer
from sparsekern.bases.kernel_columns import rebuild
from sparsekern.inference.moves.kernel_amplitudes import move_amplitudes
from sparsekern.likelihoods import Gaussian, Probit
from sparsekern.linalg.active_changes import commit_birth, commit_death
from sparsekern.linalg.active_moves import value_death
from sparsekern.linalg.whitened_factor import log_evidence
from sparsekern.priors import ScalePriors

N = 12
FEATURES = np.random.default_rng(0).standard_normal((N, 2))
KERNELS = [RBF(0.8), Matern(1.5, nu=1.5), RBF(3.0)]
MATRICES = [kernel(FEATURES) for kernel in KERNELS]
RESPONSE = np.random.default_rng(1).standard_normal(N) * 1.5


def _covariance(rows, variances, matrices=MATRICES, precision=None):
    n = len(matrices[0])
    q = np.eye(n) if precision is None else np.diag(1 / precision)
    q = q + variances[0]
    rows = list(rows)
    for matrix, variance in zip(matrices, variances[1:], strict=True):
        if rows:
            columns = matrix[:, rows]
            inner = columns[rows] + JITTER * np.eye(len(rows))
            q = q + variance * columns @ np.linalg.solve(inner, columns.T)
    return q


def _factor(rows, variances, likelihood=None, largest=8):
    sampler = make_sampler(
        likelihood or Probit(), FEATURES, RESPONSE, kernel=KERNELS, length_scale="mean_distance",
        largest=largest,
    )  # fmt: skip
    state = sampler.start(np.random.default_rng(0), 0)
    state.n_active[0] = len(rows)
    state.rows[: len(rows)] = rows
    state.response[0] = RESPONSE
    state.variances[:] = variances
    work = sampler.open(state)
    rebuild(work.factor, sampler.basis, state.length_scale)
    return work.factor, sampler.basis, state.length_scale


def _dense(rows, variances, noise=None):
    q = _covariance(rows, variances)
    if noise is None:
        return log_normal(RESPONSE, q)
    form = RESPONSE @ np.linalg.solve(q, RESPONSE)
    return -0.5 * np.linalg.slogdet(q)[1] - (noise[0] + N / 2) * np.log(noise[1] + form / 2)


VARIANCES = [np.array([0.7, 1.3, 0.4, 2.0]), np.array([0.7, 0.0, 0.4, 2.0])]


@pytest.mark.parametrize("variances", VARIANCES)
@pytest.mark.parametrize("noise", [None, (3.0, 2.0)])
def test_births_deaths_and_swaps(variances, noise):
    likelihood = Probit() if noise is None else Gaussian()
    rng = np.random.default_rng(3)
    factor, basis, scale = _factor([4, 1, 7], variances, likelihood)
    column = np.empty(N)
    rows = [4, 1, 7]
    for _ in range(60):
        here = _dense(rows, variances, noise)
        outside = [row for row in range(N) if row not in rows]
        newcomer, victim = int(rng.choice(outside)), int(rng.integers(len(rows)))
        kind = rng.integers(3) if 1 < len(rows) < 7 else (0 if len(rows) <= 1 else 1)
        if kind == 0:
            value = value_newcomer(basis, factor, scale, newcomer, column)
            commit_birth(factor, newcomer)
            rows = [*rows, newcomer]
        elif kind == 1:
            value = value_death(factor, victim, len(rows))
            commit_death(factor, victim)
            rows = rows[:victim] + rows[victim + 1 :]
        else:
            value = value_newcomer(basis, factor, scale, newcomer, column)
            value += value_death(factor, victim, len(rows) + 1)
            commit_birth(factor, newcomer)
            commit_death(factor, victim)
            rows = [*rows[:victim], *rows[victim + 1 :], newcomer]
        assert list(factor.rows[: len(rows)]) == rows
        assert_allclose(value, _dense(rows, variances, noise) - here, rtol=1e-8, atol=1e-9)
    before = log_evidence(factor)
    rebuild(factor, basis, scale)
    assert_allclose(before, log_evidence(factor), rtol=1e-9)


@jit
def _count_patterns(rng, factor, prior, root, projected, tally, counts, sums):
    for _ in range(sums.shape[0]):
        move_amplitudes(rng, factor, prior, 0.8, root, projected, tally, True)
        code = 0
        for kernel in range(1, factor.variances.shape[0]):
            if factor.variances[kernel] > 0.0:
                code += 1 << (kernel - 1)
        counts[code] += 1
        sums[_] = factor.variances[1]


def _amplitude_moments(amplitude):
    return np.array([amplitude, np.log1p(amplitude), 1.0 / (1.0 + 5.0 * amplitude)])


def test_zero_patterns_against_quadrature():
    """Fixed responses and active set: which amplitudes are zero, and how large they are."""
    rows, rho, shape, rate, v0 = [0, 3, 5, 9], 0.4, 2.0, 1.5, 0.7
    matrices = MATRICES[:2]
    sampler = make_sampler(Probit(), FEATURES, RESPONSE, kernel=KERNELS[:2],
                           length_scale="mean_distance", largest=6)  # fmt: skip
    state = sampler.start(np.random.default_rng(0), 0)
    state.n_active[0], state.rows[:4] = 4, rows
    state.response[0], state.variances[:] = RESPONSE, (v0, 1.0, 1.0)
    work = sampler.open(state)
    rebuild(work.factor, sampler.basis, state.length_scale)
    counts, sums = np.zeros(4), np.zeros(150_000)
    prior = ScalePriors(shape, rate, 1.0, 1.0, rho)
    _count_patterns(np.random.default_rng(5), work.factor, prior, work.root, work.projected,
                    np.zeros(2, np.int64), counts, sums)  # fmt: skip
    # quadrature of the amplitudes on a log grid
    grid = np.linspace(-7, 4, 140)
    step, amplitude = grid[1] - grid[0], np.exp(grid)
    weight = step * np.exp(shape * np.log(rate) - gammaln(shape) + shape * grid - rate * amplitude)
    exact = np.zeros(4)
    moments = np.zeros(3)
    choices = [(0.0, rho)], list(zip(amplitude, (1 - rho) * weight, strict=True))
    for code in range(4):
        parts = [choices[code & 1], choices[code >> 1 & 1]]
        for (one, left), (two, right) in itertools.product(*parts):
            q = _covariance(rows, [v0, one**2, two**2], matrices)
            mass = left * right * np.exp(log_normal(RESPONSE, q))
            exact[code] += mass
            moments += mass * _amplitude_moments(one)
    moments /= exact.sum()
    exact /= exact.sum()
    print(counts / counts.sum(), exact)
    assert total_variation(counts / counts.sum(), exact) < 0.012
    # the walks are judged by the size of the amplitude, which the pattern hardly shows
    visited = _amplitude_moments(np.sqrt(sums)).T
    z = (visited.mean(0) - moments) / batch_error(visited, 50)
    assert np.abs(z).max() < 4, z


def test_gaussian_noise_enumerated():
    """All active sets of six rows, scales fixed by a sharp prior, noise integrated out."""
    n, large = 6, 4
    features, y = FEATURES[:n], RESPONSE[:n]
    g, eta = 0.8, 1.3
    sharp = 1e7
    sampler = make_sampler(
        Gaussian(), features, y, kernel=RBF(0.8), length_scale="mean_distance", largest=large,
        prior=(g * sharp, sharp, eta * sharp, sharp), moves=8,
    )  # fmt: skip
    draws, _ = run(sampler, 60_000, tune=500, seed=2)
    codes = np.array([sum(1 << r for r in draws.rows[t, :k]) for t, k in enumerate(draws.n_active)])
    visited = np.bincount(codes, minlength=2**n) / len(codes)
    matrix = RBF(0.8)(features)
    logs = np.full(2**n, -np.inf)
    for code in range(2**n):
        rows = [i for i in range(n) if code >> i & 1]
        if len(rows) <= large:
            q = _covariance(rows, [1 / eta, 1 / g], [matrix])
            form = y @ np.linalg.solve(q, y)
            logs[code] = -0.5 * np.linalg.slogdet(q)[1] - (3 + n / 2) * np.log(2 + form / 2)
            logs[code] += set_log_prior(n, len(rows))
    exact = np.exp(logs - logs.max())
    exact /= exact.sum()
    distance = total_variation(visited, exact)
    print(f"TV {distance:.4f}")
    assert distance < 0.02


def test_candidates_bound_the_active_set():
    rows = np.array([1, 4, 5, 8])
    sampler = make_sampler(Probit(), FEATURES, np.sign(RESPONSE), candidates=rows, largest=10)
    draws, _ = run(sampler, 300)
    seen = np.unique(np.concatenate([draws.rows[t, :k] for t, k in enumerate(draws.n_active)]))
    assert set(seen) == set(rows)
    assert draws.n_active.max() <= 4


def _regression(n=400):
    rng = np.random.default_rng(4)
    features = rng.uniform(-2, 2, (n, 2))
    y = np.sin(2 * features[:, 0]) + 0.5 * features[:, 1] + 0.3 * rng.standard_normal(n)
    return features, (y - y.mean()) / y.std()


@pytest.mark.parametrize("kernel", ["rbf", ["rbf", "matern32"]])
def test_rotated_data_give_the_same_posterior(kernel):
    """The compressed layout and the plain one sample the same law."""
    features, y = _regression()
    rows = np.arange(0, 400, 20)
    options = {"kernel": kernel, "candidates": rows, "largest": 15, "moves": 10}
    rotated = make_sampler(Gaussian(), features, y, **options)
    assert rotated.layout.data_rows < 400
    plain = make_sampler(Gaussian(), features, y, **options)
    plain.layout, _ = type(plain)._lay_out(plain, rows, -1)  # as if the width were learned
    plain.settings = plain.settings._replace(
        candidates=plain.layout.candidates, monitored_rows=plain.layout.monitored
    )
    assert plain.layout.data_rows == 400
    results = []
    for sampler in (rotated, plain):
        parts = [run(sampler, 3000, tune=500, seed=s)[0] for s in range(4)]
        values = [
            np.column_stack([
                d.n_active, d.log_likelihood, np.log(d.noise_variance), np.log(d.variances[:, 0]),
                d.variances[:, 1] ** 0.5, *d.monitored.T,
            ])
            for d in parts
        ]  # fmt: skip
        results.append(np.array(values))
    means = [values.mean(1) for values in results]
    error = np.sqrt(sum(m.var(0, ddof=1) / 4 for m in means))
    z = (means[0].mean(0) - means[1].mean(0)) / error
    assert np.abs(z).max() < 7, z  # Student's law of few degrees of freedom, 15 quantities
    spread = results[0].reshape(-1, z.size).std(0)
    assert (np.abs(means[0].mean(0) - means[1].mean(0)) < 0.35 * spread).all()


def test_rotated_columns_have_the_same_inner_products():
    features, y = _regression()
    rows = np.arange(0, 400, 40)
    layout = make_sampler(Gaussian(), features, y, candidates=rows, largest=9).layout
    top = layout.data_rows
    columns = np.column_stack([np.ones(400), y, RBF(1.0)(features, features[rows])])
    table = layout.basis.table[0]
    short = np.column_stack([layout.ones[:top], layout.response[:top], table[:, :top].T])
    assert_allclose(short.T @ short, columns.T @ columns, rtol=1e-10, atol=1e-9)
    assert_allclose(table[:, top : top + 10], RBF(1.0)(features[rows]), rtol=1e-12)
