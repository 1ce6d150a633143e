"""Doubly-sparse models as feature selectors, and under input that is bad, wide or degenerate."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from sparsekern import DoublySparseClassifier, DoublySparseRegressor
from sparsekern.inference.feature_search.screening import marginal_scores, screen_features
from sparsekern.settings import DoublySparseSelection

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SHORT = {"draws": 40, "tune": 40, "chains": 2, "random_state": 0}
LONGER = {"draws": 300, "tune": 150}  # until a false feature has come and gone
TINY = {"draws": 5, "tune": 5, "chains": 1, "random_state": 0}
NAMES = ["age", "height [cm]", "dose", "site", "weight"]

RNG = np.random.default_rng(5)
X = RNG.uniform(-3, 3, (60, 5))
F = 2 * np.cos(X[:, 2]) + X[:, 4] ** 2 / 2
Y = F + 0.3 * RNG.standard_normal(60)
LABELS = np.where(np.median(F) < Y, "yes", "no")


def regress(X=X, y=Y, **changes):
    return DoublySparseRegressor(**SHORT).set_params(**changes).fit(X, y)


def classify(X=X, y=LABELS, **changes):
    return DoublySparseClassifier(**SHORT).set_params(**changes).fit(X, y)


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return regress(pd.DataFrame(X, columns=NAMES), **LONGER)


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
    assert {"inverse_length_scale[dose]", "inverse_length_scale[weight]"} <= set(
        model.diagnostics_.index
    )
    assert "inverse_length_scale[age]" not in model.diagnostics_.index
    table = model.joint_inclusion()
    assert {"dose", "weight"} <= set(table.index) and list(table.index) == list(table.columns)
    mine = model.joint_inclusion(["weight", "age", "dose"])
    assert list(mine.columns) == ["weight", "age", "dose"]
    np.testing.assert_array_equal(mine, model.joint_inclusion([4, 0, 2]))
    np.testing.assert_array_equal(mine, mine.T)
    np.testing.assert_allclose(np.diag(mine), model.feature_inclusion_[[4, 0, 2]])
    assert list(model.joint_inclusion("dose").index) == ["dose"]
    from_polars = regress(pl.DataFrame(dict(zip(NAMES, X.T, strict=True))), **LONGER)
    assert list(from_polars.feature_names_in_) == NAMES
    pd.testing.assert_frame_equal(from_polars.diagnostics_, model.diagnostics_)
    pd.testing.assert_frame_equal(from_polars.joint_inclusion(), table)
    unnamed = regress(**LONGER)
    assert {"inverse_length_scale[2]", "inverse_length_scale[4]"} <= set(unnamed.diagnostics_.index)
    np.testing.assert_array_equal(unnamed.feature_inclusion_, model.feature_inclusion_)


def test_features_that_joint_inclusion_cannot_find(model):
    with pytest.raises(ValueError, match=r"'size' is not among the features seen in fit.*age"):
        model.joint_inclusion(["size"])
    for bad in (-1, 5, 1.5, np.nan):
        with pytest.raises(ValueError, match=r"features must .* 0 to 4"):
            model.joint_inclusion([0, bad])


def test_joint_inclusion_takes_a_mask(model):
    expected = model.joint_inclusion(model.selected_features_)
    pd.testing.assert_frame_equal(model.joint_inclusion(model.get_support()), expected)


def test_joint_inclusion_of_no_feature(model):
    assert model.joint_inclusion([]).shape == (0, 0)
    nothing = regress(X[:, [0, 1, 3]], RNG.standard_normal(60), priors__expected_features=1e-9)
    assert nothing.feature_inclusion_.max() < 0.05
    assert nothing.joint_inclusion().shape == (0, 0)


def test_output_as_a_data_frame():
    frame = pd.DataFrame(X, columns=NAMES)
    model = DoublySparseRegressor(**SHORT).set_output(transform="pandas").fit(frame, Y)
    out = model.transform(frame)
    assert isinstance(out, pd.DataFrame) and list(out.columns) == ["dose", "weight"]
    pd.testing.assert_frame_equal(out, frame[["dose", "weight"]])
    polars = DoublySparseClassifier(**SHORT).set_output(transform="polars").fit(frame, LABELS)
    assert set(polars.transform(frame).columns) == set(polars.get_feature_names_out())


def test_in_front_of_another_model():
    line = make_pipeline(DoublySparseRegressor(**SHORT), LinearRegression()).fit(X, Y)
    assert line[-1].coef_.shape == (2,)
    assert line.predict(X).shape == (60,)
    logistic = make_pipeline(DoublySparseClassifier(**SHORT), LogisticRegression())
    assert set(logistic.fit(X, LABELS).predict(X)) <= {"yes", "no"}
    np.testing.assert_array_equal(DoublySparseRegressor(**SHORT).fit_transform(X, Y), X[:, [2, 4]])


def test_the_threshold_may_change_after_the_fit(model):
    shares = model.feature_inclusion_
    some = shares[(shares > 0) & (shares < 0.5)].max()
    try:
        model.set_params(selection__threshold=some)  # at least: the share itself is enough
        np.testing.assert_array_equal(model.selected_features_, np.flatnonzero(shares >= some))
        assert len(model.selected_features_) > 2
        assert model.transform(pd.DataFrame(X, columns=NAMES)).shape[1] > 2
        for bad in (1.5, 0.0, -1):
            with pytest.raises(ValueError, match=f"threshold must .* got {bad}"):
                model.set_params(selection__threshold=bad).get_support()
        with pytest.raises(TypeError, match="threshold must be a positive number, got 'most'"):
            model.set_params(selection__threshold="most").get_support()
    finally:
        model.set_params(selection__threshold=0.5)


def test_no_feature_at_all():
    noise = np.random.default_rng(0).standard_normal(60)
    model = regress(y=noise, priors__expected_features=0.01)
    assert len(model.selected_features_) == 0
    with pytest.warns(UserWarning, match="No features were selected"):
        assert model.transform(X).shape == (60, 0)
    assert np.ptp(model.predict(X)) < 0.5
    assert np.isfinite(model.predict(X, return_std=True)[1]).all()
    assert not any(name.startswith("inverse_length_scale") for name in model.diagnostics_.index)


def test_before_the_fit():
    fresh = DoublySparseRegressor()
    for ask in (
        lambda: fresh.selected_features_,
        fresh.get_support,
        fresh.joint_inclusion,
        fresh.pointwise_log_likelihood,
        lambda: fresh.posterior_,
        lambda: fresh.predict(X),
        lambda: fresh.transform(X),
    ):
        with pytest.raises(NotFittedError):
            ask()


def test_searches_and_cross_validation():
    options = {**SHORT, "chains": 1, "draws": 40}
    search = GridSearchCV(
        DoublySparseRegressor(**options), {"priors__expected_features": [1e-9, 1.0]}, cv=2
    ).fit(X, Y)
    assert search.best_params_["priors__expected_features"] == 1.0
    np.testing.assert_array_equal(search.best_estimator_.selected_features_, [2, 4])
    scores = cross_val_score(
        DoublySparseRegressor(selection=DoublySparseSelection(screen=3), **options), X, Y, cv=2
    )
    assert scores.min() > 0.5
    assert cross_val_score(DoublySparseClassifier(**options), X, LABELS, cv=2).min() > 0.6


# -- screening ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(8)
    Z = rng.standard_normal((60, 40))
    Z[:, [7, 31]] = X[:, [2, 4]]
    return Z


def test_screening_is_choosing_the_columns_by_hand(wide):
    model = regress(wide, selection__screen=6)
    scores = marginal_scores((wide - wide.mean(0)) / wide.std(0), Y[:, None])
    chosen = np.sort(np.argsort(-scores)[:6])
    by_hand = regress(wide[:, chosen])
    np.testing.assert_array_equal(model.predict(wide), by_hand.predict(wide[:, chosen]))
    np.testing.assert_array_equal(model.feature_inclusion_[chosen], by_hand.feature_inclusion_)
    assert model.feature_inclusion_.sum() == by_hand.feature_inclusion_.sum()
    np.testing.assert_array_equal(model.selected_features_, chosen[by_hand.selected_features_])
    assert model.transform(wide).shape == (60, len(by_hand.selected_features_))
    np.testing.assert_array_equal(
        model.predict_quantiles(wide[:5]), by_hand.predict_quantiles(wide[:5, chosen])
    )


def test_the_pointwise_log_likelihood_after_screening(wide):
    for model in (regress(wide, selection__screen=6), classify(wide, selection__screen=6)):
        total = model.posterior_["sample_stats"]["log_likelihood"].values
        np.testing.assert_allclose(model.pointwise_log_likelihood().sum(-1), total, rtol=1e-6)


def test_screening_that_keeps_everything_changes_nothing():
    plain = regress()
    for screen in (5, 6, 10**9):
        same = regress(selection__screen=screen)
        np.testing.assert_array_equal(same.predict(X), plain.predict(X))
        pd.testing.assert_frame_equal(same.diagnostics_, plain.diagnostics_)


def test_scores_see_even_effects_and_bear_constant_columns():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((200, 30))
    Z[:, 3], Z[:, 4], Z[:, 5] = 7.0, 0.1, np.where(Z[:, 5] > 0, 1.0, -1.0)
    scores = marginal_scores(Z, Z[:, [0]] - 0.5 * Z[:, [1]] ** 2)
    assert scores[3] == scores[4] == 0
    assert np.isfinite(scores).all() and scores.max() <= 1 + 1e-12
    assert set(np.argsort(-scores)[:2]) == {0, 1}
    np.testing.assert_allclose(marginal_scores(Z, Z[:, [0]])[0], 1.0)
    np.testing.assert_array_equal(marginal_scores(Z, np.ones((200, 1))), np.zeros(30))
    np.testing.assert_array_equal(screen_features(Z, Z[:, [9]] ** 2, 1), [9])
    shifted = marginal_scores(Z + 1e4, Z[:, [9]] ** 2)  # squares are of centred columns
    assert np.argmax(shifted) == 9


def test_an_even_effect_survives_screening(wide):
    y = wide[:, 11] ** 2 + 0.1 * np.random.default_rng(1).standard_normal(60)
    model = regress(wide, y, selection__screen=4)
    np.testing.assert_array_equal(model.selected_features_, [11])
    inside = classify(wide, wide[:, 11] ** 2 < 0.6, selection__screen=4, draws=100, tune=100)
    assert 11 in inside.selected_features_


def test_screening_for_several_classes(wide):
    codes = np.digitize(wide[:, 20], [-0.5, 0.5])
    for likelihood in ("logit", "probit"):
        model = classify(
            wide,
            np.array(["b", "c", "a"])[codes],
            selection__screen=3,
            likelihood=likelihood,
            draws=250,
        )
        np.testing.assert_array_equal(model.selected_features_, [20])


def test_screening_of_inputs_near_the_limits_of_floating_point(wide, rows_looked_at):
    for scale in (1e150, 1e-150, 1e200, 1e-200):
        regress(wide * scale, selection__screen=2, standardize=False, **TINY)
        regress(wide, selection__screen=2, **TINY)
        one, other = rows_looked_at[-2:]
        np.testing.assert_array_equal(one.screened, other.screened)


# -- chains that disagree -------------------------------------------------------------------------


def test_two_copies_of_a_feature():
    """Without exchanges a chain keeps the copy that it has found first for long."""
    frame = pd.DataFrame({"left": X[:, 2], "right": X[:, 2], "other": X[:, 1]})
    y = 2 * np.cos(X[:, 2]) + 0.3 * np.random.default_rng(0).standard_normal(60)
    options = {"draws": 100, "tune": 30, "chains": 4, "moves__swaps": 0, "moves__features": 1}
    options["random_state"] = 2
    with pytest.warns(ConvergenceWarning, match=r"disagree about features.*left: [01]\.") as caught:
        model = regress(frame, y, **options)
    sentence = next(str(one.message) for one in caught if "disagree" in str(one.message))
    assert "right: " in sentence and "other: " not in sentence
    assert "joint_inclusion" in sentence and "increase tune and draws" in sentence
    assert {one.filename for one in caught} == {__file__}  # they point at the caller
    table = model.joint_inclusion(["left", "right"])
    both, either = table.loc["left", "right"], np.diag(table).sum()
    assert both < 0.3 and either - both > 0.95
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Chains have not|.*R-hat", ConvergenceWarning)
        regress(frame, y, draws=300, tune=100, moves__swaps=5)  # exchanges make the chains agree


def test_chains_that_never_move_leak_no_warning():
    """Chains that hold different numbers all the time have an infinite R-hat, no more."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for seed in range(3):
            regress(1e200 * X, standardize=False, draws=20, tune=20, random_state=seed)
            regress(
                1e-150 * X,
                standardize=False,
                draws=6,
                tune=0,
                selection__screen=2,
                random_state=seed,
            )


