"""Figures and quantiles of models inside pipelines, searches and transformed targets."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from sparsekern import (
    BayesianMKLRegressor,
    DoublySparseClassifier,
    GKMClassifier,
    HybridSearchGPRegressor,
    RVMClassifier,
    RVMRegressor,
    predict_quantiles,
)
from sparsekern.composites import take_apart
from sparsekern.plotting import (
    plot_active_trace,
    plot_bound,
    plot_calibration,
    plot_decision_surface,
    plot_evidence_path,
    plot_feature_effect,
    plot_fit,
    plot_inclusion,
    plot_kernel_weights,
    plot_models,
    plot_search,
    plot_traces,
    plot_width_weights,
)
from sparsekern.settings import HybridPrediction, HybridRegressionSearch

SMALL = {"chains": 2, "draws": 20, "tune": 20, "progress": False, "random_state": 0}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "colour": np.array(["red", "green", "blue"])[np.arange(40) % 3],
            "dose": rng.uniform(100, 900, 40),
            "age": rng.uniform(20, 60, 40),
        }
    )


@pytest.fixture(scope="module")
def response(frame):
    rng = np.random.default_rng(1)
    return np.sin(frame["dose"] / 150) + (frame["colour"] == "red") + 0.2 * rng.normal(size=40)


@pytest.fixture(scope="module")
def mixed(frame, response):
    """A pipeline that takes categories and other units."""
    columns = ColumnTransformer(
        [("kind", OneHotEncoder(), ["colour"]), ("number", StandardScaler(), ["dose", "age"])]
    )
    search = HybridSearchGPRegressor(
        search=HybridRegressionSearch(n_wander=0, close=False),
        prediction=HybridPrediction(draws=50),
        random_state=0,
    )
    return make_pipeline(columns, search).fit(frame, response)


def curve(ax):
    return next(line for line in ax.lines if line.get_label() == "prediction")


def ticks(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def test_effects_are_those_of_the_features_that_the_user_gave(mixed, frame):
    line = curve(plot_feature_effect(mixed, frame, "dose", grid_points=4))
    assert_allclose(line.get_xdata()[[0, -1]], [frame["dose"].min(), frame["dose"].max()])
    for dose, value in zip(line.get_xdata(), line.get_ydata(), strict=True):
        assert value == pytest.approx(mixed.predict(frame.assign(dose=dose)).mean())


def test_categories_are_points_in_their_order(mixed, frame):
    ax = plot_feature_effect(mixed, frame, "colour")
    assert ticks(ax.xaxis) == ["blue", "green", "red"]
    assert curve(ax).get_linestyle() == "None"
    expected = [mixed.predict(frame.assign(colour=name)).mean() for name in ticks(ax.xaxis)]
    assert_allclose(curve(ax).get_ydata(), expected)
    ordered = pd.Categorical(frame["colour"], ["red", "green", "violet", "blue"], ordered=True)
    ax = plot_feature_effect(mixed, frame.assign(colour=ordered), "colour")
    assert ticks(ax.xaxis) == ["red", "green", "blue"]
    ax = plot_feature_effect(mixed, frame, ("colour", "dose"), grid_points=3)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["blue", "green", "red"]


def test_at_the_medians_a_category_is_the_most_frequent_one(mixed, frame):
    line = curve(plot_feature_effect(mixed, frame, "dose", grid_points=3, others="median"))
    row = pd.DataFrame({"colour": "red", "dose": line.get_xdata(), "age": frame["age"].median()})
    assert frame["colour"].value_counts()["red"] == 14
    assert_allclose(line.get_ydata(), mixed.predict(row))


def test_inclusion_and_models_name_what_the_steps_before_made(mixed):
    names = mixed[:-1].get_feature_names_out()
    ax = plot_inclusion(mixed)
    assert set(ticks(ax.yaxis)) == set(names)
    best = names[np.argmax(mixed[-1].feature_inclusion_)]
    assert ticks(ax.yaxis)[0] == best
    assert best in ticks(plot_models(mixed).yaxis)[0]
    assert len(plot_search(mixed)) == 2


def test_names_of_features_without_names_are_scikit_learns(frame, response):
    numbers = frame[["dose", "age"]].to_numpy()
    model = make_pipeline(
        StandardScaler(), DoublySparseClassifier(**SMALL)
    ).fit(numbers, response > 0.5)  # fmt: skip
    assert set(ticks(plot_inclusion(model).yaxis)) == {"x0", "x1"}
    assert plot_feature_effect(model, numbers, 0, grid_points=3).get_xlabel() == "X[:, 0]"
    unnamed = make_pipeline(Nameless(), model[-1])
    assert set(ticks(plot_inclusion(unnamed).yaxis)) == {"X[:, 0]", "X[:, 1]"}


class Nameless(FunctionTransformer):
    """A step that cannot name its features."""

    get_feature_names_out = property()  # type: ignore[assignment]

    def __sklearn_is_fitted__(self):
        return True


def test_searches_and_pipelines_may_hold_each_other(frame, response):
    numbers = frame[["dose", "age"]]
    inner = Pipeline([("scale", StandardScaler()), ("model", RVMRegressor(progress=False))])
    outer = make_pipeline(FunctionTransformer(np.log), inner)
    search = GridSearchCV(outer, {"pipeline__model__search__max_steps": [50, 100]}, cv=2)
    frozen = FrozenEstimator(search.fit(numbers, response))
    parts = take_apart(frozen)
    assert parts.final is search.best_estimator_[-1][-1]
    assert_allclose(parts.final.predict(parts.inputs(numbers)), search.predict(numbers))
    line = curve(plot_feature_effect(frozen, numbers, "dose", grid_points=3))
    changed = numbers.assign(dose=line.get_xdata()[1])
    assert line.get_ydata()[1] == pytest.approx(search.predict(changed).mean())
    assert plot_evidence_path(search) is not None and plot_width_weights(search) is not None
    assert_array_equal(
        predict_quantiles(frozen, numbers, [0.1, 0.9]),
        parts.final.predict_quantiles(parts.inputs(numbers), [0.1, 0.9]),
    )


def test_unfitted_and_unkept_searches_are_refused(frame, response):
    search = GridSearchCV(RVMRegressor(), {"search__max_steps": [50]}, cv=2, refit=False)
    with pytest.raises(NotFittedError):
        plot_inclusion(search)
    with pytest.raises(ValueError, match=r"GridSearchCV fitted with refit=False.*refit=True"):
        plot_inclusion(search.fit(frame[["dose"]], response))
    with pytest.raises(NotFittedError):
        plot_feature_effect(make_pipeline(StandardScaler(), RVMRegressor()), frame[["dose"]], 0)
    assert plt.get_fignums() == []


# ---------------------------------------------------------------- quantiles


def test_quantiles_of_a_pipeline_are_those_of_its_model(mixed, frame):
    found = predict_quantiles(mixed, frame, (0.05, 0.5, 0.95))
    assert_array_equal(
        found, mixed[-1].predict_quantiles(mixed[:-1].transform(frame), (0.05, 0.5, 0.95))
    )
    assert_array_equal(predict_quantiles(mixed, frame)[:, 1], found[:, 1])
    mean, std = mixed.predict(frame, return_std=True)  # scikit-learn passes this on
    assert (np.abs(found[:, 1] - mean) < std).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_quantiles_of_a_transformed_target_are_in_its_units(frame, response, sign):
    """Quantiles go through any monotone transform; a falling one turns them round."""
    y = np.exp(response)
    model = TransformedTargetRegressor(
        RVMRegressor(progress=False), func=lambda v: sign * np.log(v), check_inverse=False,
        inverse_func=lambda v: np.exp(sign * v),
    ).fit(frame[["dose"]], y)  # fmt: skip
    found = predict_quantiles(model, frame[["dose"]], [0.1, 0.5, 0.8])
    plain = RVMRegressor(progress=False).fit(frame[["dose"]], response)
    expected = np.exp(plain.predict_quantiles(frame[["dose"]], [0.1, 0.5, 0.8]))
    assert_allclose(found, expected, rtol=1e-6)
    ax = plot_feature_effect(model, frame[["dose"]], "dose", grid_points=3)
    assert ax.get_ylabel() == "Mean of y, transformed back"
    ends = frame[["dose"]].agg(["min", "max"])
    assert_allclose(curve(ax).get_ydata()[[0, 2]], model.predict(ends))
    drawn = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert drawn.min() < curve(ax).get_ydata().min() and drawn.max() > curve(ax).get_ydata().max()


def test_what_has_no_quantiles_is_refused(frame, response):
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(frame[["dose"]], response)
    with pytest.raises(TypeError, match="got Pipeline, whose last step is LinearRegression"):
        predict_quantiles(model, frame[["dose"]])
    with pytest.raises(TypeError, match=r"predict_quantiles.* got LinearRegression\."):
        predict_quantiles(model[-1], frame[["dose"]])


# ---------------------------------------------------------------- the other figures


@pytest.fixture(scope="module")
def plane(frame, response):
    X = frame[["dose", "age"]]
    labels = np.where(response > 0.5, "high", "low")
    return X, labels, make_pipeline(StandardScaler(), GKMClassifier(**SMALL)).fit(X, labels)


def test_figures_of_chains_find_them_inside(plane):
    assert len(plot_traces(plane[2], "scale")) == 1
    assert len(plot_active_trace(plane[2])) == 2


@pytest.mark.parametrize("target", ["high", "low"])
def test_a_surface_of_a_pipeline_is_in_the_units_of_the_user(plane, target):
    X, labels, model = plane
    ax = plot_decision_surface(model, X, labels, resolution=5, n_boundaries=2, target=target)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("dose", "age")
    assert ax.get_xlim()[1] > 800
    bar = next(other for other in ax.figure.axes if other is not ax)
    assert bar.get_ylabel() == f"Probability of class {target}"
    corner = pd.DataFrame([[ax.get_xlim()[0], ax.get_ylim()[0]]], columns=X.columns)
    expected = model.predict_proba(corner)[0, ["high", "low"].index(target)]
    mesh = ax.collections[0]
    assert mesh.get_array().ravel()[0] == pytest.approx(expected)
    lowest, highest = (mesh.get_cmap()(value) for value in (0.0, 1.0))
    blue_is_low = lowest[2] > lowest[0]  # the first class is blue, whichever is shown
    assert blue_is_low == (target == "low") and (highest[0] > highest[2]) == (target == "low")


def test_a_surface_of_a_machine_in_a_pipeline(plane):
    X, labels, _ = plane
    machine = make_pipeline(StandardScaler(), RVMClassifier(progress=False)).fit(X, labels)
    ax = plot_decision_surface(machine, X, labels, resolution=5)
    assert any("side sure" in text.get_text() for text in ax.get_legend().get_texts())


def test_calibration_of_any_class_of_a_pipeline(frame, response):
    X = frame[["dose", "age"]]
    three = np.array(["a", "b", "c"])[np.digitize(response, [0.2, 1.0])]
    model = make_pipeline(StandardScaler(), RVMClassifier(progress=False)).fit(X, three)
    with pytest.raises(ValueError, match=r"target must name a class, got None.*'a', 'b', 'c'"):
        plot_calibration(model, X, three)
    ax = plot_calibration(model, X, three, n_bins=1, target="b")
    (container,) = ax.containers
    assert_allclose(container.lines[0].get_xdata(), model.predict_proba(X)[:, 1].mean())
    assert_allclose(container.lines[0].get_ydata(), (three == "b").mean())
    assert ax.get_xlabel() == "Predicted probability of class b"


def test_a_fit_and_kernels_inside_a_pipeline(frame, response):
    X = frame[["dose"]]
    model = make_pipeline(
        StandardScaler(), BayesianMKLRegressor(progress=False, random_state=0)
    ).fit(X, response)  # fmt: skip
    ax = plot_fit(model, X, response, resolution=4)
    line = next(line for line in ax.lines if line.get_label() == "mean")
    assert_allclose(line.get_ydata()[[0, 3]], model.predict(X.agg(["min", "max"])))
    assert plot_kernel_weights(model) is not None and plot_bound(model) is not None
