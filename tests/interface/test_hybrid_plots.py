"""Figures of hybrid searches: what is drawn, and what is refused."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from sparsekern import DoublySparseRegressor, HybridSearchGPClassifier, HybridSearchGPRegressor
from sparsekern.plotting import (
    plot_decision_surface,
    plot_inclusion,
    plot_models,
    plot_search,
)
from sparsekern.plotting.figure_parts import CLASS_COLOURS
from sparsekern.settings import HybridPrediction, HybridRegressionSearch, HybridSearchOptions

NAMES = ["dose", "age", "twin of age", "d", "e", "f"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (40, 6))
    X[:, 2] = X[:, 1] + 0.1 * rng.standard_normal(40)  # stands in for its neighbour
    return X, 100 + 10 * (X[:, 0] ** 2 + X[:, 1]) + 15 * rng.standard_normal(40)


@pytest.fixture(scope="module")
def model(data):
    return HybridSearchGPRegressor(
        search=HybridRegressionSearch(n_starts=3, n_wander=5), random_state=0
    ).fit(*data)


@pytest.fixture(scope="module")
def named(data):
    frame = pd.DataFrame(data[0], columns=NAMES)
    search = HybridRegressionSearch(n_wander=5)
    return HybridSearchGPRegressor(search=search, random_state=0).fit(frame, data[1])


@pytest.fixture(scope="module")
def sampled(data):
    return HybridSearchGPRegressor(
        search=HybridRegressionSearch(method="mcmc", tune=20, chains=2),
        prediction=HybridPrediction(draws=30),
        random_state=0,
    ).fit(*data)


@pytest.fixture(scope="module")
def classifier(data):
    X, y = data
    search = HybridSearchOptions(n_wander=2)
    return HybridSearchGPClassifier(search=search, random_state=0).fit(X, y > np.median(y))


@pytest.fixture(autouse=True)
def _untouched_settings():
    settings = dict(matplotlib.rcParams)
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == settings


def tick_labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def points(ax, label):
    """Return x and y of what a legend calls ``label``, as one array (2, points)."""
    return np.array(
        next(line.get_data() for line in ax.lines if line.get_label() == label), dtype=float
    )


# ---------------------------------------------------------------- models


def test_bars_are_the_weights_of_the_best_models(model):
    table = model.models_
    assert len(table) > 4  # or this test says nothing
    ax = plot_models(model, n_models=4)
    assert isinstance(ax, Axes)
    assert_allclose([bar.get_width() for bar in ax.patches], table["weight"][:4])
    assert tick_labels(ax) == [
        f"X[:, {features[0] if len(features) == 1 else list(features)}]"
        for features in table["features"][:4]
    ]
    assert ax.yaxis_inverted()  # the best one is on top
    share = 100 * table["weight"][:4].sum()
    assert ax.get_xlabel() == (
        f"Posterior weight\n(4 of {len(table)} models, {share:.3g} % of the weight)"
    )
    ax.figure.canvas.draw()


def test_all_models_are_shown_if_there_are_few(model):
    ax = plot_models(model, n_models=1000)
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(1.0)
    assert ax.get_xlabel() == "Posterior weight"
    assert all(bar.get_width() <= ax.get_xlim()[1] for bar in ax.patches)


def test_models_are_labelled_by_names(named):
    ax = plot_models(named, n_models=2)
    assert tick_labels(ax) == [", ".join(features) for features in named.models_["features"][:2]]
    assert set(", ".join(tick_labels(ax)).split(", ")) <= set(NAMES)


def test_models_without_features_and_of_many_are_labelled(model):
    odd = HybridSearchGPRegressor()
    long = tuple(f"a feature with the number {j}" for j in range(6))
    odd.__dict__ |= model.__dict__ | {
        "models_": pd.DataFrame({"features": [long, (), (3,)], "weight": [0.5, 0.2, 0.3]})
    }
    labels = tick_labels(plot_models(odd))
    assert labels[1:] == ["X[:, 3]", "no feature"]  # by weight
    assert labels[0].replace("\n", " ") == ", ".join(long)
    assert max(len(line) for line in labels[0].split("\n")) <= 40


def test_sampled_models_have_weights_too(sampled):
    ax = plot_models(sampled, n_models=3)
    assert_allclose([bar.get_width() for bar in ax.patches], sampled.models_["weight"][:3])


# ---------------------------------------------------------------- the search


def test_points_are_the_steps_of_the_search(model):
    axes = plot_search(model)
    assert axes.shape == (2,)
    steps, scores, sizes = zip(*model.search_path_, strict=True)
    assert set(steps) == {"start", "climb", "wander", "close"}
    for ax, values in zip(axes, (scores, sizes), strict=True):
        for step in set(steps):
            here = [place for place, name in enumerate(steps) if name == step]
            x, y = points(ax, step)
            assert_array_equal(x, np.array(here) + 1)
            assert_array_equal(y, np.array(values)[here])
    colours = {
        line.get_color() for line in axes[0].lines if line.get_label() in (*steps, "best so far")
    }
    assert len(colours) == 5
    legend = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert legend == ["best so far", "start", "climb", "wander", "close"]
    axes[0].figure.canvas.draw()


def test_the_line_is_the_best_model_so_far(model):
    scores, sizes = plot_search(model)
    best = -np.inf
    size = None
    for place, (_, score, count) in enumerate(model.search_path_):
        if score > best:
            best, size = score, count
        assert points(scores, "best so far")[1, place] == best
        assert points(sizes, "best so far")[1, place] == size
    assert best == pytest.approx(model.models_["score"].max())
    assert size == len(model.models_["features"][0])
    starts = points(scores, "start")[1]
    assert (starts < best).all() and len(starts) == 3


def test_steps_that_were_not_made_have_no_legend(data):
    search = HybridRegressionSearch(n_wander=0, close=False)
    plain = HybridSearchGPRegressor(search=search, random_state=0).fit(*data)
    axes = plot_search(plain)
    legend = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert legend == ["best so far", "start", "climb"]
    assert axes[1].get_ylim()[0] == 0


def test_a_search_that_ends_where_it_starts_is_drawn(data):
    X, _ = data
    search = HybridRegressionSearch(n_wander=0, close=False)
    line = HybridSearchGPRegressor(search=search).fit(X[:, :1], X[:, 0])
    axes = plot_search(line)
    assert len(points(axes[0], "best so far")[0]) == len(line.search_path_) == 1
    axes[0].figure.canvas.draw()


# ---------------------------------------------------------------- inclusion


def test_inclusion_is_drawn_without_errors_and_chains(model):
    ax = plot_inclusion(model)
    order = np.argsort(-model.feature_inclusion_, kind="stable")
    bars = sorted(ax.patches, key=lambda bar: bar.get_y())
    assert_allclose([bar.get_width() for bar in bars], model.feature_inclusion_[order])
    assert tick_labels(ax) == [f"X[:, {feature}]" for feature in order]
    assert not any(hasattr(container, "has_xerr") for container in ax.containers)
    assert [line.get_label() for line in ax.lines] == ["threshold"]
    coloured = [bar for bar in ax.patches if bar.get_facecolor() == to_rgba(CLASS_COLOURS[1])]
    assert len(coloured) == len(model.selected_features_) > 0


def test_inclusion_of_named_and_sampled_features(named, sampled):
    ax = plot_inclusion(named, max_features=2)
    best = np.argsort(-named.feature_inclusion_, kind="stable")[:2]
    assert tick_labels(ax) == [NAMES[feature] for feature in best]
    assert ax.get_ylabel() == "2 of 6 features"
    widths = sorted(bar.get_width() for bar in plot_inclusion(sampled).patches)
    assert_allclose(widths, np.sort(sampled.feature_inclusion_))


def test_classifiers_have_the_same_figures(classifier):
    bars = plot_models(classifier, n_models=3).patches
    assert_allclose([bar.get_width() for bar in bars], classifier.models_["weight"][:3])
    scores, sizes = plot_search(classifier)
    assert points(scores, "best so far")[1, -1] == pytest.approx(classifier.models_["score"].max())
    assert points(sizes, "best so far")[1, -1] == len(classifier.models_["features"][0])
    widths = sorted(bar.get_width() for bar in plot_inclusion(classifier).patches)
    assert_allclose(widths, np.sort(classifier.feature_inclusion_))


# ---------------------------------------------------------------- axes and refusals


@pytest.mark.parametrize("plot", [plot_models, plot_inclusion])
def test_given_axes_are_used_and_returned(model, plot):
    figure, ax = plt.subplots()
    assert plot(model, ax=ax) is ax
    assert plt.get_fignums() == [figure.number]
    with pytest.raises(TypeError, match="got str"):
        plot(model, ax="not an Axes")


def test_two_given_axes_are_used_and_returned(model):
    figure, axes = plt.subplots(1, 2)
    assert_array_equal(plot_search(model, axes), axes)
    assert plt.get_fignums() == [figure.number]
    with pytest.raises(ValueError, match="needs 2 axes"):
        plot_search(model, axes[0])


def test_models_that_cannot_be_shown_are_refused(model, sampled, data):
    for plot in (plot_models, plot_search, plot_inclusion):
        with pytest.raises(NotFittedError, match="HybridSearchGPRegressor instance is not fitted"):
            plot(HybridSearchGPRegressor())
    linear = LinearRegression().fit(*data)
    for plot in (plot_models, plot_search):
        for other in (linear, DoublySparseRegressor(), "a name"):
            words = f"must be a hybrid search.*got {type(other).__name__}, which has no models_"
            with pytest.raises(TypeError, match=words):
                plot(other)
    with pytest.raises(TypeError, match="got LinearRegression, which has no feature_inclusion_"):
        plot_inclusion(linear)
    with pytest.raises(ValueError, match="no search to show: it was fitted with method='mcmc'"):
        plot_search(sampled)
    with pytest.raises(ValueError, match="n_models must be at least 1, got 0"):
        plot_models(model, n_models=0)
    with pytest.raises(TypeError, match=r"n_models must be a whole number, got 2\.5"):
        plot_models(model, n_models=2.5)
    assert plt.get_fignums() == []


def test_the_surface_of_a_hybrid_classifier_has_no_rings():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = (X[:, 0] > 0).astype(int)
    model = HybridSearchGPClassifier(progress=False).fit(X, y)
    ax = plot_decision_surface(model, X, y, resolution=8)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["class 0", "class 1", "boundary of the mean"]
