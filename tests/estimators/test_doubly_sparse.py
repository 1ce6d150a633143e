"""DoublySparseRegressor and DoublySparseClassifier: the law they sample, and what is read of it."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, gammaln, log_ndtr, logsumexp
from sklearn.base import clone
from sklearn.datasets import load_iris

from sparsekern import DoublySparseClassifier, DoublySparseRegressor
from sparsekern.datasets import make_ring_and_blob
from sparsekern.plotting import plot_active_trace, plot_feature_trace, plot_traces

SHORT = {"draws": 60, "tune": 60, "chains": 2}
KERNELS = ("rbf", "laplacian", "matern32", "matern52")

# The Array API check runs only under SCIPY_ARRAY_API=1, for estimators that claim support.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]


def three_of_twenty(rng, n):
    X = rng.uniform(-np.pi, np.pi, (n, 20))
    f = 2 * np.cos(X[:, 0]) + X[:, 1] ** 2 / 2 + np.exp(X[:, 2]) / 5
    return X, f + rng.standard_normal(n)


@pytest.fixture(scope="module")
def design():
    rng = np.random.default_rng(7)
    return *three_of_twenty(rng, 100), *three_of_twenty(rng, 500)


@pytest.fixture(scope="module")
def fitted(design):
    X, y, _, _ = design
    return DoublySparseRegressor(draws=400, tune=400, chains=2, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def small():
    """Forty rows of four features, of which the last two carry a function."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 4)) * [1.0, 3.0, 2.0, 0.5] + [0.0, 5.0, -1.0, 2.0]
    f = np.cos(X[:, 2]) - 2 * (X[:, 3] - 2) ** 2
    return X, 30 + 4 * f + 0.4 * rng.standard_normal(40)


def regress(data, **changes):
    model = DoublySparseRegressor(**SHORT, random_state=0)
    return model.set_params(**changes).fit(*data)


def classify(X, y, **changes):
    model = DoublySparseClassifier(**SHORT, random_state=0)
    return model.set_params(**changes).fit(X, y)


# -- what is estimated ----------------------------------------------------------------------------


def test_features_intervals_and_error_of_a_known_design(design, fitted):
    _, _, new, response = design
    np.testing.assert_array_equal(fitted.selected_features_, [0, 1, 2])
    assert (fitted.feature_inclusion_[:3] > 0.95).all()
    assert fitted.feature_inclusion_[3:].sum() < 1.0
    assert np.mean((fitted.predict(new) - response) ** 2) < 2
    low, high = fitted.predict_quantiles(new, [0.025, 0.975]).T
    assert 0.90 <= np.mean((low < response) & (response < high)) <= 0.99
    # the noise, of variance one, is told apart from the function
    noise = fitted.posterior_["posterior"]["noise_variance"].values
    assert np.quantile(noise, 0.005) < 1.0 < np.quantile(noise, 0.995)


def test_features_of_low_inclusion_do_not_matter_for_prediction(design, fitted):
    _, _, new, _ = design
    moved = new.copy()
    moved[:, 3:] = np.random.default_rng(0).uniform(-np.pi, np.pi, (500, 17))
    change = fitted.predict(moved) - fitted.predict(new)
    assert np.sqrt(np.mean(change**2)) < 0.35
    never = fitted.feature_inclusion_ == 0
    still = np.where(never, 1e9, new)
    np.testing.assert_array_equal(fitted.predict(still), fitted.predict(new))


@pytest.mark.parametrize("likelihood", ["logit", pytest.param("probit", marks=pytest.mark.slow)])
def test_a_ring_among_noise_features(likelihood):
    rng = np.random.default_rng(2)
    X, y = make_ring_and_blob(240, random_state=2)
    X = np.column_stack([rng.standard_normal((240, 5)), X, rng.standard_normal((240, 3))])
    model = classify(X[:120], y[:120], likelihood=likelihood, draws=200, tune=200)
    np.testing.assert_array_equal(model.selected_features_, [5, 6])
    assert model.score(X[120:], y[120:]) > 0.85
    probability = model.predict_proba(X[120:])[:, 1]
    probability = np.where(y[120:] == model.classes_[1], probability, 1 - probability)
    informed = -np.log(probability).mean()
    assert informed < 0.45  # a coin has 0.69


