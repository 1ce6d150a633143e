"""GKMRegressor: predictive laws, units, kernels, candidates."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsekern import GKMRegressor
from sparsekern.settings import GKMRegressionPriors

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def curve():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (120, 2))
    f = np.sin(2 * X[:, 0])
    return X, f + 0.2 * rng.standard_normal(120), f


@pytest.fixture(scope="module")
def fitted(curve):
    X, y, _ = curve
    return GKMRegressor(draws=300, tune=300, random_state=0).fit(X, y)


def test_recovers_the_function_and_the_noise(curve, fitted):
    X, y, f = curve
    mean, std = fitted.predict(X, return_std=True)
    # a Gaussian process of the same width is what no sparse model of it should fall far behind
    kernel = ConstantKernel() * RBF(fitted.length_scale_[0], "fixed") + WhiteKernel()
    process = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=2)
    scaled = (X - X.mean(0)) / X.std(0)
    full = process.fit(scaled, y).predict(scaled)
    errors = [np.sqrt(np.mean((guess - f) ** 2)) for guess in (mean, full)]
    assert errors[0] < 1.1 * errors[1]
    noise = fitted.posterior_["posterior"]["noise_variance"].values
    assert np.quantile(noise, 0.005) < 0.04 < np.quantile(noise, 0.995)
    assert (std**2 > noise.mean()).all()
    inside = fitted.predict_quantiles(X)
    assert 0.9 < np.mean((inside[:, 0] < y) & (y < inside[:, 2])) < 1


def test_predictive_law_is_one_law(curve, fitted):
    """Mean, deviation, quantiles, density and samples describe the same mixture."""
    X, _, _ = curve
    few = X[:4]
    mean, std = fitted.predict(few, return_std=True)
    samples = fitted.sample_predictive(few, 40_000, random_state=1)
    np.testing.assert_allclose(samples.mean(0), mean, atol=5 * std.max() / 200)
    np.testing.assert_allclose(samples.std(0), std, rtol=0.03)
    levels = np.array([0.1, 0.5, 0.9])
    quantiles = fitted.predict_quantiles(few, levels)
    for i in range(4):
        np.testing.assert_allclose((samples[:, i, None] < quantiles[i]).mean(0), levels, atol=0.012)
        grid = np.linspace(mean[i] - 12 * std[i], mean[i] + 12 * std[i], 4001)
        density = np.exp(fitted.log_predictive_density(np.tile(few[i], (4001, 1)), grid))
        step = grid[1] - grid[0]
        assert abs(density.sum() * step - 1) < 1e-6
        assert abs((density * grid).sum() * step - mean[i]) < 1e-6
        below = density[grid < quantiles[i, 2]].sum() * step
        assert abs(below - 0.9) < 0.01


def test_units_of_the_response_do_not_matter(curve, fitted):
    X, y, _ = curve
    other = GKMRegressor(draws=300, tune=300, random_state=0).fit(X, 1e6 * y - 5e8)
    here, there = fitted.predict(X, return_std=True), other.predict(X, return_std=True)
    np.testing.assert_allclose(there[0], 1e6 * here[0] - 5e8, rtol=1e-6, atol=1.0)
    np.testing.assert_allclose(there[1], 1e6 * here[1], rtol=1e-5)
    mine, its = fitted.diagnostics_["mean"], other.diagnostics_["mean"]
    np.testing.assert_allclose(its["noise_variance"], 1e12 * mine["noise_variance"], rtol=1e-5)
    shift = len(y) * np.log(1e6)
    np.testing.assert_allclose(its["log_likelihood"], mine["log_likelihood"] - shift, rtol=1e-6)


def test_pointwise_log_likelihood_adds_up(curve, fitted):
    pointwise = fitted.pointwise_log_likelihood()
    assert pointwise.shape == (4, 300, 120)
    total = fitted.posterior_["sample_stats"]["log_likelihood"].values
    # coefficients are large where the kernel matrix is nearly singular: digits cancel
    sizes = np.abs(fitted.posterior_["sparse_coefficients"]["coefficient"].values).sum(-1)
    np.testing.assert_allclose(pointwise.sum(-1), total, atol=1e-14 * 120 * sizes.max())


def test_student_noise_bears_outliers(curve):
    X, y, f = curve
    rng = np.random.default_rng(1)
    spoiled = y.copy()
    spoiled[rng.permutation(120)[:8]] += rng.choice([-6, 6], 8)
    options = {"draws": 300, "tune": 300, "chains": 2, "random_state": 0}
    plain = GKMRegressor(**options).fit(X, spoiled)
    robust = GKMRegressor(noise="student_t", **options).fit(X, spoiled)
    errors = [np.sqrt(np.mean((m.predict(X) - f) ** 2)) for m in (plain, robust)]
    assert errors[1] < 0.6 * errors[0]
    assert robust.log_predictive_density(X, y).mean() > plain.log_predictive_density(X, y).mean()
    assert robust.diagnostics_["mean"]["degrees_of_freedom"] < 8
    known = GKMRegressionPriors(degrees_of_freedom=4.0)
    given = GKMRegressor(noise="student_t", priors=known, **options).fit(X, spoiled)
    assert np.ptp(given.posterior_["posterior"]["degrees_of_freedom"].values) == 0
    assert np.isfinite(given.predict(X, return_std=True)[1]).all()


def test_one_gross_error_does_not_squeeze_the_rest(curve):
    X, y, f = curve
    spoiled = np.where(np.arange(120) == 3, 1e8, y)
    model = GKMRegressor(noise="student_t", draws=300, tune=300, random_state=0).fit(X, spoiled)
    assert np.sqrt(np.mean((model.predict(X) - f) ** 2)) < 0.3
    same = GKMRegressor(noise="student_t", draws=30, tune=30, random_state=0)
    same.fit(X, np.where(np.arange(120) < 80, 1.0, y))  # the median deviation is zero
    assert np.isfinite(same.predict(X)).all()


def test_a_pair_alone_is_one_kernel(curve):
    X, y, _ = curve
    options = {"draws": 20, "tune": 20, "chains": 1, "random_state": 0}
    alone = GKMRegressor(kernel=("rbf", [0]), **options).fit(X, y)
    listed = GKMRegressor(kernel=[("rbf", [0])], **options).fit(X, y)
    np.testing.assert_array_equal(alone.predict(X), listed.predict(X))
    moved = X + np.array([0.0, 5.0])
    np.testing.assert_allclose(alone.predict(moved), alone.predict(X))


def test_kernels_are_selected(curve):
    """The second feature carries nothing: its kernel is left out, the first one's never."""
    X, y, _ = curve
    frame = pd.DataFrame(X, columns=["signal", "nothing"])
    model = GKMRegressor(
        kernel=[("rbf", ["signal"]), ("rbf", ["nothing"]), "linear"], draws=400, tune=400,
        chains=2, priors=GKMRegressionPriors(max_active=30), random_state=0,
    ).fit(frame, y)  # fmt: skip
    assert model.kernel_inclusion_[0] == 1
    assert model.kernel_inclusion_[1] < 0.5
    assert model.kernel_weights_.shape == (3,)
    assert np.isinf(model.length_scale_[0, 1]) and np.isfinite(model.length_scale_[0, 0])
    moved = frame.assign(nothing=frame["nothing"] + 3)
    assert np.abs(model.predict(moved) - model.predict(frame)).max() < 0.6
    assert "amplitude" in model.posterior_["posterior"]


