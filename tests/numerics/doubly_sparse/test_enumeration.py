"""The whole doubly-sparse sampler under Gaussian noise against enumeration and quadrature.

Five rows, two features: all feature sets, all active sets, bandwidths and slab on grids. A second
sampler, written here from the specification, is held against the same figures; in the printed
order of its steps it must fail them.
"""

import math

import numpy as np
import pytest
from doubly_sparse_dense import posterior_moments, scores, worst
from doubly_sparse_setup import MODEL, make_sampler, run, unpack
from numba import njit
from speed import slow_except

from sparsekern.inference.doubly_sparse.sweep import LEAP
from sparsekern.likelihoods import Gaussian

N, P = 5, 2
BASE = MODEL | {"max_features": 2, "max_active": 5, "feature_probability": 0.3}
CASES = {
    "plain": BASE,
    "prior ends": BASE | {"max_features": 1, "max_active": 2, "vector_probability": 0.6},
    "laplacian": BASE | {"kind": "laplacian", "vector_probability": 0.2, "slab_prior": (2.0, 20.0)},
    "matern, known slab": BASE | {"kind": "matern32", "slab_prior": None, "nu": 6.0},
    "all features": BASE | {"select_features": False, "kind": "matern52"},
    "all vectors": BASE | {"select_vectors": False},
    "vague": BASE | {"kind": "matern52", "noise_prior": (1.0, 0.1), "slab_prior": (1.0, 3.0)},
}

_KNOWN = {}


def _data():
    rng = np.random.default_rng(4)
    features = rng.standard_normal((N, P))
    response = np.array([1.6, -0.4, 0.3, 2.2, -1.1]) + 0.6 * features[:, 0]
    return features, response


def functionals(eta, active, log_nu, log_variance):
    """Work on the oracle's grids and on draws alike; the first axis is the feature or row."""
    included = (eta > 0).astype(float)
    found = {f"in {j}": included[j] for j in range(P)}
    found |= {f"eta {j}": eta[j] for j in range(P)}
    found |= {f"rho {j}": included[j] * np.exp(-eta[j]) for j in range(P)}
    found |= {"both": included[0] * included[1], "eta eta": eta[0] * eta[1]}
    found |= {f"a{i}": active[i] for i in range(N)}
    size = active[:N].sum(0)
    found |= {"k^2": size**2, "a0 in 0": active[0] * included[0], "k in 1": size * included[1]}
    found |= {"log v": log_variance, "in 0 log v": included[0] * log_variance}
    found |= {"log nu": log_nu, "log^2 nu": log_nu**2, "k log nu": size * log_nu}
    found |= {"in 0 log nu": included[0] * log_nu, "k log v": size * log_variance}
    return found


def exact_means(model):
    """Posterior means of a model, kept."""
    key = tuple(model.items())
    if key not in _KNOWN:
        _KNOWN[key] = _by_quadrature(model)
    return _KNOWN[key]


def _by_quadrature(model):
    """Posterior means, their numerical error."""
    features, response = _data()
    exact = posterior_moments(features, response, model, functionals, (56, 44))
    rough = posterior_moments(features, response, model, functionals, (40, 33))
    error = {name: abs(exact[name] - rough[name]) for name in exact}
    assert max(error.values()) < 1e-3, error
    return exact, error


def compare(sample, exact, error):
    """Return z by name, with the mean bandwidth of an included feature among them."""
    found = functionals(
        sample["eta"].T, sample["active"].T.astype(float), np.log(sample["nu"]),
        np.log(sample["variance"]),
    )  # fmt: skip
    exact, error = dict(exact), dict(error)
    for j in range(P):
        mean = exact[f"eta {j}"] / exact[f"in {j}"]
        found[f"eta {j} given in"] = found[f"eta {j}"] - mean * found[f"in {j}"]
        exact[f"eta {j} given in"] = 0.0
        error[f"eta {j} given in"] = error[f"eta {j}"] + mean * error[f"in {j}"]
    vary = [name for name in exact if np.ptp(np.asarray(found[name])) > 0]
    z = scores(found, {name: exact[name] for name in vary}, error)
    print(worst(z))
    return z


def engine(model, sweeps, seed, **options):
    """Return the draws of a chain, which are kept where nothing but the model is special."""
    key = "draws", *model.items(), sweeps, seed
    if options or key not in _KNOWN:
        found = _run_engine(model, sweeps, seed, **options)
        if options:
            return found
        _KNOWN[key] = found
    return _KNOWN[key]


