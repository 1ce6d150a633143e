"""PCVMClassifier, RVMClassifier and RVMRegressor: contract, options, bad input."""

import pickle
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from sparsekern import PCVMClassifier, RVMClassifier, RVMRegressor
from sparsekern.datasets import make_ripley
from sparsekern.estimators.vector_machine.fits import _run, choose_candidates
from sparsekern.likelihoods.table import TABLE
from sparsekern.settings import PCVMPriors, PCVMSearch, VectorMachinePriors, VectorMachineSearch

WIDTHS = {"search": PCVMSearch(n_length_scales=3), "progress": False}
RVM_WIDTHS = {"search": VectorMachineSearch(n_length_scales=3), "progress": False}
CHAINS = {"draws": 30, "tune": 30, "chains": 2, "random_state": 0, "progress": False}
CLASSIFIERS = {
    "pcvm": PCVMClassifier(**WIDTHS),
    "truncated": PCVMClassifier(
        search=PCVMSearch(n_length_scales=3, selection="truncated"), progress=False
    ),
    "logit": PCVMClassifier(likelihood="scaled_logit", **WIDTHS),
    "ep": PCVMClassifier(inference="ep", **WIDTHS),
    "smoothed": PCVMClassifier(inference="smoothed", **WIDTHS),
    "em": PCVMClassifier(inference="em", **WIDTHS),
    "mcmc": PCVMClassifier(inference="mcmc", **{**WIDTHS, **CHAINS}),
    "multinomial": PCVMClassifier(multi_class="multinomial", **WIDTHS),
    "rvm": RVMClassifier(**RVM_WIDTHS),
    "rvm ep": RVMClassifier(inference="ep", likelihood="probit", **RVM_WIDTHS),
    "rvm probit": RVMClassifier(likelihood="probit", **RVM_WIDTHS),
    "rvm multinomial": RVMClassifier(multi_class="multinomial", **RVM_WIDTHS),
}
REGRESSOR = RVMRegressor(**RVM_WIDTHS)
SLOW = pytest.mark.slow

QUICK = ["pcvm", "truncated", "ep", "rvm"]
LATER = [name for name in CLASSIFIERS if name not in (*QUICK, "mcmc")]

X, Y = make_ripley(60, random_state=3)
Y = (Y > 0).astype(int)
RNG = np.random.default_rng(0)
T = np.sin(4 * X[:, 0]) + 0.1 * RNG.standard_normal(60)
THREE = np.digitize(X[:, 0], [-0.4, 0.3])


@pytest.fixture(params=CLASSIFIERS)
def classifier(request):
    return clone(CLASSIFIERS[request.param])


def test_kinds():
    assert is_classifier(PCVMClassifier()) and is_classifier(RVMClassifier())
    assert is_regressor(RVMRegressor())


# prediction


def check_predictions(model, X, classes):
    proba, decision = model.predict_proba(X), model.decision_function(X)
    assert proba.shape == (len(X), len(classes)) and proba.min() >= 0 and proba.max() <= 1
    np.testing.assert_allclose(proba.sum(1), 1.0, atol=1e-12)
    best = proba.argmax(1) if len(classes) > 2 else (proba[:, 1] > 0.5).astype(int)
    np.testing.assert_array_equal(model.predict(X), np.asarray(classes)[best])
    if len(classes) == 2:
        np.testing.assert_array_equal(decision > 0, best == 1)
    else:
        np.testing.assert_array_equal(decision.argmax(1), best)
    assert np.isfinite(decision).all()


@pytest.mark.parametrize("likelihood", ["probit", "logit", "scaled_logit"])
def test_decisions_are_latent_values_of_the_likelihood(likelihood):
    model = RVMClassifier(likelihood=likelihood, length_scale=1.0).fit(X, Y)
    law = TABLE[likelihood]()
    np.testing.assert_allclose(
        law.mean(model.decision_function(X)), model.predict_proba(X)[:, 1], atol=1e-12
    )


def test_two_classes(classifier):
    names = np.array(["left", "right"])[Y]
    model = classifier.fit(X, names)
    np.testing.assert_array_equal(model.classes_, ["left", "right"])
    check_predictions(model, X, model.classes_)
    assert model.score(X, names) > 0.75
    assert 0 <= model.loo_error_ <= 1 and model.loo_log_loss_ > 0
    assert model.length_scale_weights_.sum() == pytest.approx(1)
    assert len(model.models_) == 3
    assert np.isin(model.active_vectors_, np.arange(60)).all()


def test_several_classes(classifier):
    names = np.array(["c", "a", "b"])[THREE]
    model = classifier.fit(X, names)
    check_predictions(model, X, np.array(["a", "b", "c"]))
    assert model.score(X, names) > 0.7
    assert 0 <= model.loo_error_ < 0.5