# -- input ----------------------------------------------------------------------------------------


def changed(value):
    out = X.copy()
    out[3, 1] = value
    return out


@pytest.mark.parametrize("fit", [regress, classify])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"X": changed(np.nan)}, "contains NaN"),
        ({"X": changed(np.inf)}, "infinity"),
        ({"X": np.array([["a", "b"]] * 60)}, "could not convert string"),
        ({"X": X[:, :0]}, "0 feature"),
        ({"X": X[0]}, "Reshape your data"),
        ({"X": X[:59]}, "inconsistent numbers of samples"),
        ({"X": X + 0j}, "Complex data not supported"),
    ],
)
def test_bad_inputs(fit, data, words):
    with pytest.raises(ValueError, match=words):
        fit(**data)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.full(60, 3.0), r"y is constant \(.*3.0.* nothing to learn"),
        (np.where(F > 1, np.nan, Y), "NaN"),
        (np.where(F > 1, np.inf, Y), "infinity"),
        (LABELS, "string|numbers"),
        (1e100 * Y, r"standard deviation .*e\+100.*rescale y"),
        (1e-100 * Y, "standard deviation .*e-100.*rescale y"),
        (np.column_stack([Y, Y]), "1d array"),
    ],
)
def test_bad_responses(y, words):
    for noise in ("gaussian", "student_t"):
        with pytest.raises(ValueError, match=words):
            regress(y=y, noise=noise)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.repeat("only", 60), r"one class only \('only'\)"),
        (Y, "Unknown label type"),
        (np.where(F > 1, np.nan, 1.0), "NaN"),
    ],
)
def test_bad_labels(y, words):
    with pytest.raises(ValueError, match=words):
        classify(y=y)