def test_student_noise_bears_outliers(design):
    X, y, new, response = design
    spoiled = y.copy()
    spoiled[::12] += 25.0
    options = {"draws": 200, "tune": 300}
    plain = regress((X, spoiled), **options)
    robust = regress((X, spoiled), noise="student_t", **options)
    errors = [np.mean((model.predict(new) - response) ** 2) for model in (plain, robust)]
    assert errors[1] < 0.5 * errors[0]
    assert set(robust.selected_features_) >= {0, 1}
    assert robust.diagnostics_["mean"]["degrees_of_freedom"] < 8


def test_units_of_inputs_and_response_do_not_matter(small):
    X, y = small
    here = regress(small)
    there = regress((X * [2.0**9, 2.0**-7, 4.0, 1.0], 2.0**20 * y))
    np.testing.assert_allclose(
        there.predict(X * [2.0**9, 2.0**-7, 4.0, 1.0]), 2.0**20 * here.predict(X), rtol=1e-9
    )
    np.testing.assert_array_equal(there.feature_inclusion_, here.feature_inclusion_)


# -- draws, by hand -------------------------------------------------------------------------------


def latent_by_hand(model, X, new):
    """Evaluate every draw from the arrays of ``posterior_`` alone, without the intercept."""
    scale = X.std(axis=0) if model.standardize else 1.0
    vectors = (np.asarray(X) - X.mean(axis=0)) / scale
    new = (np.asarray(new) - X.mean(axis=0)) / scale
    tree = model.posterior_
    rows = tree["sparse_coefficients"]["training_row"].values
    weights = tree["sparse_coefficients"]["coefficient"].values
    features = tree["sparse_features"]["feature"].values
    length_scales = tree["sparse_features"]["feature_length_scale"].values
    contrasts = weights.shape[2:-1]
    out = np.zeros((*rows.shape[:2], *contrasts, len(new)))
    for c, t in np.ndindex(rows.shape[:2]):
        held, included = rows[c, t] >= 0, features[c, t] >= 0
        assert len(set(features[c, t][included])) == included.sum()
        assert len(set(rows[c, t][held])) == held.sum()
        assert (length_scales[c, t][included] > 0).all()
        assert np.isnan(length_scales[c, t][~included]).all()
        assert (weights[c, t][..., ~held] == 0).all()
        at = vectors[rows[c, t][held]][:, features[c, t][included]]
        apart = np.abs(new[:, None, features[c, t][included]] - at[None])
        lengths = length_scales[c, t][included]
        if model.kernel == "laplacian":
            kernel = np.exp(-(apart / lengths).sum(-1))
        else:
            r = np.sqrt(((apart / lengths) ** 2).sum(-1))
            kernel = {
                "rbf": lambda r: np.exp(-(r**2) / 2),
                "matern32": lambda r: (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r),
                "matern52": lambda r: (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r),
            }[model.kernel](r)
        out[c, t] = weights[c, t][..., held] @ kernel.T
    return out


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("noise", ["gaussian", "student_t"])
def test_regression_from_the_arrays_of_the_posterior(small, kernel, noise):
    X, y = small
    options = {"kernel": kernel, "noise": noise, "standardize": kernel != "rbf", "draws": 20}
    model = regress((X - X.mean(0), y) if kernel == "rbf" else small, **options)
    X = X - X.mean(0) if kernel == "rbf" else X
    posterior = model.posterior_["posterior"]
    # coefficients are in units of the spread of the response
    robust = 1.4826 * np.median(np.abs(y - np.median(y)))
    spread = y.std() if noise == "gaussian" else robust
    f = posterior["intercept"].values[..., None] + spread * latent_by_hand(model, X, X)
    np.testing.assert_allclose(model.predict(X), f.mean(axis=(0, 1)), rtol=1e-8)
    monitored = posterior["mean"]
    np.testing.assert_allclose(monitored, f[..., monitored["monitored_row"].values], rtol=1e-8)
    variance = posterior["noise_variance"].values[..., None]
    squares = (y - f) ** 2 / variance
    if noise == "gaussian":
        expected = -0.5 * (np.log(2 * np.pi * variance) + squares)
    else:
        nu = posterior["degrees_of_freedom"].values[..., None]
        expected = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi * variance)
        expected = expected - (nu + 1) / 2 * np.log1p(squares / nu)
    pointwise = model.posterior_["log_likelihood"]["y"].values
    np.testing.assert_allclose(pointwise, expected, rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(pointwise, model.pointwise_log_likelihood())
    total = model.posterior_["sample_stats"]["log_likelihood"]
    np.testing.assert_allclose(pointwise.sum(-1), total, rtol=1e-7, atol=1e-6)
    density = logsumexp(expected.reshape(-1, 40), axis=0) - np.log(expected[..., 0].size)
    np.testing.assert_allclose(model.log_predictive_density(X, y), density, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("likelihood", ["logit", "probit", "hinge"])
def test_two_classes_from_the_arrays_of_the_posterior(small, kernel, likelihood):
    X, y = small
    labels = np.where(y > np.median(y), "high", "low")
    model = classify(X, labels, kernel=kernel, likelihood=likelihood, draws=15, tune=30)
    f = latent_by_hand(model, X, X) + model.posterior_["posterior"]["intercept"].values[..., None]
    sign = np.where(labels == model.classes_[1], 1.0, -1.0)
    log_shares = {
        "logit": lambda f: np.log(expit(f)),
        "probit": log_ndtr,
        "hinge": lambda f: -2 * np.maximum(1 - f, 0),
    }[likelihood]
    pointwise = model.posterior_["log_likelihood"]["y"].values
    np.testing.assert_allclose(pointwise, log_shares(sign * f), rtol=1e-7, atol=1e-7)
    if likelihood != "hinge":
        one = np.exp(log_shares(f)).reshape(-1, 40)
        tiny = np.finfo(np.float64).tiny  # numbers below it have no relative precision
        np.testing.assert_allclose(model.sample_proba(X)[..., 1], one, rtol=1e-7, atol=tiny)
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], one.mean(0), rtol=1e-7)
    total = model.posterior_["sample_stats"]["log_likelihood"]
    np.testing.assert_allclose(pointwise.sum(-1), total, rtol=1e-6, atol=1e-6)