def test_sampling_of_several_classes_is_one_model_each():
    # weights kept small: chains of separable classes mix slowly otherwise
    mixing = {"draws": 400, "tune": 400, "thin": 5, "priors__precision": (50.0, 5.0)}
    whole = clone(CLASSIFIERS["mcmc"]).set_params(**mixing).fit(X, THREE)
    draws = whole.sample_proba(X[:5])
    assert draws.shape == (800, 5, 3)
    np.testing.assert_allclose(draws.mean(0), whole.predict_proba(X[:5]), atol=1e-12)
    assert whole.posterior_["posterior"]["intercept"].dims == ("chain", "draw", "class")
    assert {f"n_active[{label}]" for label in range(3)} <= set(whole.diagnostics_.index)
    alone = [
        clone(whole).set_params(random_state=1 + c).fit(X, c == THREE).sample_proba(X)[..., 1]
        for c in range(3)
    ]
    shares = np.stack(alone, axis=-1)
    shares = (shares / shares.sum(axis=-1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(whole.predict_proba(X), shares, atol=0.02)


def test_draws_predict_what_the_sampler_saw():
    model = clone(CLASSIFIERS["mcmc"]).set_params(candidates=np.arange(1, 60, 3)).fit(X, Y)
    seen = model.posterior_["posterior"]["probability"]
    drawn = model.sample_proba(X[seen["monitored_row"].to_numpy()])[..., 1]
    np.testing.assert_allclose(drawn, seen.to_numpy().reshape(drawn.shape), atol=1e-10)
    assert set(model.active_vectors_) == set(range(1, 60, 3))


def test_certain_rows_have_a_probability_of_one_at_most(monkeypatch):
    model = clone(CLASSIFIERS["pcvm"]).fit(X, Y)
    average = model._averages[0]
    for fit in average.fits:
        monkeypatch.setattr(type(fit), "probability", lambda self, rows: np.ones(len(rows)))
    average.weights[:] *= 1 + 1e-15  # as rounding may leave them
    assert average.probability(X).max() > 1
    proba = model.predict_proba(X)
    assert proba.min() >= 0 and proba.max() <= 1


def test_far_from_all_rows(classifier):
    model = classifier.fit(X, Y)
    check_predictions(model, np.full((3, 2), [[1e6], [-1e12], [1e150]]), model.classes_)


def test_regression():
    model = clone(REGRESSOR).fit(X, T)
    mean, std = model.predict(X, return_std=True)
    assert mean.shape == std.shape == (60,) and (std >= np.sqrt(model.noise_variance_) * 0.99).all()
    assert model.score(X, T) > 0.7
    levels = np.linspace(0.01, 0.99, 21)
    quantiles = model.predict_quantiles(X, levels)
    assert (np.diff(quantiles, axis=1) > 0).all()
    draws = model.sample_predictive(X[:5], 4000, random_state=0)
    np.testing.assert_allclose(draws.mean(0), mean[:5], atol=5 * std[:5].max() / np.sqrt(4000))
    np.testing.assert_array_equal(draws, model.sample_predictive(X[:5], 4000, random_state=0))
    density = model.log_predictive_density(X, T)
    grid = np.linspace(-20, 20, 4001)
    mass = np.exp(model.log_predictive_density(np.repeat(X[:1], 4001, axis=0), grid))
    assert np.trapezoid(mass, grid) == pytest.approx(1, abs=1e-6)
    assert density.shape == (60,)


def test_coverage():
    rng = np.random.default_rng(1)
    rows = rng.uniform(-5, 5, (1200, 1))
    y = np.sin(rows[:, 0]) + 0.3 * rng.standard_normal(1200)
    model = RVMRegressor(progress=False).fit(rows[:200], y[:200])
    inside = model.predict_quantiles(rows[200:], [0.05, 0.95])
    share = np.mean((y[200:] > inside[:, 0]) & (y[200:] < inside[:, 1]))
    assert 0.86 < share < 0.94
    assert model.noise_variance_ == pytest.approx(0.09, rel=0.25)


def test_several_outputs():
    both = np.column_stack([T, 100 - 50 * T])
    model = clone(REGRESSOR).fit(X, both)
    mean, std = model.predict(X, return_std=True)
    assert mean.shape == std.shape == (60, 2)
    np.testing.assert_allclose(mean[:, 1], 100 - 50 * mean[:, 0], rtol=1e-8)
    np.testing.assert_allclose(std[:, 1], 50 * std[:, 0], rtol=1e-8)
    assert model.noise_variance_.shape == (2,)
    assert model.predict_quantiles(X, [0.1, 0.9]).shape == (60, 2, 2)
    assert model.sample_predictive(X, 7, random_state=0).shape == (7, 60, 2)
    assert model.log_predictive_density(X, both).shape == (60, 2)
    with pytest.raises(ValueError, match="y has 1 outputs, but fit saw 2"):
        model.log_predictive_density(X, T)
    column = clone(REGRESSOR).fit(X, T[:, None])
    assert column.predict(X).shape == (60, 1)
    np.testing.assert_allclose(column.predict(X)[:, 0], clone(REGRESSOR).fit(X, T).predict(X))


def test_units_of_the_response():
    plain = clone(REGRESSOR).fit(X, T)
    scaled = clone(REGRESSOR).fit(X, 1e6 * T - 3e7)
    np.testing.assert_allclose(scaled.predict(X), 1e6 * plain.predict(X) - 3e7, rtol=1e-6)
    assert scaled.noise_variance_ == pytest.approx(1e12 * plain.noise_variance_, rel=1e-6)
    gap = plain.log_evidence_ - scaled.log_evidence_
    assert gap == pytest.approx(60 * np.log(1e6), rel=1e-6)
    np.testing.assert_allclose(
        scaled.log_predictive_density(X, 1e6 * T - 3e7),
        plain.log_predictive_density(X, T) - np.log(1e6),
        rtol=1e-5,
    )


# the rest of scikit-learn


@pytest.mark.parametrize("model", [*CLASSIFIERS.values(), REGRESSOR], ids=str)
def test_pickling_and_cloning(model):
    fitted = clone(model).fit(X, Y if is_classifier(model) else T)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
    fresh = clone(fitted)
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    if is_classifier(model):
        np.testing.assert_array_equal(copy.predict_proba(X), fitted.predict_proba(X))


def test_data_frames():
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = clone(CLASSIFIERS["pcvm"]).fit(frame, pd.Series(Y))
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b"])
    np.testing.assert_array_equal(
        model.predict(frame), clone(CLASSIFIERS["pcvm"]).fit(X, Y).predict(X)
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a"]])


@pytest.mark.parametrize("dtype", [np.float32, np.int64, object, np.float16])
def test_other_dtypes(dtype):
    rows = np.round(10 * X).astype(dtype)
    model = clone(CLASSIFIERS["pcvm"]).fit(rows, Y)
    plain = clone(CLASSIFIERS["pcvm"]).fit(np.round(10 * X), Y)
    np.testing.assert_allclose(model.predict_proba(rows), plain.predict_proba(np.round(10 * X)))
    clone(REGRESSOR).fit(rows, np.round(10 * T).astype(int)).predict(rows)


def test_pipelines_and_searches():
    search = GridSearchCV(
        make_pipeline(MinMaxScaler(), PCVMClassifier(search=PCVMSearch(n_length_scales=2))),
        {
            "pcvmclassifier__search__min_gain": [0.1, 1.0],
            "pcvmclassifier__search__selection": ["gaussian"],
        },
        cv=3,
    ).fit(X, Y)
    assert search.best_score_ > 0.7
    assert cross_val_score(clone(REGRESSOR), X, T, cv=3).mean() > 0.3
    pipe = make_pipeline(
        StandardScaler().set_output(transform="pandas"), RVMClassifier(**RVM_WIDTHS)
    )
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert pipe.fit(frame, Y).score(frame, Y) > 0.75


@pytest.mark.parametrize(
    "name", ["pcvm", "mcmc", *(pytest.param(n, marks=SLOW) for n in ("ep", "multinomial", "rvm"))]
)
def test_the_number_of_jobs_is_of_no_consequence(name):
    target = THREE if name == "multinomial" else Y
    found = [
        clone(CLASSIFIERS[name]).set_params(n_jobs=jobs, random_state=5).fit(X, target)
        for jobs in (1, 2, None)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other.predict_proba(X), found[0].predict_proba(X))


def test_seeds():
    model = PCVMClassifier(length_scale="cv", candidates=20, random_state=1, **WIDTHS)
    one, two = (clone(model).fit(X, Y).predict_proba(X) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    first = RVMRegressor(length_scale="cv", random_state=1, n_jobs=2, **RVM_WIDTHS).fit(X, T)
    again = RVMRegressor(length_scale="cv", random_state=1, **RVM_WIDTHS).fit(X, T)
    np.testing.assert_array_equal(first.predict(X), again.predict(X))


# kernels and widths


@pytest.mark.parametrize("name", ["pcvm", "mcmc", "multinomial", "rvm"])
def test_precomputed_kernel(name):
    target = THREE if name == "multinomial" else Y
    width = 0.4
    new = X[:7] + 0.05
    kernel = {"gamma": 0.5 / width**2}
    given = clone(CLASSIFIERS[name]).set_params(kernel="precomputed").fit(
        rbf_kernel(X, **kernel), target
    )  # fmt: skip
    named = (
        clone(CLASSIFIERS[name]).set_params(length_scale=width, standardize=False).fit(X, target)
    )
    other = clone(CLASSIFIERS[name]).set_params(
        kernel=lambda A, B: rbf_kernel(A, B, **kernel), standardize=False
    ).fit(X, target)  # fmt: skip
    own = clone(CLASSIFIERS[name]).set_params(kernel=RBF(width), standardize=False).fit(X, target)
    expected = named.predict_proba(new)
    np.testing.assert_allclose(
        given.predict_proba(rbf_kernel(new, X, **kernel)), expected, atol=1e-6
    )
    np.testing.assert_allclose(other.predict_proba(new), expected, atol=1e-6)
    np.testing.assert_allclose(own.predict_proba(new), expected, atol=1e-6)
    np.testing.assert_array_equal(given.active_vectors_, named.active_vectors_)
    assert len(named.length_scales_) == 1 and given.length_scales_ is None


def test_cross_validation_cuts_a_precomputed_kernel():
    given = cross_val_predict(RVMRegressor("precomputed"), rbf_kernel(X, gamma=2.0), T, cv=3)
    named = RVMRegressor(length_scale=0.5, standardize=False)
    np.testing.assert_allclose(given, cross_val_predict(named, X, T, cv=3), atol=1e-6)


def test_precomputed_kernel_of_a_regression():
    width = {"gamma": 2.0}
    given = RVMRegressor("precomputed").fit(rbf_kernel(X, **width), T)
    named = RVMRegressor(length_scale=0.5, standardize=False).fit(X, T)
    np.testing.assert_allclose(
        given.predict(rbf_kernel(X[:9], X, **width)), named.predict(X[:9]), atol=1e-6
    )


def no_kernel(A, B):
    """Neither symmetric nor positive definite."""
    return np.tanh(A @ B.T - 0.5 * A[:, :1]) - 0.3


@pytest.mark.parametrize("name", ["pcvm", "truncated", "ep", "em", "rvm", "multinomial"])
def test_functions_that_are_no_kernel(name):
    target = THREE if name == "multinomial" else Y
    called = clone(CLASSIFIERS[name]).set_params(kernel=no_kernel, standardize=False).fit(X, target)
    check_predictions(called, X, called.classes_)
    given = clone(CLASSIFIERS[name]).set_params(kernel="precomputed").fit(no_kernel(X, X), target)
    np.testing.assert_allclose(
        given.predict_proba(no_kernel(X[:9], X)), called.predict_proba(X[:9]), atol=1e-6
    )
    fitted = RVMRegressor(no_kernel, standardize=False).fit(X, T)
    assert np.isfinite(fitted.predict(X)).all()


def test_columns_of_an_asymmetric_matrix_are_merged_as_columns():
    """Equal rows of the matrix are no reason to merge: a column is a column of it."""
    matrix = rbf_kernel(X, gamma=4.0)
    same_rows, same_columns = matrix.copy(), matrix.copy()
    one, other = np.flatnonzero(Y[0] == Y)[:2]
    same_rows[other] = same_rows[one]
    same_columns[:, other] = same_columns[:, one]
    model = PCVMClassifier("precomputed", search=PCVMSearch(selection="truncated"))
    assert len(choose_candidates(model, np.asfortranarray(same_rows), Y, True).rows) == 60
    assert len(choose_candidates(model, np.asfortranarray(same_columns), Y, True).rows) == 59


@pytest.mark.parametrize(
    "length_scale",
    ["averaged", "cv", "loo", "evidence", "mean_distance", "median_distance", 0.7, [0.5, 1.5]],
)
@pytest.mark.parametrize(
    "name", ["pcvm", "regression", *(pytest.param(n, marks=SLOW) for n in ("rvm", "multinomial"))]
)
def test_widths(name, length_scale):
    model = clone(REGRESSOR if name == "regression" else CLASSIFIERS[name])
    target = {"regression": T, "multinomial": THREE}.get(name, Y)
    model.set_params(length_scale=length_scale, random_state=0).fit(X, target)
    several = isinstance(length_scale, str) and length_scale in (
        "averaged",
        "cv",
        "loo",
        "evidence",
    )
    assert len(model.length_scales_) == len(model.models_) == (3 if several else 1)
    weights = model.length_scale_weights_
    assert weights.sum() == pytest.approx(1)
    if length_scale in ("loo", "evidence"):
        assert sorted(weights) == [0, 0, 1]
        column = "log_evidence" if length_scale == "evidence" else model.models_.columns[-1]
        sign = -1 if column == "loo_log_loss" else 1
        assert (sign * model.models_[column]).idxmax() == weights.argmax()
    assert model.score(X, target) > 0.6


@pytest.mark.parametrize(
    "name",
    ["smoothed", *(pytest.param(n, marks=SLOW) for n in ("ep", "em", "truncated", "rvm ep"))],
)
def test_widths_by_cross_validation_with_every_method(name):
    model = clone(CLASSIFIERS[name]).set_params(length_scale="cv", random_state=0).fit(X, Y)
    assert model.length_scale_weights_.sum() == pytest.approx(1)
    one_vs_rest = clone(CLASSIFIERS[name]).set_params(length_scale="cv").fit(X, THREE)
    assert one_vs_rest.length_scale_weights_.shape == (3, 3)


@pytest.mark.parametrize("counts", [(30, 27, 3), (40, 16, 2, 2), (20, 36, 4)])
def test_cross_validation_with_a_rare_class(counts):
    """A rare class has fewer folds than the others."""
    target = np.repeat(np.arange(len(counts)), counts)[:60]
    rows = np.random.default_rng(0).standard_normal((len(target), 2)) + target[:, None]
    model = PCVMClassifier(length_scale="cv", random_state=0, **WIDTHS).fit(rows, target)
    assert model.length_scale_weights_.shape == (len(counts), 3)
    check_predictions(model, rows, model.classes_)
    for c, average in enumerate(model._averages):  # every class with its own folds
        labels = np.where(target == c, 1.0, -1.0)
        alone = PCVMClassifier(length_scale="cv", random_state=0, **WIDTHS).fit(rows, labels)
        np.testing.assert_allclose(alone.length_scale_weights_, average.weights, atol=1e-12)


def test_kernels_too_large_for_em():
    with pytest.raises(ValueError, match="divide the kernel by that, or use inference='laplace'"):
        PCVMClassifier(lambda A, B: 1e11 * rbf_kernel(A, B), inference="em").fit(X, Y)


def test_candidates_that_a_fold_does_not_hold():
    for model, target in ((PCVMClassifier, Y), (RVMClassifier, Y), (RVMRegressor, T)):
        options = {"length_scale": "cv", "candidates": [0], "random_state": 0}
        fitted = model(**options).set_params(search__n_length_scales=3).fit(X, target)
        assert set(fitted.active_vectors_) <= {0}
    several = PCVMClassifier(
        length_scale="cv", candidates=[0], multi_class="multinomial", random_state=0, **WIDTHS
    ).fit(X, THREE)
    assert set(several.active_vectors_) <= {0}


# rows


@pytest.mark.parametrize("name", ["pcvm", "truncated", "ep", "smoothed", "em", "rvm"])
def test_doubled_rows_do_not_double_the_vectors(name):
    rows, labels = np.tile(X, (2, 1)), np.tile(Y, 2)
    model = clone(CLASSIFIERS[name]).set_params(length_scale=0.8).fit(rows, labels)
    assert (model.active_vectors_ < 60).all()
    vectors = rows[model.active_vectors_]
    assert len(np.unique(vectors, axis=0)) == len(vectors)


def test_both_labels_at_one_place():
    rows, labels = np.repeat(X[:10], 2, axis=0), np.tile([0, 1], 10)
    model = clone(CLASSIFIERS["truncated"]).fit(rows, labels)
    np.testing.assert_allclose(model.predict_proba(rows), 0.5, atol=0.05)


@pytest.mark.parametrize(
    "model",
    [REGRESSOR, *(CLASSIFIERS[n] for n in QUICK)]
    + [pytest.param(CLASSIFIERS[n], marks=SLOW) for n in [*LATER, "mcmc"]],
    ids=str,
)
def test_odd_training_sets(model):
    target = Y if is_classifier(model) else T
    clone(model).fit(np.column_stack([X, np.ones(60)]), target).predict(
        np.column_stack([X, np.zeros(60)])
    )
    huge = clone(model).fit(X * 1e150, target)
    plain = clone(model).fit(X, target)
    np.testing.assert_allclose(
        huge.predict_proba(X * 1e150) if is_classifier(model) else huge.predict(X * 1e150),
        plain.predict_proba(X) if is_classifier(model) else plain.predict(X),
        atol=1e-6,
    )
    clone(model).fit(np.ones((10, 2)), target[:10] if len(set(target[:10])) > 1 else target[-10:])
    two = clone(model).fit([[0.0], [1.0]], [0, 1])
    assert np.isfinite(two.predict([[0.0], [0.5]])).all()
    five = clone(model).fit(X[[0, 1, 2, -1, -2]], target[[0, 1, 2, -1, -2]])
    assert np.isfinite(five.predict(X)).all()


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_all_rows_active_is_no_reason_to_warn():
    truncated = PCVMSearch(selection="truncated")
    PCVMClassifier(search=truncated).fit([[0.0], [1.0]], [0, 1])
    RVMRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    narrow = replace(truncated, length_scale_range=(0.01, 0.02), min_gain=0.05)
    PCVMClassifier(search=narrow).fit(X, Y)


def test_a_fit_cut_short_warns_unless_its_size_was_limited():
    with pytest.warns(ConvergenceWarning, match="raise max_steps"):
        PCVMClassifier(search=PCVMSearch(n_length_scales=3, max_steps=1)).fit(X, Y)
    limited = VectorMachineSearch(n_length_scales=3, max_active=1, min_gain=1e-3)
    model = RVMRegressor(search=limited).fit(X, T)
    assert (model.models_["n_vectors"] <= 1).all()


@pytest.mark.parametrize("width", [(0.02, 0.02), (50.0, 50.0)])
@pytest.mark.parametrize("name", QUICK + [pytest.param(n, marks=SLOW) for n in LATER])
def test_narrow_and_wide_kernels(name, width):
    for target in (Y, (X[:, 0] > 0).astype(int)):  # the second is separable
        model = clone(CLASSIFIERS[name]).set_params(
            search__length_scale_range=width, search__n_length_scales=1
        )
        check_predictions(model.fit(X, target), X, model.classes_)


@pytest.mark.parametrize("model", ["pcvm", "rvm", "multinomial"])
def test_unbounded_kernels_far_away(model):
    target = THREE if model == "multinomial" else Y
    fitted = clone(CLASSIFIERS[model]).set_params(kernel="linear", standardize=False).fit(X, target)
    with pytest.raises(ValueError, match="'linear' overflows at some rows of X"):
        fitted.predict([[1e308, 1e308]])
    regression = RVMRegressor("linear", standardize=False).fit(X, T)
    with pytest.raises(ValueError, match="'linear' overflows at some rows of X"):
        regression.predict([[1e308, 1e308]])


def test_unbounded_kernels_in_large_units():
    for scale in (1e30, 1e-30):
        moved = PCVMClassifier("linear", standardize=False).fit(X * scale, Y)
        plain = PCVMClassifier("linear", standardize=False).fit(X, Y)
        np.testing.assert_allclose(
            moved.predict_proba(X * scale), plain.predict_proba(X), atol=1e-6
        )
    for model, target in ((PCVMClassifier, Y), (RVMClassifier, THREE), (RVMRegressor, T)):
        with pytest.raises(ValueError, match="squares overflow; rescale X"):
            model("linear", standardize=False).fit(X * 1e120, target)


# bad input


def changed(value):
    out = X.copy()
    out[3, 1] = value
    return out


@pytest.mark.parametrize(
    ("rows", "target", "words"),
    [
        (changed(np.nan), Y, "contains NaN"),
        (changed(np.inf), Y, "infinity"),
        (X[:, :0], Y, "0 feature"),
        (X[:0], Y[:0], "0 sample"),
        (X[0], Y, "Reshape your data"),
        (X, np.zeros(60), "one class only"),
        (X, np.linspace(0, 1, 60), "Unknown label type"),
        (X, Y[:-1], "inconsistent numbers of samples"),
        (X, np.where(Y == 0, np.nan, 1.0), "NaN"),
        (X, np.column_stack([Y, Y]), "1d array"),
    ],
)
@pytest.mark.parametrize("model", [PCVMClassifier, RVMClassifier])
def test_data_of_classifiers(model, rows, target, words):
    estimator = model(progress=False).set_params(search__n_length_scales=3)
    with pytest.raises(ValueError, match=words):
        estimator.fit(rows, target)
    with pytest.raises(NotFittedError):
        estimator.predict(X)
    assert not [name for name in vars(estimator) if name.endswith("_")]


@pytest.mark.parametrize(
    ("rows", "target", "words"),
    [
        (changed(np.nan), T, "contains NaN"),
        (X, np.where(T > 0, np.nan, T), "NaN"),
        (X, np.ones(60), "y is constant"),
        (X, np.column_stack([T, np.ones(60)]), "y is constant"),
        (X, 1e80 * T, "rescale y"),
        (X[:1], T[:1], "minimum of 2 is required"),
        (X, T[:-1], "inconsistent"),
    ],
)
def test_data_of_regressors(rows, target, words):
    estimator = RVMRegressor(**RVM_WIDTHS)
    with pytest.raises(ValueError, match=words):
        estimator.fit(rows, target)
    with pytest.raises(NotFittedError):
        estimator.predict(X)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"inference": "hmc"}, "inference must be one of .*'laplace'.*; got 'hmc'"),
        ({"search__selection": "smoothed"}, "selection must be one of 'gaussian', 'truncated'"),
        ({"likelihood": "cloglog"}, "likelihood must be one of 'probit', 'logit', 'scaled_logit'"),
        ({"multi_class": "ovo"}, "multi_class must be one of"),
        ({"search__min_gain": 0.0}, "min_gain must be positive"),
        ({"priors__intercept": -1}, "PCVMPriors.intercept must be positive"),
        ({"priors__intercept": (1.0, 2.0)}, "the prior variance of the intercept, got"),
        ({"priors__precision": (1, 0)}, r"PCVMPriors.precision\[1\] must be positive"),
        ({"priors__precision": 2}, "PCVMPriors.precision must be a pair"),
        ({"search__max_active": 0}, "max_active must be at least 1"),
        ({"search__max_steps": 0}, "max_steps must be at least 1"),
        ({"search__kernel_precision": "half"}, "kernel_precision must be one of"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"progress": "loud"}, "progress must be one of"),
        ({"length_scale": "width"}, "length_scale must be one of .*'averaged'"),
        ({"length_scale": -2.0}, "length_scale must be positive"),
        ({"length_scale": [1.0, 2.0, 3.0]}, "one positive number or 2"),
        ({"search__length_scale_range": (2.0, 1.0)}, "low <= high"),
        ({"search__length_scale_range": (0.0, 1.0)}, r"length_scale_range\[0\] must be positive"),
        ({"search__length_scale_range": 3}, "length_scale_range must be a pair"),
        ({"search__n_length_scales": 0}, "n_length_scales must be at least 1"),
        ({"kernel": "rfb"}, "kernel='rfb' is not known"),
        ({"kernel": "precomputed"}, "square kernel matrix"),
        ({"kernel": "linear", "length_scale": "cv"}, "cannot be combined with kernel='linear'"),
        ({"kernel": "linear", "length_scale": 2.0}, "cannot be combined"),
        ({"kernel": RBF(), "length_scale": 2.0}, "cannot be combined"),
        ({"kernel": lambda A, B: A[:, 0]}, "must return the matrix of shape"),
        ({"kernel": lambda A, B: np.full((len(A), len(B)), np.inf)}, "NaN or infinity"),
        ({"candidates": []}, "candidates must be"),
        ({"candidates": [60]}, "candidates must lie between 0 and 59"),
        ({"inference": "ep", "likelihood": "scaled_logit"}, "'ep' needs likelihood='probit'.*set"),
        (
            {"inference": "em", "search__selection": "truncated"},
            "cannot be combined with inference='em'",
        ),
        (
            {"inference": "smoothed", "search__selection": "truncated"},
            "use inference='laplace' or 'ep'",
        ),
        ({"inference": "ep", "multi_class": "multinomial"}, "needs inference='laplace', got 'ep'"),
        ({"inference": "mcmc", "draws": 0}, "draws must be at least 1"),
        ({"inference": "mcmc", "checkpoint": ""}, "checkpoint must be None or a folder"),
    ],
)
def test_parameters(parameters, words):
    estimator = PCVMClassifier()
    with pytest.raises(ValueError, match=words):
        estimator.set_params(**parameters).fit(X, Y)
    with pytest.raises(NotFittedError):
        estimator.predict(X)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"inference": "em"}, "inference must be one of 'laplace', 'ep'"),
        ({"inference": "ep"}, "needs likelihood='probit', got likelihood='logit'; set"),
        ({"likelihood": "probit", "multi_class": "multinomial"}, "use multi_class='one_vs_rest'"),
    ],
)
def test_parameters_of_the_relevance_vector_machine(parameters, words):
    with pytest.raises(ValueError, match=words):
        RVMClassifier(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"standardize": 1}, "standardize must be True or False"),
        ({"search__n_length_scales": 2.5}, "n_length_scales must be a whole number"),
        ({"search__max_steps": "many"}, "max_steps must be a whole number"),
        ({"search__min_gain": "low"}, "min_gain must be a positive number"),
        ({"kernel": 3}, "kernel must be a string"),
        ({"length_scale": None}, "length_scale must be a positive number"),
    ],
)
@pytest.mark.parametrize("model", [PCVMClassifier, RVMClassifier, RVMRegressor])
def test_types(model, parameters, words):
    with pytest.raises(TypeError, match=words):
        model().set_params(**parameters).fit(X, Y)


