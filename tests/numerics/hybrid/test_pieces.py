"""Rules, mixtures, subsets, screening and local models that the hybrid search is made of."""

import numpy as np
import pytest
from hybrid_dense import (
    KERNELS,
    laplace_evidence,
    log_likelihood,
    log_model_prior,
    predict,
    quadrature_evidence,
)
from hybrid_setup import PRIOR, open_search, strong, vague
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq
from scipy.stats import norm

from sparsekern.inference.feature_search.subsample import spread_over_response
from sparsekern.inference.hybrid import posterior, screening
from sparsekern.inference.hybrid._contract import BOX
from sparsekern.inference.hybrid.cpu import CpuBackend
from sparsekern.inference.hybrid.posterior import GlobalPosterior, LocalPosterior, WeightedModel
from sparsekern.inference.hybrid.rules import composite_rule, normal_draws
from sparsekern.inference.hybrid.screening import univariate_evidence
from sparsekern.kernels.feature_sums import FEATURE_KERNELS
from sparsekern.likelihoods import Gaussian
from sparsekern.predictive.mixture import Mixture

STARTS = [(0.0, 0.7, -1.2), (0.0, 2.5, -2.5)]


# -- points for parameters ------------------------------------------------------------------------


def random_law(rng, m):
    turn, _ = np.linalg.qr(rng.standard_normal((m, m)))
    return rng.standard_normal(m), turn @ np.diag(rng.uniform(1, 9, m)) @ turn.T


@pytest.mark.parametrize(("m", "count"), [(2, 9), (3, 15), (4, 25), (5, 11), (8, 17)])
def test_composite_rule_has_the_moments_of_the_normal_law(m, count):
    rng = np.random.default_rng(m)
    modes, hessians = zip(*(random_law(rng, m) for _ in range(3)), strict=True)
    points, weights = composite_rule(np.array(modes), np.array(hessians))
    assert points.shape == (3, count, m) and weights.shape == (count,)
    assert (weights > 0).all()
    assert_allclose(weights.sum(), 1.0, rtol=1e-14)
    for mode, hessian, own in zip(modes, hessians, points, strict=True):
        assert_allclose(weights @ own, mode, atol=1e-13)
        centred = own - mode
        covariance = (weights[:, None] * centred).T @ centred
        assert_allclose(covariance, np.linalg.inv(hessian), atol=1e-12)
        assert_allclose(weights @ centred**3, 0.0, atol=1e-12)