def test_several_latent_functions_share_features_and_vectors():
    X, y = load_iris(return_X_y=True)
    model = classify(X[::3], y[::3], likelihood="probit", draws=20)
    tree = model.posterior_
    assert tree["sparse_coefficients"]["coefficient"].dims == ("chain", "draw", "contrast", "slot")
    assert tree["sparse_features"]["feature"].dims == ("chain", "draw", "place")
    f = latent_by_hand(model, X[::3], X[1:20]) + tree["posterior"]["intercept"].values[..., None]
    f = np.moveaxis(f, 2, -1).reshape(40, 19, -1)
    mine = model._posterior.draws.likelihood.mean(f)
    np.testing.assert_allclose(model.sample_proba(X[1:20]), mine, rtol=1e-7)
    assert model.score(X, y) > 0.85
    assert set(model.selected_features_) & {2, 3}


def test_groups_of_the_posterior(fitted):
    tree = fitted.posterior_
    groups = {"posterior", "sparse_features", "sparse_coefficients", "log_likelihood"}
    assert groups <= set(tree.children)
    scalars = {"intercept", "noise_variance", "slab_variance", "mean"}
    assert scalars <= set(tree["posterior"].data_vars)
    sizes = {"log_likelihood", "n_active", "n_features"}
    assert sizes <= set(tree["sample_stats"].data_vars)
    assert tree["log_likelihood"]["y"].dims == ("chain", "draw", "row")
    assert tree["sparse_features"]["feature_length_scale"].dims == ("chain", "draw", "place")
    held = tree["sparse_features"]["feature"].values >= 0
    np.testing.assert_array_equal(held.sum(-1), tree["sample_stats"]["n_features"])
    included = [(tree["sparse_features"]["feature"].values == j).any(-1).mean() for j in range(20)]
    np.testing.assert_allclose(fitted.feature_inclusion_, included)
    active = tree["sparse_coefficients"]["training_row"].values
    np.testing.assert_array_equal((active >= 0).sum(-1), tree["sample_stats"]["n_active"])
    shares = [(active == row).any(-1).mean() for row in range(100)]
    np.testing.assert_allclose(fitted.active_probabilities_, shares)
    np.testing.assert_array_equal(fitted.active_vectors_, np.flatnonzero(shares))


