"""BayesianMKLRegressor and BayesianMKLClassifier: contract, options, bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr, ndtri
from scipy.stats import norm
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from sparsekern import BayesianMKLClassifier, BayesianMKLRegressor
from sparsekern.inference.multiple_kernel.additive.fit import fit_additive
from sparsekern.settings import MKLPriors, MKLRegressionPriors

QUICK = {"n_init": 1, "progress": False, "random_state": 0}
SHARED = {"vectors": "shared", "max_iter": 60, **QUICK}
RNG = np.random.default_rng(0)
X = RNG.normal(3.0, 2.0, (70, 4))
F = np.sin(X[:, 0]) + 0.4 * (X[:, 1] - 3)
Y = 100 + 20 * F + 2 * RNG.standard_normal(70)
BOTH = np.column_stack([Y, -3 * Y + RNG.standard_normal(70) + 5 * X[:, 1]])
TWO = np.array(["left", "right"])[(np.median(F) < F).astype(int)]
THREE = np.array(["b", "c", "a"])[np.digitize(F, np.quantile(F, [0.33, 0.67]))]
LABELS = (np.column_stack([F > 0.2, X[:, 2] > 3, X[:, 1] > 3])).astype(int)
VIEWS = [("rbf", [0]), ("rbf", [1]), ("rbf", [2]), ("rbf", [3])]

REGRESSORS = {
    "per kernel": BayesianMKLRegressor(**QUICK),
    "candidates": BayesianMKLRegressor(candidates=40, **QUICK),
    "sparse rows": BayesianMKLRegressor(priors=MKLRegressionPriors(sample_sparsity=True), **QUICK),
    "plain": BayesianMKLRegressor(priors=MKLRegressionPriors(kernel_sparsity=False), **QUICK),
    "shared": BayesianMKLRegressor(**SHARED),
    "nonnegative": BayesianMKLRegressor(priors=MKLRegressionPriors(nonnegative=True), **SHARED),
    "shared sparse": BayesianMKLRegressor(
        priors=MKLRegressionPriors(sample_sparsity=True), **SHARED
    ),
}
CLASSIFIERS = {
    "regression": BayesianMKLClassifier(**QUICK),
    "probit": BayesianMKLClassifier(likelihood="probit", **QUICK),
    "multinomial": BayesianMKLClassifier(likelihood="multinomial_probit", **QUICK),
    "shared": BayesianMKLClassifier(**SHARED),
    "shared probit": BayesianMKLClassifier(likelihood="probit", **SHARED),
    "shared multinomial": BayesianMKLClassifier(likelihood="multinomial_probit", **SHARED),
    "nonnegative": BayesianMKLClassifier(priors=MKLPriors(nonnegative=True), **SHARED),
    "candidates": BayesianMKLClassifier(candidates=25, **QUICK),
}


def test_kinds():
    assert is_regressor(BayesianMKLRegressor()) and is_classifier(BayesianMKLClassifier())
    assert BayesianMKLRegressor("precomputed").__sklearn_tags__().input_tags.pairwise
    assert not BayesianMKLRegressor().__sklearn_tags__().input_tags.pairwise
    tags = BayesianMKLClassifier(likelihood="multinomial_probit").__sklearn_tags__()
    assert not tags.classifier_tags.multi_label


# regression


@pytest.mark.parametrize("name", REGRESSORS)
def test_regression(name):
    model = clone(REGRESSORS[name]).fit(X, Y)
    mean, std = model.predict(X, return_std=True)
    assert mean.shape == std.shape == (70,)
    assert np.sqrt(np.mean((mean - Y) ** 2)) < 0.45 * Y.std()
    assert (std > 0.5).all() and (std < 1.5 * Y.std()).all()
    assert model.noise_variance_ > 0
    assert model.n_iter_ == len(model.evidence_path_)
    assert model.log_evidence_ == pytest.approx(model.evidence_path_[-1])
    for part in np.split(model.evidence_path_, model.evidence_stages_):
        assert np.all(np.diff(part) >= -1e-9 * np.abs(part[1:]))
    assert model.kernel_weights_.shape == model.kernel_weights_std_.shape == (7,)
    assert model.kernel_shares_.sum() == pytest.approx(1)
    assert np.isin(np.flatnonzero(model.kernel_weights_), model.active_kernels_).all()
    assert np.isin(model.active_vectors_, np.arange(70)).all()
    if name == "nonnegative":
        assert (model.kernel_weights_ >= 0).all()
    if name == "sparse rows":
        assert len(model.active_vectors_) < 50
    if name == "candidates":
        assert 20 < len(model.active_vectors_) <= 40


@pytest.mark.parametrize("name", ["per kernel", "candidates", "shared"])
@pytest.mark.parametrize("share", ["kernel_weights", "sample_weights"])
def test_several_outputs(name, share):
    if share == "sample_weights" and name != "shared":
        return
    model = clone(REGRESSORS[name]).set_params(share=share).fit(X, BOTH)
    mean, std = model.predict(X[:9], return_std=True)
    again, cov = model.predict(X[:9], return_cov=True)
    assert mean.shape == std.shape == (9, 2) and cov.shape == (9, 2, 2)
    assert_allclose(mean, again)
    assert_allclose(np.sqrt(np.einsum("noo->no", cov)), std)
    assert np.linalg.eigvalsh(cov).min() > 0
    assert model.predict_quantiles(X[:9]).shape == (9, 3, 2)
    assert model.log_predictive_density(X[:9], BOTH[:9]).shape == (9, 2)
    assert model.noise_variance_.shape == (2,)
    assert model.kernel_weights_.shape == ((2, 7) if share == "sample_weights" else (7,))


def test_per_kernel_is_the_gaussian_process_of_its_weights():
    """The mean is that of scikit-learn's process on the weighted sum of kernels."""
    scale = [1.0, 3.0]
    priors = MKLRegressionPriors(noise=(1e-3, 1e-3))
    model = BayesianMKLRegressor([RBF(s) for s in scale], standardize=False, priors=priors, **QUICK)
    rows = X[:, :1]
    model.fit(rows, Y)
    posterior = model._functions.posterior
    kernels = [ConstantKernel(w) * RBF(scale[k]) for w, k in
               zip(posterior.scales.kernel, posterior.kernels, strict=True)]  # fmt: skip
    total = sum(kernels[1:], kernels[0]) + ConstantKernel(100.0)
    gp = GaussianProcessRegressor(total, alpha=posterior.scales.noise[0], optimizer=None)
    gp.fit(rows, (Y - Y.mean()) / Y.std())
    new = np.linspace(-3, 9, 20)[:, None]
    mean, std = gp.predict(new, return_std=True)
    found, deviation = model.predict(new, return_std=True)
    assert_allclose(found, Y.mean() + Y.std() * mean, rtol=1e-5)
    noise = model.noise_variance_
    assert_allclose(deviation**2, (Y.std() * std) ** 2 + noise, rtol=1e-4)