@pytest.mark.parametrize("fit", [regress, classify])
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"kernel": "rfb"}, "kernel must be one of 'rbf', .* got 'rfb'"),
        ({"kernel": "linear"}, "kernel must be one of .* got 'linear'"),
        ({"kernel": "precomputed"}, "kernel must be one of .* got 'precomputed'"),
        ({"kernel": ["rbf"]}, "kernel must be one of"),
        ({"priors__expected_features": 0}, "expected_features must be positive and finite, got 0"),
        (
            {"priors__expected_features": -1.0},
            "expected_features must be positive and finite, got -1.0",
        ),
        ({"priors__expected_features": np.nan}, "expected_features"),
        ({"priors__expected_vectors": 0.0}, "expected_vectors must be positive"),
        (
            {"priors__expected_vectors": np.inf},
            "expected_vectors must be positive and finite, got inf",
        ),
        ({"selection__max_features": 0}, "max_features must be at least 1, got 0"),
        ({"priors__max_active": 0}, "max_active must be at least 1, got 0"),
        ({"selection__threshold": 1.5}, "threshold must lie strictly between 0 and 1, got 1.5"),
        ({"selection__threshold": 0.0}, "threshold must be positive"),
        ({"selection__threshold": -0.5}, "threshold must be positive"),
        ({"selection__screen": 0}, "screen must be at least 1, got 0"),
        ({"selection__screen": -3}, "screen must be at least 1, got -3"),
        ({"priors__slab": (0, 1)}, r"slab\[0\] must be positive and finite, got 0"),
        (
            {"priors__slab": (2.0,)},
            r"slab must be a pair \(shape, rate\) or a known .*got \(2.0,\)",
        ),
        (
            {"priors__slab": None},
            r"slab must be a pair \(shape, rate\) or a known variance, got None",
        ),
        ({"priors__slab": -1.0}, "slab must be positive and finite, got -1.0"),
        ({"priors__intercept": 0.0}, "intercept must be positive"),
        ({"moves__features": 0}, "features must be at least 1, got 0"),
        ({"moves__swaps": -1}, "swaps must be at least 0, got -1"),
        ({"moves__pairs": -1}, "pairs must be at least 0, got -1"),
        ({"moves__length_scales": 0}, "length_scales must be at least 1"),
        ({"moves__length_scales": 1001}, "length_scales must be at most 1000, got 1001: a sweep"),
        ({"moves__active_set": 0}, "active_set must be at least 1"),
        ({"moves__latent_scans": 0}, "latent_scans must be at least 1"),
        ({"candidates": 0}, "candidates must be at least 1"),
        ({"candidates": [60]}, "candidates must lie between 0 and 59"),
        ({"candidates": [0.5]}, "array of row indices"),
        ({"draws": 0}, "draws must be at least 1"),
        ({"tune": -1}, "tune must be at least 0"),
        ({"chains": 0}, "chains must be at least 1"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"checkpoint": __file__}, "is a file; give the name of a folder"),
        ({"progress": "loud"}, "progress must be one of"),
    ],
)
def test_bad_parameters(fit, parameters, words):
    with pytest.raises(ValueError, match=words):
        fit(**parameters)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"selection__screen": 2.5}, "screen must be a whole number, got 2.5 of type float"),
        ({"selection__screen": True}, "screen must be a whole number"),
        ({"selection__screen": "all"}, "screen must be a whole number, got 'all'"),
        ({"selection__threshold": "half"}, "threshold must be a positive number, got 'half'"),
        (
            {"priors__expected_features": "few"},
            "expected_features must be a positive number, got 'few'",
        ),
        ({"priors__expected_vectors": "all"}, "expected_vectors must be a positive number"),
        ({"selection__max_features": None}, "max_features must be a whole number"),
        ({"priors__intercept": (1, 1)}, r"intercept must be a positive number, got \(1, 1\)"),
        ({"priors__select_features": "no"}, "select_features must be True or False"),
        ({"priors__select_vectors": 2}, "select_vectors must be True or False"),
        ({"standardize": None}, "standardize must be True or False"),
        ({"draws": 10.5}, "draws must be a whole number"),
    ],
)
def test_parameters_of_another_type(parameters, words):
    with pytest.raises(TypeError, match=words):
        regress(**parameters)


