"""Figures of feature inclusion and feature effects: what is drawn, and what is refused."""

from copy import copy

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.contour import QuadContourSet
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from sparsekern import DoublySparseClassifier, DoublySparseRegressor, GKMRegressor
from sparsekern.plotting import plot_feature_effect, plot_inclusion
from sparsekern.plotting.figure_parts import CLASS_COLOURS

SMALL = {"chains": 2, "draws": 60, "tune": 60, "progress": False, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (60, 5))
    X[:, 3] = rng.integers(0, 3, 60)  # three values
    return X, 100 + 10 * (X[:, 0] ** 2 + X[:, 1]) + rng.standard_normal(60)


@pytest.fixture(scope="module")
def model(data):
    return DoublySparseRegressor(**SMALL).fit(*data)


@pytest.fixture(scope="module")
def frame(data):
    return pd.DataFrame(data[0], columns=["dose", "age", "c", "d", "e"])


@pytest.fixture(scope="module")
def classifier(frame, data):
    return DoublySparseClassifier(**SMALL).fit(frame, np.where(data[1] > 112, "yes", "no"))


@pytest.fixture(scope="module")
def classifier_of_three(frame, data):
    labels = np.array(["high", "low", "mid"])[np.digitize(data[1], [108, 118])]
    return DoublySparseClassifier(**(SMALL | {"draws": 20, "tune": 20})).fit(frame, labels)


@pytest.fixture(autouse=True)
def _untouched_settings():
    settings = dict(matplotlib.rcParams)
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == settings


def averaged(values_at, X, feature, grid):
    """Return draws of the partial dependence, one grid point at a time."""
    columns = []
    for value in grid:
        changed = X.copy()
        changed[:, feature] = value
        columns.append(values_at(changed).mean(axis=1))
    return np.stack(columns, axis=1)


def latent_draws(model, X):
    (law,) = model._predictive(X)
    scaled = np.concatenate([mixture.means for _, mixture in law.blocks()], axis=1)
    return law.centre + law.spread * scaled


def curve(ax):
    return next(line for line in ax.lines if line.get_label() == "prediction")


# ---------------------------------------------------------------- inclusion


def test_bars_are_inclusion_probabilities_in_order(model):
    ax = plot_inclusion(model)
    assert isinstance(ax, Axes)
    order = np.argsort(-model.feature_inclusion_, kind="stable")
    bars = sorted(ax.patches, key=lambda bar: bar.get_y())
    assert_allclose([bar.get_width() for bar in bars], model.feature_inclusion_[order])
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels == [f"X[:, {feature}]" for feature in order]
    assert ax.yaxis_inverted()  # the first one is on top
    ax.figure.canvas.draw()


def test_selected_features_have_their_colour_and_follow_the_threshold(model):
    for threshold in (0.5, 0.001):
        chosen = copy(model).set_params(selection__threshold=threshold)
        ax = plot_inclusion(chosen)
        coloured = [bar for bar in ax.patches if bar.get_facecolor() == to_rgba(CLASS_COLOURS[1])]
        assert len(coloured) == len(chosen.selected_features_)
        (line,) = (line for line in ax.lines if line.get_label() == "threshold")
        assert list(line.get_xdata()) == [threshold] * 2


def test_error_bars_are_two_standard_errors_within_zero_and_one(model):
    ax = plot_inclusion(model)
    order = np.argsort(-model.feature_inclusion_, kind="stable")
    probability, error = model.feature_inclusion_[order], model.feature_inclusion_error_[order]
    (container,) = (c for c in ax.containers if hasattr(c, "has_xerr"))
    ends = np.array([segment[:, 0] for segment in container[2][0].get_segments()])
    assert_allclose(ends[:, 0], np.maximum(probability - 2 * error, 0), atol=1e-12)
    assert_allclose(ends[:, 1], np.minimum(probability + 2 * error, 1), atol=1e-12)


def test_the_most_probable_features_are_shown_with_their_names(classifier):
    ax = plot_inclusion(classifier, max_features=2)
    best = np.argsort(-classifier.feature_inclusion_, kind="stable")[:2]
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels == list(classifier.feature_names_in_[best])
    assert ax.get_ylabel() == "2 of 5 features"


def test_one_chain_of_very_few_draws_is_drawn(data):
    short = DoublySparseRegressor(**(SMALL | {"chains": 1, "draws": 3, "tune": 3})).fit(*data)
    ax = plot_inclusion(short)
    assert "chains" not in [text.get_text() for text in ax.get_legend().get_texts()]
    ax.figure.canvas.draw()


def test_one_vs_rest_inclusion_is_drawn(classifier_of_three):
    ax = plot_inclusion(classifier_of_three)
    widths = sorted(bar.get_width() for bar in ax.patches)
    assert_allclose(widths, np.sort(classifier_of_three.feature_inclusion_))


# ---------------------------------------------------------------- effects of one feature