def test_the_right_views_are_found_by_name_and_index():
    frame = pd.DataFrame(X, columns=["heat", "rain", "wind", "dust"])
    by_name = [("rbf", ["heat"]), ("rbf", "rain"), ("rbf", ["wind"]), ("rbf", ["dust"])]
    named = BayesianMKLRegressor(by_name, **QUICK).fit(frame, Y)
    placed = BayesianMKLRegressor(VIEWS, **QUICK).fit(X, Y)
    assert_array_equal(named.feature_names_in_, frame.columns)
    assert_allclose(named.predict(frame), placed.predict(X))
    assert named.kernel_weights_[:2].min() > 5 * named.kernel_weights_[2:].max()
    assert_array_equal(named.active_kernels_[:2], [0, 1])
    with pytest.raises(ValueError, match=r"names the columns \['fog'\]"):
        BayesianMKLRegressor([("rbf", ["fog"])]).fit(frame, Y)


def test_polars_is_as_good_as_pandas():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X, schema=["heat", "rain", "wind", "dust"])
    model = BayesianMKLRegressor([("rbf", ["heat"]), ("rbf", ["rain"])], **QUICK).fit(frame, Y)
    assert model.predict(frame).shape == (70,)


def test_units_do_not_matter():
    plain = BayesianMKLRegressor(VIEWS, **QUICK).fit(X, Y)
    moved = BayesianMKLRegressor(VIEWS, **QUICK).fit(1e5 * X - 7e6, 1e-6 * Y + 3)
    mean, std = plain.predict(X, return_std=True)
    other, deviation = moved.predict(1e5 * X - 7e6, return_std=True)
    assert_allclose((other - 3) * 1e6, mean, rtol=1e-4)
    assert_allclose(deviation * 1e6, std, rtol=1e-3)
    assert_allclose(moved.log_evidence_, plain.log_evidence_ - 70 * np.log(1e-6), rtol=1e-4)
    with np.errstate(all="raise"):
        BayesianMKLRegressor(**QUICK).fit(1e150 * X, 1e40 * Y)