def test_parameters_of_one_estimator():
    for parameters, words in (
        ({"noise": "cauchy"}, "noise must be one of 'gaussian', 'student_t', .*; got 'cauchy'"),
        ({"priors__noise": (1, -1)}, r"noise\[1\] must be positive"),
        (
            {"noise": "student_t", "priors__degrees_of_freedom": "free"},
            "degrees_of_freedom must be one",
        ),
        (
            {"noise": "student_t", "priors__degrees_of_freedom": -1.0},
            "degrees_of_freedom must be positive",
        ),
    ):
        with pytest.raises(ValueError, match=words):
            regress(**parameters)
    with pytest.raises(
        ValueError, match=r"'poisson' .*: it is for counts, not for labels; use .*'hinge'"
    ):
        classify(likelihood="poisson")
    with pytest.raises(ValueError, match="likelihood must be one of 'probit', 'logit', 'hinge'"):
        classify(likelihood="cauchit")
    with pytest.raises(ValueError, match=r"likelihood='hinge'.*3 classes.*likelihood='probit'"):
        classify(y=np.arange(60) % 3, likelihood="hinge")


def test_other_features_at_prediction(model):
    frame = pd.DataFrame(X, columns=NAMES)
    for ask in (model.predict, model.transform, model.sample_predictive):
        with pytest.raises(ValueError, match="feature names should match"):
            ask(frame.iloc[:, :3])
    unnamed = regress(**TINY)
    with pytest.raises(ValueError, match=r"4 features, but .* expecting 5 features"):
        unnamed.predict(X[:, :4])
    with pytest.raises(ValueError, match="NaN"):
        unnamed.predict(changed(np.nan))
    with pytest.raises(ValueError, match="quantiles must lie strictly between 0 and 1"):
        unnamed.predict_quantiles(X, [0.5, 1.0])
    with pytest.raises(ValueError, match="n_samples must be at least 1, got 0"):
        unnamed.sample_predictive(X, 0)
    with pytest.raises(ValueError, match="inconsistent"):
        unnamed.log_predictive_density(X, Y[:5])