def test_the_curve_is_the_partial_dependence_in_the_units_of_y(model, data):
    X, _ = data
    ax = plot_feature_effect(model, X, 0, grid_points=12, level=0.8)
    grid = np.linspace(X[:, 0].min(), X[:, 0].max(), 12)
    draws = averaged(lambda rows: latent_draws(model, rows), X, 0, grid)
    line = curve(ax)
    assert_allclose(line.get_xdata(), grid)
    assert_allclose(line.get_ydata(), draws.mean(axis=0))
    (band,) = ax.collections
    low, high = np.quantile(draws, [0.1, 0.9], axis=0)
    drawn = band.get_paths()[0].vertices
    assert_allclose([drawn[:, 1].min(), drawn[:, 1].max()], [low.min(), high.max()])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("X[:, 0]", "Mean of y\n(others averaged)")
    assert "80 % band" in [text.get_text() for text in ax.get_legend().get_texts()]
    # and it is the mean of ordinary predictions
    changed = X.copy()
    changed[:, 0] = grid[3]
    assert line.get_ydata()[3] == pytest.approx(model.predict(changed).mean())


def test_the_others_may_be_put_at_their_medians(model, data):
    X, _ = data
    line = curve(plot_feature_effect(model, X, 1, others="median"))
    rows = np.tile(np.median(X, axis=0), (50, 1))
    rows[:, 1] = line.get_xdata()
    assert_allclose(line.get_ydata(), model.predict(rows))


def test_blocks_and_thinning_leave_the_curve_what_it_is(model, data, monkeypatch):
    X, _ = data
    whole = curve(plot_feature_effect(model, X, 0)).get_ydata()
    monkeypatch.setattr("sparsekern.plotting.effect_draws._BLOCK_NUMBERS", 1000)
    assert_allclose(curve(plot_feature_effect(model, X, 0)).get_ydata(), whole)
    monkeypatch.setattr("sparsekern.plotting.effect_draws._MOST_DRAWS", 30)
    monkeypatch.setattr("sparsekern.plotting.effect_draws._MOST_VALUES", 1)
    ax = plot_feature_effect(model, X, 0)
    thinned = curve(ax)
    # thirty of the sixty rows, the first and the last one among them
    grid = np.linspace(X[:, 0].min(), X[:, 0].max(), 50)
    half = X[np.linspace(0, 59, 30).round().astype(int)]
    draws = averaged(lambda rows: latent_draws(model, rows), half, 0, grid)
    assert_allclose(thinned.get_ydata(), draws.mean(axis=0))
    # the band is that of every fourth draw
    low, high = np.quantile(draws.reshape(2, 60, 50)[:, ::4].reshape(30, 50), [0.025, 0.975], 0)
    drawn = ax.collections[0].get_paths()[0].vertices
    assert_allclose([drawn[:, 1].min(), drawn[:, 1].max()], [low.min(), high.max()])


def test_few_values_are_shown_as_points(model, data):
    ax = plot_feature_effect(model, data[0], 3)
    line = curve(ax)
    assert_array_equal(line.get_xdata(), [0, 1, 2])
    assert line.get_marker() == "o"
    assert_array_equal(ax.get_xticks(), [0, 1, 2])


def test_a_classifier_shows_the_probability_of_the_last_class(classifier, frame):
    ax = plot_feature_effect(classifier, frame, "dose", grid_points=12)
    draws = averaged(
        lambda rows: classifier.sample_proba(pd.DataFrame(rows, columns=frame.columns))[:, :, 1],
        frame.to_numpy(), 0, curve(ax).get_xdata(),
    )  # fmt: skip
    assert_allclose(curve(ax).get_ydata(), draws.mean(axis=0))
    assert ax.get_xlabel() == "dose"
    assert "Probability of class yes" in ax.get_ylabel()
    other = plot_feature_effect(classifier, frame, "dose", grid_points=12, target="no")
    assert_allclose(curve(other).get_ydata(), 1 - curve(ax).get_ydata())


def test_several_classes_need_a_target(classifier_of_three, frame):
    with pytest.raises(ValueError, match=r"target must name a class, got None.*'high', 'low'"):
        plot_feature_effect(classifier_of_three, frame, "dose")
    total = sum(
        curve(plot_feature_effect(classifier_of_three, frame, 0, target=name)).get_ydata()
        for name in ("high", "low", "mid")
    )
    assert_allclose(total, 1.0)


def test_models_without_feature_selection_have_effects_too(data):
    kernel = GKMRegressor(**(SMALL | {"draws": 20, "tune": 20})).fit(*data)
    line = curve(plot_feature_effect(kernel, data[0], 0, others="median"))
    assert np.ptp(line.get_ydata()) > 0


# ---------------------------------------------------------------- effects of two features