def test_normalised_kernels_have_no_units():
    big = [lambda A, B: 1e6 * rbf_kernel(A, B, 0.2), "rbf"]
    small = [lambda A, B: rbf_kernel(A, B, 0.2), "rbf"]
    kept = MKLRegressionPriors(kernel_sparsity=False)
    for options in ({}, {"vectors": "shared", "max_iter": 20}, {"priors": kept}):
        found = [
            BayesianMKLRegressor(kernel, **{**QUICK, **options}).fit(X, Y).predict(X)
            for kernel in (big, small)
        ]
        assert_allclose(*found, rtol=1e-6)
    raw = [
        BayesianMKLRegressor(kernel, normalize=False, priors=kept, **QUICK).fit(X, Y)
        for kernel in (big, small)
    ]
    assert abs(raw[0].log_evidence_ - raw[1].log_evidence_) > 1


# precomputed kernels


def kernels_of(A, B):
    return np.stack([rbf_kernel(A[:, [m]], B[:, [m]], 0.3) for m in range(4)], axis=2)


@pytest.mark.parametrize("vectors", ["per_kernel", "shared"])
def test_precomputed_kernels_equal_those_computed(vectors):
    options = {**QUICK, "vectors": vectors, "max_iter": 60}
    columns = [(lambda A, B: rbf_kernel(A, B, 0.3), [m]) for m in range(4)]
    computed = BayesianMKLRegressor(columns, standardize=False, **options).fit(X, Y)
    given = BayesianMKLRegressor("precomputed", **options).fit(kernels_of(X, X), Y)
    new = X[:8] + 0.3
    assert_allclose(
        given.predict(kernels_of(new, X), return_std=True),
        computed.predict(new, return_std=True),
        rtol=1e-6,
    )
    marked = [BayesianMKLRegressor("precomputed", candidates=np.arange(0, 70, 3), **options),
              BayesianMKLRegressor(columns, candidates=np.arange(0, 70, 3), standardize=False,
                                   **options)]  # fmt: skip
    assert_allclose(
        marked[0].fit(kernels_of(X, X), Y).predict(kernels_of(new, X)),
        marked[1].fit(X, Y).predict(new),
        rtol=1e-6,
    )


def test_cross_validation_cuts_precomputed_kernels():
    kernels = kernels_of(X, X)
    given = cross_val_predict(BayesianMKLRegressor("precomputed", **QUICK), kernels, Y, cv=3)
    assert np.corrcoef(given, Y)[0, 1] > 0.8
    one = BayesianMKLRegressor("precomputed", **QUICK).fit(kernels[:, :, 0], Y)
    assert one.kernel_weights_.shape == (1,)
    with pytest.raises(ValueError, match=r"fit saw 1 kernels.*\(n, 70, 1\)"):
        one.predict(kernels)
    with pytest.raises(ValueError, match=r"shape \(n, n, P\).*got the shape \(70, 60, 4\)"):
        BayesianMKLRegressor("precomputed").fit(kernels[:, :60], Y)
    with pytest.raises(ValueError, match="70 features"):
        one.predict(kernels[:, :60, :1])