def test_a_failed_refit_leaves_the_model_as_it_was():
    model = regress(selection__screen=3)
    before = model.predict(X), model.feature_inclusion_.copy(), model.pointwise_log_likelihood()
    for data, parameters in (
        ((X[:, :2], Y), {"draws": -1}),
        ((X * 7 + 100, np.zeros(60)), {}),
        ((wrong := changed(np.nan), Y), {}),
    ):
        with pytest.raises(ValueError, match=r"draws must|constant|NaN"):
            model.set_params(**parameters).fit(*data)
        model.set_params(draws=SHORT["draws"])
        np.testing.assert_array_equal(model.predict(X), before[0])
        np.testing.assert_array_equal(model.feature_inclusion_, before[1])
        np.testing.assert_array_equal(model.pointwise_log_likelihood(), before[2])
    assert np.isnan(wrong).any()


def test_constant_and_duplicate_columns():
    odd = np.column_stack([np.full(60, 1e12 / 3), X[:, 2], X[:, 2], np.zeros(60), X[:, 4]])
    for fitted in (regress(odd), regress(odd, standardize=False, selection__screen=3)):
        assert (fitted.feature_inclusion_[[1, 2]].sum() > 0.9) and fitted.feature_inclusion_[
            4
        ] > 0.9
        assert np.isfinite(fitted.predict(odd)).all()
        assert np.isfinite(fitted.feature_inclusion_error_).all()
    assert np.corrcoef(regress(odd).predict(odd), F)[0, 1] > 0.9
    assert classify(odd).score(odd, LABELS) > 0.7


