"""Critical-difference diagrams: where markers, names, bars and the ruler are."""

import itertools

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from numpy.testing import assert_allclose, assert_array_equal

from sparsekern.diagnostics import compare_classifiers
from sparsekern.plotting import plot_critical_difference
from sparsekern.plotting.figure_parts import CLASS_COLOURS, POOLED_COLOUR

NAMES = ["worst", "best", "middle", "fourth", "second"]
OFFSETS = np.array([3.0, 0.0, 1.6, 2.4, 0.3])


@pytest.fixture(scope="module")
def scores():
    return OFFSETS + np.random.default_rng(0).standard_normal((20, 5))


@pytest.fixture(scope="module")
def pairs(scores):
    return compare_classifiers(scores, names=NAMES)


@pytest.fixture(scope="module")
def against_best(scores):
    return compare_classifiers(scores, names=NAMES, control="best")


@pytest.fixture(autouse=True)
def _untouched_settings():
    settings = dict(matplotlib.rcParams)
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == settings


def lines(ax, kind):
    return [line for line in ax.lines if line.get_gid() == kind]


def names(ax):
    """Return the texts of the classifiers by name; the text of the ruler is left out."""
    return {t.get_text().split(" (")[0]: t for t in ax.texts if not t.get_text().startswith("CD")}


def test_markers_stand_at_the_ranks_and_lead_to_the_names(pairs):
    ax = plot_critical_difference(pairs)
    assert isinstance(ax, Axes)
    ordered = pairs.average_ranks.sort_values()
    drawn, texts = lines(ax, "classifier"), names(ax)
    assert len(drawn) == len(texts) == 5
    left, right = ax.get_xlim()
    assert (left, right) == (1, 5)
    for line, (name, rank) in zip(drawn, ordered.items(), strict=True):
        x, y = line.get_data()
        assert (x[0], y[0]) == (rank, 0)  # on the line of ranks
        assert line.get_markevery() == [0] and line.get_marker() == "o"
        assert x[1] == rank and y[1] == y[2] < 0  # down, then outwards
        assert texts[name].get_text() == f"{name} ({rank:.2f})"
        assert texts[name].xy == (x[2], y[2])
    sides = [line.get_xdata()[2] for line in drawn]
    assert sides == [left, left, left, right, right]  # the better half on the left
    heights = [line.get_ydata()[2] for line in drawn]
    assert heights[0] > heights[1] > heights[2] and heights[3] < heights[4]  # no lines cross
    assert texts["best"].get_ha() == "right" and texts["worst"].get_ha() == "left"


def test_the_line_of_ranks_is_above_and_its_room_is_used(pairs):
    ax = plot_critical_difference(pairs)
    assert_array_equal(ax.get_xticks(), [1, 2, 3, 4, 5])
    assert ax.spines["top"].get_bounds() == (1, 5)
    assert [side for side in ax.spines if ax.spines[side].get_visible()] == ["top"]
    bottom, top = ax.get_ylim()
    for line in ax.lines:
        assert bottom < min(line.get_ydata()) and max(line.get_ydata()) < top
    lowest_bar = min(line.get_ydata()[0] for line in lines(ax, "bar"))
    assert all(line.get_ydata()[2] < lowest_bar for line in lines(ax, "classifier"))


def test_bars_join_the_cliques(pairs):
    ax = plot_critical_difference(pairs)
    bars = lines(ax, "bar")
    assert 1 < len(bars) == len(pairs.cliques)
    for bar, clique in zip(bars, pairs.cliques, strict=True):
        ranks = pairs.average_ranks[list(clique)]
        assert_allclose(bar.get_xdata(), [ranks.min(), ranks.max()], atol=0.05)
        assert bar.get_xdata()[0] < ranks.min() and bar.get_xdata()[1] > ranks.max()
        assert bar.get_ydata()[0] == bar.get_ydata()[1] < 0


def test_bars_that_overlap_lie_on_different_levels():
    scores = np.random.default_rng(0).standard_normal((60, 12)) + 0.3 * np.arange(12)
    bars = lines(plot_critical_difference(compare_classifiers(scores)), "bar")
    overlapping = [
        (one.get_ydata()[0], other.get_ydata()[0])
        for one, other in itertools.combinations(bars, 2)
        if other.get_xdata()[0] <= one.get_xdata()[1]  # in the order of their beginnings
    ]
    assert overlapping
    assert all(one != other for one, other in overlapping)
    assert len({bar.get_ydata()[0] for bar in bars}) < len(bars)  # levels are shared