# classes


def check_predictions(model, rows, classes):
    proba, decision = model.predict_proba(rows), model.decision_function(rows)
    assert proba.shape == (len(rows), len(classes)) and (proba >= 0).all()
    assert_allclose(proba.sum(1), 1.0, atol=1e-12)
    best = proba.argmax(1) if len(classes) > 2 else (proba[:, 1] > 0.5).astype(int)
    assert_array_equal(model.predict(rows), np.asarray(classes)[best])
    if len(classes) == 2:
        assert_array_equal(decision > 0, best == 1)
    else:
        assert_array_equal(decision.argmax(1), best)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_two_classes(name):
    model = clone(CLASSIFIERS[name]).fit(X, TWO)
    assert_array_equal(model.classes_, ["left", "right"])
    check_predictions(model, X, model.classes_)
    assert model.score(X, TWO) > 0.8
    assert np.isfinite(model.log_evidence_)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_three_classes(name):
    model = clone(CLASSIFIERS[name]).fit(X, THREE)
    check_predictions(model, X, np.array(["a", "b", "c"]))
    assert model.score(X, THREE) > 0.7


@pytest.mark.parametrize("name", ["regression", "probit", "shared", "shared probit"])
def test_several_labels(name):
    model = clone(CLASSIFIERS[name]).fit(X, LABELS)
    proba = model.predict_proba(X)
    assert proba.shape == (70, 3) and (proba > 0).all() and (proba < 1).all()
    assert_array_equal(model.predict(X), (proba > 0.5).astype(int))
    assert_array_equal(model.decision_function(X) > 0, proba > 0.5)
    assert (model.predict(X) == LABELS).mean() > 0.8


def test_labels_must_vary_and_not_exclude_each_other():
    with pytest.raises(ValueError, match="several labels; use likelihood='probit'"):
        clone(CLASSIFIERS["multinomial"]).fit(X, LABELS)
    with pytest.raises(ValueError, match="label 1 is the same in every row"):
        BayesianMKLClassifier().fit(X, LABELS * [1, 0, 1])


@pytest.mark.parametrize("vectors", ["per_kernel", "shared"])
def test_classes_by_regression_are_as_probable_as_draws_on_their_side(vectors):
    rare = np.quantile(F, 0.85) < F  # far from balanced
    options = {**SHARED, "vectors": vectors}
    response = BayesianMKLRegressor(**options).set_params(priors__kernel_sparsity=True)
    mean, std = response.fit(X, 2.0 * rare - 1).predict(X, return_std=True)
    model = BayesianMKLClassifier(calibrate=False, **options)
    model.set_params(priors__kernel_sparsity=True).fit(X, rare)
    proba = model.predict_proba(X)[:, 1]
    assert_allclose(proba, norm.cdf(mean / std), rtol=1e-8)
    assert proba.mean() == pytest.approx(rare.mean(), abs=0.08)


def test_without_sparsity_all_kernels_together_have_the_variance_of_y(monkeypatch):
    """Precisions are expected to be the number of kernels; latent outputs have no such scale."""
    module = "sparsekern.inference.multiple_kernel.fits.fit_additive"
    seen, plain = [], fit_additive

    def spy(cross, count, vectors, targets, priors, *rest, **options):
        seen.append(priors.kernel)
        return plain(cross, count, vectors, targets, priors, *rest, **options)

    monkeypatch.setattr(module, spy)
    kernels = ["rbf", "linear", ("rbf", [0])]
    kept = MKLRegressionPriors(kernel_sparsity=False)
    BayesianMKLRegressor(kernels, priors=kept, **QUICK).fit(X, Y)
    BayesianMKLClassifier(kernels, **QUICK).fit(X, TWO)
    BayesianMKLClassifier(kernels, likelihood="probit", **QUICK).fit(X, TWO)
    for (shape, scales), expected in zip(seen, (3.0, 3.0, 1.0), strict=True):
        assert shape == 1.0
        assert_array_equal(scales, np.full(3, expected))


