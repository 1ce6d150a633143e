"""Features that matter only together are found where single changes see nothing."""

import itertools

import numpy as np
import pytest
from hybrid_dense import correlation
from hybrid_setup import open_search, run_search, standardized
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln, log_expit
from scipy.stats import norm, t

import sparsekern.inference.feature_search.pairs as pairs_module
import sparsekern.inference.hybrid.search as search_module
from sparsekern.inference.feature_search.pairs import promising_pairs, rank_polynomials
from sparsekern.inference.hybrid.laplace_backend import LaplaceBackend


def together(seed=0, n=80, p=30, effect=lambda x: x[0] * x[1], noise=0.5):
    """An effect of the first two features, neither of which says anything alone."""
    rng = np.random.default_rng(seed)
    features = rng.uniform(-2, 2, (n, p))
    f = effect(features.T)
    return standardized(features), standardized(f + noise * rng.standard_normal(n))


def test_polynomials_are_orthonormal_and_hang_on_ranks_alone():
    columns = np.random.default_rng(0).standard_normal((4, 25))
    found = rank_polynomials(columns)
    for feature in range(4):
        basis = np.vstack([np.ones(25), found[:, feature]])
        assert_allclose(basis @ basis.T / 25, np.eye(4), atol=1e-12)
    assert_allclose(rank_polynomials(np.exp(20 * columns)), found)
    assert np.all(np.diff(found[0][0, np.argsort(columns[0])]) > 0)


def test_what_ties_leave_no_room_for_is_zero():
    indicator = np.repeat([0.0, 1.0], [7, 3])
    three = np.repeat([0.0, 1.0, 5.0], [4, 3, 3])
    found = rank_polynomials(np.array([indicator, three, np.ones(10)]))
    assert_allclose(found[0, 0], standardized(indicator), atol=1e-12)
    assert_array_equal(found[1:, 0], 0)
    assert_allclose(np.mean(found[:, 1] ** 2, axis=1), [1, 1, 0])
    assert_array_equal(found[:, 2], 0)


def open_torch_blocks(*arguments):
    from sparsekern.inference.hybrid.cuda import CudaBackend

    return CudaBackend(1.0, device="cpu").blocks_of_pairs(*arguments)


@pytest.mark.parametrize("block", [1, 3, 256])
@pytest.mark.parametrize("count", [1, 4, 1000])
@pytest.mark.parametrize("by_torch", [False, True], ids=["numpy", "torch"])
def test_pairs_against_a_loop(monkeypatch, block, count, by_torch):
    open_blocks = open_torch_blocks if by_torch else pairs_module.blocks_of_pairs
    monkeypatch.setattr(pairs_module, "_BLOCK", block)
    rng = np.random.default_rng(1)
    polynomials = rank_polynomials(rng.standard_normal((9, 30)))
    slope = rng.standard_normal(30) + 5.0
    expected = []
    for degree in (1, 2, 3):
        scores = {}
        for i, j in itertools.combinations(range(9), 2):
            products = [
                polynomials[a, i] * polynomials[b, j] @ (slope - slope.mean())
                for a in range(degree)
                for b in range(degree)
            ]
            scores[i, j] = np.square(products).sum()
        expected += sorted(scores, key=lambda pair: -scores[pair])[:count]
    found = promising_pairs(polynomials, slope, count, open_blocks=open_blocks)
    assert_array_equal(promising_pairs(polynomials, slope, count, 3, open_blocks), found)
    assert [tuple(pair) for pair in found] == list(dict.fromkeys(expected))


def test_copies_of_features_in_the_order_of_features():
    rng = np.random.default_rng(2)
    columns = rng.standard_normal((3, 40))[np.arange(600) % 3]
    slope = columns[0] * columns[1]
    found = promising_pairs(rank_polynomials(columns, 2), slope, 7, 2)
    firsts = [(0, j) for j in range(1, 600) if j % 3 == 1][:7]
    assert_array_equal(found[:7], firsts)


def test_no_pairs():
    polynomials = rank_polynomials(np.random.default_rng(1).standard_normal((9, 30)))
    for slope in (np.zeros(30), np.full(30, 2.0), np.full(30, np.nan)):
        assert promising_pairs(polynomials, slope, 5).shape == (0, 2)
    slope = np.arange(30.0)
    assert promising_pairs(polynomials[:, :1], slope, 5).shape == (0, 2)
    assert promising_pairs(polynomials[:, :0], slope, 5).shape == (0, 2)
    assert promising_pairs(np.zeros((3, 4, 30)), slope, 5).shape == (0, 2)


