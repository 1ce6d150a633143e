"""The kernel projection classifier as its users meet it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from sparsekern import KernelProjectionClassifier
from sparsekern.datasets import make_ripley
from sparsekern.inference.kernel_projection import sampler
from sparsekern.posteriors.projection import sharpened

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHORT = {"draws": 60, "tune": 60, "chains": 2, "thin": 1, "search__draws": 40, "random_state": 0}
FIXED = {**SHORT, "length_scale": "mean_distance", "prediction__sharpness": 1.0}


def classifier(n_components=None, **options):
    """Return a classifier; parameters inside groups by names such as ``search__draws``."""
    return KernelProjectionClassifier(n_components).set_params(**options)


@pytest.fixture(scope="module")
def spectra():
    """Thirty rows of 200 correlated features, three classes, off centre."""
    rng = np.random.default_rng(1)
    y = np.arange(30) % 3
    X = 2.0 * rng.standard_normal((3, 200))[y] + rng.standard_normal((30, 200)) + 50
    return X, np.array(["beef", "lamb", "pork"])[y]


@pytest.fixture(scope="module")
def fitted(spectra):
    return classifier(**SHORT).fit(*spectra)


@pytest.fixture(scope="module")
def of_labels(spectra):
    return classifier(inference="polya_gamma", **SHORT).fit(*spectra)


@pytest.mark.parametrize("name", ["fitted", "of_labels"])
def test_classes_are_told_apart_and_sharpened(spectra, name, request):
    X, y = spectra
    fitted = request.getfixturevalue(name)
    assert_array_equal(fitted.predict(X), y)
    assert fitted.sharpness_ > 1
    draws = fitted.sample_proba(X)
    assert draws.shape == (120, 30, 3)
    assert_allclose(draws.sum(2), 1, atol=1e-12)
    expected = sharpened(np.exp(np.log(draws).mean(0)), fitted.sharpness_)
    assert_allclose(fitted.predict_proba(X), expected, atol=1e-10)
    assert fitted.sample_proba(X, thin=20).shape == (6, 30, 3)
    assert_allclose(fitted.decision_function(X), np.log(fitted.predict_proba(X)), atol=1e-9)


def test_the_model_of_the_clearly_better_score_is_chosen(spectra, fitted, of_labels):
    assert set(fitted.widths_["inference"]) == {"polya_gamma", "least_squares"}
    assert len(fitted.widths_) == 12
    assert fitted.inference_ == "least_squares"  # the classes are far apart
    assert of_labels.inference_ == "polya_gamma"
    assert len(of_labels.widths_) == 6
    X, y = make_ripley(120, random_state=3)
    for options in ({}, {"inference": "polya_gamma"}, {"inference": "least_squares"}):
        model = classifier(**SHORT, **options).fit(X, y)
        most = {"polya_gamma": 60, "least_squares": 120}[model.inference_]
        assert model.n_components_ <= most
        assert model.score(X, y) > 0.8
    searched = classifier("log_score", search__n_splits=2, search__max_components=2, **SHORT)
    assert searched.fit(*spectra).inference_ == "polya_gamma"


@pytest.mark.parametrize("inference", ["polya_gamma", "least_squares", "cv"])
def test_kernels_without_a_part(spectra, inference):
    X, y = make_ripley(120, random_state=3)
    noise = np.random.default_rng(5).standard_normal((120, 4))
    model = classifier(
        **{**FIXED, "draws": 200, "tune": 200}, inference=inference, priors__select_kernels=True,
        kernel=[("rbf", slice(0, 2)), ("rbf", slice(2, 6))],
    ).fit(np.hstack([X, noise]), y)  # fmt: skip
    assert model.kernel_inclusion_.shape == (2, 2)
    assert model.kernel_inclusion_[:, 0].max() > 0.95
    assert model.kernel_inclusion_[:, 1].max() < 0.3
    assert model.kernel_scales_[0] > 0.5
    assert model.kernel_scales_[1] == 0
    draws = model.posterior_["posterior"]
    assert_allclose(draws["used"].mean(("chain", "draw")), model.kernel_inclusion_)
    assert_array_equal(draws["scale"] > 0, draws["used"].max("class"))
    with pytest.raises(AttributeError):
        _ = classifier(**FIXED).fit(X, y).kernel_inclusion_


def test_pooling_and_the_law_of_the_scale(spectra):
    X, y = spectra
    for options in ({"prediction__pooling": "arithmetic"}, {"inference": "latent_noise"}):
        model = classifier(**{**FIXED, "prediction__sharpness": 1.5}, **options).fit(X, y)
        expected = sharpened(model.sample_proba(X).mean(0), 1.5)
        assert_allclose(model.predict_proba(X), expected, atol=1e-10)
    wide, light, heavy = (
        classifier(inference="polya_gamma", **FIXED, priors__scale=scale)
        .fit(X, y)
        .kernel_scales_[0]
        for scale in (10.0, None, ("half_cauchy", 2.0))
    )
    assert heavy > light  # the classes are separated: only its prior holds the scale
    assert wide > light
    assert light < 10
    for scale in (("half_cauchy",), ("half_normal", 1.0), ("half_cauchy", -1.0), -2.0, "wide"):
        with pytest.raises((ValueError, TypeError), match="scale"):
            classifier(**FIXED, priors__scale=scale).fit(X, y)
    with pytest.raises(ValueError, match="pooling"):
        classifier(**FIXED, prediction__pooling="median").fit(X, y)


def test_transform_gives_projections(spectra, fitted):
    X, _ = spectra
    P = fitted.transform(X)
    assert P.shape == (30, fitted.n_components_) == (30, 29)
    assert_allclose(P.T @ P, np.diag(fitted.eigenvalues_), atol=1e-9 * fitted.eigenvalues_[0])
    names = fitted.get_feature_names_out()
    assert names[0] == "kernelprojectionclassifier0"
    model = classifier(4, **FIXED).set_output(transform="pandas")
    framed = model.fit(*spectra).transform(X)
    assert isinstance(framed, pd.DataFrame)
    assert framed.shape == (30, 4)


def test_residuals_flag_rows_unlike_all_others(spectra, fitted):
    X, _ = spectra
    assert fitted.projection_residual(X).max() < 1e-8
    far = fitted.projection_residual(X[:3] + np.array([[1e3], [-1e3], [50.0]]))
    assert far.min() > 0.5
    few = classifier(2, **FIXED).fit(*spectra).projection_residual(X)
    assert 0.01 < few.mean() < 1


def test_posterior_and_diagnostics(spectra, of_labels):
    fitted = of_labels
    tree = fitted.posterior_
    assert tree["posterior"]["coefficient"].shape == (2, 60, 3, 29)
    assert abs(tree["posterior"]["coefficient"].sum("class")).max() < 1e-9
    assert list(tree["posterior"]["class"].values) == ["beef", "lamb", "pork"]
    assert tree["log_likelihood"]["y"].shape == (2, 60, 30)
    assert_allclose(
        fitted.pointwise_log_likelihood().sum(2), tree["sample_stats"]["log_likelihood"], atol=1e-6
    )
    assert {"log_likelihood", "scale", "probability[0]"} <= set(fitted.diagnostics_.index)
    assert fitted.n_draws_ == 60
    assert set(fitted.acceptance_rates_) == {"scale", "path"}
    assert all(0 < rate < 1 for rate in fitted.acceptance_rates_.values())
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict_proba(spectra[0]), fitted.predict_proba(spectra[0]))


def test_draws_of_least_squares(fitted):
    assert {"scale", "noise_variance"} <= set(fitted.diagnostics_.index)
    assert "noise_variance" in fitted.posterior_["posterior"]
    assert fitted.acceptance_rates_ == {}
    assert fitted.diagnostics_["ess_bulk"].min() > 60  # of 120: hardly dependent


@pytest.mark.parametrize("n_components", [None, "log_score"])
def test_results_do_not_depend_on_threads(spectra, n_components):
    options = {**SHORT, "n_components": n_components, "draws": 20, "tune": 20}
    options |= {"search__n_splits": 2, "search__max_components": 3} if n_components else {}
    one = classifier(**options).fit(*spectra)
    two = classifier(**options, n_jobs=2).fit(*spectra)
    assert_array_equal(one.predict_proba(spectra[0]), two.predict_proba(spectra[0]))
    assert one.sharpness_ == two.sharpness_


def test_checkpoint_and_warm_start(spectra, tmp_path):
    options = {**FIXED, "checkpoint": tmp_path}
    one = classifier(**options).fit(*spectra)
    assert list(tmp_path.glob("run-*/*.npz"))
    again = classifier(**options).fit(*spectra)
    plain = classifier(**FIXED).fit(*spectra)
    for other in (again, plain):
        assert_array_equal(other.predict_proba(spectra[0]), one.predict_proba(spectra[0]))
    unseeded = {**SHORT, "draws": 20, "random_state": None, "checkpoint": tmp_path / "other"}
    for _ in range(2):
        classifier(**unseeded).fit(*spectra)
    # what was decided is the same: a run cut short would be found
    assert len(list((tmp_path / "other").glob("run-*"))) == 1
    warm = classifier(**{**SHORT, "draws": 20, "random_state": None})
    warm.set_params(warm_start=True).fit(*spectra)
    sharpness = warm.sharpness_
    warm.set_params(draws=30).fit(*spectra)
    assert warm.n_draws_ == 30
    assert warm.sharpness_ == sharpness


def test_expected_utility(spectra):
    model = classifier(
        "utility", search__n_splits=3, search__max_components=4, search__cost=0.5, **SHORT
    ).fit(*spectra)
    table = model.utility_
    assert list(table.index) == [1, 2, 3, 4]
    assert_allclose(table["utility"], table["accuracy"] - 0.5 * table.index / 15)
    assert model.n_components_ == table["utility"].idxmax()
    assert np.isnan(table["difference"].iloc[0])
    careful = classifier(
        "log_score",
        search__n_splits=3,
        search__max_components=4,
        search__rule="one_standard_error",
        **SHORT,
    ).fit(*spectra)
    assert_allclose(careful.utility_["utility"], careful.utility_["log_score"])
    assert careful.n_components_ <= careful.utility_["utility"].idxmax()
    with pytest.raises(AttributeError):
        _ = classifier(**FIXED).fit(*spectra).utility_


@pytest.mark.parametrize(
    "options",
    [
        {"inference": "latent_noise"},
        {"inference": "latent_noise", "priors__classes": "reference", "prediction__noise": True},
        {"inference": "latent_noise", "n_components": "average"},
        {"inference": "latent_noise", "n_components": "kernel", "priors__noise": (2.0, 1.0)},
        {"n_components": "average"},
        {"n_components": "average", "kernel": ["rbf", "linear"]},
        {"inference": "least_squares"},
        {"inference": "least_squares", "n_components": "average"},
        {"inference": "least_squares", "n_components": "log_score", "search__max_components": 3},
        {
            "inference": "least_squares",
            "priors__classes": "reference",
            "priors__precision": (1.0, 1.0),
        },
        {"inference": "least_squares", "n_components": "kernel", "priors__noise": (2.0, 1.0)},
        {"inference": "least_squares", "kernel": ["rbf", "linear"], "priors__intercept": None},
        {
            "inference": "least_squares",
            "priors__scale": ("half_cauchy", 1.0),
            "prediction__pooling": "arithmetic",
        },
        {"priors__classes": "reference", "priors__precision": (1.0, 1.0)},
        {"n_components": "kernel", "priors__scale": 1.0},
        {"priors__intercept": None, "kernel": "linear"},
        {"kernel": ["rbf", ("linear", slice(0, 50))]},
        {"inference": "latent_noise", "kernel": ["rbf", "linear"]},
    ],
    ids=str,
)
def test_every_variant_learns(spectra, options):
    X, y = spectra
    model = classifier(**{**FIXED, **options}).fit(X[:24], y[:24])
    assert np.mean(model.predict(X[24:]) == y[24:]) > 0.8
    assert_allclose(model.predict_proba(X).sum(1), 1, atol=1e-12)
    if options.get("n_components") == "average":
        assert model.inclusion_probabilities_.shape == (3, model.n_components_)
        shared = np.ptp(model.inclusion_probabilities_, axis=0).max() == 0
        assert shared == (options.get("inference") == "latent_noise")
    if "kernel" in options and isinstance(options["kernel"], list):
        assert len(getattr(model, "kernel_scales_", [0, 0])) == 2
        assert len(model.eigenvalues_) == model.n_components_
        assert options.get("n_components") is None or model.inference_ == "polya_gamma"
    assert model.transform(X[24:]).shape == (6, model.n_components_)
    if options.get("n_components") == "kernel":
        assert model.n_components_ == 24
        with pytest.raises(ValueError, match="n_components='kernel' makes none"):
            model.projection_residual(X)
    model.posterior_["posterior"]


def test_precomputed_kernel_is_the_same_model(spectra):
    X, y = spectra
    width = classifier(**FIXED).fit(X, y).length_scale_[0]
    gram = rbf_kernel(X, gamma=0.5 / width**2)
    direct = classifier(**{**FIXED, "length_scale": width}).fit(X, y)
    given = classifier(kernel="precomputed", **{**FIXED, "length_scale": "cv"}).fit(gram, y)
    assert_allclose(given.predict_proba(gram), direct.predict_proba(X), atol=0.05)
    assert_allclose(np.abs(given.transform(gram)), np.abs(direct.transform(X)), atol=1e-6)
    with pytest.raises(ValueError, match="projection_residual needs the kernel of each row"):
        given.projection_residual(gram)


def test_data_frames(spectra):
    polars = pytest.importorskip("polars")
    X, y = spectra
    names = [f"w{j}" for j in range(200)]
    plain = classifier(**FIXED).fit(X, y).predict_proba(X)
    for frame in (pd.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)):
        model = classifier(**FIXED).fit(frame, y)
        assert_array_equal(model.feature_names_in_, names)
        assert_allclose(model.predict_proba(frame), plain)


# ---------------------------------------------------------------- input at its limits


def test_constant_columns_and_constant_rows():
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = np.column_stack([y + 0.1 * rng.standard_normal(20), np.full(20, 1e9)])
    assert classifier(**FIXED).fit(X, y).score(X, y) == 1
    flat = np.full((20, 3), 4.0)
    y = (np.arange(20) < 15).astype(int)
    model = classifier(**SHORT).fit(flat, y)
    assert model.n_components_ == 0
    assert 0.4 < model.predict_proba(flat)[0, 1] < 0.95
    with pytest.raises(ValueError, match=r"priors\.intercept=None leaves nothing to learn from"):
        classifier(priors__intercept=None, **SHORT).fit(flat, y)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales_near_the_limits(spectra, scale):
    X, y = spectra
    model = classifier(**FIXED).fit(X * scale, y)
    assert model.score(X * scale, y) == 1


def test_few_rows_and_rare_classes():
    X = np.array([[1.0, 2.0], [3.0, 1.0]])
    assert classifier(**SHORT).fit(X, ["a", "b"]).predict_proba(X).shape == (2, 2)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 3)) + 2, np.array([0] * 6 + [1] * 5 + [2])
    model = classifier("utility", search__n_splits=2, search__max_components=2, **SHORT).fit(
        X, y
    )  # the last class is absent from half of the splits
    assert model.predict_proba(X).shape == (12, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": "all"}, "n_components must be one of"),
        ({"n_components": 0}, "n_components must be at least 1"),
        ({"n_components": 2.5}, "n_components must be a whole number"),
        ({"inference": "vb"}, "inference must be one of"),
        ({"priors__classes": "both"}, "classes must be one of"),
        (
            {"inference": "latent_noise", "priors__scale": 3.0},
            r"priors.scale=3.0 belongs to .*leave priors.scale=None",
        ),
        (
            {"priors__noise": (1, 1), "inference": "polya_gamma"},
            r"priors.noise=\(1.0, 1.0\) belongs to inference='least_squares' or 'latent_noise'",
        ),
        (
            {"priors__select_kernels": True, "inference": "latent_noise"},
            "priors.select_kernels=True belongs to .*leave priors.select_kernels=False",
        ),
        ({"priors__select_kernels": True, "n_components": "average"}, "selects whole kernels"),
        ({"priors__select_kernels": "yes"}, "select_kernels must be"),
        ({"prediction__noise": True}, "prediction.noise=True belongs to"),
        ({"n_components": "kernel", "search__max_components": 4}, "is for a search"),
        ({"search__max_components": 4}, "search.max_components=4 is for a search"),
        ({"search__n_splits": 4}, "search.n_splits=4 is for a search"),
        ({"search__rule": "best"}, "search.rule='best' is for a search"),
        ({"search__cost": 1.0}, "search.cost=1.0 is a part of the expected utility"),
        ({"search__draws": 0}, "draws must be at least 1"),
        ({"search__draws": 10**7}, "draws must be at most 1000000, got 10000000: the chains"),
        ({"search__cost": -1.0, "n_components": "utility"}, "cost must be positive"),
        ({"prediction__sharpness": 0.0}, "sharpness must be positive"),
        ({"prediction__sharpness": "loo"}, "sharpness must be one of 'cv'"),
        (
            {"priors__intercept": 1.0},
            "intercept must be a pair .*or None for no intercept, got 1.0",
        ),
        ({"kernel": "linear", "length_scale": 2.0}, "cannot be combined with kernel='linear'"),
        ({"length_scale": "loo"}, "length_scale='loo' is not known"),
        (
            {"kernel": ["rbf", "linear"], "inference": "latent_noise", "n_components": "average"},
            "needs orthogonal components",
        ),
        (
            {"kernel": ["rbf", "linear"], "inference": "least_squares", "n_components": "average"},
            "needs orthogonal components",
        ),
    ],
    ids=str,
)
def test_refusals_name_argument_value_and_remedy(spectra, options, message):
    model = classifier(**FIXED)
    with pytest.raises((ValueError, TypeError), match=message):
        model.set_params(**options).fit(*spectra)
    with pytest.raises(NotFittedError):
        model.predict(spectra[0])


def test_data_that_cannot_be_used(spectra):
    X, y = spectra
    model = classifier(**FIXED)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X, ["beef"] * 30)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X.max() - 1e-9 < X, np.nan, X), y)
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        model.fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="overflows on the training rows"):
        classifier(kernel="linear", **SHORT).fit(X * 1e200, y)
    for columns in (slice(None), slice(0, 5)):  # by the kernel matrix, by the features
        with pytest.raises(ValueError, match="too small; rescale X"):
            classifier(kernel="linear", **SHORT).fit(X[:, columns] * 1e-200, y)


@pytest.mark.parametrize(
    "options",
    [
        {"priors__noise": (1e-3, 1e-300)},
        {"priors__scale": 1e-6},
        {"priors__scale": 1e-150, "priors__select_kernels": True},
        {"priors__scale": ("half_cauchy", 1e-6), "priors__select_kernels": True},
        {"priors__scale": 1e6, "priors__select_kernels": True},
    ],
    ids=str,
)
def test_priors_at_their_limits_end(options):
    """Labels that rows determine, rows that do not differ: nothing but the prior is left."""
    rng = np.random.default_rng(0)
    repeated = np.repeat(rng.standard_normal((5, 3)), 8, axis=0)
    for X in (repeated, np.ones((40, 3))):
        model = classifier(inference="least_squares", **{**FIXED, **options})
        model.fit(X, np.repeat([0, 1, 0, 1, 2], 8))
        assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("inference", ["polya_gamma", "latent_noise", "least_squares"])
def test_a_chain_that_is_lost_names_its_prior(spectra, inference, monkeypatch):
    monkeypatch.setitem(sampler._RUNS, inference, lambda *arguments: False)
    model = classifier(inference=inference, **FIXED)
    wanted = "priors.scale" if inference == "polya_gamma" else "priors.noise"
    with pytest.raises(FloatingPointError, match=f"Leave {wanted} at its default"):
        model.fit(*spectra)


@pytest.mark.parametrize("inference", ["polya_gamma", "least_squares"])
def test_a_kernel_of_constant_columns_has_no_part(spectra, inference):
    X, y = spectra
    model = classifier(
        inference=inference, kernel=[("rbf", slice(0, 200)), ("rbf", [200])], **FIXED
    )
    model.fit(np.column_stack([X, np.ones(30)]), y)
    assert model.kernel_scales_[1] == 0
    model.set_params(priors__select_kernels=True).fit(np.column_stack([X, np.ones(30)]), y)
    assert (model.kernel_inclusion_[:, 1] == 0).all()
    assert model.kernel_inclusion_[:, 0].max() > 0.5