@pytest.mark.parametrize("model", [PCVMClassifier, RVMClassifier, RVMRegressor])
def test_groups_of_another_model(model):
    for name in ("priors", "search"):
        with pytest.raises(TypeError, match=f"{name} must be a sparsekern.settings"):
            model(**{name: {}}).fit(X, Y)
    with pytest.raises(TypeError, match=r"search must be a sparsekern\.settings\.PCVMSearch"):
        PCVMClassifier(search=VectorMachineSearch()).fit(X, Y)
    if model is not PCVMClassifier:
        with pytest.raises(TypeError, match=r"settings\.VectorMachineSearch or None, got PCVMSea"):
            model(search=PCVMSearch(selection="truncated")).fit(X, Y)


def test_the_prior_of_the_intercept_is_a_variance():
    free, tight = (
        RVMRegressor(length_scale=0.1, priors=VectorMachinePriors(intercept=variance))
        .fit(X, T + 50.0)
        .predict(np.full((1, 2), 1e6))  # far from all rows: the intercept
        for variance in (1e6, 1e-9)
    )
    assert abs(tight - np.mean(T + 50.0)) < 1e-3 < abs(free - np.mean(T + 50.0))
    assert PCVMPriors().intercept == VectorMachinePriors().intercept == 100.0


def test_cross_validation_needs_two_rows_of_each_class():
    lonely = np.zeros(60, int)
    lonely[0] = 1
    with pytest.raises(ValueError, match="at least two rows of every class; use 'averaged'"):
        PCVMClassifier(length_scale="cv").fit(X, lonely)
    PCVMClassifier(**WIDTHS).fit(X, lonely)