def test_the_margin_is_heard():
    models = [BayesianMKLClassifier(likelihood="probit", margin=v, **QUICK) for v in (None, 0, 1)]
    proba = [model.fit(X, TWO).predict_proba(X) for model in models]
    assert_allclose(proba[0], proba[1])
    assert np.abs(proba[2] - proba[1]).max() > 0.01


def test_the_temperature_is_heard():
    """Calibrated probabilities belong to deviations times the factor found."""
    rng = np.random.default_rng(5)
    X = rng.normal(1.0, 1.0, (60, 2))
    y = X[:, 0] + X[:, 1] > 2.0
    plain = BayesianMKLClassifier(calibrate=False, random_state=0).fit(X, y)
    model = BayesianMKLClassifier(random_state=0).fit(X, y)
    assert plain.temperature_ == 1.0
    assert model.temperature_ < 0.9
    expected = ndtr(ndtri(plain.predict_proba(X)[:, 1]) / model.temperature_)
    assert_allclose(model.predict_proba(X)[:, 1], expected, rtol=1e-8)
    with pytest.raises(ValueError, match="calibrate=True needs likelihood='regression'"):
        BayesianMKLClassifier(calibrate=True, likelihood="probit").fit(X, y)
    with pytest.raises(TypeError, match="calibrate"):
        BayesianMKLClassifier(calibrate="yes").fit(X, y)


# scikit-learn's tools


def test_pipelines_grids_clones_and_pickles():
    pipe = make_pipeline(MinMaxScaler(), BayesianMKLRegressor(**QUICK))
    grid = GridSearchCV(
        pipe, {"bayesianmklregressor__kernel": [None, "linear", VIEWS]}, cv=2
    ).fit(X, Y)  # fmt: skip
    assert grid.best_params_["bayesianmklregressor__kernel"] == VIEWS
    model = clone(CLASSIFIERS["shared"]).fit(X, TWO)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))
    assert_array_equal(clone(model).fit(X, TWO).predict_proba(X), model.predict_proba(X))


def test_many_new_rows_are_taken_in_parts(monkeypatch):
    model = clone(REGRESSORS["per kernel"]).fit(X, Y)
    whole = model.predict(X, return_std=True)
    monkeypatch.setattr("sparsekern.estimators.multiple_kernel.model._NUMBERS_AT_A_TIME", 1)
    assert_allclose(model.predict(X, return_std=True), whole, rtol=1e-10)


# options and data that cannot be


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"vectors": "own"}, "vectors must be one of 'per_kernel', 'shared'"),
        ({"share": "all"}, "share must be one of"),
        ({"share": "sample_weights"}, "cannot be combined with vectors='per_kernel'.*use"),
        (
            {"priors": MKLRegressionPriors(nonnegative=True)},
            "nonnegative=True cannot be combined.*vectors='shared'",
        ),
        ({"n_init": 0}, "n_init must be at least 1"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"tol": 0.0}, "tol must be positive"),
        ({"progress": "loud"}, "progress must be one of"),
        ({"candidates": 0}, "candidates must be at least 1"),
        ({"candidates": [70]}, "candidates must lie between 0 and 69"),
        ({"candidates": [0.5]}, "candidates must be None, a number"),
        ({"kernel": []}, "holds no kernel"),
        ({"kernel": ["rbf", "precomputed"]}, "cannot stand in a list"),
        ({"kernel": "rfb"}, "kernel='rfb' is not known"),
        ({"kernel": "precomputed"}, "needs kernels of the training rows"),
        ({"kernel": ["sigmoid"]}, "not positive semi-definite.*vectors='shared'"),
        ({"kernel": [lambda A, B: A[:, [0]] + 0 * B[:, 0]]}, "not symmetric"),
        ({"length_scale": 2.0}, "cannot be combined with kernel=None"),
        ({"kernel": [RBF()], "length_scale": 2.0}, "cannot be combined"),
        ({"kernel": [lambda A, B: np.full((len(A), len(B)), np.nan)]}, "NaN or infinity"),
    ],
)
def test_parameters(parameters, words):
    estimator = BayesianMKLRegressor(**parameters)
    with pytest.raises(ValueError, match=words):
        estimator.fit(X, Y)
    with pytest.raises(NotFittedError):
        estimator.predict(X)


