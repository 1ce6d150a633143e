"""Figures of vector machines: what is drawn, and what is refused."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.contour import QuadContourSet
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from sparsekern import GKMClassifier, PCVMClassifier, RVMClassifier, RVMRegressor
from sparsekern.composites import take_apart
from sparsekern.datasets import make_overlapping_gaussians, make_spirals
from sparsekern.plotting import plot_decision_surface, plot_evidence_path, plot_width_weights
from sparsekern.plotting.probability_grid import probabilities_on_grid, sides_on_grid
from sparsekern.settings import PCVMSearch

MACHINES = (PCVMClassifier, RVMClassifier)
THREE_WIDTHS = PCVMSearch(n_length_scales=3)


@pytest.fixture(scope="module")
def spiral():
    X, y = make_spirals(120, random_state=0)
    return pd.DataFrame(X, columns=["east", "north"]), np.where(y > 0, "yes", "no")


@pytest.fixture(scope="module", params=MACHINES, ids=lambda cls: cls.__name__)
def classifier(request, spiral):
    return request.param().fit(*spiral)


@pytest.fixture(scope="module")
def three():
    """Return the models of three classes: each against the rest, and all at once."""
    X, y = make_overlapping_gaussians(90, random_state=0)
    y = np.where(X[:, 1] > 0.7, "c", np.where(y > 0, "a", "b"))
    return [
        PCVMClassifier(multi_class=how, search=THREE_WIDTHS).fit(X, y)
        for how in ("one_vs_rest", "multinomial")
    ]


@pytest.fixture(scope="module")
def regression():
    rng = np.random.default_rng(0)
    X = np.linspace(-3, 3, 60)[:, None]
    return RVMRegressor().fit(X, 100 + 10 * np.sin(X[:, 0]) + rng.standard_normal(60))


@pytest.fixture(scope="module")
def sampled(spiral):
    model = PCVMClassifier(
        inference="mcmc", draws=20, tune=10, chains=2, search=THREE_WIDTHS, candidates=30,
        random_state=0,
    )  # fmt: skip
    return model.fit(*spiral)


@pytest.fixture(autouse=True)
def _untouched_settings():
    settings = dict(matplotlib.rcParams)
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == settings


def sizes_above(ax):
    """Return the axes of the numbers of vectors."""
    (other,) = [other for other in ax.figure.axes if other is not ax]
    return other


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# ---------------------------------------------------------------- the fit


def test_lines_are_log_evidence_and_vectors_of_every_step(classifier):
    ax = plot_evidence_path(classifier)
    (evidence,), (sizes,) = ax.lines, sizes_above(ax).lines
    path = classifier.evidence_path_
    assert len(path) > 5  # or this test says nothing
    assert_array_equal(evidence.get_xdata(), np.arange(len(path)))
    assert_array_equal(evidence.get_ydata(), path[:, 0])
    assert evidence.get_ydata()[-1] == pytest.approx(classifier.log_evidence_)
    best = classifier.models_["weight"].argmax()
    assert_array_equal(sizes.get_ydata(), path[:, 1] - 1)  # the bias is not counted
    assert sizes.get_ydata()[-1] == classifier.models_["n_vectors"][best]
    assert sizes.get_ydata()[0] in (0, 10)  # from the bias, or from columns that are spread
    assert ax.get_ylabel() == "Log evidence"
    assert sizes_above(ax).get_ylabel() == "Vectors"
    assert ax.get_legend() is None
    ax.figure.canvas.draw()
    assert sizes_above(ax).get_position().y0 > ax.get_position().y1


def test_evidence_of_a_regression_is_in_the_units_of_y(regression):
    ax = plot_evidence_path(regression)
    assert ax.lines[0].get_ydata()[-1] == pytest.approx(regression.log_evidence_)
    assert sizes_above(ax).lines[0].get_ydata()[0] == 0


def test_each_class_against_the_rest_has_a_line(three):
    ax = plot_evidence_path(three[0])
    assert legend_of(ax) == ["class a", "class b", "class c"]
    assert len({line.get_color() for line in ax.lines}) == 3
    last = [line.get_ydata()[-1] for line in ax.lines]
    assert sum(last) == pytest.approx(three[0].log_evidence_)
    best = three[0].models_.sort_values("weight").groupby("class")["n_vectors"].last()
    assert [line.get_ydata()[-1] for line in sizes_above(ax).lines] == list(best)


def test_a_softmax_model_has_one_line_and_columns_without_biases(three):
    ax = plot_evidence_path(three[1])
    assert len(ax.lines) == 1
    assert sizes_above(ax).lines[0].get_ydata()[0] == 0
    assert sizes_above(ax).get_ylabel() == "Columns"


def test_the_objective_of_em_is_not_called_evidence(spiral):
    model = PCVMClassifier(inference="em", length_scale=0.5, search=PCVMSearch(max_steps=5))
    model.fit(*spiral)
    ax = plot_evidence_path(model)
    assert ax.get_ylabel() == "Objective"
    assert sizes_above(ax).lines[0].get_ydata()[-1] == len(model.active_vectors_)


def test_a_second_path_shares_the_axes(regression):
    ax = plot_evidence_path(regression)
    assert plot_evidence_path(regression, ax=ax) is ax
    assert len(ax.figure.axes) == 2
    assert len(ax.lines) == len(sizes_above(ax).lines) == 2


def test_axes_outside_a_grid_are_used(regression):
    ax = plt.figure().add_axes((0.1, 0.1, 0.8, 0.5))
    assert plot_evidence_path(regression, ax=ax) is ax
    assert len(ax.child_axes[0].lines) == 1
    ax.figure.canvas.draw()


# ---------------------------------------------------------------- widths


def test_bars_are_weights_with_the_numbers_of_vectors(classifier):
    ax = plot_width_weights(classifier)
    assert isinstance(ax, Axes)
    assert_allclose([bar.get_height() for bar in ax.patches], classifier.length_scale_weights_)
    assert [text.get_text() for text in ax.texts] == [str(n) for n in classifier.models_.n_vectors]
    ticks = [float(text.get_text()) for text in ax.get_xticklabels()]
    assert_allclose(ticks, classifier.length_scales_, rtol=5e-3)
    middles = [bar.get_x() + bar.get_width() / 2 for bar in ax.patches]
    assert_allclose(middles, ax.get_xticks())
    ax.figure.canvas.draw()


def test_each_class_has_bars_side_by_side(three):
    ax = plot_width_weights(three[0])
    assert legend_of(ax) == ["class a", "class b", "class c"]
    weights = three[0].length_scale_weights_
    heights = np.reshape([bar.get_height() for bar in ax.patches], weights.shape)
    assert_allclose(heights, weights)
    left = np.reshape([bar.get_x() for bar in ax.patches], weights.shape)
    assert np.all(np.diff(left, axis=0) > 0)
    shown = [text.get_text() for text in ax.texts]
    wanted = np.where(weights.ravel() > 0, three[0].models_["n_vectors"].astype(str), "")
    assert shown == list(wanted)


def test_one_softmax_model_and_one_width_are_drawn(three, spiral):
    assert len(plot_width_weights(three[1]).patches) == 3
    (bar,) = plot_width_weights(RVMClassifier(length_scale=0.5).fit(*spiral)).patches
    assert bar.get_height() == 1


def test_kernels_without_widths_are_refused(spiral):
    with pytest.raises(ValueError, match="no widths to show: kernel='linear'"):
        plot_width_weights(RVMClassifier("linear").fit(*spiral))
    assert plt.get_fignums() == []


# ---------------------------------------------------------------- decision surface


def contours(ax):
    return [item for item in ax.collections if isinstance(item, QuadContourSet)]


def scatters(ax):
    found = [item for item in ax.collections if isinstance(item, PathCollection)]
    return [item for item in found if len(item.get_offsets()) > 1]


def test_surface_has_a_boundary_two_sides_and_rings(classifier, spiral):
    X, y = spiral
    ax = plot_decision_surface(classifier, X, y, resolution=25)
    assert sorted(float(item.levels[0]) for item in contours(ax)) == pytest.approx([0.1, 0.5, 0.9])
    no, yes, rings = (item.get_offsets() for item in scatters(ax))
    assert_allclose(no, X[y == "no"])
    assert_allclose(yes, X[y == "yes"])
    assert_allclose(rings, X.iloc[classifier.active_vectors_])
    assert legend_of(ax) == [
        "class no",
        "class yes",
        f"{len(classifier.active_vectors_)} active vectors",
        "boundary of the mean",
        "side sure to 90%",
    ]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("east", "north")
    ax.figure.canvas.draw()


def test_no_boundaries_means_no_sides(classifier, spiral):
    ax = plot_decision_surface(classifier, *spiral, n_boundaries=0, resolution=10)
    assert [list(item.levels) for item in contours(ax)] == [[0.5]]
    assert "side sure to 90%" not in legend_of(ax)


def test_rings_grow_with_the_weight_of_the_widths(classifier, spiral):
    ax = plot_decision_surface(classifier, *spiral, resolution=10)
    weight = np.zeros(len(spiral[0]))
    for share, fit in classifier._averages[0].kept:
        weight[fit.rows] += share
    weight = weight[classifier.active_vectors_]
    assert np.ptp(weight) > 0  # or this test says nothing
    edges = scatters(ax)[2].get_edgecolors()
    assert_allclose(edges[:, 3], np.sqrt(np.minimum(weight, 1.0)))
    areas = scatters(ax)[2].get_sizes()
    assert areas[weight.argmax()] == areas.max()


def test_surface_and_sides_against_draws_of_the_function(classifier):
    first, second = np.array([-2.0, 0.0, 1.5]), np.array([-1.0, 0.8])
    points = pd.DataFrame([(a, b) for b in second for a in first], columns=["east", "north"])
    mean, boundaries = probabilities_on_grid(take_apart(classifier), first, second, 50)
    assert boundaries.shape == (0, 2, 3)
    assert_allclose(mean.ravel(), classifier.predict_proba(points)[:, 1])
    rng = np.random.default_rng(0)
    total = np.zeros(6)
    for share, fit in classifier._averages[0].kept:
        expansion = fit.expansion
        noise = rng.standard_normal((len(expansion.mean), 20000))
        weights = expansion.mean + expansion.inverse.T @ noise
        function = weights.T @ expansion.columns(classifier._prepare(points))
        total += share * (function > 0).mean(axis=0)
    assert_allclose(sides_on_grid(take_apart(classifier), first, second).ravel(), total, atol=0.015)


def test_a_sampled_machine_shows_the_boundaries_of_its_draws(sampled, spiral):
    ax = plot_decision_surface(sampled, *spiral, n_boundaries=5, resolution=10)
    assert all(list(item.levels) == [0.5] for item in contours(ax))
    assert 2 <= len(contours(ax)) <= 6
    assert "boundaries of 5 draws" in legend_of(ax)
    assert "active in 100% of draws" in legend_of(ax)
    assert_allclose(scatters(ax)[2].get_offsets(), spiral[0].iloc[sampled.active_vectors_])
    with pytest.raises(ValueError, match="in their order"):
        plot_decision_surface(sampled, spiral[0][::-1], spiral[1])
    assert len(plot_evidence_path(sampled).lines) == 1  # of the fit before sampling


def test_a_surface_needs_the_rows_of_the_fit(classifier, spiral):
    X, y = spiral
    for rows, labels in ((X[::-1], y), (X[:-1], y[:-1]), (X, np.full(len(y), "maybe"))):
        with pytest.raises(ValueError, match="in their order"):
            plot_decision_surface(classifier, rows, labels)
    assert plt.get_fignums() == []


def test_labels_of_a_pcvm_are_compared(spiral):
    X, y = spiral
    model = PCVMClassifier(length_scale=0.5).fit(X, y)
    with pytest.raises(ValueError, match="in their order"):
        plot_decision_surface(model, X, np.where(y == "yes", "no", "yes"))


def test_a_surface_needs_two_classes(three):
    X, _ = make_overlapping_gaussians(90, random_state=0)
    with pytest.raises(ValueError, match="2 classes; this one has 3"):
        plot_decision_surface(three[0], X, np.repeat("a", 90))


def test_a_model_of_the_bias_alone_is_drawn():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 2)), np.arange(20) % 2
    model = PCVMClassifier(search=PCVMSearch(min_gain=50.0)).fit(X, y)
    assert len(model.active_vectors_) == 0
    ax = plot_decision_surface(model, X, y, resolution=5)
    assert "0 active vectors" in legend_of(ax)
    plot_evidence_path(model).figure.canvas.draw()
    plot_width_weights(model).figure.canvas.draw()


# ---------------------------------------------------------------- what they share


@pytest.mark.parametrize("plot", [plot_evidence_path, plot_width_weights])
def test_what_is_no_fitted_machine_is_refused(plot):
    with pytest.raises(TypeError, match=r"vector machine.*got GKMClassifier"):
        plot(GKMClassifier())
    with pytest.raises(NotFittedError):
        plot(RVMRegressor())
    assert plt.get_fignums() == []


@pytest.mark.parametrize("plot", [plot_evidence_path, plot_width_weights])
def test_given_axes_are_used(plot, regression):
    figure, ax = plt.subplots()
    assert plot(regression, ax=ax) is ax
    assert plt.get_fignums() == [figure.number]
    with pytest.raises(TypeError, match="got str"):
        plot(regression, ax="not an Axes")
