"""What a user of GKMClassifier relies on."""

import pickle
import warnings

import arviz_stats
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_ndtr, ndtr
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sparsekern import GKMClassifier
from sparsekern.datasets import make_ripley, make_twonorm
from sparsekern.settings import GKMPriors


def test_it_learns():
    """Test error and log-loss near the Bayes rule (8.9 % on Ripley's mixture)."""
    X, y = make_ripley(250, random_state=0)
    X_test, y_test = make_ripley(4000, random_state=1)
    model = GKMClassifier(draws=400, tune=400, random_state=0).fit(X, y)
    assert np.mean(model.predict(X_test) != y_test) < 0.115
    assert log_loss(y_test, model.predict_proba(X_test)) < 0.27


def test_predictions_agree_with_each_other(two_classes, short):
    X, y = two_classes
    model = GKMClassifier(**short).fit(X, y)
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    assert_allclose(ndtr(model.decision_function(X)), proba[:, 1], rtol=1e-9)
    draws = model.sample_proba(X[:5])
    assert draws.shape == (100, 5, 2)
    assert_allclose(draws.mean(axis=0), proba[:5], rtol=1e-10)
    assert_array_equal(model.sample_proba(X[:5], thin=10), draws[::10])


def test_probabilities_are_those_of_the_stored_coefficients(two_classes, short):
    """A dense recomputation from posterior_ alone, and the stored log-likelihood with it."""
    X, y = two_classes
    model = GKMClassifier(standardize=False, length_scale=0.5, **short).fit(X, y)
    group = model.posterior_["sparse_coefficients"]
    rows, values = group["training_row"].to_numpy(), group["coefficient"].to_numpy()
    intercept = model.posterior_["posterior"]["intercept"].to_numpy()
    kernel = rbf_kernel(X, X, gamma=1 / (2 * 0.5**2))
    beta = np.zeros((2, 50, 80))
    for chain in range(2):
        for draw in range(50):
            held = rows[chain, draw] >= 0
            beta[chain, draw, rows[chain, draw][held]] = values[chain, draw][held]
    latent = intercept[..., None] + beta @ kernel
    assert_allclose(model.predict_proba(X)[:, 1], ndtr(latent).mean(axis=(0, 1)), rtol=1e-9)
    pointwise = log_ndtr(y * latent)
    assert_allclose(model.posterior_["log_likelihood"]["y"].to_numpy(), pointwise, atol=1e-8)
    total = model.posterior_["sample_stats"]["log_likelihood"].to_numpy()
    assert_allclose(total, pointwise.sum(axis=-1), rtol=1e-7)
    active = (beta != 0).mean(axis=(0, 1))
    assert_allclose(model.active_probabilities_, active)
    assert_array_equal(model.active_vectors_, np.flatnonzero(active))
    probability = model.posterior_["posterior"]["probability"]
    monitored = probability["monitored_row"].to_numpy()
    assert_allclose(probability.to_numpy(), ndtr(latent[..., monitored]), atol=1e-8)


def test_arviz_reads_the_posterior(two_classes, short):
    model = GKMClassifier(**short).fit(*two_classes)
    with warnings.catch_warnings():  # a hundred draws make Pareto shapes rough
        warnings.simplefilter("ignore", UserWarning)
        loo = arviz_stats.loo(model.posterior_)
    assert -80 < loo.elpd < 0
    assert set(model.diagnostics_.columns) >= {"r_hat", "ess_bulk", "ess_tail", "mcse_mean"}
    assert {"log_likelihood", "n_active", "scale", "intercept"} <= set(model.diagnostics_.index)


def test_relabelling_the_classes_only_renames(two_classes, short):
    """Labels of any type, and -y mirrors the posterior up to Monte-Carlo error."""
    X, y = two_classes
    names = np.where(y > 0, "yes", "no")
    plain = GKMClassifier(**short).fit(X, y)
    named = GKMClassifier(**short).fit(X, names)
    assert_array_equal(named.classes_, ["no", "yes"])
    assert_array_equal(plain.predict_proba(X), named.predict_proba(X))
    long = short | {"draws": 600, "tune": 300}
    right = GKMClassifier(**long).fit(X, y).predict_proba(X)[:, 1]
    mirrored = GKMClassifier(**long).fit(X, -y).predict_proba(X)[:, 0]
    assert np.abs(right - mirrored).mean() < 0.02


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_keep_their_names(two_classes, short, frame):
    X, y = two_classes
    table = frame({"width": X[:, 0], "height": X[:, 1]})
    model = GKMClassifier(learn_length_scale="per_feature", **short).fit(table, y)
    assert_array_equal(model.feature_names_in_, ["width", "height"])
    assert {"length_scale[width]", "length_scale[height]"} <= set(model.diagnostics_.index)
    features = model.posterior_["posterior"]["length_scale"]["feature"]
    assert_array_equal(features, ["width", "height"])
    bare = GKMClassifier(learn_length_scale="per_feature", **short).fit(X, y)
    assert_array_equal(bare.predict_proba(X), model.predict_proba(table))