def test_nothing_but_constant_columns():
    same = np.ones((60, 3))
    flat = regress(same)
    np.testing.assert_allclose(flat.predict(same), Y.mean(), atol=0.5)
    shares = classify(same, np.arange(60) % 4 == 0).predict_proba(same)
    np.testing.assert_allclose(shares[:, 1], 0.25, atol=0.15)


def test_repeated_rows():
    rows, responses = np.repeat(X[:6], 10, axis=0), np.repeat(Y[:6], 10)
    fitted = regress(rows, responses + 0.1 * RNG.standard_normal(60))
    assert np.isfinite(fitted.predict(X)).all()
    assert np.isfinite(fitted.pointwise_log_likelihood()).all()


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_rows(n):
    for noise in ("gaussian", "student_t"):
        fitted = regress(X[:n], Y[:n], noise=noise)
        mean, std = fitted.predict(X, return_std=True)
        assert np.isfinite(mean).all() and (std > 0).all()
        assert fitted.posterior_["sample_stats"]["n_active"].max() <= n
    labels = np.arange(n) > 0
    for likelihood in ("logit", "probit", "hinge"):
        shares = classify(X[:n], labels, likelihood=likelihood).predict_proba(X)
        assert ((shares >= 0) & (shares <= 1)).all()
    if n == 3:
        assert classify(X[:3], np.arange(3)).predict_proba(X).shape == (60, 3)
    with pytest.raises(ValueError, match="minimum of 2"):
        regress(X[:1], Y[:1])
    with pytest.raises(ValueError, match="one class only"):
        classify(X[:1], LABELS[:1])