def test_bars_far_apart_share_a_level_and_equal_ranks_have_one():
    rng = np.random.default_rng(0)
    scores = np.array([0, 0.01, 9, 9.01]) + 0.1 * rng.standard_normal((40, 4))
    far = plot_critical_difference(compare_classifiers(scores))
    first, second = lines(far, "bar")
    assert first.get_ydata()[0] == second.get_ydata()[0]
    tied = plot_critical_difference(compare_classifiers(np.tile([1.0, 1.0, 3.0, 4.0], (40, 1))))
    (bar,) = lines(tied, "bar")
    assert np.ptp(bar.get_xdata()) > 0
    assert np.mean(bar.get_xdata()) == pytest.approx(1.5)


def test_the_bar_of_a_control_reaches_a_critical_difference_to_either_side(scores, against_best):
    ax = plot_critical_difference(against_best)
    (bar,) = lines(ax, "bar")
    reach = against_best.average_ranks["best"] + against_best.critical_difference
    assert_allclose(bar.get_xdata(), [1, reach])  # cut off at the first rank
    middle = compare_classifiers(scores, names=NAMES, control="middle", alpha=0.5)
    (bar,) = lines(plot_critical_difference(middle), "bar")
    centre, reach = middle.average_ranks["middle"], middle.critical_difference
    assert_allclose(bar.get_xdata(), [centre - reach, centre + reach])


def test_colours_tell_the_control_and_what_differs_from_it(against_best):
    texts = names(plot_critical_difference(against_best))
    differ = against_best.different_from_control
    assert 0 < differ.sum() < len(differ)
    assert texts["best"].get_color() == CLASS_COLOURS[0]
    for name, different in differ.items():
        assert texts[name].get_color() == (CLASS_COLOURS[1] if different else POOLED_COLOUR)


def test_all_are_black_without_a_control(pairs):
    assert {text.get_color() for text in names(plot_critical_difference(pairs)).values()} == {
        "black"
    }


@pytest.mark.parametrize("which", ["pairs", "against_best"])
def test_the_ruler_is_as_long_as_the_critical_difference(which, request):
    comparison = request.getfixturevalue(which)
    ax = plot_critical_difference(comparison)
    (ruler,) = lines(ax, "critical difference")
    assert_allclose(ruler.get_xdata(), [1, 1 + comparison.critical_difference])
    assert min(ruler.get_ydata()) > 0
    (text,) = [t.get_text() for t in ax.texts if t.get_text().startswith("CD")]
    assert text.startswith(f"CD = {comparison.critical_difference:.2f} ({comparison.test}")


def test_a_ruler_longer_than_the_line_of_ranks_has_room():
    comparison = compare_classifiers([[1.0, 2.0], [1.0, 2.0]])
    assert comparison.critical_difference > 1
    ax = plot_critical_difference(comparison)
    assert ax.get_xlim()[1] == 1 + comparison.critical_difference
    assert ax.spines["top"].get_bounds() == (1, 2)
    assert_array_equal(ax.get_xticks(), [1, 2])


def test_many_classifiers_have_few_ticks_and_nothing_leaves_the_figure():
    rng = np.random.default_rng(0)
    comparison = compare_classifiers(rng.standard_normal((30, 25)) + 0.2 * np.arange(25))
    ax = plot_critical_difference(comparison)
    assert_array_equal(ax.get_xticks(), range(1, 26, 3))
    ax.figure.canvas.draw()
    outer = ax.figure.bbox
    for text in ax.texts:
        box = text.get_window_extent()
        assert outer.x0 <= box.x0 and box.x1 <= outer.x1
        assert outer.y0 <= box.y0 and box.y1 <= outer.y1


def test_given_axes_are_used_and_returned(pairs):
    figure, given = plt.subplots()
    assert plot_critical_difference(pairs, ax=given) is given
    assert plt.get_fignums() == [figure.number]


def test_what_is_no_comparison_is_refused_before_a_figure_is_opened(scores):
    with pytest.raises(TypeError, match="compare_classifiers returns, got ndarray"):
        plot_critical_difference(scores)
    assert plt.get_fignums() == []
