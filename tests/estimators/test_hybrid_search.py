"""HybridSearchGPRegressor: what it estimates, as a scikit-learn estimator, under any input."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsekern import HybridSearchGPClassifier, HybridSearchGPRegressor, _progress
from sparsekern.inference.hybrid.cpu import CpuBackend

KERNELS = ("rbf", "laplacian", "matern32", "matern52")
NAMES = ["age", "height [cm]", "dose", "site", "weight"]
SHORT = {"search__n_wander": 2, "device": "cpu", "random_state": 0}

RNG = np.random.default_rng(5)
X = RNG.uniform(-3, 3, (60, 5))
F = 2 * np.cos(X[:, 2]) + X[:, 4] ** 2 / 2
Y = 10 + 3 * F + RNG.standard_normal(60)
VAGUE = X[:, 0] ** 2 / 3 + np.sin(X[:, 1]) + 2.5 * np.random.default_rng(2).standard_normal(60)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


def make(**changes):
    return HybridSearchGPRegressor().set_params(**{**SHORT, **changes})


def regress(X=X, y=Y, **changes):
    return make(**changes).fit(X, y)


def changed(value):
    out = X.copy()
    out[3, 1] = value
    return out


@pytest.fixture(scope="module")
def model():
    return regress(pd.DataFrame(X, columns=NAMES))


@pytest.fixture(scope="module")
def several():
    """A fit with a good many models."""
    fitted = regress(y=VAGUE)
    assert len(fitted.models_) > 4
    return fitted


# -- what is estimated ----------------------------------------------------------------------------


def test_features_and_error_of_a_known_design():
    rng = np.random.default_rng(7)

    def draw(n):
        X = rng.uniform(-np.pi, np.pi, (n, 20))
        f = 2 * np.sin(X[:, 3]) + X[:, 8] ** 2 / 2 + np.exp(X[:, 11]) / 5 + X[:, 17]
        return X, f + rng.standard_normal(n)

    (X, y), (new, response) = draw(100), draw(400)
    fitted = HybridSearchGPRegressor(random_state=0).fit(X, y)
    np.testing.assert_array_equal(fitted.selected_features_, [3, 8, 11, 17])
    right = HybridSearchGPRegressor(random_state=0).fit(X[:, [3, 8, 11, 17]], y)
    errors = (
        np.mean((fitted.predict(new) - response) ** 2),
        np.mean((right.predict(new[:, [3, 8, 11, 17]]) - response) ** 2),
    )
    assert errors[0] < 1.05 * errors[1] < 3.2
    low, high = fitted.predict_quantiles(new, [0.025, 0.975]).T
    assert 0.88 <= np.mean((low < response) & (response < high)) <= 0.99
    assert fitted.models_.noise_variance[0] == pytest.approx(1.0, abs=0.5)


def test_table_of_models(several):
    table = several.models_
    np.testing.assert_allclose(table.weight.sum(), 1.0)
    shares = np.exp(table.score - table.score.max())
    np.testing.assert_allclose(table.weight, shares / shares.sum())
    assert (np.diff(table.score) <= 0).all()
    assert table.score[0] - table.score.min() <= np.log(20)
    assert table.features.is_unique
    sizes = table.features.map(len)
    ways = np.array([1, 5, 10, 10, 5, 1])[sizes]
    np.testing.assert_allclose(table.score, table.log_evidence - np.log(ways))
    held = np.array([[j in row for j in range(5)] for row in table.features])
    np.testing.assert_allclose(several.feature_inclusion_, table.weight @ held)
    selected = np.flatnonzero(several.feature_inclusion_ >= 0.5)
    np.testing.assert_array_equal(several.selected_features_, selected)
    assert several.n_fits_ >= len(table) and several.n_plug_ins_ > several.n_fits_
    narrow = regress(y=VAGUE, search__window=2.0).models_
    assert len(narrow) < len(table) and narrow.score[0] - narrow.score.min() <= np.log(2)


def reference(kernel, amplitude, length):
    if kernel == "laplacian":
        return lambda a, b: amplitude * laplacian_kernel(a, b, gamma=1 / length)
    smoothness = {"matern32": 1.5, "matern52": 2.5}
    shape = RBF(length) if kernel == "rbf" else Matern(length, nu=smoothness[kernel])
    return ConstantKernel(amplitude) * shape


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("widths", ["shared", "per_feature"])
@pytest.mark.parametrize("raw", [False, True])
def test_predictions_from_the_table_of_models(kernel, widths, raw):
    """Parameters as printed, in the hands of another Gaussian process."""
    options = {"standardize": False} if raw else {}
    data, response = (X / 2, (VAGUE + 0.2) / 2) if raw else (X, VAGUE)
    fitted = regress(
        data,
        response,
        kernel=kernel,
        learn_length_scale=widths,
        prediction__integration="mode",
        **options,
    )
    centre, scale = (0.0, 1.0) if raw else (response.mean(), data.std(axis=0))
    new = data[:7] + 0.3
    mean, second = 0.0, 0.0
    for row in fitted.models_.itertuples():
        chosen = list(row.features)
        length = row.length_scale if chosen else 1.0
        here, there = ((points / scale)[:, chosen] / length for points in (data, new))
        if not chosen:
            here, there = np.zeros((60, 1)), np.zeros((7, 1))
        if kernel == "laplacian":
            function = reference(kernel, row.amplitude, 1.0)
            cross, prior = function(there, here), np.full(7, row.amplitude)
            root = function(here, here) + row.noise_variance * np.eye(60)
            one = cross @ np.linalg.solve(root, response - centre)
            variance = prior - (cross * np.linalg.solve(root, cross.T).T).sum(1)
        else:
            other = GaussianProcessRegressor(
                reference(kernel, row.amplitude, 1.0), alpha=row.noise_variance, optimizer=None
            ).fit(here, response - centre)
            one, deviation = other.predict(there, return_std=True)
            variance = deviation**2
        mean = mean + row.weight * (centre + one)
        second = second + row.weight * (variance + row.noise_variance + (centre + one) ** 2)
    found, std = fitted.predict(new, return_std=True)
    np.testing.assert_allclose(found, mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(std, np.sqrt(second - mean**2), rtol=1e-6)


def test_predictive_law_is_one_law(several):
    few = X[:3] + 0.5
    mean, std = several.predict(few, return_std=True)
    assert mean.shape == std.shape == (3,)
    np.testing.assert_array_equal(several.predict(few), mean)
    samples = several.sample_predictive(few, 40_000, random_state=1)
    assert samples.shape == (40_000, 3)
    assert several.sample_predictive(few).shape == (1000, 3)
    np.testing.assert_allclose(samples.mean(0), mean, atol=5 * std.max() / 200)
    np.testing.assert_allclose(samples.std(0), std, rtol=0.03)
    levels = np.array([0.1, 0.5, 0.9])
    quantiles = several.predict_quantiles(few, levels)
    assert quantiles.shape == (3, 3)
    for i in range(3):
        np.testing.assert_allclose((samples[:, i, None] < quantiles[i]).mean(0), levels, atol=0.012)
    grid = np.linspace(mean[0] - 12 * std[0], mean[0] + 12 * std[0], 2001)
    density = np.exp(several.log_predictive_density(np.tile(few[0], (2001, 1)), grid))
    density *= grid[1] - grid[0]
    np.testing.assert_allclose(density.sum(), 1.0, atol=1e-6)
    np.testing.assert_allclose(density @ grid, mean[0], rtol=1e-6)
    np.testing.assert_allclose(density @ (grid - mean[0]) ** 2, std[0] ** 2, rtol=1e-5)
    below = density[grid < quantiles[0, 2]].sum()
    np.testing.assert_allclose(below, 0.9, atol=1.1 * density.max())
    again = several.sample_predictive(few, 10, random_state=5)
    np.testing.assert_array_equal(again, several.sample_predictive(few, 10, random_state=5))


def test_ways_to_integrate_over_parameters():
    fits = {
        way: regress(y=VAGUE, prediction__integration=way, prediction__draws=4000)
        for way in ("composite", "draws", "mode", "frozen")
    }
    std = {way: fitted.predict(X + 0.5, return_std=True)[1] for way, fitted in fits.items()}
    np.testing.assert_array_equal(std["mode"], std["frozen"])
    np.testing.assert_allclose(std["composite"], std["draws"], rtol=0.05)
    off = np.abs(std["mode"] - std["draws"]).mean()
    assert np.abs(std["composite"] - std["draws"]).mean() < 0.5 * off


def test_units_of_inputs_and_response_do_not_matter():
    units = np.array([2.0**9, 2.0**-7, 4.0, 1.0, 2.0])
    here, there = regress(y=VAGUE), regress(X * units, 2.0**20 * VAGUE)
    np.testing.assert_allclose(there.predict(X * units), 2.0**20 * here.predict(X), rtol=1e-9)
    np.testing.assert_allclose(there.feature_inclusion_, here.feature_inclusion_, atol=1e-9)
    np.testing.assert_allclose(
        there.models_.noise_variance, 2.0**40 * here.models_.noise_variance, rtol=1e-9
    )
    moved = regress(X + 100, VAGUE - 50)
    np.testing.assert_allclose(moved.predict(X + 100), here.predict(X) - 50, rtol=1e-4)


def test_options_of_the_search():
    plain = regress()
    for options in (
        {"search__n_starts": 4}, {"search__swaps": True}, {"search__close": False},
        {"search__evidence": "bic"}, {"search__n_wander": 30}, {"search__n_refine": 1},
        {"search__refit_drift": True}, {"search__pairs": False}, {"priors__size_penalty": 0},
        {"priors__size_penalty": 0.5, "selection__max_features": 5},
    ):  # fmt: skip
        np.testing.assert_array_equal(regress(**options).selected_features_, [2, 4])
    assert regress(search__n_starts=4).n_fits_ >= plain.n_fits_
    assert all(len(row) <= 1 for row in regress(selection__max_features=1).models_.features)


def test_sampling_instead_of_searching():
    options = {
        "search__method": "mcmc",
        "prediction__draws": 400,
        "search__tune": 200,
        "search__chains": 2,
    }
    fitted = regress(**options)
    np.testing.assert_array_equal(fitted.selected_features_, [2, 4])
    np.testing.assert_allclose(fitted.models_.weight.sum(), 1.0)
    mean, std = fitted.predict(X, return_std=True)
    other, spread = regress().predict(X, return_std=True)
    np.testing.assert_allclose(mean, other, atol=0.4 * spread.max())
    np.testing.assert_allclose(std, spread, rtol=0.25)
    again = regress(n_jobs=2, **options)
    np.testing.assert_array_equal(again.predict(X), mean)
    few = regress(selection__max_features=1, **options)
    assert few.models_.features.map(len).max() == 1
    with pytest.raises(ValueError, match=r"method='mcmc' .* shared"):
        regress(learn_length_scale="per_feature", **options)


def test_screening_is_a_fit_on_the_screened_columns():
    fitted = regress(selection__screen=2)
    np.testing.assert_array_equal(np.flatnonzero(fitted.feature_inclusion_), [2, 4])
    alone = regress(X[:, [2, 4]])
    np.testing.assert_array_equal(fitted.predict(X), alone.predict(X[:, [2, 4]]))
    pd.testing.assert_frame_equal(regress(selection__screen=5).models_, regress().models_)
    sampled = regress(
        y=VAGUE, search__method="mcmc", prediction__draws=50, search__tune=20, selection__screen=2
    )
    assert (sampled.feature_inclusion_ > 0).sum() <= 2


# -- a selector -----------------------------------------------------------------------------------


def test_the_face_of_a_selector(model):
    frame = pd.DataFrame(X, columns=NAMES)
    np.testing.assert_array_equal(model.selected_features_, [2, 4])
    np.testing.assert_array_equal(model.get_support(indices=True), [2, 4])
    np.testing.assert_array_equal(model.get_support(), model.feature_inclusion_ >= 0.5)
    np.testing.assert_array_equal(model.transform(frame), X[:, [2, 4]])
    assert list(model.get_feature_names_out()) == ["dose", "weight"]
    back = model.inverse_transform(X[:, [2, 4]])
    np.testing.assert_array_equal(back[:, [2, 4]], X[:, [2, 4]])
    assert (back[:, [0, 1, 3]] == 0).all()


def test_names_of_features_are_kept(model):
    assert model.models_.features[0] == ("dose", "weight")
    from_polars = regress(pl.DataFrame(dict(zip(NAMES, X.T, strict=True))))
    assert list(from_polars.feature_names_in_) == NAMES
    pd.testing.assert_frame_equal(from_polars.models_, model.models_)
    unnamed = regress()
    assert unnamed.models_.features[0] == (2, 4)
    np.testing.assert_array_equal(unnamed.feature_inclusion_, model.feature_inclusion_)
    frame = pd.DataFrame(X, columns=NAMES)
    np.testing.assert_array_equal(unnamed.predict(X), model.predict(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[NAMES[::-1]])


def test_output_as_a_data_frame():
    frame = pd.DataFrame(X, columns=NAMES)
    fitted = make().set_output(transform="pandas").fit(frame, Y)
    pd.testing.assert_frame_equal(fitted.transform(frame), frame[["dose", "weight"]])
    fitted.set_output(transform="polars")
    assert list(fitted.transform(frame).columns) == ["dose", "weight"]


def test_in_pipelines_and_searches():
    line = make_pipeline(make(), LinearRegression()).fit(X, Y)
    assert line[-1].coef_.shape == (2,)
    scaled = make_pipeline(StandardScaler(), make()).fit(X, Y)
    np.testing.assert_allclose(scaled.predict(X), regress().predict(X), rtol=1e-6)
    grid = GridSearchCV(
        make(), {"kernel": ["rbf", "matern52"], "selection__max_features": [1, 3]},
        cv=3,
    ).fit(X, Y)  # fmt: skip
    assert grid.best_params_["selection__max_features"] == 3 and grid.best_score_ > 0.8
    assert cross_val_score(make(), X, Y, cv=3).min() > 0.7


def test_the_threshold_may_change_after_the_fit(several):
    copy = pickle.loads(pickle.dumps(several))
    for threshold in (0.05, 0.3, 0.95):
        copy.set_params(selection__threshold=threshold)
        np.testing.assert_array_equal(copy.get_support(), copy.feature_inclusion_ >= threshold)


def test_clone_and_pickle(several):
    bare = clone(several)
    assert bare.get_params() == several.get_params()
    with pytest.raises(NotFittedError):
        bare.predict(X)
    with pytest.raises(NotFittedError):
        bare.transform(X)
    assert not hasattr(bare, "selected_features_")
    again = bare.fit(X, VAGUE)
    loaded = pickle.loads(pickle.dumps(several))
    for other in (again, loaded):
        for one, two in zip(
            other.predict(X, return_std=True), several.predict(X, return_std=True), strict=True
        ):
            np.testing.assert_array_equal(one, two)
        pd.testing.assert_frame_equal(other.models_, several.models_)
    np.testing.assert_array_equal(
        loaded.sample_predictive(X, 5, random_state=2),
        several.sample_predictive(X, 5, random_state=2),
    )


# -- the same numbers -----------------------------------------------------------------------------


def test_threads_do_not_change_a_number():
    plain = regress(
        y=VAGUE, prediction__integration="draws", prediction__draws=20, search__n_wander=10
    )
    for n_jobs in (2, 3, -1):
        other = regress(
            y=VAGUE,
            prediction__integration="draws",
            prediction__draws=20,
            search__n_wander=10,
            n_jobs=n_jobs,
        )
        pd.testing.assert_frame_equal(other.models_, plain.models_, check_exact=True)
        np.testing.assert_array_equal(other.predict(X), plain.predict(X))


def test_seeds():
    options = {"y": VAGUE, "prediction__integration": "draws", "prediction__draws": 3}
    one, two = regress(**options), regress(random_state=1, **options)
    assert (one.predict(X) != two.predict(X)).any()
    state = np.random.RandomState(3)
    first, second = (regress(random_state=state, **options).predict(X) for _ in range(2))
    assert (first != second).any()
    np.testing.assert_array_equal(
        regress(random_state=np.random.RandomState(0), **options).predict(X), one.predict(X)
    )


def test_order_of_rows_does_not_matter():
    order = np.random.default_rng(1).permutation(60)
    np.testing.assert_allclose(
        regress(X[order], Y[order]).predict(X), regress().predict(X), rtol=1e-3
    )


# -- very many rows -------------------------------------------------------------------------------


def many(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 4))
    f = 2 * np.sin(1.5 * X[:, 1]) + X[:, 3] ** 2 / 2
    return X, f, f + 0.5 * rng.standard_normal(n)


def test_local_models_for_very_many_rows():
    X, _, y = many(2500)
    new, truth, response = many(150, seed=1)
    fitted = regress(X, y, search__rows=100, prediction__local_neighbors=30)
    np.testing.assert_array_equal(fitted.selected_features_, [1, 3])
    mean, std = fitted.predict(new, return_std=True)
    assert np.mean((mean - truth) ** 2) < 0.06
    assert 0.45 < std.mean() < 0.65
    low, high = fitted.predict_quantiles(new, [0.05, 0.95]).T
    assert 0.8 < np.mean((low < response) & (response < high)) < 0.97
    assert fitted.sample_predictive(new, 7, random_state=0).shape == (7, 150)
    assert fitted.log_predictive_density(new, response).mean() > -1.0
    for way in ("mode", "frozen"):
        other = regress(
            X, y, search__rows=100, prediction__local_neighbors=30, prediction__integration=way
        )
        found = other.predict(new)
        np.testing.assert_allclose(found, mean, atol=0.6)
        np.testing.assert_allclose(other.predict(new[80:83]), found[80:83], rtol=1e-9)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_allclose(copy.predict(new[80:83]), mean[80:83], rtol=1e-9)
    threads = regress(X, y, search__rows=100, prediction__local_neighbors=30, n_jobs=3)
    np.testing.assert_array_equal(threads.predict(new), mean)


def test_a_search_on_some_rows_and_prediction_from_all():
    X, _, y = many(600)
    new, truth, _ = many(150, seed=1)
    fitted = regress(X, y, search__rows=80)
    whole = regress(X, y, search__rows=600)
    np.testing.assert_array_equal(fitted.selected_features_, [1, 3])
    assert fitted.models_.features[0] == whole.models_.features[0] == (1, 3)
    for name in ("amplitude", "length_scale", "noise_variance"):
        np.testing.assert_allclose(fitted.models_[name][0], whole.models_[name][0], rtol=0.02)
    assert fitted.models_.noise_variance[0] == pytest.approx(0.25, rel=0.15)
    np.testing.assert_allclose(fitted.predict(new), whole.predict(new), atol=0.02)
    assert np.mean((fitted.predict(new) - truth) ** 2) < 0.02
    for grid in ("probability", "winsorized"):
        other = regress(X, y, search__rows=80, search__grid=grid)
        np.testing.assert_array_equal(other.selected_features_, [1, 3])


@pytest.mark.slow
def test_sampling_on_some_rows_predicts_from_all():
    X, _, y = many(600)
    new, truth, _ = many(150, seed=1)
    fitted = regress(
        X, y, search__rows=80, search__method="mcmc", prediction__draws=100, search__tune=100
    )
    assert np.mean((fitted.predict(new) - truth) ** 2) < 0.03


# -- input that is bad, wide or degenerate --------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"X": changed(np.nan)}, "contains NaN"),
        ({"X": changed(np.inf)}, "infinity"),
        ({"X": np.array([["a", "b"]] * 60)}, "could not convert string"),
        ({"X": X[:, :0]}, "0 feature"),
        ({"X": X[:0], "y": Y[:0]}, "0 sample"),
        ({"X": X[:1], "y": Y[:1]}, "minimum of 2"),
        ({"X": X[0]}, "Reshape your data"),
        ({"y": np.zeros(60)}, "constant"),
        ({"y": np.full(60, 1e5)}, "constant"),
        ({"y": Y[:-1]}, "inconsistent numbers of samples"),
        ({"y": np.where(Y > 0, Y, np.nan) * np.nan}, "NaN"),
        ({"y": np.where(np.arange(60) == 3, np.inf, Y)}, "infinity"),
        ({"y": Y * 1e150}, "out of range"),
        ({"y": Y * 1e-150}, "out of range"),
        ({"y": np.column_stack([Y, Y])}, "1d array"),
    ],
)
def test_data_that_cannot_be_used(data, words):
    with pytest.raises(ValueError, match=words):
        regress(**data)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"kernel": "linear"}, "kernel must be one of 'rbf'"),
        ({"kernel": None}, "kernel must be one of"),
        ({"learn_length_scale": "each"}, "learn_length_scale must be one of"),
        ({"noise": "normal"}, "noise must be one of"),
        ({"counts": "normal"}, "counts must be one of"),
        ({"search__evidence": "aic"}, "evidence must be one of"),
        ({"search__method": "greedy"}, r"HybridRegressionSearch\.method must be one of"),
        ({"priors__amplitude": (1, 0)}, r"Priors\.amplitude\[1\] must be positive"),
        ({"priors__amplitude": 2}, r"Priors\.amplitude must be a pair"),
        ({"priors__length_scale": (np.nan, 1)}, r"Priors\.length_scale\[0\]"),
        ({"priors__noise": (1, 2, 3)}, r"Priors\.noise must be a pair"),
        ({"selection__max_features": 0}, "max_features must be at least 1"),
        ({"priors__size_penalty": -1}, "size_penalty must be"),
        ({"priors__size_penalty": np.nan}, "size_penalty must be"),
        ({"search__window": 0.5}, "window must be at least 1"),
        ({"search__window": np.inf}, "window must be positive and finite"),
        ({"search__slack": -1.0}, "slack must be positive"),
        ({"search__n_wander": -1}, "n_wander must be at least 0"),
        ({"search__n_refine": 0}, "n_refine must be at least 1"),
        ({"search__n_starts": 0}, "n_starts must be at least 1"),
        ({"search__swaps": "some"}, "swaps must be one of"),
        ({"selection__screen": 0}, "screen must be at least 1"),
        ({"search__rows": 1}, r"HybridRegressionSearch\.rows must be at least 2"),
        ({"search__grid": "even"}, "grid must be one of"),
        ({"prediction__local_neighbors": 1}, "local_neighbors must be at least 2"),
        ({"prediction__integration": "laplace"}, "integration must be one of"),
        ({"prediction__draws": 0}, "draws must be at least 1"),
        ({"search__tune": -1}, "tune must be at least 0"),
        ({"search__chains": 0}, "chains must be at least 1"),
        ({"selection__threshold": 1.5}, "threshold must lie"),
        ({"device": "tpu"}, "device must be one of"),
        ({"search__memory_limit": 0}, "memory_limit must be positive"),
        ({"progress": "loud"}, "progress must be one of"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"random_state": "seed"}, "seed"),
    ],
)
def test_parameters_out_of_range(parameters, words):
    with pytest.raises(ValueError, match=words):
        regress(**parameters)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"selection__max_features": 2.5}, "max_features must be a whole number"),
        ({"search__n_wander": "many"}, "n_wander must be a whole number"),
        ({"search__n_refine": 1.0}, "n_refine must be a whole number"),
        ({"search__n_starts": None}, "n_starts must be a whole number"),
        ({"selection__screen": 2.0}, "screen must be a whole number"),
        ({"search__rows": "all"}, r"HybridRegressionSearch\.rows must be a whole number"),
        ({"prediction__local_neighbors": 3.3}, "local_neighbors must be a whole number"),
        ({"prediction__draws": True}, "draws must be a whole number"),
        ({"search__tune": 0.5}, "tune must be a whole number"),
        ({"search__chains": "2"}, "chains must be a whole number"),
        ({"n_jobs": 1.5}, "n_jobs must be a whole number"),
        ({"search__close": "yes"}, "close must be True or False"),
        ({"search__refit_drift": 1}, "refit_drift must be True or False"),
        ({"search__pairs": None}, "pairs must be True or False"),
        ({"standardize": None}, "standardize must be True or False"),
        ({"priors__intercept": (1, 1)}, "intercept, a known prior variance, must be a positive"),
        ({"priors__degrees_of_freedom": "learned"}, "degrees_of_freedom must be a positive"),
        ({"priors": (1, 1)}, "priors must be a sparsekern.settings.HybridRegressionPriors"),
        ({"search__window": "wide"}, "window must be a positive number"),
        ({"search__slack": None}, "slack must be a positive number"),
        ({"priors__size_penalty": "none"}, "size_penalty must be a positive number"),
        ({"selection__threshold": "half"}, "threshold must be a positive number"),
        ({"search__memory_limit": "all"}, "memory_limit must be a positive number"),
        ({"priors__noise": (1, "a")}, r"Priors\.noise\[1\] must be a positive number"),
    ],
)
def test_parameters_of_the_wrong_type(parameters, words):
    with pytest.raises(TypeError, match=words):
        regress(**parameters)


def test_bad_arguments_of_predictions(model, several):
    for quantiles in (0.0, 1.0, [0.5, 1.5], np.nan, [[0.5]]):
        with pytest.raises(ValueError, match="quantiles must lie"):
            several.predict_quantiles(X, quantiles)
    for n_samples, kind in ((0, ValueError), (1.5, TypeError)):
        with pytest.raises(kind, match="n_samples"):
            several.sample_predictive(X, n_samples)
    with pytest.raises(ValueError, match="inconsistent"):
        several.log_predictive_density(X, Y[:-1])
    with pytest.raises(ValueError, match="NaN"):
        several.predict(changed(np.nan))
    with pytest.raises(ValueError, match="expecting 5 features"):
        several.predict(X[:, :3])
    assert several.predict_quantiles(X, 0.5).shape == (60, 1)


def test_a_failed_refit_leaves_the_model_as_it_was():
    fitted = regress(selection__screen=3)
    before = fitted.predict(X, return_std=True)
    for data, parameters in (
        ((X * 7 + 100, np.zeros(60)), {}),
        ((changed(np.nan), Y), {}),
        ((X * 7 + 100, Y * 3), {"kernel": "linear"}),
        ((X * 7 + 100, Y * 3), {"search__method": "greedy"}),
        ((X * 7 + 100, Y * 3), {"search__memory_limit": -1}),
        ((X * 7 + 100, Y * 3), {"standardize": "no"}),
        ((X * 7 + 100, Y * 3), {"selection__max_features": -1}),
        ((X * 7 + 100, Y * 3), {"search__method": "mcmc", "learn_length_scale": "per_feature"}),
    ):
        kept = fitted.get_params()
        with pytest.raises((ValueError, TypeError)):
            fitted.set_params(**parameters).fit(*data)
        fitted.set_params(**kept)
        for one, two in zip(fitted.predict(X, return_std=True), before, strict=True):
            np.testing.assert_array_equal(one, two)


def test_more_features_than_rows():
    rng = np.random.default_rng(3)
    broad = rng.uniform(-3, 3, (40, 300))
    y = 3 * np.cos(broad[:, 123]) + 0.2 * rng.standard_normal(40)
    np.testing.assert_array_equal(regress(broad, y).selected_features_, [123])
    np.testing.assert_array_equal(regress(broad, y, selection__screen=20).selected_features_, [123])


def test_constant_and_duplicate_columns():
    odd = np.column_stack([np.full(60, 1e12 / 3), X[:, 2], X[:, 2], np.zeros(60), X[:, 4]])
    for options in (
        {},
        {"standardize": False, "y": F - F.mean()},
        {"selection__screen": 3},
        {"search__swaps": True},
    ):
        fitted = regress(odd, **{"y": Y, **options})
        assert fitted.feature_inclusion_[[1, 2]].sum() > 0.9
        assert fitted.feature_inclusion_[4] > 0.9
        assert (fitted.feature_inclusion_[[0, 3]] == 0).all()
        assert np.isfinite(fitted.predict(odd)).all()
    sampled = regress(odd, search__method="mcmc", prediction__draws=50, search__tune=50)
    assert (sampled.feature_inclusion_[[0, 3]] == 0).all()
    twice = np.column_stack([X[:, 2], X[:, 2]])
    for widths in ("shared", "per_feature"):
        shares = regress(twice, Y, learn_length_scale=widths).feature_inclusion_
        np.testing.assert_allclose(shares[0], shares[1], atol=0.01)


def test_nothing_but_constant_columns():
    same = np.ones((60, 3))
    for options in (
        {},
        {"search__method": "mcmc", "prediction__draws": 20, "search__tune": 20},
        {"learn_length_scale": "per_feature"},
    ):
        fitted = regress(same, **options)
        mean, std = fitted.predict(same, return_std=True)
        np.testing.assert_allclose(mean, Y.mean(), atol=0.2 * Y.std())
        np.testing.assert_allclose(std, Y.std(), rtol=0.15)
        assert (fitted.feature_inclusion_ == 0).all()
        assert list(fitted.models_.features) == [()]


def test_noise_alone():
    rng = np.random.default_rng(4)
    fitted = regress(rng.standard_normal((150, 3)), rng.standard_normal(150))
    assert fitted.models_.features[0] == ()
    assert len(fitted.selected_features_) == 0
    assert np.isnan(fitted.models_.length_scale[0])


def test_repeated_rows():
    rows, responses = np.repeat(X[:6], 10, axis=0), np.repeat(Y[:6], 10)
    for kernel in ("rbf", "matern32"):
        mean, std = regress(rows, responses, kernel=kernel).predict(X, return_std=True)
        assert np.isfinite(mean).all() and (std > 0).all()


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_rows(n):
    for options in (
        {},
        {"learn_length_scale": "per_feature"},
        {"search__method": "mcmc", "prediction__draws": 20, "search__tune": 20},
    ):
        mean, std = regress(X[:n], Y[:n], **options).predict(X, return_std=True)
        assert np.isfinite(mean).all() and (std > 0).all()


def test_one_feature():
    y = 2 * np.cos(X[:, 2]) + 0.1 * RNG.standard_normal(60)
    for penalty in (0.0, 1.0):
        fitted = regress(X[:, [2]], y, priors__size_penalty=penalty)
        np.testing.assert_array_equal(fitted.feature_inclusion_, [1.0])


@pytest.mark.parametrize("scale", [1e150, 1e-150, 1e300])
def test_extreme_units_of_the_inputs(scale):
    plain, moved = regress(), regress(X * scale)
    np.testing.assert_allclose(moved.feature_inclusion_, plain.feature_inclusion_, atol=1e-6)
    np.testing.assert_allclose(moved.predict(X * scale), plain.predict(X), rtol=1e-4)


@pytest.mark.parametrize("scale", [1e150, 1e-150, 1e300])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.filterwarnings("ignore:.*no clear maximum")
def test_extreme_inputs_as_they_are(scale, kernel):
    """There is nothing to be learned at such distances, and nothing breaks."""
    for options in ({}, {"learn_length_scale": "per_feature"}):
        raw = regress(X * scale, Y - Y.mean(), standardize=False, kernel=kernel, **options)
        mean, std = raw.predict(X * scale, return_std=True)
        assert np.isfinite(mean).all() and np.isfinite(std).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_far_from_the_data_the_mean_is_that_of_the_response(kernel):
    fitted = regress(kernel=kernel)
    assert fitted.models_.features.map(len).min() >= 1
    for far in (1e6, 1e300):
        np.testing.assert_allclose(fitted.predict(np.full((1, 5), far)), Y.mean(), rtol=1e-9)


def test_inputs_of_other_kinds():
    expected = regress(np.round(X)).predict(np.round(X))
    for other in (np.round(X).astype(np.int8), np.round(X).astype(object), np.round(X).tolist()):
        np.testing.assert_array_equal(regress(other).predict(other), expected)
    with pytest.warns(match="column-vector y was passed"):
        column = regress(y=Y[:, None])
    np.testing.assert_array_equal(column.predict(X), regress().predict(X))
    before = X.copy()
    regress(selection__screen=3)
    np.testing.assert_array_equal(X, before)


# -- while it runs --------------------------------------------------------------------------------


@pytest.mark.parametrize("calls", [1, 3])
def test_an_interrupted_search_keeps_what_it_has(monkeypatch, calls):
    plain, done = CpuBackend.toggles, []

    def toggles(self, *arguments):
        done.append(1)
        if len(done) > calls:
            raise KeyboardInterrupt
        return plain(self, *arguments)

    monkeypatch.setattr(CpuBackend, "toggles", toggles)
    with pytest.warns(match=r"interrupted after \d+ fits"):
        fitted = regress(search__n_wander=20)
    assert len(done) == calls + 1
    np.testing.assert_allclose(fitted.models_.weight.sum(), 1.0)
    assert np.isfinite(fitted.predict(X)).all()


def test_an_interruption_before_the_first_fit(monkeypatch):
    def interrupt(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(CpuBackend, "derivatives", interrupt)
    fresh = make()
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(X, Y)
    with pytest.raises(NotFittedError):
        fresh.predict(X)


def test_progress(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "_SHOW_AFTER_SECONDS", 0.0)
    regress(progress=True)
    line = capsys.readouterr().err
    assert line.startswith("HybridSearchGPRegressor: 1 neighbourhoods, best score ")
    assert "features" in line
    regress(progress=False)
    regress(progress="auto")  # no terminal
    assert capsys.readouterr().err == ""


class Ends:
    """A callback that counts steps, and asks for the end after some of them."""

    def __init__(self, after):
        self.after, self.steps, self.fits = after, 0, 0

    def setup(self, estimator, context):
        self.fits += 1

    def on_fit_task_begin(self, estimator, context, **kwargs):
        pass

    def on_fit_task_end(self, estimator, context, **kwargs):
        self.steps += context.task_name == "neighbourhood"
        return self.steps >= self.after

    def teardown(self, estimator, context):
        self.fits -= 1


def test_a_callback_ends_a_search_which_keeps_what_it_has():
    watched, ended = Ends(10**6), Ends(2)
    whole = make(search__n_wander=20).set_callbacks(watched).fit(X, Y)
    assert watched.steps == len(whole.search_path_) > 3
    pd.testing.assert_frame_equal(whole.models_, regress(search__n_wander=20).models_)
    short = make(search__n_wander=20).set_callbacks(ended).fit(X, Y)
    assert ended.steps == len(short.search_path_) == 2
    np.testing.assert_allclose(short.models_.weight.sum(), 1.0)
    assert np.isfinite(short.predict(X)).all()
    assert watched.fits == ended.fits == 0


def test_callbacks_are_told_once_about_several_classes():
    watched = Ends(10**6)
    model = HybridSearchGPClassifier(random_state=0, progress=False)
    model.set_params(search__n_wander=0, search__close=False).set_callbacks(watched)
    model.fit(X, np.digitize(Y, np.quantile(Y, [0.3, 0.6])))
    assert watched.fits == 0
    assert watched.steps == len(model.search_path_) >= 3
    assert all(not hasattr(member, "_skl_callbacks") for member in model.estimators_)
    pickle.loads(pickle.dumps(model)).predict(X)


def test_a_device_that_is_not_there():
    try:
        import torch
    except ImportError:
        with pytest.raises(ImportError, match=r"device='cuda' needs torch"):
            regress(device="cuda")
    else:
        if not torch.cuda.is_available():
            with pytest.raises(RuntimeError, match="sees no CUDA device"):
                regress(device="cuda")
    np.testing.assert_allclose(regress(device="auto").predict(X), regress().predict(X), rtol=1e-5)
