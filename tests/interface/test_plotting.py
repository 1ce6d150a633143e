"""Figures: what is drawn, where it is drawn, and what is said when it cannot be drawn."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.contour import QuadContourSet
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from sparsekern import GKMClassifier
from sparsekern.composites import take_apart
from sparsekern.datasets import make_ripley
from sparsekern.plotting import (
    plot_active_trace,
    plot_calibration,
    plot_decision_surface,
    plot_feature_trace,
    plot_ranks,
    plot_traces,
)
from sparsekern.plotting.calibration import wilson_interval
from sparsekern.plotting.probability_grid import probabilities_on_grid
from sparsekern.plotting.ranks import pooled_ranks
from sparsekern.settings import GKMPriors

CHAINS, DRAWS, TUNE = 2, 60, 60
SCALARS = ["log_likelihood", "n_active", "intercept", "scale", "intercept_precision"]


@pytest.fixture(scope="module")
def data():
    X, y = make_ripley(60, random_state=0)
    return pd.DataFrame(X, columns=["width", "height"]), np.where(y > 0, "yes", "no")


@pytest.fixture(scope="module")
def model(data):
    estimator = GKMClassifier(
        chains=CHAINS,
        draws=DRAWS,
        tune=TUNE,
        priors=GKMPriors(max_active=15),
        progress=False,
        random_state=0,
    )
    return estimator.fit(*data)


@pytest.fixture(scope="module")
def rowwise():
    """Return a classifier that predicts its first feature, so that bins can be counted by hand."""

    class FirstFeature(LogisticRegression):
        def predict_proba(self, X):
            positive = np.asarray(X)[:, 0]
            return np.column_stack([1 - positive, positive])

    return FirstFeature().fit([[0.0], [1.0]], [0, 1])


@pytest.fixture(autouse=True)
def _untouched_settings():
    settings = dict(matplotlib.rcParams)
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == settings


def close(axes):
    plt.close(np.ravel(axes)[0].figure)


def scatters(ax):
    """Return the rows of the two classes and the rings, without what stands for the legend."""
    found = [item for item in ax.collections if isinstance(item, PathCollection)]
    return [item for item in found if len(item.get_offsets()) > 1]


def test_traces_hold_every_chain_and_draw(model):
    axes = plot_traces(model)
    assert axes.shape == (len(SCALARS), 2)
    assert all(isinstance(ax, Axes) for ax in axes.flat)
    for name, (trace, marginal) in zip(SCALARS, axes, strict=True):
        drawn = np.stack([line.get_ydata() for line in trace.lines])
        group = "sample_stats" if name in ("log_likelihood", "n_active") else "posterior"
        np.testing.assert_array_equal(drawn, model.posterior_[group][name].values)
        assert len(marginal.patches) == CHAINS
        assert marginal.get_ylim() == trace.get_ylim()
    assert [text.get_text() for text in axes[0, 0].get_legend().get_texts()] == [
        "Chain 1",
        "Chain 2",
    ]
    close(axes)
    assert plt.get_fignums() == []


def test_an_indexed_quantity_stands_for_its_entries_or_for_one(model):
    rows = model.posterior_["posterior"]["monitored_row"].values
    assert plot_traces(model, "probability").shape == (len(rows), 2)
    (axes,) = plot_traces(model, [f"probability[{rows[1]}]"])
    np.testing.assert_array_equal(
        axes[0].lines[0].get_ydata(), model.posterior_["posterior"]["probability"].values[0, :, 1]
    )
    assert f"row {rows[1]}" in axes[0].get_ylabel()


def test_every_diagnosed_quantity_can_be_plotted_by_its_name(model):
    names = list(model.diagnostics_.index)
    assert len(plot_ranks(model, names)) == len(names)


def test_a_data_tree_serves_as_well(model):
    figures = [plot_traces(model.posterior_, "scale"), plot_ranks(model.posterior_, "scale")]
    assert len(figures[0][0, 0].lines) == CHAINS
    trace, marginal = plot_active_trace(model.posterior_)
    np.testing.assert_array_equal(
        trace.lines[0].get_ydata(), model.posterior_["sample_stats"]["n_active"].values[0]
    )
    assert len(trace.patches) == 0  # no tuning in a tree
    assert marginal.get_xlabel() == "Posterior probability"


def test_constant_quantities_are_drawn(data):
    full = GKMClassifier(
        priors=GKMPriors(sparse=False), chains=1, draws=5, tune=0, progress=False, random_state=0
    )
    full.fit(*data)
    trace, marginal = plot_active_trace(full)
    assert len(trace.patches) == 0
    assert [bar.get_width() for bar in marginal.patches if bar.get_height() == 1] == [1.0]
    assert trace.get_legend() is None  # one chain needs no name
    plot_traces(full, "n_active")[0, 0].figure.canvas.draw()


def test_ranks_of_a_chain_sum_to_its_draws(model):
    axes = plot_ranks(model, ["scale", "n_active"])
    assert axes.shape == (2,)
    for ax in axes:
        heights = np.array([bar.get_height() for bar in ax.patches]).reshape(CHAINS, -1)
        np.testing.assert_allclose(heights.sum(axis=1), DRAWS)
        # all chains together fill every bin alike: that is what ranks are
        np.testing.assert_allclose(heights.sum(axis=0), CHAINS * DRAWS / heights.shape[1])
        bases = np.array([bar.get_y() for bar in ax.patches]).reshape(CHAINS, -1)[:, 0]
        uniform = [line.get_ydata()[0] for line in ax.lines]
        np.testing.assert_allclose(uniform, bases + DRAWS / heights.shape[1])


def test_ranks_order_the_draws_and_break_ties():
    np.testing.assert_array_equal(
        pooled_ranks(np.array([[3.0, 1.0], [2.0, 0.0]])), [[3, 1], [2, 0]]
    )
    ties = pooled_ranks(np.zeros((4, 500)))
    np.testing.assert_array_equal(np.sort(ties.ravel()), np.arange(2000))
    # a tie is broken without favour: every chain has about the same mean rank
    assert np.all(np.abs(ties.mean(axis=1) - 999.5) < 4 * 2000 / np.sqrt(12 * 500))


def test_unused_panels_of_the_rank_grid_are_gone(model):
    axes = plot_ranks(model)
    assert len(axes) == len(SCALARS) == len(axes[0].figure.axes)


def test_active_trace_shows_tuning_and_the_posterior(model):
    axes = plot_active_trace(model)
    assert axes.shape == (2,)
    trace, marginal = axes
    chains = [line for line in trace.lines if len(line.get_ydata()) == TUNE + DRAWS]
    assert len(chains) == CHAINS
    for line, kept in zip(chains, model.posterior_["sample_stats"]["n_active"].values, strict=True):
        np.testing.assert_array_equal(line.get_ydata()[TUNE:], kept)
    assert trace.patches[0].get_width() == TUNE
    sizes, counts = np.unique(model.posterior_["sample_stats"]["n_active"], return_counts=True)
    drawn = {
        bar.get_y() + 0.5: bar.get_width() for bar in marginal.patches if bar.get_height() == 1.0
    }
    for size, count in zip(sizes, counts, strict=True):
        assert drawn[size] == pytest.approx(count / (CHAINS * DRAWS))


def test_decision_surface_draws_rows_rings_and_boundaries(model, data):
    X, y = data
    ax = plot_decision_surface(model, X, y, n_boundaries=7, resolution=15)
    assert isinstance(ax, Axes)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")
    contours = [item for item in ax.collections if isinstance(item, QuadContourSet)]
    assert 2 <= len(contours) <= 8  # a draw without a boundary in view has none
    assert all(list(item.levels) == [0.5] for item in contours)
    no, yes, rings = (item.get_offsets() for item in scatters(ax))
    np.testing.assert_allclose(no, X[y == "no"])
    np.testing.assert_allclose(yes, X[y == "yes"])
    np.testing.assert_allclose(rings, X.iloc[model.active_vectors_])
    assert any("yes" in other.get_ylabel() for other in ax.figure.axes)  # the colour bar
    close(ax)
    assert plt.get_fignums() == []


def test_rings_grow_with_the_probability_of_being_active(model, data):
    ax = plot_decision_surface(model, *data, n_boundaries=0, resolution=5)
    rings = scatters(ax)[2]
    probability = model.active_probabilities_[model.active_vectors_]
    assert np.ptp(probability) > 0
    np.testing.assert_array_equal(np.argsort(rings.get_sizes()), np.argsort(probability))
    np.testing.assert_allclose(rings.get_edgecolors()[:, 3], np.sqrt(probability))


def test_the_surface_is_the_posterior_mean_in_user_units(model, monkeypatch):
    monkeypatch.setattr("sparsekern.plotting.probability_grid._MOST_NUMBERS", 1000)
    first, second = np.array([-0.5, 0.0, 0.5]), np.array([0.2, 0.8])
    mean, boundaries = probabilities_on_grid(take_apart(model), first, second, 4)
    points = pd.DataFrame([(a, b) for b in second for a in first], columns=model.feature_names_in_)
    np.testing.assert_allclose(mean.ravel(), model.predict_proba(points)[:, 1])
    draws = model.sample_proba(points)[:, :, 1]
    assert boundaries.shape == (4, 2, 3)
    np.testing.assert_allclose(boundaries[-1].ravel(), draws[-1])


def test_labels_of_the_axes_may_be_given(model, data):
    ax = plot_decision_surface(model, *data, n_boundaries=0, resolution=5, features=("a", "b"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    with pytest.raises(ValueError, match="two labels"):
        plot_decision_surface(model, *data, features=("a",))


def test_calibration_points_are_frequencies(rowwise):
    predicted = np.array([0.05, 0.05, 0.08, 0.52, 0.58, 0.95, 1.0])
    happened = np.array([0, 1, 0, 1, 0, 1, 1])
    ax = plot_calibration(rowwise, predicted[:, None], happened, label="by hand")
    (container,) = ax.containers
    points, _, (bars,) = container
    np.testing.assert_allclose(points.get_xdata(), [0.06, 0.55, 0.975])
    np.testing.assert_allclose(points.get_ydata(), [1 / 3, 1 / 2, 1.0])
    # Wilson's interval of 1 of 3 and of 2 of 2, from the closed form with z = 1.959964
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends[0], [0.0614919, 0.7923404], atol=1e-6)
    np.testing.assert_allclose(ends[2], [0.3423802, 1.0], atol=1e-6)
    (histogram,) = ax.child_axes
    assert histogram.get_ylabel() == "Rows"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["by hand"]


def test_wilson_bounds_solve_the_score_equation():
    successes, totals = np.array([0.0, 3.0, 40.0, 7.0]), np.array([5.0, 9.0, 41.0, 7.0])
    z = 1.959963984540054
    for bound in wilson_interval(successes, totals):
        # (share - p)^2 = z^2 p (1 - p) / n
        left = (successes / totals - bound) ** 2
        np.testing.assert_allclose(left, z**2 * bound * (1 - bound) / totals, atol=1e-12)


def test_two_models_share_one_calibration_figure(model, rowwise):
    ax = plot_calibration(rowwise, [[0.2], [0.7]], [0, 1], label="first")
    again = plot_calibration(rowwise, [[0.4], [0.9]], [1, 1], ax=ax, label="second")
    assert again is ax
    assert len(ax.containers) == 2
    assert len(ax.child_axes) == 1
    assert len(plt.get_fignums()) == 1


def test_calibration_of_the_fitted_model(model, data):
    ax = plot_calibration(model, *data, n_bins=4)
    points = ax.containers[0][0]
    assert len(points.get_xdata()) <= 4
    assert "yes" in ax.get_xlabel()
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    ("plot", "shape"),
    [
        (lambda m, d, a: plot_traces(m, ["scale", "n_active"], axes=a), (2, 2)),
        (lambda m, d, a: plot_ranks(m, ["scale", "n_active"], axes=a), (2,)),
        (lambda m, d, a: plot_active_trace(m, axes=a), (2,)),
        (lambda m, d, a: plot_calibration(m, *d, ax=a), ()),
        (lambda m, d, a: plot_decision_surface(m, *d, ax=a, n_boundaries=1, resolution=5), ()),
    ],
)
def test_given_axes_are_used_and_returned(model, data, plot, shape):
    figure, axes = plt.subplots(*(shape or (1, 1)), squeeze=False)
    given = axes.reshape(shape)[()]
    result = plot(model, data, given)
    assert plt.get_fignums() == [figure.number]
    assert np.shape(result) == shape
    assert all(a is b for a, b in zip(np.ravel(result), axes.ravel(), strict=True))


def test_features_are_not_counted_where_none_are_selected(model):
    with pytest.raises(ValueError, match="model has no 'n_features' among its draws"):
        plot_feature_trace(model)


@pytest.mark.parametrize(
    ("plot", "needed"), [(plot_traces, 10), (plot_ranks, 5), (plot_active_trace, 2)]
)
def test_wrong_axes_are_refused(model, plot, needed):
    _, axes = plt.subplots(3)
    with pytest.raises(ValueError, match=f"needs {needed} axes .*; axes holds 3"):
        plot(model, axes=axes)
    with pytest.raises(TypeError, match="got str"):
        plot(model, axes=["not an Axes"] * needed)


@pytest.mark.parametrize(
    "plot",
    [
        plot_traces,
        plot_ranks,
        plot_active_trace,
        lambda m: plot_calibration(m, [[0.0]], [0]),
        lambda m: plot_decision_surface(m, [[0.0, 0.0]], [0]),
    ],
)
def test_unfitted_models_are_refused_before_a_figure_is_opened(plot):
    with pytest.raises(NotFittedError):
        plot(GKMClassifier())
    assert plt.get_fignums() == []


@pytest.mark.parametrize("plot", [plot_traces, plot_ranks])
def test_unknown_quantities_are_named_with_the_known_ones(model, plot):
    with pytest.raises(ValueError, match=r"unknown 'sclae'.*log_likelihood.*scale"):
        plot(model, ["scale", "sclae"])
    with pytest.raises(ValueError, match="nothing to plot"):
        plot(model, [])
    assert plt.get_fignums() == []


def test_what_is_no_model_is_refused():
    with pytest.raises(TypeError, match="fitted estimator"):
        plot_traces({"prior": 1})


def test_a_surface_needs_the_two_features_of_the_fit(model, data):
    X, y = data
    with pytest.raises(ValueError, match="in their order"):
        plot_decision_surface(model, X[::-1], y)
    with pytest.raises(ValueError, match="in their order"):
        plot_decision_surface(model, X, y[::-1])
    wide = GKMClassifier(chains=1, draws=4, tune=0, progress=False, random_state=0)
    wide.fit(np.column_stack([X, X.sum(axis=1)]), y)
    with pytest.raises(ValueError, match="2 features; this one has 3"):
        plot_decision_surface(wide, np.column_stack([X, X.sum(axis=1)]), y)
    assert plt.get_fignums() == []


def test_calibration_needs_known_classes(model, data, rowwise):
    with pytest.raises(ValueError, match="none of the model's classes"):
        plot_calibration(model, data[0], np.full(len(data[0]), "maybe"))
    with pytest.raises(ValueError, match="inconsistent"):
        plot_calibration(model, data[0], data[1][:5])
    with pytest.raises(ValueError, match="n_bins"):
        plot_calibration(rowwise, [[0.5]], [1], n_bins=0)
    assert plt.get_fignums() == []