def test_one_feature():
    fitted = regress(X[:, [2]], 2 * np.cos(X[:, 2]) + 0.1 * RNG.standard_normal(60))
    np.testing.assert_array_equal(fitted.feature_inclusion_, [1.0])
    assert fitted.joint_inclusion().shape == (1, 1)
    assert classify(X[:, [2]], X[:, 2] ** 2 < 2).score(X[:, [2]], X[:, 2] ** 2 < 2) > 0.85


def test_more_features_than_rows():
    rng = np.random.default_rng(3)
    broad = rng.uniform(-3, 3, (40, 400))
    y = 3 * np.cos(broad[:, 123]) + 0.2 * rng.standard_normal(40)
    fitted = regress(broad, y, **LONGER)
    np.testing.assert_array_equal(fitted.selected_features_, [123])


@pytest.mark.parametrize("scale", [1e150, 1e-150, 1e300])
def test_extreme_units_of_the_inputs(scale):
    plain, moved = regress(), regress(X * scale)
    np.testing.assert_array_equal(moved.feature_inclusion_, plain.feature_inclusion_)
    np.testing.assert_allclose(moved.predict(X * scale), plain.predict(X), rtol=1e-4)
    raw = regress(X * scale, standardize=False, **TINY)  # nothing to be learned at such distances
    assert np.isfinite(raw.predict(X * scale)).all()


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern52"])
def test_distances_that_overflow_hold_no_feature_in(kernel):
    """All rows are infinitely far from each other: no feature says anything, and any may leave."""
    for scale in (1e150, 1e200, 1e300):
        fitted = regress(
            X * scale, kernel=kernel, standardize=False, priors__expected_features=2.5, chains=4
        )
        assert fitted.feature_inclusion_.max() < 0.5


def test_far_from_the_data_the_mean_is_the_intercept():
    for kernel in ("rbf", "laplacian", "matern32", "matern52"):
        fitted = regress(kernel=kernel)
        assert fitted.posterior_["sample_stats"]["n_features"].min() >= 1
        expected = fitted.posterior_["posterior"]["intercept"].values.mean()
        for far in (1e6, 1e300):
            np.testing.assert_allclose(fitted.predict(np.full((1, 5), far)), expected, rtol=1e-9)


@pytest.mark.parametrize(
    "parameters",
    [
        {"selection__max_features": 1},
        {"priors__max_active": 1},
        {"candidates": 1},
        {"candidates": [7, 3, 3]},
        {"priors__select_features": False},
        {"priors__select_vectors": False, "candidates": 12, "draws": 20, "tune": 20},
        {"priors__select_features": False, "priors__select_vectors": False, "candidates": 10},
        {"priors__slab": 2.0},
        {"moves__swaps": 0, "moves__features": 1},
        {"priors__expected_features": 1e9, "priors__expected_vectors": 1e9},
        {"priors__expected_features": 1e-300, "priors__expected_vectors": 1e-300},
        {"draws": 1, "tune": 0, "chains": 1},
        {"draws": 3, "chains": 1},
        {"draws": 10, "thin": 5},
        {"selection__max_features": 10**6, "priors__max_active": 10**6},
    ],
)
def test_corners_of_the_parameters(parameters):
    for fitted in (regress(**parameters), classify(**parameters)):
        sizes = fitted.posterior_["sample_stats"]
        assert sizes["n_features"].max() <= parameters.get("selection__max_features", 5)
        assert sizes["n_active"].max() <= parameters.get("priors__max_active", 60)
        assert np.isfinite(fitted.pointwise_log_likelihood()).all()
        if parameters.get("priors__select_features") is False:
            assert (fitted.feature_inclusion_ == 1).all() and sizes["n_features"].min() == 5
        if parameters.get("priors__select_vectors") is False:
            assert sizes["n_active"].min() == sizes["n_active"].max() <= 12
        if isinstance(parameters.get("candidates"), list):
            assert set(fitted.active_vectors_) <= {3, 7}


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