def test_widths_of_several_kernels_are_learned(curve):
    X, y, _ = curve
    model = GKMRegressor(
        kernel=["rbf", "matern32"], learn_length_scale="shared", draws=100, tune=100, chains=2,
        priors=GKMRegressionPriors(max_active=20), random_state=0,
    ).fit(X, y)  # fmt: skip
    assert "length_scale" in model.acceptance_rates_ and "amplitude" in model.acceptance_rates_
    assert {"length_scale[0]", "length_scale[1]"} <= set(model.diagnostics_.index)
    assert model.predict(X).shape == (120,)


def test_candidates(curve):
    X, y, f = curve
    named = GKMRegressor(candidates=np.arange(0, 120, 4), draws=200, tune=200, random_state=0)
    named.fit(X, y)
    assert set(named.active_vectors_) <= set(range(0, 120, 4))
    clustered = GKMRegressor(candidates=40, draws=200, tune=200, random_state=0).fit(X, y)
    assert len(clustered.active_vectors_) <= 40
    for model in (named, clustered):
        assert np.sqrt(np.mean((model.predict(X) - f) ** 2)) < 0.2
        total = model.posterior_["sample_stats"]["log_likelihood"].values
        np.testing.assert_allclose(model.pointwise_log_likelihood().sum(-1), total, rtol=1e-6)