def test_what_only_draws_can_say():
    model = clone(CLASSIFIERS["pcvm"]).fit(X, Y)
    assert not hasattr(model, "posterior_")
    assert not hasattr(model, "pointwise_log_likelihood")
    with pytest.raises(AttributeError, match="which inference='laplace' does not make; fit with"):
        _ = model.posterior_
    with pytest.raises(AttributeError, match="which the last fit did not make; fit with"):
        _ = clone(model).fit(X, Y).set_params(inference="mcmc").posterior_
    with pytest.raises(NotFittedError):
        _ = clone(CLASSIFIERS["mcmc"]).posterior_
    assert model.sample_proba(X[:2], thin=100).shape == (10, 2, 2)  # of the weights' normal law
    sampled = clone(CLASSIFIERS["mcmc"]).fit(X, Y)
    assert sampled.n_draws_ == 30
    draws = sampled.sample_proba(X[:4])
    assert draws.shape == (60, 4, 2)
    np.testing.assert_allclose(draws.mean(0), sampled.predict_proba(X[:4]), atol=1e-12)
    assert "posterior" in sampled.posterior_
    assert len(sampled.diagnostics_)
    again = sampled.set_params(inference="laplace").fit(X, Y)
    assert not hasattr(again, "posterior_") and not hasattr(again, "n_draws_")
    np.testing.assert_array_equal(
        again.predict_proba(X), clone(CLASSIFIERS["pcvm"]).fit(X, Y).predict_proba(X)
    )