def test_residuals_of_a_model_against_dense_algebra():
    data = together()
    search = open_search(data)
    (model,) = search.fit([(0, 1)])
    inputs, noise = data[0][:, :2], np.exp(model.parameters[-1])
    kernel = np.exp(model.parameters[0]) * correlation(inputs, inputs, model.parameters, "rbf")
    smooth = kernel @ np.linalg.solve(kernel + noise * np.eye(80), data[1])
    assert_allclose(search.slope(model), data[1] - smooth, atol=1e-8)
    (empty,) = search.fit([()])
    centred = data[1] - data[1].mean()
    slope = search.slope(empty)
    assert_allclose(slope - slope.mean(), centred, atol=1e-8)


@pytest.mark.parametrize("response", ["probit", "logit", "student_t", "poisson"])
def test_slopes_are_derivatives(response):
    backend = LaplaceBackend(response, 4.0, 10.0)
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 2, 20) * 2.0 - 1.0
    if response == "poisson":
        targets = rng.integers(0, 5, 20).astype(float)
    f, last = rng.standard_normal(20), -0.5

    def density(f):
        return {
            "probit": lambda: norm.logcdf(targets * f),
            "logit": lambda: log_expit(targets * f),
            "student_t": lambda: t.logpdf(targets, 4.0, f, np.exp(0.5 * last)),
            "poisson": lambda: targets * f - np.exp(f) - gammaln(targets + 1),
        }[response]()

    expected = (density(f + 1e-5) - density(f - 1e-5)) / 2e-5
    assert_allclose(backend.slope(targets, f, last), expected, atol=1e-8)


EFFECTS = {
    "product": lambda x: x[0] * x[1],
    "quadrants": lambda x: 2 * np.sign(x[0] * x[1]),
    "waves": lambda x: 2 * np.sin(2 * x[0]) * np.sin(2 * x[1]),
    "odd and even": lambda x: x[0] * (x[1] ** 2 - 4 / 3),
}


@pytest.mark.parametrize("effect", list(EFFECTS))
@pytest.mark.parametrize("shared", [True, False])
def test_what_matters_only_together_is_found(effect, shared):
    data = together(effect=EFFECTS[effect])
    options = {"starts": ((5,),), "shared": shared, "n_wander": 0, "close": False}
    found = run_search(data, **options)
    (exact,) = open_search(data, shared=shared).fit([(0, 1)])
    assert {0, 1} <= set(found.best.features)
    assert found.best.score > exact.score - 0.02
    without = run_search(data, **options, pairs=False)
    assert without.best.score < exact.score - 5  # single changes do not find it


@pytest.mark.parametrize("kind", ["laplacian", "matern32"])
def test_other_kernels(kind):
    found = run_search(together(), starts=((5,),), kind=kind, n_wander=0, close=False)
    assert found.best.features == (0, 1)


@pytest.mark.parametrize("response", ["logit", "poisson"])
def test_other_responses(response):
    features, value = together(n=120, p=12)
    rng = np.random.default_rng(3)
    targets = np.where(value > 0, 1.0, -1.0)
    if response == "poisson":
        targets = rng.poisson(np.exp(value)).astype(float)
    backend = LaplaceBackend(response, 4.0, 10.0)
    found = run_search(
        (features, targets), starts=((5,),), backend=backend, n_wander=0, close=False
    )
    assert found.best.features == (0, 1)


def test_pairs_within_limits(monkeypatch):
    data = together()
    assert run_search(data, starts=((5,),), n_wander=0, max_features=1).best.features == ()
    assert run_search(data, starts=((5,),), n_wander=0, max_features=2).best.features == (0, 1)
    seen = []
    original = search_module.rank_polynomials
    monkeypatch.setattr(search_module, "MOST_FEATURES", 7)
    monkeypatch.setattr(
        search_module,
        "rank_polynomials",
        lambda part, jobs: seen.append(len(part)) or original(part, jobs),
    )
    run_search(data, starts=((5,),), n_wander=0, close=False)
    assert set(seen) == {7}