def test_learned_width_predictions_use_the_width_of_each_draw(two_classes, short):
    X, y = two_classes
    model = GKMClassifier(learn_length_scale="shared", **short).fit(X, y)
    widths = model.posterior_["posterior"]["length_scale"].to_numpy()
    assert len(np.unique(widths)) > 5
    assert 0 < model.acceptance_rates_["length_scale"] < 1
    assert_allclose(
        model.pointwise_log_likelihood().sum(axis=-1),
        model.posterior_["sample_stats"]["log_likelihood"].to_numpy(),
        rtol=1e-7,
    )


@pytest.mark.parametrize(
    "kernel",
    [
        "laplacian",
        "matern52",
        "linear",
        "poly",
        RBF(0.7),
        ConstantKernel(4.0) * RBF([0.5, 2.0]),
        Matern(1.0, nu=1.5),
        RBF(0.5) + DotProduct(1.0),
        lambda A, B: np.exp(-np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2)),
    ],
    ids=lambda kernel: (
        "callable" if callable(kernel) and not hasattr(kernel, "theta") else str(kernel)
    ),
)
def test_kernels(two_classes, short, kernel):
    X, y = two_classes
    model = GKMClassifier(kernel=kernel, **short).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.75
    assert_allclose(
        model.pointwise_log_likelihood().sum(axis=-1),
        model.posterior_["sample_stats"]["log_likelihood"].to_numpy(),
        rtol=1e-6,
    )


def test_compiled_tabulated_and_precomputed_kernels_give_the_same_draws(two_classes, short):
    X, y = two_classes
    compiled = GKMClassifier(kernel=RBF(0.5), standardize=False, **short).fit(X, y)
    called = GKMClassifier(
        kernel=lambda A, B: rbf_kernel(A, B, gamma=2.0), standardize=False, **short
    ).fit(X, y)
    matrix = rbf_kernel(X, X, gamma=2.0)
    given = GKMClassifier(kernel="precomputed", **short).fit(matrix, y)
    assert_allclose(compiled.predict_proba(X), called.predict_proba(X), rtol=1e-6)
    assert_allclose(compiled.predict_proba(X), given.predict_proba(matrix), rtol=1e-6)
    assert_array_equal(compiled.active_vectors_, given.active_vectors_)


def test_columns_by_leg_sample_the_same_posterior(two_classes, monkeypatch):
    """Large n with a Python kernel: columns are made for each leg, newcomers drawn beforehand."""
    from sparsekern.inference.generalized_kernel import sampler

    X, y = two_classes
    settings = {"draws": 1500, "tune": 300, "chains": 4, "standardize": False}
    settings["priors"] = GKMPriors(max_active=20)
    whole = GKMClassifier(kernel=RBF(0.5), random_state=0, **settings).fit(X, y)
    monkeypatch.setattr(sampler, "_FULL_TABLE_BYTES", 8 * 80 * 60)
    parts = GKMClassifier(
        kernel=lambda A, B: rbf_kernel(A, B, gamma=2.0), random_state=1, **settings
    ).fit(X, y)
    for name in ("log_likelihood", "scale", "probability[35]"):
        one, two = whole.diagnostics_.loc[name], parts.diagnostics_.loc[name]
        error = np.hypot(one["mcse_mean"], two["mcse_mean"])
        assert abs(one["mean"] - two["mean"]) < 4 * error, name


def test_sparse_false_keeps_every_row_active(two_classes, short):
    X, y = two_classes
    model = GKMClassifier(priors=GKMPriors(sparse=False), **short).fit(X, y)
    assert_array_equal(model.active_probabilities_, np.ones(80))
    assert "birth" not in model.acceptance_rates_
    assert np.mean(model.predict(X) == y) > 0.8