@pytest.mark.parametrize("kernel", KERNELS)
def test_length_scales_are_those_of_the_kernel(small, kernel):
    """The kernel along one feature is scikit-learn's of the length scale that is reported."""
    from sklearn.gaussian_process.kernels import RBF, Matern

    made = {"rbf": RBF, "matern32": partial(Matern, nu=1.5), "matern52": partial(Matern, nu=2.5)}
    X, y = small
    model = regress((X[:, 3:], y), kernel=kernel, standardize=False, priors__select_features=False)
    tree = model.posterior_
    lengths = tree["posterior"]["length_scale"]
    assert lengths.dims == ("chain", "draw", "selected_feature")
    np.testing.assert_array_equal(lengths, tree["sparse_features"]["feature_length_scale"])
    last = float(lengths[-1, -1, 0])
    rows = tree["sparse_coefficients"]["training_row"].values[-1, -1]
    weights = tree["sparse_coefficients"]["coefficient"].values[-1, -1][rows >= 0]
    vectors = X[rows[rows >= 0], 3:]
    apart = np.exp(-np.abs(X[:, 3:] - vectors.T) / last)
    columns = apart if kernel == "laplacian" else made[kernel](last)(X[:, 3:], vectors)
    intercept = float(tree["posterior"]["intercept"][-1, -1])
    mean = intercept + y.std() * columns @ weights
    np.testing.assert_allclose(model.sample_mean(X[:, 3:])[-1], mean, rtol=1e-9)


def test_length_scales_of_features_that_are_out(small):
    model = regress(small, tune=0)  # chains start without some
    posterior = model.posterior_["posterior"]
    lengths, inverse = posterior["length_scale"].values, posterior["inverse_length_scale"].values
    places = model.posterior_["sparse_features"]["feature"].values
    chosen = posterior["selected_feature"].values.astype(int)
    included = np.stack([(places == j).any(-1) for j in chosen], axis=-1)
    assert not included.all()
    np.testing.assert_array_equal(np.isnan(lengths), ~included)
    np.testing.assert_array_equal(inverse > 0, included)
    np.testing.assert_allclose(inverse[included], 1 / lengths[included])
    for place, feature in enumerate(chosen):
        mean = model.diagnostics_.loc[f"inverse_length_scale[{feature}]", "mean"]
        assert mean == pytest.approx(inverse[..., place].mean())
    axes = plot_traces(model, "inverse_length_scale")
    np.testing.assert_array_equal(axes[0, 0].lines[0].get_ydata(), inverse[0, :, 0])
    seldom = chosen[~included.all(axis=(0, 1))][0]
    with pytest.raises(ValueError, match=rf"unknown 'length_scale\[{seldom}\]'; the known"):
        plot_traces(model, f"length_scale[{seldom}]")


def test_traces_can_be_plotted(fitted, one_vs_rest):
    plot_traces(fitted, "n_features")
    plot_active_trace(fitted)
    plot_active_trace(one_vs_rest)
    trace, marginal = plot_feature_trace(fitted)
    assert trace.get_ylabel() == "Features"
    sweeps = fitted.tune + fitted.n_draws_
    assert len(trace.lines[0].get_xdata()) == sweeps
    kept = fitted.posterior_["sample_stats"]["n_features"].to_numpy()
    np.testing.assert_array_equal(trace.lines[0].get_ydata()[fitted.tune :], kept[0])
    assert f"mean {kept.mean():.0f}" in marginal.get_title()
    assert len(plot_feature_trace(one_vs_rest)) == 2


@pytest.mark.filterwarnings("ignore:Estimated shape parameter of Pareto")
def test_the_posterior_serves_arviz(fitted):
    from arviz_stats import loo, summary

    table = summary(fitted.posterior_, var_names=["noise_variance", "slab_variance"])
    assert len(table) == 2
    result = loo(fitted.posterior_)
    assert result.n_data_points == 100
    assert 1 < result.p < 60