def test_composite_rule_of_three_parameters_as_specified():
    points, weights = composite_rule(np.zeros((1, 3)), np.diag([1.0, 4.0, 16.0])[None])
    assert_allclose(weights, [1 - 1 / 1.21, *[1 / (14 * 1.21)] * 14])
    signs = [(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    axes = [sign * np.sqrt(3) * axis for axis in np.eye(3) for sign in (-1, 1)]
    expected = 1.1 * np.array([(0, 0, 0), *axes, *signs]) / [1.0, 2.0, 4.0]
    found = sorted(np.round(points[0], 12).tolist())
    assert_allclose(found, sorted(np.round(expected, 12).tolist()), atol=1e-11)


def test_points_stay_in_the_box():
    mode, flat = np.array([-8.9, 11.9, 0.0]), 0.01 * np.eye(3)
    for points, _ in (
        composite_rule(mode[None], flat[None]),
        normal_draws(mode, flat, 100, np.random.default_rng(0)),
    ):
        assert points.min() == BOX[0] and points.max() == BOX[1]


def test_draws_of_parameters():
    mode, hessian = random_law(np.random.default_rng(1), 3)
    points, weights = normal_draws(mode, hessian, 40_000, np.random.default_rng(2))
    assert_allclose(weights, 1 / 40_000)
    white = (points - mode) @ np.linalg.cholesky(hessian)
    assert_allclose(white.mean(0), 0.0, atol=4.5 / 200)
    assert_allclose(np.cov(white.T), np.eye(3), atol=4.5 * np.sqrt(2) / 200)


# -- mixtures -------------------------------------------------------------------------------------


@pytest.fixture
def mixture():
    rng = np.random.default_rng(3)
    weights = rng.dirichlet(np.ones(5))
    return Mixture(
        Gaussian(), weights[:, None], 3 * rng.standard_normal((5, 4)),
        rng.standard_exponential((5, 4)), 0.3 * rng.standard_exponential((5, 1)),
    )  # fmt: skip


def test_moments_of_a_mixture(mixture):
    w, mean, variance = mixture.weights, mixture.means, mixture.variances
    first = (w * mean).sum(0)
    assert_allclose(mixture.mean(), first)
    second = (w * (variance + mean**2)).sum(0) - first**2
    assert_allclose(mixture.variance(), second + (w * mixture.noise).sum())


def test_quantiles_and_density_of_a_mixture(mixture):
    deviation = np.sqrt(mixture.variances + mixture.noise)
    levels = [1e-6, 0.025, 0.5, 0.9, 1 - 1e-6]
    for q in range(4):
        laws = norm(mixture.means[:, q], deviation[:, q])

        def exact(level, laws=laws):
            return brentq(lambda y: mixture.weights[:, 0] @ laws.cdf(y) - level, -60, 60)

        for level in levels:
            assert_allclose(mixture.quantile(level)[q], exact(level), atol=1e-9)
        response = np.full(4, 0.7 * q - 1)
        density = np.log(mixture.weights[:, 0] @ laws.pdf(response[q]))
        assert_allclose(mixture.log_density(response)[q], density, rtol=1e-12)
    far = mixture.log_density(np.full(4, 1e3))
    assert np.isfinite(far).all() and (far < -1e4).all()


def test_draws_of_a_mixture(mixture):
    drawn = mixture.sample(np.random.default_rng(4), 40_000)
    deviation = np.sqrt(mixture.variance())
    assert_allclose(drawn.mean(0), mixture.mean(), atol=4.5 * deviation.max() / 200)
    for level in (0.1, 0.5, 0.9):
        share = (drawn < mixture.quantile(level)).mean(0)
        assert_allclose(share, level, atol=4.5 * 0.5 / 200)
    centred = mixture.means - mixture.mean()
    between = (mixture.weights * centred).T @ centred
    inside = (mixture.weights * (mixture.variances + mixture.noise)).sum(0)
    found = np.cov(drawn.T)
    assert_allclose(found, between + np.diag(inside), atol=0.06 * deviation.max() ** 2)


# -- rows spread over the response ----------------------------------------------------------------


def spread_by_hand(response, targets, each, grid):
    """For every target in turn, the nearest rows not taken; of equally near ones the first."""
    n = len(response)
    if grid == "winsorized":
        response = np.clip(response, np.quantile(response, 0.001), np.quantile(response, 0.999))
    if grid != "probability":
        low, high = response.min(), response.max()
        points = [low + i * (high - low) / (targets - 1) for i in range(targets)]
        points[-1] = high
    else:
        points = np.quantile(response, np.linspace(0.0, 1.0, targets))
    taken = []
    for point in points:
        for _ in range(min(each, n - len(taken))):
            distance = np.abs(response - point)
            distance[taken] = np.inf
            taken.append(int(np.argmin(distance)))
    return np.sort(taken)


@pytest.mark.parametrize("grid", ["value", "winsorized", "probability"])
@pytest.mark.parametrize("kind", ["normal", "heavy", "ties", "few values", "sorted", "reversed"])
def test_spread_rows_against_a_naive_search(kind, grid):
    rng = np.random.default_rng(6)
    for _ in range(30):
        n = int(rng.integers(5, 80))
        response = {
            "normal": lambda n: rng.standard_normal(n),
            "heavy": lambda n: rng.standard_cauchy(n),
            "ties": lambda n: rng.integers(0, 4 * n, n) / 8.0,
            "few values": lambda n: rng.integers(0, 5, n) * 1.0,
            "sorted": lambda n: np.arange(n) / 4.0,
            "reversed": lambda n: -np.arange(n) / 4.0,
        }[kind](n)
        response[0] += response.max() == response.min()
        targets, each = int(rng.integers(2, 12)), int(rng.integers(1, 5))
        rows = spread_over_response(response, targets, each, grid)
        assert len(rows) == len(set(rows.tolist())) == min(targets * each, n)
        assert (np.diff(rows) > 0).all()
        if targets * each < n:
            assert_array_equal(rows, spread_by_hand(response, targets, each, grid))


def test_extreme_responses_are_among_the_rows():
    response = np.random.default_rng(7).standard_normal(5000)
    rows = spread_over_response(response, 100)
    assert {int(np.argmin(response)), int(np.argmax(response))} <= set(rows.tolist())
    assert response[rows].std() > 1.5 * response.std()


def test_outliers_do_not_stretch_a_winsorized_grid():
    """Three of them in 5,000 leave the other rows spread; a grid by value has one end only."""
    response = np.random.default_rng(8).standard_normal(5000)
    plain = response[spread_over_response(response, 100, 1, "winsorized")]
    assert plain.min() < -2.5 and plain.max() > 2.5
    response[:3] = 1000.0
    chosen = response[spread_over_response(response, 100, 1, "winsorized")]
    inside = np.sort(chosen[chosen < 100])
    assert len(inside) >= 97
    for level in (0.1, 0.3, 0.5, 0.7, 0.9):
        assert_allclose(np.quantile(inside, level), np.quantile(plain, level), atol=0.3)
    by_value = response[spread_over_response(response, 100)]
    assert np.median(by_value) > 1.5


# -- screening ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KERNELS)
def test_evidence_of_single_features_against_dense_algebra(kind):
    features, response = strong(0, n=30, p=4)
    features = np.column_stack([features, np.full(30, 3.7), np.zeros(30)])
    columns = np.ascontiguousarray(features.T)
    found = univariate_evidence(CpuBackend(), columns, response, FEATURE_KERNELS[kind], PRIOR)
    for j in range(4):
        exact, _ = laplace_evidence(features[:, [j]], response, kind, PRIOR, STARTS)
        assert_allclose(found[j], exact, atol=0.01)
    empty, _ = laplace_evidence(features[:, :0], response, kind, PRIOR, STARTS)
    assert_allclose(found[4:], empty, atol=0.01)
    assert abs(empty - quadrature_evidence(features[:, :0], response, kind, PRIOR)) < 0.35


def test_blocks_of_screened_features(monkeypatch):
    features, response = strong(1, n=30, p=7)
    columns = np.ascontiguousarray(features.T)
    whole = univariate_evidence(CpuBackend(), columns, response, 0, PRIOR)
    monkeypatch.setattr(screening, "_BLOCK", 2)
    assert_allclose(
        univariate_evidence(CpuBackend(), columns, response, 0, PRIOR), whole, atol=0.01
    )
    assert set(np.argsort(-whole)[:3]) == {0, 1, 2}


# -- prediction -----------------------------------------------------------------------------------


def joined(law, points):
    """Predictive laws at all points, whatever the blocks they come in."""
    parts = [part for _, part in law.blocks(CpuBackend(), points)]
    weights, means, variances, last = (
        np.concatenate([np.broadcast_to(part[k], part.means.shape) for part in parts], axis=1)
        for k in range(4)
    )
    assert means.shape[1] == len(points)
    return Mixture(Gaussian(), weights, means, variances, np.exp(last))


def shares(models):
    return np.arange(1, len(models) + 1) / sum(range(1, len(models) + 1))


def global_law(search, models, composite=True):
    fits = search.fit(models)
    kept = []
    for fit, share in zip(fits, shares(models), strict=True):
        points, weights = fit.parameters[None], np.ones(1)
        if composite:
            (points,), weights = composite_rule(points, fit.hessian[None])
        kept.append(WeightedModel(fit.features, share, points, weights))
    return GlobalPosterior(search.columns, search.response, search.kind, search.shared, kept)


def local_law(search, models, neighbors, **changes):
    options = {"center": False, "composite": True, "frozen": False} | changes
    kept = list(zip(models, shares(models), strict=True))
    return LocalPosterior(
        search.columns, search.response, search.kind, search.shared, kept, search.settings.prior,
        neighbors, **options,
    )  # fmt: skip


@pytest.mark.parametrize("shared", [True, False])
def test_all_models_at_once_against_dense_formulas(shared, monkeypatch):
    features, response = vague(0, p=4)
    models = [(0, 1), (2,), (), (0, 1, 3)]
    search = open_search((features, response), shared=shared)
    law = global_law(search, models)
    points = np.random.default_rng(8).standard_normal((9, 4))
    whole = joined(law, points)
    place = 0
    for model in law.models:
        for u, weight in zip(model.parameters, model.weights, strict=True):
            chosen = list(model.features)
            mean, variance = predict(features[:, chosen], response, points[:, chosen], u, "rbf")
            assert_allclose(whole.means[place], mean, atol=1e-10)
            assert_allclose(whole.variances[place], variance, atol=1e-10)
            assert_allclose(whole.noise[place], np.exp(u[-1]))
            assert_allclose(whole.weights[place], model.weight * weight)
            place += 1
    assert place == len(whole.means)
    monkeypatch.setattr(posterior, "_NUMBERS", 2 * len(whole.means))
    blocks = joined(law, points)
    assert_allclose(blocks.means, whole.means, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("composite", [True, False])
def test_local_models_of_all_rows_are_the_global_ones(shared, composite):
    search = open_search(strong(2, n=30, p=4), kind="matern52", shared=shared)
    models = [(0, 1, 2), (0,), (1, 3)]
    points = np.random.default_rng(9).standard_normal((70, 4))
    one = joined(global_law(search, models, composite), points)
    for neighbors in (30, 1000):
        two = joined(local_law(search, models, neighbors, composite=composite), points)
        assert_allclose(two.mean(), one.mean(), atol=2e-3)
        assert_allclose(two.variance(), one.variance(), rtol=0.02)
        assert_allclose(two.means, one.means, atol=0.02)
        assert_allclose(two.weights.sum(0), 1.0)


@pytest.mark.parametrize("center", [True, False])
def test_local_models_against_dense_algebra(center):
    """Nearest rows by brute force, the mode by a general optimiser, dense prediction."""
    features, response = strong(3, n=200, p=4)
    search = open_search((features, response + 0.5))
    models = [(0, 2), (1,)]
    points = np.random.default_rng(10).standard_normal((3, 4))
    law = local_law(search, models, 25, center=center, composite=False)
    found = joined(law, points)
    for place, model in enumerate(models):
        for q, point in enumerate(points):
            distance = ((features[:, model] - point[list(model)]) ** 2).sum(1)
            rows = np.argsort(distance)[:25]
            near, target = features[np.ix_(rows, model)], search.response[rows]
            centre = target.mean() if center else 0.0
            _, u = laplace_evidence(near, target - centre, "rbf", PRIOR, STARTS)
            new = point[list(model)][None]
            mean, variance = predict(near, target - centre, new, u, "rbf")
            assert_allclose(found.means[place, q], centre + mean[0], atol=0.01)
            assert_allclose(found.variances[place, q], variance[0], rtol=0.05, atol=2e-3)
            assert_allclose(found.noise[place, q], np.exp(u[-1]), rtol=0.02)


def test_local_predictions_do_not_depend_on_the_other_points():
    """But for the start of the optimiser, which later points have from the first ones."""
    features, response = strong(4, n=150, p=4)
    law = local_law(open_search((features, response)), [(0, 1, 2)], 30)
    points = np.random.default_rng(11).standard_normal((100, 4))
    whole, single = joined(law, points), joined(law, points[90:91])
    assert_allclose(whole.mean()[90], single.mean()[0], atol=0.01)
    assert_allclose(whole.variance()[90], single.variance()[0], rtol=0.05)


def test_frozen_parameters_are_the_same_at_all_points():
    features, response = strong(5, n=150, p=4)
    search = open_search((features, response))
    points = np.random.default_rng(12).standard_normal((80, 4))
    law = joined(local_law(search, [(0, 1, 2)], 30, frozen=True), points)
    assert law.means.shape == (1, 80)
    assert np.ptp(law.noise) == 0.0
    free = joined(local_law(search, [(0, 1, 2)], 30, composite=False), points)
    assert_allclose(law.noise[0, 0], np.median(free.noise[0, :64]), rtol=0.05)


def test_local_model_without_features_is_the_mean():
    """All rows count, near or far."""
    _, response = data = strong(6, n=50, p=3)
    search = open_search((data[0], response + 2.0))
    law = joined(local_law(search, [(), (0,)], 20, center=True), np.zeros((3, 3)))
    assert_allclose(law.means[0], 2.0, atol=1e-9)
    assert_allclose(law.noise[0], response.var(), rtol=0.1)
    assert_allclose(law.weights[0], 1 / 3)


@pytest.mark.parametrize("neighbors", [None, 30])
def test_near_and_far_from_the_data(neighbors):
    rng = np.random.default_rng(13)
    column = np.sort(rng.uniform(-3, 3, (100, 1)), axis=0)
    response = np.sin(2 * column[:, 0]) + 0.05 * rng.standard_normal(100)
    search = open_search((column, response))
    law = global_law(search, [(0,)], False)
    if neighbors:
        law = local_law(search, [(0,)], neighbors, composite=False)
    found = joined(law, np.array([[0.3], [-1.7], [60.0]]))
    mean, deviation = found.means[0], np.sqrt(found.variances[0])
    assert_allclose(mean[:2], np.sin([0.6, -3.4]), atol=0.1)
    assert (deviation[:2] < 0.1).all()
    assert abs(mean[2]) < 1e-6 and deviation[2] > 0.2
    assert (found.variance() >= found.noise.min()).all()


def test_scores_of_the_oracle():
    """What the fits are checked with: likelihood and model prior, by hand."""
    features, response = np.array([[0.0], [1.0]]), np.array([0.5, -1.0])
    u = np.array([0.3, 0.2, -0.5])
    k = np.exp(0.3) * np.exp(-np.exp(-0.2))
    c = np.array([[np.exp(0.3) + np.exp(-0.5), k], [k, np.exp(0.3) + np.exp(-0.5)]])
    exact = -0.5 * response @ np.linalg.inv(c) @ response - 0.5 * np.log(np.linalg.det(c))
    assert_allclose(log_likelihood(features, response, u, "rbf"), exact - np.log(2 * np.pi))
    assert_allclose(log_model_prior(6, 2), -np.log(15))