def test_max_active_is_kept_and_clipped(two_classes, short):
    X, y = two_classes
    small = GKMClassifier(priors=GKMPriors(max_active=3), **short).fit(X, y)
    assert small.posterior_["sample_stats"]["n_active"].max() <= 3
    GKMClassifier(priors=GKMPriors(max_active=10_000), **short).fit(X, y)


def test_same_seed_same_draws_and_other_seed_others(two_classes, short):
    X, y = two_classes
    first = GKMClassifier(**short).fit(X, y).predict_proba(X)
    assert_array_equal(first, GKMClassifier(**short).fit(X, y).predict_proba(X))
    other = GKMClassifier(**short | {"random_state": 1}).fit(X, y).predict_proba(X)
    assert not np.array_equal(first, other)
    state = GKMClassifier(**short | {"random_state": np.random.RandomState(0)}).fit(X, y)
    assert state.predict_proba(X).shape == first.shape


def test_scale_and_shift_of_the_inputs_do_not_matter(two_classes, short):
    X, y = two_classes
    plain = GKMClassifier(**short).fit(X, y).predict_proba(X)
    for scale in (1e-200, 1e12, 1e250):
        moved = X * scale
        assert_allclose(GKMClassifier(**short).fit(moved, y).predict_proba(moved), plain, atol=1e-6)


def test_duplicate_rows_and_columns_and_constants(short):
    X, y = make_twonorm(40, random_state=0)
    X = np.column_stack([X[:, :3], X[:, 0], np.full(40, 7.3)])
    X, y = np.vstack([X, X]), np.concatenate([y, y])
    model = GKMClassifier(**short).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    same = GKMClassifier(**short).fit(np.ones((20, 2)), np.repeat([0, 1], 10))
    assert_allclose(same.predict_proba(np.ones((1, 2)))[0, 1], 0.5, atol=0.2)


def test_far_points_get_the_intercept_not_nan(two_classes, short):
    X, y = two_classes
    model = GKMClassifier(**short).fit(X, y)
    far = model.predict_proba([[1e300, -1e300], [1e6, 1e6]])
    intercept = model.posterior_["posterior"]["intercept"].to_numpy()
    assert_allclose(far[:, 1], ndtr(intercept).mean(), rtol=1e-10)


def test_two_rows(short):
    model = GKMClassifier(priors=GKMPriors(scale=(2, 20)), **short | {"draws": 3000})
    model.fit([[0.0], [1.0]], ["a", "b"])
    proba = model.predict_proba([[0.0], [1.0]])
    assert proba[0, 0] > 0.5 > proba[1, 0]


def test_pipelines_grids_clones_and_pickles(two_classes, short):
    X, y = two_classes
    pipeline = make_pipeline(FunctionTransformer(), GKMClassifier(**short))
    grid = GridSearchCV(
        pipeline, {"gkmclassifier__length_scale": [0.5, 1.0]}, cv=2, scoring="neg_log_loss"
    ).fit(X, y)
    assert grid.best_score_ > -0.69
    model = clone(grid.best_estimator_[-1]).fit(X, y)
    model.posterior_  # noqa: B018  (built once here, so that the pickle has something to leave out)
    copy = pickle.loads(pickle.dumps(model))
    assert "_posterior_tree" not in copy.__dict__
    assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert_allclose(copy.posterior_["posterior"]["scale"], model.posterior_["posterior"]["scale"])


def test_attributes_before_fit():
    model = GKMClassifier()
    for name in ("posterior_", "active_vectors_", "diagnostics_"):
        assert not hasattr(model, name)
    with pytest.raises(NotFittedError):
        model.sample_proba([[0.0, 0.0]])


def test_convergence_warning_names_quantity_and_remedy(two_classes):
    X, y = two_classes
    with pytest.warns(ConvergenceWarning, match=r"R-hat .*, bulk ESS .* Increase tune and draws"):
        GKMClassifier(draws=10, tune=0, random_state=0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="too few to judge"):
        GKMClassifier(draws=2, tune=0, random_state=0).fit(X, y)


def test_no_warning_when_chains_agree(recwarn, two_classes):
    X, y = two_classes
    model = GKMClassifier(draws=1200, tune=500, random_state=0).fit(X, y)
    assert model.diagnostics_.loc["log_likelihood", "r_hat"] < 1.05
    assert not [w for w in recwarn if issubclass(w.category, ConvergenceWarning)]