def test_predictive_law_is_one_law(design, fitted):
    few = design[2][:3]
    mean, std = fitted.predict(few, return_std=True)
    assert mean.shape == std.shape == (3,)
    samples = fitted.sample_predictive(few, 40_000, random_state=1)
    assert samples.shape == (40_000, 3)
    assert fitted.sample_predictive(few).shape == (800, 3)
    np.testing.assert_allclose(samples.mean(0), mean, atol=5 * std.max() / 200)
    np.testing.assert_allclose(samples.std(0), std, rtol=0.03)
    levels = np.array([0.1, 0.5, 0.9])
    quantiles = fitted.predict_quantiles(few, levels)
    assert quantiles.shape == (3, 3)
    for i in range(3):
        np.testing.assert_allclose((samples[:, i, None] < quantiles[i]).mean(0), levels, atol=0.012)
    grid = np.linspace(mean[0] - 12 * std[0], mean[0] + 12 * std[0], 2001)
    density = np.exp(fitted.log_predictive_density(np.tile(few[0], (2001, 1)), grid))
    assert abs(density.sum() * (grid[1] - grid[0]) - 1) < 1e-6
    again = fitted.sample_predictive(few, 10, random_state=5)
    np.testing.assert_array_equal(again, fitted.sample_predictive(few, 10, random_state=5))


# -- one-vs-rest ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    return data.data[::2], data.target_names[data.target][::2]


@pytest.fixture(scope="module")
def one_vs_rest(iris):
    return classify(*iris)


def test_one_vs_rest_has_features_of_each_class(iris, one_vs_rest):
    X, y = iris
    alone = classify(X, one_vs_rest.classes_[0] == y)
    first = one_vs_rest.estimators_[0]
    np.testing.assert_array_equal(first.predict_proba(X), alone.predict_proba(X))
    np.testing.assert_array_equal(first.feature_inclusion_, alone.feature_inclusion_)
    absent = np.prod([1 - m.feature_inclusion_ for m in one_vs_rest.estimators_], axis=0)
    np.testing.assert_allclose(one_vs_rest.feature_inclusion_, 1 - absent)
    assert (one_vs_rest.feature_inclusion_error_ >= 0).all()
    draws = np.stack([m.sample_proba(X)[..., 1] for m in one_vs_rest.estimators_], axis=-1)
    shares = draws / draws.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(one_vs_rest.sample_proba(X), shares, rtol=1e-12, atol=1e-300)
    assert one_vs_rest.score(X, y) > 0.9
    assert "log_likelihood[setosa]" in one_vs_rest.diagnostics_.index


def test_one_vs_rest_posterior_has_every_group_by_class(one_vs_rest):
    tree = one_vs_rest.posterior_
    groups = {"posterior", "sparse_features", "sparse_coefficients", "log_likelihood"}
    assert groups <= set(tree.children)
    for number, label in enumerate(one_vs_rest.classes_):
        member = one_vs_rest.estimators_[number]
        here = tree["sparse_features"]["feature"].sel({"class": label}).values
        its = [(here == j).any(-1).mean() for j in range(4)]
        np.testing.assert_allclose(member.feature_inclusion_, its)
        sizes = tree["sample_stats"]["n_features"].sel({"class": label}).values
        np.testing.assert_array_equal((here >= 0).sum(-1), sizes)


def test_one_vs_rest_with_screening(iris, rows_looked_at):
    X, y = iris
    rng = np.random.default_rng(0)
    wide = np.column_stack([rng.standard_normal((len(X), 6)), X])
    model = classify(wide, y, selection__screen=4, draws=20, tune=20)
    chosen = rows_looked_at[-1].screened
    by_hand = classify(wide[:, chosen], y, draws=20, tune=20)
    np.testing.assert_array_equal(model.predict_proba(wide), by_hand.predict_proba(wide[:, chosen]))
    mine, its = model.pointwise_log_likelihood(), by_hand.pointwise_log_likelihood()
    np.testing.assert_array_equal(mine, its)


# -- the same draws -------------------------------------------------------------------------------