def test_priors():
    with pytest.raises(ValueError, match=r"MKLRegressionPriors.noise must be a pair"):
        MKLRegressionPriors(noise=3)
    with pytest.raises(ValueError, match=r"MKLRegressionPriors.noise\[1\] must be positive"):
        BayesianMKLRegressor().set_params(priors__noise=(1, -1))
    with pytest.raises(
        TypeError, match=r"priors must be a sparsekern.settings.MKLRegressionPriors"
    ):
        BayesianMKLRegressor(priors=MKLPriors()).fit(X, Y)


def test_parameters_of_precomputed_kernels_and_classifiers():
    kernels = kernels_of(X, X)
    with pytest.raises(ValueError, match="candidates=5 needs the features"):
        BayesianMKLRegressor("precomputed", candidates=5).fit(kernels, Y)
    with pytest.raises(ValueError, match="cannot be combined with kernel='precomputed'"):
        BayesianMKLRegressor("precomputed", length_scale=2.0).fit(kernels, Y)
    with pytest.raises(ValueError, match="likelihood must be one of"):
        BayesianMKLClassifier(likelihood="logit").fit(X, TWO)
    with pytest.raises(ValueError, match="margin=1 belongs to likelihood='probit'"):
        BayesianMKLClassifier(margin=1).fit(X, TWO)
    for wrong, error in ((-1, ValueError), ("wide", TypeError), (np.nan, ValueError)):
        with pytest.raises(error, match="margin must be None or a number of at least 0"):
            BayesianMKLClassifier(likelihood="probit", margin=wrong).fit(X, TWO)
    with pytest.raises(ValueError, match="one class only"):
        BayesianMKLClassifier().fit(X, np.ones(70))
    model = clone(REGRESSORS["per kernel"]).fit(X, Y)
    with pytest.raises(ValueError, match="one of return_std and return_cov"):
        model.predict(X, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="y has 2 outputs, but fit saw 1"):
        model.log_predictive_density(X, BOTH)


@pytest.mark.parametrize("name", ["normalize", "standardize"])
def test_types(name):
    with pytest.raises(TypeError, match=f"{name} must be True or False"):
        BayesianMKLRegressor(**{name: "yes"}).fit(X, Y)


@pytest.mark.parametrize("name", ["kernel_sparsity", "sample_sparsity", "nonnegative"])
def test_types_of_priors(name):
    for priors in (MKLPriors, MKLRegressionPriors):
        with pytest.raises(TypeError, match=f"{priors.__name__}.{name} must be True or False"):
            priors(**{name: "yes"})


@pytest.mark.parametrize(
    ("rows", "target", "words"),
    [
        (np.where(X > 5, np.nan, X), Y, "contains NaN"),
        (np.where(X > 5, np.inf, X), Y, "infinity"),
        (X, np.where(Y > 100, np.nan, Y), "NaN"),
        (X, np.ones(70), "y is constant"),
        (X, 1e90 * Y, "rescale y"),
        (X[:1], Y[:1], "minimum of 2 is required"),
        (X[:0], Y[:0], "0 sample"),
        (X, Y[:-1], "inconsistent"),
    ],
)
def test_data(rows, target, words):
    with pytest.raises(ValueError, match=words):
        BayesianMKLRegressor(**QUICK).fit(rows, target)