def test_bound():
    model = clone(CLASSIFIERS["pcvm"]).fit(X, Y)
    assert model.risk_bound(X, Y) > model.risk_bound(X, Y, confidence=0.5)
    with pytest.raises(ValueError, match="inconsistent"):
        model.risk_bound(X, Y[:5])
    with pytest.raises(ValueError, match="scale must be positive"):
        model.risk_bound(X, Y, scale=0)
    with pytest.raises(ValueError, match="two classes"):
        clone(CLASSIFIERS["pcvm"]).fit(X, THREE).risk_bound(X, THREE)
    with pytest.raises(NotFittedError):
        PCVMClassifier().risk_bound(X, Y)


# fits that do not end


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("model", [PCVMClassifier(), RVMClassifier(), RVMRegressor()], ids=str)
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(model, jobs):
    target = Y if is_classifier(model) else T
    calls = [0]

    def interrupted(A, B):
        calls[0] += 1
        if calls[0] > limit:
            raise KeyboardInterrupt
        return rbf_kernel(A, B)

    estimator = clone(model).set_params(kernel=interrupted, n_jobs=jobs)
    limit = 0
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X, target)
    with pytest.raises(NotFittedError):
        estimator.predict(X)
    limit = 10**9
    before = estimator.fit(X, target).predict(X)
    state = dict(vars(estimator))
    limit = calls[0]
    with pytest.raises(KeyboardInterrupt, match="interrupted before there was anything"):
        estimator.fit(X[:30] * 2, target[:30][::-1])
    assert vars(estimator) == state
    limit = 10**9
    np.testing.assert_array_equal(estimator.predict(X), before)