def test_two_features_give_mean_and_deviation_over_the_plane(model, data):
    X, _ = data
    ax = plot_feature_effect(model, X, (1, 0), grid_points=6)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("X[:, 1]", "X[:, 0]")
    surface, lines = (item for item in ax.collections if isinstance(item, QuadContourSet))
    first, second = (np.linspace(X[:, k].min(), X[:, k].max(), 6) for k in (1, 0))
    mean, spread = np.empty((6, 6)), np.empty((6, 6))
    for i, j in np.ndindex(6, 6):
        rows = X.copy()
        rows[:, 1], rows[:, 0] = first[j], second[i]
        draws = latent_draws(model, rows).mean(axis=1)
        mean[i, j], spread[i, j] = draws.mean(), draws.std()
    assert surface.filled and not lines.filled
    assert_allclose([surface.zmin, surface.zmax], [mean.min(), mean.max()])
    assert_allclose([lines.zmin, lines.zmax], [spread.min(), spread.max()])
    assert any("Mean of y" in other.get_ylabel() for other in ax.figure.axes)  # the colour bar
    ax.figure.canvas.draw()


def test_a_flat_surface_is_drawn(data):
    X, y = data
    empty = DoublySparseRegressor(**(SMALL | {"draws": 5, "tune": 5})).fit(X, y)
    counts = np.zeros_like(empty._posterior.draws.n_features)
    object.__setattr__(empty._posterior.draws, "n_features", counts)  # no feature in any draw
    ax = plot_feature_effect(empty, X, (2, 4), grid_points=4)
    ax.figure.canvas.draw()


# ---------------------------------------------------------------- axes and refusals


@pytest.mark.parametrize(
    "plot",
    [
        lambda m, X, ax: plot_inclusion(m, ax=ax),
        lambda m, X, ax: plot_feature_effect(m, X, 0, grid_points=3, ax=ax),
        lambda m, X, ax: plot_feature_effect(m, X, (0, 1), grid_points=3, ax=ax),
    ],
)
def test_given_axes_are_used_and_returned(model, data, plot):
    figure, ax = plt.subplots()
    assert plot(model, data[0], ax) is ax
    assert plt.get_fignums() == [figure.number]
    with pytest.raises(TypeError, match="got str"):
        plot(model, data[0], "not an Axes")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"feature": 5}, ValueError, "feature must lie between 0 and 4, got 5; pass"),
        ({"feature": -1}, ValueError, "feature must lie between 0 and 4, got -1; pass"),
        ({"feature": "dose"}, ValueError, "'dose' was not seen in fit; pass an index"),
        ({"feature": 1.5}, TypeError, "feature must be an index or a name, got 1.5"),
        ({"feature": True}, TypeError, "feature must be an index or a name, got True"),
        ({"feature": (0, 0)}, ValueError, r"two different ones, got \(0, 0\)"),
        ({"feature": (0, 1, 2)}, ValueError, "one feature or a pair"),
        ({"feature": ()}, ValueError, "one feature or a pair"),
        ({"feature": 0, "level": 1.0}, ValueError, "level must lie strictly between 0 and 1"),
        ({"feature": 0, "grid_points": 1}, ValueError, "grid_points must be at least 2, got 1"),
        ({"feature": 0, "others": "mean"}, ValueError, "others must be one of .* got 'mean'"),
        ({"feature": 0, "target": "yes"}, ValueError, "target='yes' .* is a regressor; leave"),
    ],
)
def test_unusable_arguments_are_named(model, data, arguments, error, words):
    with pytest.raises(error, match=words):
        plot_feature_effect(model, data[0], **arguments)
    assert plt.get_fignums() == []


def test_unknown_names_and_classes_are_told_the_known_ones(classifier, frame):
    with pytest.raises(ValueError, match=r"'dosis' was not seen in fit; pass one of \['dose'"):
        plot_feature_effect(classifier, frame, "dosis")
    with pytest.raises(ValueError, match=r"target='maybe' is no class; pass one of \['no', 'yes'"):
        plot_feature_effect(classifier, frame, "dose", target="maybe")


def test_rows_must_have_the_features_of_the_fit_and_vary(model, data, classifier, frame):
    with pytest.raises(ValueError, match="features"):
        plot_feature_effect(model, data[0][:, :3], 0)
    with pytest.raises(ValueError, match="feature names"):
        plot_feature_effect(classifier, frame.rename(columns={"age": "years"}), "dose")
    constant = data[0].copy()
    constant[:, 2] = 7
    with pytest.raises(ValueError, match=r"feature X\[:, 2\] is 7 in every row of X; pass rows"):
        plot_feature_effect(model, constant, 2)
    assert plt.get_fignums() == []


def test_models_that_cannot_be_shown_are_refused(data):
    with pytest.raises(NotFittedError):
        plot_inclusion(DoublySparseRegressor())
    with pytest.raises(NotFittedError):
        plot_feature_effect(DoublySparseRegressor(), data[0], 0)
    linear = LinearRegression().fit(*data)
    with pytest.raises(TypeError, match="got LinearRegression, which has no feature_inclusion_"):
        plot_inclusion(linear)
    with pytest.raises(TypeError, match=r"of this package, .* got LinearRegression"):
        plot_feature_effect(linear, data[0], 0)
    with pytest.raises(ValueError, match="max_features must be at least 1, got 0"):
        plot_inclusion(DoublySparseRegressor(), max_features=0)
    assert plt.get_fignums() == []