def test_strange_data_are_fitted():
    constant = np.column_stack([X, np.full(70, 3.0)])
    kernels = [("linear", [4]), ("rbf", [4]), ("rbf", [0, 1])]
    for vectors in ("per_kernel", "shared"):
        model = BayesianMKLRegressor(kernels, **{**SHARED, "vectors": vectors}).fit(constant, Y)
        assert np.isfinite(model.predict(constant)).all()
        assert model.kernel_shares_[2] > 0.9
    wide = np.random.default_rng(1).standard_normal((12, 40))
    assert np.isfinite(BayesianMKLRegressor(**QUICK).fit(wide, wide[:, 0]).predict(wide)).all()
    twice = BayesianMKLRegressor(**QUICK).fit(np.repeat(X, 2, axis=0), np.repeat(Y, 2))
    assert np.isfinite(twice.predict(X, return_std=True)).all()
    quiet = MKLRegressionPriors(noise=(1e-6, 1e-6))
    exact = BayesianMKLRegressor("linear", priors=quiet, **QUICK).fit(X, X @ [1, 2, 3, 4])
    assert_allclose(exact.predict(X), X @ [1, 2, 3, 4], rtol=1e-3)


def test_many_rows_get_candidates_with_a_word(monkeypatch):
    whole = BayesianMKLRegressor(**QUICK).fit(X, Y)
    monkeypatch.setattr("sparsekern.estimators.multiple_kernel.model.LARGE", 60)
    monkeypatch.setattr("sparsekern.estimators.multiple_kernel.model.CANDIDATES", 20)
    with pytest.warns(UserWarning, match="70 rows with 20 candidates.*candidates=70 takes all"):
        few = BayesianMKLRegressor(**QUICK).fit(X, Y)
    assert len(few.active_vectors_) <= 20
    all_of_them = BayesianMKLRegressor(candidates=70, **QUICK).fit(X, Y)
    assert_allclose(all_of_them.predict(X), whole.predict(X))


def test_warnings():
    noise = np.random.default_rng(5).standard_normal(70)
    with pytest.warns(UserWarning, match="less than 1 % of the variance of y; no kernel seems"):
        BayesianMKLRegressor(VIEWS, **QUICK).fit(X, noise)
    with pytest.warns(UserWarning, match="2 outputs share the sample weights of 1 kernels"):
        BayesianMKLRegressor("rbf", share="sample_weights", **SHARED).fit(X, BOTH)
    with pytest.warns(ConvergenceWarning, match="max_iter=2 iterations.*raise max_iter"):
        BayesianMKLRegressor(max_iter=2, **QUICK).fit(X, Y)


def test_an_interrupted_or_failed_fit_leaves_the_estimator_as_it_was():
    limit = [10**9]

    def interrupted(A, B):
        limit[0] -= 1
        if limit[0] < 0:
            raise KeyboardInterrupt
        return rbf_kernel(A, B, 0.2)

    model = BayesianMKLRegressor([interrupted], **QUICK).fit(X, Y)
    before, state = model.predict(X), dict(vars(model))
    limit[0] = 1
    with pytest.raises(KeyboardInterrupt):
        model.fit(2 * X[:30], Y[:30])
    assert vars(model) == state
    limit[0] = 10**9
    assert_array_equal(model.predict(X), before)


def test_the_progress_line(capsys, monkeypatch):
    monkeypatch.setattr("sparsekern._progress._SHOW_AFTER_SECONDS", 0.0)
    BayesianMKLRegressor(**{**QUICK, "progress": True}).fit(X, Y)
    assert "BayesianMKLRegressor [" in capsys.readouterr().err