def test_precomputed_is_the_same_kernel(curve):
    X, y, _ = curve
    options = {"draws": 50, "tune": 50, "chains": 2, "random_state": 0}
    direct = GKMRegressor(kernel=RBF(0.7), standardize=False, **options).fit(X, y)
    given = GKMRegressor(kernel="precomputed", **options).fit(RBF(0.7)(X), y)
    np.testing.assert_allclose(given.predict(RBF(0.7)(X[:9], X)), direct.predict(X[:9]), atol=1e-6)


def test_as_part_of_scikit_learn(curve):
    X, y, _ = curve
    options = {"draws": 30, "tune": 30, "chains": 1, "random_state": 0}
    search = GridSearchCV(
        make_pipeline(StandardScaler(), GKMRegressor(**options)),
        {"gkmregressor__priors__max_active": [5, 30]}, cv=2,
    ).fit(X, y)  # fmt: skip
    assert search.best_params_["gkmregressor__priors__max_active"] == 30
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    clone(search.best_estimator_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"noise": "cauchy"}, "noise must be one of"),
        ({"noise": "student_t", "priors__degrees_of_freedom": "free"}, "degrees_of_freedom"),
        ({"noise": "student_t", "priors__degrees_of_freedom": -1.0}, "degrees_of_freedom"),
        ({"priors__noise": (0, 1)}, r"GKMRegressionPriors\.noise"),
        ({"candidates": 0}, "candidates"),
        ({"candidates": [200]}, "candidates must lie between 0 and 119"),
        ({"candidates": [0.5, 1.5]}, "array of row indices"),
        ({"candidates": 10, "priors__sparse": False}, "candidates restricts"),
        ({"kernel": []}, "holds no kernel"),
        ({"kernel": ["rbf", "precomputed"]}, "cannot stand in a list"),
        ({"kernel": ("rbf", [0], "linear")}, "must be a .kernel, columns. pair"),
        ({"kernel": [("rbf", ["age"]), "linear"]}, "columns"),
        ({"kernel": [("rbf", [7]), "linear"]}, "must be some of the 2 columns"),
        ({"kernel": ["rbf", "linear"], "priors__zero_probability": 1.0}, "zero_probability"),
        (
            {"kernel": ["rbf", "linear"], "priors__amplitude": (1, -1)},
            r"GKMRegressionPriors\.amplitude",
        ),
    ],
)
def test_bad_parameters(curve, parameters, message):
    X, y, _ = curve
    with pytest.raises((ValueError, TypeError), match=message):
        GKMRegressor(draws=5, tune=5, chains=1).set_params(**parameters).fit(X, y)


def test_bad_data(curve, fitted):
    X, y, _ = curve
    with pytest.raises(ValueError, match="y is constant"):
        GKMRegressor(draws=5, tune=5).fit(X, np.full(120, 3.0))
    with pytest.raises(ValueError, match="NaN"):
        GKMRegressor(draws=5, tune=5).fit(X, np.where(np.arange(120) == 3, np.nan, y))
    with pytest.raises(ValueError, match="quantiles must lie"):
        fitted.predict_quantiles(X, [0.5, 1.0])
    with pytest.raises(ValueError, match="inconsistent"):
        fitted.log_predictive_density(X, y[:5])
    huge = GKMRegressor(draws=20, tune=20, chains=1, random_state=0).fit(X, 1e60 * y)
    assert np.isfinite(huge.predict(X)).all()
    for factor in (1e200, 1e-200):
        with pytest.raises(ValueError, match="rescale y"):
            GKMRegressor(draws=20, tune=20).fit(X, factor * y)


def test_far_from_the_data_the_mean_is_the_intercept(fitted):
    far = np.array([[1e6, -1e6]])
    mean = fitted.predict(far)
    expected = fitted.posterior_["posterior"]["intercept"].values.mean()
    np.testing.assert_allclose(mean, expected, rtol=1e-9)


def test_linear_truth_is_found_with_a_linear_kernel():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 3))
    y = X @ [1.0, -2.0, 0.0] + 0.1 * rng.standard_normal(60)
    model = GKMRegressor(kernel="linear", draws=200, tune=200, random_state=0).fit(X, y)
    new = rng.standard_normal((50, 3))
    mean, std = model.predict(new, return_std=True)
    truth = new @ [1.0, -2.0, 0.0]
    assert np.abs(mean - truth).max() < 0.25
    assert (std > 0.05).all()
