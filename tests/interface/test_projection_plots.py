"""Figures of kernel projections: what is drawn, and what is refused."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.contour import QuadContourSet
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from sparsekern import GKMClassifier, KernelProjectionClassifier
from sparsekern.datasets import make_ripley
from sparsekern.plotting import (
    plot_class_probabilities,
    plot_components,
    plot_decision_surface,
    plot_expected_utility,
    plot_projection_matrix,
)
from sparsekern.settings import ProjectionSearchOptions

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
CHAINS = {"draws": 50, "tune": 50, "chains": 2, "thin": 1, "random_state": 0}
SHORT = {**CHAINS, "search": ProjectionSearchOptions(draws=40)}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = np.arange(36) % 3
    X = rng.standard_normal((3, 20))[y] + 0.5 * rng.standard_normal((36, 20)) + 9
    return X, np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def model(rows):
    search = ProjectionSearchOptions(n_splits=3, max_components=5, draws=40)
    return KernelProjectionClassifier("utility", search=search, **CHAINS).fit(*rows)


def test_utility_with_its_maximum(model):
    ax = plot_expected_utility(model)
    table = model.utility_
    line = ax.containers[0].lines[0]
    assert_allclose(line.get_xdata(), table.index)
    assert_allclose(line.get_ydata(), table["utility"])
    segments = ax.containers[0].lines[2][0].get_segments()
    heights = [segment[1, 1] - segment[0, 1] for segment in segments]
    assert_allclose(heights, 2 * table["to_best_error"], atol=1e-12)
    (ring,) = [item for item in ax.lines if "used" in str(item.get_label())]
    assert ring.get_xdata()[0] == model.n_components_
    assert ax.get_ylabel() == "Expected utility"
    ax.figure.canvas.draw()


def test_utility_needs_a_search(rows):
    fitted = KernelProjectionClassifier(3, **SHORT).fit(*rows)
    with pytest.raises(ValueError, match="n_components=3 made no search"):
        plot_expected_utility(fitted)
    assert plt.get_fignums() == []


def test_scatter_matrix_by_class(rows):
    X, y = rows
    fitted = KernelProjectionClassifier(5, **SHORT).fit(X, y)
    axes = plot_components(fitted, X, y, n_components=3)
    assert axes.shape == (3, 3)
    P = fitted.transform(X)
    for number, name in enumerate("abc"):
        points = axes[2, 1].collections[number].get_offsets()
        assert_allclose(points, P[y == name][:, [1, 2]])
    assert sum(len(container) for container in axes[1, 1].containers) == 45
    counted = sum(bar.get_height() for bar in axes[1, 1].patches)
    assert counted == 36
    assert axes[2, 0].get_xlabel() == "Component 1"
    legend = [text.get_text() for text in axes[0, 0].get_legend().get_texts()]
    assert legend == ["class a", "class b", "class c"]
    axes[0, 0].figure.canvas.draw()
    assert plot_components(fitted, X, y, n_components=50).shape == (5, 5)


def test_matrix_is_sorted_by_class(rows, model):
    X, y = rows
    ax = plot_projection_matrix(model, X, y)
    shown = ax.images[0].get_array()
    P = model.transform(X)
    expected = np.vstack([P[y == name] for name in "abc"]) / np.abs(P).max(0)
    assert_allclose(shown, expected)
    assert [line.get_ydata()[0] for line in ax.lines] == [11.5, 23.5]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["class a", "class b", "class c"]
    ax.figure.canvas.draw()


def test_histograms_of_single_cases(rows, model):
    X, _ = rows
    axes = plot_class_probabilities(model, X[:2])
    assert axes.shape == (2,)
    draws = model.sample_proba(X[:2])
    heights = [bar.get_height() for bar in axes[1].patches]
    expected = [np.histogram(draws[:, 1, k], np.linspace(0, 1, 26))[0] / 100 for k in range(3)]
    assert_allclose(heights, np.concatenate(expected))
    places = [line.get_xdata()[0] for line in axes[0].lines]
    assert_allclose(places, model.predict_proba(X[:2])[0])
    axes[0].figure.canvas.draw()


def test_boundary_draws_in_two_dimensions():
    X, y = make_ripley(60, random_state=0)
    fitted = KernelProjectionClassifier(**SHORT).fit(X, y)
    ax = plot_decision_surface(fitted, X, y, n_boundaries=6, resolution=15)
    lines = [item for item in ax.collections if isinstance(item, QuadContourSet)]
    assert 3 <= len(lines) <= 7
    assert "boundaries of 6 draws" in [t.get_text() for t in ax.get_legend().get_texts()]
    ax.figure.canvas.draw()


@pytest.mark.parametrize("plot", [plot_components, plot_projection_matrix])
def test_unknown_classes_are_refused(rows, model, plot):
    with pytest.raises(ValueError, match=r"y holds \['z'\]"):
        plot(model, rows[0], np.full(36, "z"))
    assert plt.get_fignums() == []


def test_what_is_no_fitted_classifier_is_refused(rows):
    with pytest.raises(TypeError, match="got GKMClassifier"):
        plot_expected_utility(GKMClassifier())
    with pytest.raises(NotFittedError):
        plot_components(KernelProjectionClassifier(), *rows)
    assert plt.get_fignums() == []


def test_given_axes_are_used(rows, model):
    ax = plt.subplots()[1]
    assert plot_expected_utility(model, ax=ax) is ax
    axes = plt.subplots(2, 1)[1]
    assert plot_class_probabilities(model, rows[0][:2], axes=axes)[0] is axes[0]
    with pytest.raises(ValueError, match="needs 3 axes"):
        plot_class_probabilities(model, rows[0][:3], axes=axes)