def test_threads_do_not_change_a_draw(small, iris, one_vs_rest):
    alone = regress(small).predict(small[0])
    for n_jobs in (2, -1):
        np.testing.assert_array_equal(regress(small, n_jobs=n_jobs).predict(small[0]), alone)
    X, y = iris
    np.testing.assert_array_equal(
        classify(X, y, n_jobs=3).predict_proba(X), one_vs_rest.predict_proba(X)
    )


def test_another_seed_gives_other_draws(small):
    one, two = regress(small), regress(small, random_state=1)
    assert (one.predict(small[0]) != two.predict(small[0])).any()
    state = np.random.RandomState(3)
    first, second = (regress(small, random_state=state).predict(small[0]) for _ in range(2))
    assert (first != second).any()


def test_warm_start_extends(small):
    expected = regress(small, draws=60)
    longer = regress(small, draws=25, warm_start=True)
    first = longer.posterior_["posterior"]["noise_variance"].values
    longer.set_params(draws=60).fit(*small)
    draws = longer.posterior_["posterior"]["noise_variance"].values
    assert draws.shape == (2, 60) and longer.n_draws_ == 60
    np.testing.assert_array_equal(draws[:, :25], first)
    np.testing.assert_array_equal(longer.predict(small[0]), expected.predict(small[0]))
    np.testing.assert_array_equal(longer.feature_inclusion_, expected.feature_inclusion_)
    with pytest.raises(ValueError, match="draws=10 is fewer than the 60"):
        longer.set_params(draws=10).fit(*small)
    for changes in (
        {"kernel": "laplacian"},
        {"moves__features": 7},
        {"priors__expected_features": 2.0},
    ):
        changed = regress(small, draws=10, warm_start=True).set_params(draws=20, **changes)
        with pytest.raises(ValueError, match="only draws may grow"):
            changed.fit(*small)


class Killed(BaseException):
    """Ends a fit the way nothing inside of it can catch."""


@pytest.mark.parametrize("kind", ["regression", "one-vs-rest"])
def test_a_checkpoint_resumes_with_the_same_draws(
    small, iris, one_vs_rest, tmp_path, monkeypatch, kind
):
    from sparsekern.inference.chains import runner
    from sparsekern.inference.chains.checkpoint import Checkpoint

    def fit(**changes):
        if kind == "regression":
            return regress(small, draws=90, selection__screen=3, **changes)
        return classify(*iris, **changes)

    expected = fit() if kind == "regression" else one_vs_rest
    monkeypatch.setattr(runner, "_LEG_SECONDS", 0.01)
    monkeypatch.setattr("sparsekern.inference.chains.checkpoint._SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr("sparsekern.inference.chains.checkpoint._SHARE_OF_TIME", 1e9)
    save, saved = Checkpoint.save, []

    def dying_save(self, number, chain, plan, every, **how):
        save(self, number, chain, plan, every, **how)
        saved.append(chain.sweep)
        if min(plan.sweeps, 80) <= chain.sweep:
            raise Killed

    monkeypatch.setattr(Checkpoint, "save", dying_save)
    with pytest.raises(Killed):
        fit(checkpoint=tmp_path)
    monkeypatch.setattr(Checkpoint, "save", save)
    assert len(saved) > 1  # it died on its way
    resumed = fit(checkpoint=tmp_path)
    X = small[0] if kind == "regression" else iris[0]
    np.testing.assert_array_equal(resumed.predict(X), expected.predict(X))
    for name in ("feature_inclusion_", "active_probabilities_"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(expected, name))
    pd.testing.assert_frame_equal(resumed.diagnostics_, expected.diagnostics_)
    read_back = fit(checkpoint=tmp_path)  # finished: nothing is left to do
    np.testing.assert_array_equal(read_back.predict(X), expected.predict(X))


def test_pickles_and_clones(design, fitted):
    new = design[2]
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(new), fitted.predict(new))
    np.testing.assert_array_equal(copy.get_support(), fitted.get_support())
    pd.testing.assert_frame_equal(copy.joint_inclusion(), fitted.joint_inclusion())
    fresh = clone(fitted)
    assert not hasattr(fresh, "feature_inclusion_")
    assert fresh.get_params() == fitted.get_params()