def _run_engine(model, sweeps, seed, **options):
    features, response = _data()
    sampler = make_sampler(Gaussian(), features, response, model, **options)
    draws, state = run(sampler, sweeps, tune=500, seed=seed)
    return unpack(draws, N, P), state


# ends of the prior: test_feature_moves.py and test_largest_active_set.py
@pytest.mark.parametrize("case", slow_except(CASES, ("plain",)))
def test_posterior(case):
    exact, error = exact_means(CASES[case])
    sample, state = engine(CASES[case], 150_000, 1)
    z = compare(sample, exact, error)
    assert len(z) > 12
    idle = [8, 9] if CASES[case].get("select_features", True) else [3, 4, 5, 7, 8, 9]
    idle += [] if CASES[case].get("select_vectors", True) else [0, 1, 2, 11]
    idle += [7] if CASES[case].get("max_features", 2) < 2 and 7 not in idle else []
    assert (np.delete(state.tallies[:, 1], [*idle, LEAP]) > 100).all()
    assert state.tallies[LEAP, 1] > 20  # not every sweep, and where there is another peak
    assert (state.tallies[idle] == 0).all()
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_posterior_long(case):
    exact, error = exact_means(CASES[case])
    sample, _ = engine(CASES[case], 1_500_000, 2)
    z = compare(sample, exact, error)
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
def test_posterior_with_the_usual_number_of_moves():
    """Twenty toggles, four rounds of walks, twenty vectors: as a fit makes them."""
    exact, error = exact_means(BASE)
    sample, _ = engine(BASE, 40_000, 3, toggles=20, swaps=2, walks=4, moves=20)
    z = compare(sample, exact, error)
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.parametrize(
    "change",
    slow_except(
        [
            {"feature_probability": 0.5}, {"vector_probability": 0.5}, {"slab_prior": (3.0, 8.0)},
            {"noise_prior": (3.0, 3.0)}, {"v0": 8.0}, {"kind": "laplacian"}, {"max_active": 2},
        ],
        [{"feature_probability": 0.5}, {"slab_prior": (3.0, 8.0)}],
    ),
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_another_prior_is_noticed(change):
    """The comparison tells the priors apart: a chain of one, the figures of another."""
    exact, error = exact_means(BASE | change)
    z = compare(engine(BASE, 150_000, 1)[0], exact, error)
    assert max(map(abs, z.values())) > 6


@pytest.mark.slow  # of every run: "some candidates" of test_collapsed.py
def test_fewer_candidates():
    """Rows that may not become active count as data all the same."""
    features, response = _data()
    model = BASE | {"max_active": 3}
    sampler = make_sampler(Gaussian(), features, response, model, candidates=np.array([0, 2, 4]))
    draws, _ = run(sampler, 100_000, tune=500, seed=6)
    sample = unpack(draws, N, P)
    assert not sample["active"][:, [1, 3]].any()
    exact = posterior_moments(features, response, model, functionals, (56, 44), rows=[0, 2, 4])
    z = compare(sample, exact, dict.fromkeys(exact, 1e-4))
    assert max(map(abs, z.values())) < 4, z


@njit
def _log_m(design, size, nu, v0, shape, rate, y):
    """Collapsed log evidence and what draws of the rest need: Cholesky root, mean, rate."""
    n = len(y)
    x = np.ones((n, size + 1))
    x[:, 1:] = design[:, :size]
    a = x.T @ x
    a[0, 0] += 1 / v0
    for j in range(size):
        a[j + 1, j + 1] += 1 / nu
    root = np.linalg.cholesky(a)
    d = x.T @ y
    mean = np.linalg.solve(a, d)
    left = rate + 0.5 * (np.sum(y * y) - np.sum(d * mean))
    log_det = 2 * np.log(np.diag(root)).sum()
    value = -0.5 * (log_det + size * math.log(nu)) - (shape + 0.5 * n) * math.log(left)
    return value, root, mean, left


@njit
def _fitted(design, beta, size):
    out = np.full(len(design), beta[0])
    for j in range(size):
        out += beta[j + 1] * design[:, j]
    return out


@njit
def _design(x, eta, active):
    n, p = x.shape
    out, size = np.ones((n, n)), 0
    for j in range(n):
        if active[j]:
            for i in range(n):
                total = 0.0
                for l in range(p):  # noqa: E741
                    total += eta[l] * (x[i, l] - x[j, l]) ** 2
                out[i, size] = math.exp(-total)
            size += 1
    return out, size


@njit
def _plain_sampler(seed, x, y, odds_in, odds_active, v0, slab, noise, order, eta, act, nus, vs):
    """Collapsed moves one at a time, then noise, coefficients, slab as ``order`` says.

    Order 0: sigma^2 collapsed, coefficients, slab. Order 1, as printed: coefficients given the old
    sigma^2, then sigma^2 given them. Order 2: sigma^2 given the old coefficients. Order 3: as 0
    with the intercept counted in the slab's update.
    """
    np.random.seed(seed)
    n, p = x.shape
    now, active, nu, variance = np.zeros(p), np.zeros(n, np.bool_), 1.0, 1.0
    beta, length = np.zeros(n + 1), 1
    for t in range(len(nus)):
        design, size = _design(x, now, active)
        here = _log_m(design, size, nu, v0, noise[0], noise[1], y)[0]
        for feature in range(p):
            for kind in range(2):
                new = now.copy()
                ratio = 0.0
                if kind == 0 and now[feature] > 0:
                    new[feature], ratio = 0.0, -odds_in
                elif kind == 0:
                    new[feature], ratio = np.random.exponential(1.0), odds_in
                elif now[feature] > 0:
                    new[feature] *= math.exp(np.random.normal())
                    ratio = math.log(new[feature] / now[feature]) - new[feature] + now[feature]
                else:
                    continue
                design, size = _design(x, new, active)
                there = _log_m(design, size, nu, v0, noise[0], noise[1], y)[0]
                if math.log(np.random.random()) < there - here + ratio:
                    now, here = new, there
        for row in range(n):
            flipped = active.copy()
            flipped[row] = not active[row]
            design, size = _design(x, now, flipped)
            there = _log_m(design, size, nu, v0, noise[0], noise[1], y)[0]
            gain = there - here + (odds_active if flipped[row] else -odds_active)
            if np.random.random() < 1 / (1 + math.exp(-gain)):
                active, here = flipped, there
        design, size = _design(x, now, active)
        _, root, mean, left = _log_m(design, size, nu, v0, noise[0], noise[1], y)
        if order == 2 and length == size + 1:
            fitted = _fitted(design, beta, size)
            total = np.sum((y - fitted) ** 2) + beta[0] ** 2 / v0 + np.sum(beta[1:length] ** 2) / nu
            shape = noise[0] + 0.5 * (n + size + 1)
            variance = (noise[1] + 0.5 * total) / np.random.gamma(shape, 1.0)
        elif order != 1:
            variance = left / np.random.gamma(noise[0] + 0.5 * n, 1.0)
        length = size + 1
        draw = np.linalg.solve(np.ascontiguousarray(root.T), np.random.normal(0.0, 1.0, length))
        beta[:length] = mean + math.sqrt(variance) * draw
        if order == 1:
            fitted = _fitted(design, beta, size)
            total = np.sum((y - fitted) ** 2) + beta[0] ** 2 / v0 + np.sum(beta[1:length] ** 2) / nu
            shape = noise[0] + 0.5 * (n + size + 1)
            variance = (noise[1] + 0.5 * total) / np.random.gamma(shape, 1.0)
        squares, count = np.sum(beta[1:length] ** 2), size
        if order == 3:
            squares, count = squares + beta[0] ** 2, count + 1
        rate = slab[1] + 0.5 * squares / variance
        nu = rate / np.random.gamma(slab[0] + 0.5 * count, 1.0)
        eta[t], act[t], nus[t], vs[t] = now, active, nu, variance


def _plain(order, sweeps):
    features, response = _data()
    eta, active = np.zeros((sweeps, P)), np.zeros((sweeps, N), bool)
    nu, variance = np.zeros(sweeps), np.zeros(sweeps)
    odds = [np.log(BASE[f"{k}_probability"] / (1 - BASE[f"{k}_probability"]))
            for k in ("feature", "vector")]  # fmt: skip
    _plain_sampler(
        7, features, response, *odds, BASE["v0"], np.array(BASE["slab_prior"]),
        np.array(BASE["noise_prior"]), order, eta, active, nu, variance,
    )  # fmt: skip
    return {"eta": eta, "active": active, "nu": nu, "variance": variance}


@pytest.mark.slow
def test_plain_sampler():
    """The second sampler, in the corrected order, agrees with the same figures."""
    exact, error = exact_means(BASE)
    z = compare(_plain(0, 100_000), exact, error)
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2, 3])  # stale noise, slopes, intercept
def test_printed_order_is_noticed(order):
    """Noise and coefficients that nothing has drawn anew after a collapsed move."""
    exact, error = exact_means(BASE)
    z = compare(_plain(order, 200_000), exact, error)
    assert max(map(abs, z.values())) > 6
