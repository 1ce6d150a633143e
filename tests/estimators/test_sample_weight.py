"""``sample_weight`` in every estimator: what it does, how it is reported, what is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tiny_estimators import LABELS, NAMES, NEW, RESPONSE, ROWS, WITH_KERNELS, make, predict, target

import sparsekern
from sparsekern.estimators.shared.inputs import Standardizer
from sparsekern.estimators.shared.target import measure_response
from sparsekern.estimators.shared.weights import find_copies
from sparsekern.inference.feature_search.row_order import exact_keys

WEIGHTS = np.random.default_rng(1).integers(0, 4, len(ROWS)).astype(float)
FRACTIONS = WEIGHTS + 0.25 * (WEIGHTS > 0)
FRACTIONAL = {
    "gaussian": ("GKMRegressor", {}),
    "poisson": ("GKMRegressor", {"counts": "poisson"}),
    "logit": ("GKMClassifier", {"likelihood": "logit"}),
    "doubly sparse, gaussian": ("DoublySparseRegressor", {}),
    "doubly sparse, counts": ("DoublySparseRegressor", {"counts": "negative_binomial"}),
    "doubly sparse, logit": ("DoublySparseClassifier", {"likelihood": "logit"}),
}
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:No features were selected"),
]


def repeated(*arrays):
    return [np.repeat(a, WEIGHTS.astype(int), axis=0) for a in arrays]


def response_of(name, options):
    y = target(name)
    return np.round(np.exp(y)) if options.get("counts") else y


@pytest.mark.parametrize("name", NAMES)
def test_weights_are_numbers_of_rows(name):
    y, order = target(name), np.random.default_rng(2).permutation(len(ROWS))
    weighted = make(name).fit(ROWS[order], y[order], sample_weight=WEIGHTS[order])
    rows, responses = repeated(ROWS, y)
    assert_array_equal(predict(weighted), predict(make(name).fit(rows, responses)))
    plain = make(name).fit(ROWS, y)
    assert np.abs(predict(weighted) - predict(plain)).max() > 1e-6
    if hasattr(weighted, "active_vectors_"):
        assert (WEIGHTS[order][weighted.active_vectors_] > 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_weights_of_one_and_zero_change_nothing_else(name):
    y = target(name)
    plain = predict(make(name).fit(ROWS, y))
    assert_array_equal(predict(make(name).fit(ROWS, y, sample_weight=np.ones(len(y)))), plain)
    more = np.concatenate([ROWS[:5] + 1.0, ROWS]), np.concatenate([y[:5], y])
    zeros = np.repeat([0.0, 1.0], [5, len(y)])
    assert_array_equal(predict(make(name).fit(*more, sample_weight=zeros)), plain)


@pytest.mark.parametrize("name", WITH_KERNELS)
def test_precomputed_kernels_are_taken_by_rows_and_columns(name):
    y, options = target(name), {"kernel": "precomputed"}
    if "length_scale" in make(name).get_params():
        options["length_scale"] = getattr(sparsekern, name)().length_scale
    kernel, new = rbf_kernel(ROWS, gamma=0.2), rbf_kernel(NEW, ROWS, gamma=0.2)
    weighted = make(name, **options).fit(kernel, y, sample_weight=WEIGHTS)
    copies = np.repeat(np.arange(len(y)), WEIGHTS.astype(int))
    if name == "GKMRegressor":  # which weighs rows
        assert np.isfinite(weighted.predict(new)).all()
        return
    again = make(name, **options).fit(kernel[np.ix_(copies, copies)], y[copies])
    assert_array_equal(predict(weighted, new), predict(again, new[:, copies]))
    if hasattr(weighted, "active_vectors_"):
        assert set(weighted.active_vectors_) == set(copies[again.active_vectors_])


@pytest.mark.parametrize("case", FRACTIONAL)
def test_fractions_are_powers_of_the_likelihood(case):
    name, options = FRACTIONAL[case]
    y = response_of(name, options)
    model = make(name, **options).fit(ROWS, y, sample_weight=FRACTIONS)
    kept = np.flatnonzero(FRACTIONS)
    pointwise = model.pointwise_log_likelihood()
    total = model.posterior_["sample_stats"]["log_likelihood"].values
    assert_allclose(total, pointwise @ FRACTIONS[kept], rtol=1e-9, atol=1e-9)
    assert_array_equal(model.posterior_["observed_data"]["y"].coords["row"], kept)
    assert_array_equal(model.posterior_["observed_data"]["y"], y[kept])
    assert (FRACTIONS[model.active_vectors_] > 0).all()


@pytest.mark.parametrize("name", ["GKMRegressor", "GKMClassifier"])
def test_everything_by_row_is_about_the_rows_of_the_user(name):
    order = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5])  # copies of some rows
    frame = pd.DataFrame(ROWS[order], index=[f"row {i}" for i in range(len(order))])
    y = target(name)[order]
    weights = np.array([1, 2, 0, 1, 1, 1, 3, 1, 1, 0, 2.0])
    model = make(name, draws=60, tune=60).fit(frame, y, sample_weight=weights)
    seen = np.flatnonzero(weights)
    assert model.active_probabilities_.shape == (len(order),)
    assert (model.active_probabilities_ <= 1).all()
    assert (model.active_probabilities_[weights == 0] == 0).all()
    if name == "GKMRegressor":  # copies are one row, which is the first of them
        assert (model.active_probabilities_[[3, 8, 10]] == 0).all()
        assert (model.active_probabilities_[[1, 4]] > 0).any()
    assert_array_equal(model.active_vectors_, np.flatnonzero(model.active_probabilities_))
    tree = model.add_posterior_predictive(random_state=0)
    labels = [f"row {i}" for i in seen]
    for group in ("observed_data", "log_likelihood", "posterior_predictive"):
        assert_array_equal(tree[group]["y"].coords["row"], labels)
    assert_array_equal(tree["observed_data"]["y"], y[seen])
    drawn = tree["posterior_predictive"]["y"].values
    copies = [list(seen).index(4), list(seen).index(8)]
    assert (drawn[..., copies[0]] != drawn[..., copies[1]]).any()  # new responses, not one
    used = tree["sparse_coefficients"]["training_row"].values
    assert set(used[used >= 0]) <= set(model.active_vectors_)
    followed = tree["posterior"].coords["monitored_row"].values
    assert set(followed) <= set(labels)
    assert model.is_fitted_to(frame, y)
    assert not model.is_fitted_to(frame.iloc[::-1], y[::-1])
    assert not model.is_fitted_to(frame.add(0.1), y)
    pointwise = model.pointwise_log_likelihood()
    assert pointwise.shape[2] == len(seen)
    if name == "GKMClassifier":
        p = model.sample_proba(frame)[:, :, 1].reshape(2, 60, -1)[..., seen]
        assert_allclose(pointwise, np.log(np.where(y[seen] == 1, p, 1 - p)), rtol=1e-7)


def test_candidates_are_rows_of_the_user():
    weights = np.where(np.arange(len(ROWS)) < 20, 2.0, 0.0)
    for name in ("GKMRegressor", "GKMClassifier", "RVMClassifier", "DoublySparseRegressor"):
        model = make(name, candidates=np.array([3, 7, 12, 25]))
        model.fit(ROWS, target(name), sample_weight=weights)
        assert set(model.active_vectors_) <= {3, 7, 12}
        with pytest.raises(ValueError, match="sample_weight is zero in every row of candidates"):
            model.set_params(candidates=[21, 22]).fit(ROWS, target(name), sample_weight=weights)


def test_moments_with_weights_are_those_of_repeated_rows():
    rows, responses = repeated(ROWS, RESPONSE)
    weighted, plain = Standardizer(ROWS, WEIGHTS), Standardizer(rows)
    assert_allclose(weighted(NEW), plain(NEW), rtol=1e-12)
    weighted, plain = measure_response(RESPONSE, weights=WEIGHTS), measure_response(responses)
    assert_allclose(weighted[1:], plain[1:], rtol=1e-12)


def test_weights_are_not_scaled():
    y = RESPONSE + np.random.default_rng(3).standard_normal(len(ROWS))
    options = {"draws": 300, "tune": 300}
    spread = [
        make("GKMRegressor", **options)
        .fit(ROWS, y, sample_weight=np.full(len(y), weight))
        .sample_mean(NEW)
        .std(axis=0)
        .mean()
        for weight in (0.5, 50.0)
    ]
    assert spread[1] < 0.6 * spread[0]


BAD = {
    "NaN": (np.full(30, np.nan), "row 0 has NaN"),
    "infinite": (np.full(30, np.inf), "row 0 has an infinite number"),
    "negative": (np.where(np.arange(30) == 4, -1.0, 1.0), "row 4 has a negative number"),
    "zero": (np.zeros(30), "zero in every row"),
    "short": (np.ones(29), r"shape \(29,\)"),
    "wide": (np.ones((30, 1)), r"shape \(30, 1\)"),
    "words": (["a"] * 30, "one number for every row"),
    "numbers as words": (["1.5"] * 30, "one number for every row"),
    "complex": (np.full(30, 1 + 1j), "one number for every row"),
    "dates": (np.full(30, "2020-01-01", dtype="M8[D]"), "one number for every row"),
    "huge": (np.full(30, 1e300), r"1e\+09 or less; row 0 has 1e\+300"),
    "tiny": (np.full(30, 1e-300), "must add up to 0.01 or more.* it adds up to 3e-299"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("name", ["GKMRegressor", "RVMClassifier"])
def test_bad_weights_are_refused_by_a_sentence(name, case):
    weights, sentence = BAD[case]
    with pytest.raises(ValueError, match=sentence):
        make(name).fit(ROWS, target(name), sample_weight=weights)


@pytest.mark.parametrize("name", NAMES)
def test_fractions_are_refused_where_rows_are_repeated(name):
    options = {"noise": "student_t"} if name in ("GKMRegressor", "DoublySparseRegressor") else {}
    if "DoublySparseClassifier" in name:
        options = {"likelihood": "probit"}
    first = int(np.argmax(np.round(FRACTIONS) != FRACTIONS))
    told = f"{name}.*row {first} has {FRACTIONS[first]}.*whole numbers, or use "
    with pytest.raises(ValueError, match=told):
        make(name, **options).fit(ROWS, target(name), sample_weight=FRACTIONS)
    with pytest.raises(ValueError, match="repeats rows as often as sample_weight says"):
        make(name, **options).fit(ROWS, target(name), sample_weight=np.full(30, 1e6))


def test_options_that_keep_rows_from_being_weighed_are_named():
    options = {"selection__screen": 2, "selection__screen_by": "evidence"}
    model = make("DoublySparseRegressor", **options)
    with pytest.raises(ValueError, match="use selection__screen_by='correlation'"):
        model.fit(ROWS, RESPONSE, sample_weight=FRACTIONS)
    model.set_params(selection__screen_by="correlation")
    model.fit(ROWS, RESPONSE, sample_weight=FRACTIONS)


def test_one_class_left_is_refused():
    with pytest.raises(ValueError, match=r"zero for every class but 1\.0; a classifier needs two"):
        make("GKMClassifier").fit(ROWS, LABELS, sample_weight=LABELS)


@pytest.mark.parametrize("name", ["GKMRegressor", "RVMRegressor"])
def test_one_row_left_is_refused(name):
    with pytest.raises(ValueError, match="every row but row 4; a regressor needs two rows"):
        make(name).fit(ROWS, RESPONSE, sample_weight=np.arange(30) == 4)


def test_a_row_of_all_the_weight_does_not_make_y_constant_without_a_word_about_it():
    weights = np.where(np.arange(30) == 3, 1e9, 1e-18)
    with pytest.raises(ValueError, match="where sample_weight has its weight"):
        make("GKMRegressor").fit(ROWS, RESPONSE, sample_weight=weights)


@pytest.mark.parametrize("name", ["RVMClassifier", "PCVMClassifier"])
def test_vector_machines_know_the_rows_of_the_user(name):
    y = LABELS.copy()
    y[WEIGHTS == 0] = 2.0  # no class of the model
    model = make(name).fit(ROWS, y, sample_weight=WEIGHTS)
    assert model.is_fitted_to(ROWS, y)
    assert not model.is_fitted_to(ROWS[::-1], y[::-1])
    shares = model.active_weights()
    assert shares.shape == (len(ROWS),)
    assert_array_equal(np.flatnonzero(shares), model.active_vectors_)
    assert (shares <= 1).all()
    again = make(name).fit(ROWS[WEIGHTS > 0], y[WEIGHTS > 0], sample_weight=WEIGHTS[WEIGHTS > 0])
    assert_array_equal(again.active_weights(), shares[WEIGHTS > 0])


def test_a_class_of_weight_zero_is_no_class():
    y = np.where(ROWS[:, 1] > 1, "c", np.where(LABELS > 0, "b", "a"))
    model = make("GKMClassifier").fit(ROWS, y, sample_weight=(y != "c").astype(float))
    assert_array_equal(model.classes_, ["a", "b"])


def test_weights_reach_pipelines_and_searches():
    pipeline = make_pipeline(StandardScaler(), make("GKMRegressor", standardize=False))
    pipeline.fit(ROWS, RESPONSE, gkmregressor__sample_weight=FRACTIONS)
    alone = make("GKMRegressor", standardize=False)
    alone.fit(pipeline[0].transform(ROWS), RESPONSE, sample_weight=FRACTIONS)
    assert_array_equal(pipeline.predict(NEW), alone.predict(pipeline[0].transform(NEW)))
    search = GridSearchCV(make("GKMRegressor"), {"priors__max_active": [3, 5]}, cv=2)
    search.fit(ROWS, RESPONSE, sample_weight=FRACTIONS)
    best = make("GKMRegressor", **search.best_params_)
    best.fit(ROWS, RESPONSE, sample_weight=FRACTIONS)
    assert_array_equal(search.predict(NEW), best.predict(NEW))
    with config_context(enable_metadata_routing=True):
        routed = make("GKMRegressor", standardize=False).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, routed)
        routed.fit(ROWS, RESPONSE, sample_weight=FRACTIONS)
    assert_array_equal(routed.predict(NEW), pipeline.predict(NEW))


@pytest.mark.parametrize("name", ["GKMRegressor", "GKMClassifier"])
def test_a_warm_start_goes_on_with_the_same_weights_only(name):
    y = target(name)
    model = make(name, warm_start=True).fit(ROWS, y, sample_weight=WEIGHTS)
    model.set_params(draws=12).fit(ROWS, y, sample_weight=WEIGHTS)
    assert model.n_draws_ == 12
    with pytest.raises(ValueError, match="the data or the parameters have changed"):
        model.set_params(draws=14).fit(ROWS, y, sample_weight=WEIGHTS + (WEIGHTS > 0))


@pytest.mark.parametrize("name", ["GKMRegressor", "GKMClassifier"])
def test_a_checkpoint_of_other_weights_is_not_taken(name, tmp_path):
    y = target(name)
    make(name, checkpoint=tmp_path).fit(ROWS, y, sample_weight=WEIGHTS)
    other = WEIGHTS + (WEIGHTS > 0)
    try:
        found = predict(make(name, checkpoint=tmp_path).fit(ROWS, y, sample_weight=other))
    except ValueError as error:
        assert "checkpoint" in str(error)
    else:
        assert_array_equal(found, predict(make(name).fit(ROWS, y, sample_weight=other)))


def test_copies_are_found_by_all_that_a_row_holds():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 5)).astype(float)
    y = rng.integers(0, 2, 200)
    for response in (y, np.array(["no", "yes"])[y], np.column_stack([y, 1 - y])):
        order, first = find_copies(X, response)
        table = np.column_stack([X, y])
        distinct, inverse = np.unique(table, axis=0, return_inverse=True)
        assert len(np.unique(first)) == len(distinct)
        assert_array_equal(table[first], table)
        assert (np.diff(inverse[order]) != 0).sum() == len(distinct) - 1  # copies stand together
        moved = rng.permutation(200)
        again, _ = find_copies(X[moved], response[moved])
        assert_array_equal(table[moved][again], table[order])


def test_large_labels_are_told_apart():
    labels = np.array([2**60, 2**60 + 1, 2**60])
    for y in (labels, labels.astype(np.uint64), np.column_stack([labels, labels])):
        assert_array_equal(find_copies(np.zeros((3, 1)), y)[1], [0, 1, 0])


def test_the_order_of_distinct_rows_does_not_depend_on_the_responses():
    X = np.repeat(ROWS, 2, axis=0)
    orders = [find_copies(X, np.repeat(y, 2))[0] for y in (LABELS, 1 - LABELS, RESPONSE)]
    assert_array_equal(orders[0], orders[1])
    assert_array_equal(orders[0], orders[2])


def test_keys_tell_columns_and_the_last_digit_apart():
    X = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, np.nextafter(2.0, 3.0)], [0.0, 1.0], [-0.0, 1.0]])
    keys = exact_keys(X)
    assert len(set(keys[:4])) == 4
    assert keys[3] == keys[4]
    assert not set(keys) & set(exact_keys(X, salt=1))