def test_a_callback_that_ends_a_fit_is_told_so():
    class Impatient:
        def setup(self, estimator, context):
            """Nothing to set up."""

        def on_fit_task_begin(self, estimator, context):
            """Nothing to note."""

        def on_fit_task_end(self, estimator, context):
            return context.task_name == "percent"

        def teardown(self, estimator, context):
            """Nothing to take down."""

    model = clone(CLASSIFIERS["rvm"]).set_callbacks(Impatient())
    with pytest.raises(RuntimeError, match="ended RVMClassifier before its 3 fits were done"):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_kernel_that_raises_is_heard():
    def broken(A, B):
        raise RuntimeError("no such kernel today")

    for model in (PCVMClassifier, RVMClassifier, RVMRegressor):
        with pytest.raises(RuntimeError, match="no such kernel today"):
            model(kernel=broken, n_jobs=2).fit(X, Y)


def test_the_fit_that_fails_is_heard_not_those_that_it_ends():
    def endless(report):
        while True:
            report()
            time.sleep(0.001)

    def broken(report):
        raise ValueError("no such fit today")

    with pytest.raises(ValueError, match="no such fit today"):
        _run(RVMClassifier(n_jobs=2, progress=False), [endless, broken], callbacks=False)


def test_a_failed_refit_leaves_the_model_as_it_was():
    model = clone(CLASSIFIERS["pcvm"]).fit(X, Y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="one class"):
        model.fit(X[:, :1], np.zeros(60))
    with pytest.raises(ValueError, match="max_steps"):
        model.set_params(search__max_steps=-1).fit(X[:, :1], Y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_new_rows_of_another_shape():
    model = clone(CLASSIFIERS["pcvm"]).fit(X, Y)
    with pytest.raises(ValueError, match="2 features"):
        model.predict(X[:, :1])
    with pytest.raises(ValueError, match="NaN"):
        model.predict(changed(np.nan))
    given = PCVMClassifier("precomputed").fit(rbf_kernel(X), Y)
    with pytest.raises(ValueError, match="60 features"):
        given.predict(X)
