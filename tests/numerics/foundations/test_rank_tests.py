"""Comparison of classifiers by ranks: published figures, scipy, enumeration and limits."""

import dataclasses
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from sparsekern.diagnostics import compare_classifiers

# errors (%) in Chen, Tino and Yao, "Efficient probabilistic classification vector machine with
# incremental basis function selection": 13 data sets
PAPER = pd.DataFrame({
    "SVM": [21.19, 9.72, 27.31, 23.50, 29.87, 16.15, 5.63, 1.67, 10.41, 4.57, 21.18, 2.42, 8.86],
    "RVM": [20.95, 9.76, 28.37, 24.86, 25.85, 18.90, 5.25, 1.65, 12.10, 5.49, 22.14, 2.51, 9.27],
    "SMLR": [20.98, 9.74, 27.39, 23.39, 25.06, 19.52, 5.89, 1.68, 11.41, 5.25, 21.18, 2.32, 9.21],
    "EM": [22.14, 9.88, 27.08, 23.35, 23.96, 16.76, 5.22, 1.67, 12.05, 4.91, 22.16, 2.36, 10.23],
    "EP": [21.16, 9.60, 26.65, 23.18, 23.85, 16.65, 5.16, 1.66, 11.27, 5.16, 21.02, 2.31, 9.16],
    "Laplace": [
        20.42, 9.62, 26.71, 23.11, 24.09, 16.65, 5.18, 1.52, 11.30, 5.02, 20.83, 2.31, 9.13,
    ],
})  # fmt: skip


def _untied(n_sets=12, n_classifiers=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_sets, n_classifiers)) + 0.4 * np.arange(n_classifiers)


def test_figures_of_the_paper():
    found = compare_classifiers(PAPER, control="Laplace")
    assert_array_equal(found.average_ranks.index, PAPER.columns)
    assert_allclose(found.average_ranks, [3.46, 4.85, 4.42, 4.19, 2.15, 1.92], atol=0.005)
    assert found.n_data_sets == 13
    assert found.iman_davenport_statistic == pytest.approx(8.88, abs=0.005)
    assert found.iman_davenport_pvalue == pytest.approx(
        stats.f.sf(found.iman_davenport_statistic, 5, 60), rel=1e-9
    )
    assert found.test == "Bonferroni-Dunn"
    assert found.critical_difference == pytest.approx(1.707, abs=0.0005)
    assert found.different_from_control.to_dict() == {
        "SVM": False, "RVM": True, "SMLR": True, "EM": True, "EP": False,
    }  # fmt: skip


def test_figures_of_demsar():
    """His table 6 and section 3.2.2: areas under curves of four variants of C4.5 on 14 sets."""
    # voting, the last but one: the table prints .975 twice, with the ranks 2 and 3
    areas = [
        [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970],
    ]  # fmt: skip
    names = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
    pairs = compare_classifiers(areas, names=names, lower_is_better=False)
    assert_allclose(pairs.average_ranks, [3.143, 2.000, 2.893, 1.964], atol=0.0005)
    assert pairs.friedman_statistic == pytest.approx(9.28, abs=0.005)
    assert pairs.iman_davenport_statistic == pytest.approx(3.69, abs=0.005)
    assert pairs.critical_difference == pytest.approx(1.12, abs=0.005)
    differ = pairs.different_pairs
    assert differ.to_numpy().sum() == 4  # two pairs, in both triangles
    assert differ.loc["C4.5", "C4.5+m"] and differ.loc["C4.5", "C4.5+m+cf"]
    control = compare_classifiers(
        areas, names=names, control="C4.5", alpha=0.05, lower_is_better=False
    )
    assert control.critical_difference == pytest.approx(1.16, abs=0.01)


@pytest.mark.parametrize(
    ("alpha", "control", "published"),
    [
        (0.05, None, [1.960, 2.343, 2.569, 2.728, 2.850]),
        (0.10, None, [1.645, 2.052, 2.291, 2.459, 2.589]),
        (0.05, "classifier 1", [1.960, 2.241, 2.394, 2.498, 2.576]),
        (0.10, "classifier 1", [1.645, 1.960, 2.128, 2.241, 2.326]),
    ],
)
def test_critical_values_are_those_of_demsars_table(alpha, control, published):
    for j, value in enumerate(published, start=2):
        found = compare_classifiers(_untied(9, j), alpha=alpha, control=control)
        unit = np.sqrt(j * (j + 1) / (6 * 9))
        assert found.critical_difference / unit == pytest.approx(value, abs=0.0011)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_nemenyi_is_the_studentized_range(alpha):
    found = compare_classifiers(_untied(12, 5), alpha=alpha)
    assert found.test == "Nemenyi"
    q = found.critical_difference / np.sqrt(5 * 6 / (6 * 12)) * np.sqrt(2)
    assert stats.studentized_range.sf(q, 5, np.inf) == pytest.approx(alpha, rel=1e-6)


@pytest.mark.parametrize("shape", [(12, 5), (4, 3), (30, 8)])
def test_friedman_is_that_of_scipy_without_ties(shape):
    scores = _untied(*shape)
    found = compare_classifiers(scores)
    expected = stats.friedmanchisquare(*scores.T)
    assert found.friedman_statistic == pytest.approx(expected.statistic)
    assert found.friedman_pvalue == pytest.approx(expected.pvalue)


def test_friedman_is_that_of_scipy_but_for_the_correction_for_ties():
    scores = np.round(2 * _untied()) / 2
    ranks = stats.rankdata(scores, axis=1)
    T, j = scores.shape
    counts = [np.unique(row, return_counts=True)[1] for row in ranks]
    correction = 1 - sum((c**3 - c).sum() for c in counts) / (T * j * (j**2 - 1))
    assert correction < 0.99
    expected = stats.friedmanchisquare(*scores.T).statistic
    assert compare_classifiers(scores).friedman_statistic == pytest.approx(expected * correction)


def test_iman_davenport_is_the_analysis_of_variance_of_ranks():
    ranks = stats.rankdata(_untied(), axis=1)
    T, j = ranks.shape
    mean = ranks.mean(axis=0)
    between = T * np.sum((mean - (j + 1) / 2) ** 2) / (j - 1)
    within = np.sum((ranks - mean) ** 2) / ((j - 1) * (T - 1))  # all rows have the same mean
    assert compare_classifiers(ranks).iman_davenport_statistic == pytest.approx(between / within)


def test_perfect_agreement_has_the_exact_probability():
    orders = list(itertools.permutations([1.0, 2.0, 3.0]))
    found = [
        compare_classifiers(table, control="classifier 1")
        for table in itertools.product(orders, repeat=3)
    ]
    agree = [c for c in found if np.isinf(c.iman_davenport_statistic)]
    assert len(agree) == len(orders)
    for comparison in agree:
        assert comparison.iman_davenport_pvalue == pytest.approx(len(agree) / len(found))
        assert comparison.friedman_statistic == pytest.approx(6.0)  # T (j - 1)
        assert sorted(comparison.average_ranks) == [1, 2, 3]


def test_complete_ties_say_nothing():
    found = compare_classifiers(np.ones((4, 3)))
    assert_array_equal(found.average_ranks, [2, 2, 2])
    assert (found.friedman_statistic, found.friedman_pvalue) == (0, 1)
    assert (found.iman_davenport_statistic, found.iman_davenport_pvalue) == (0, 1)
    assert "not to be read" in str(found)


def test_the_level_is_kept_where_all_are_alike():
    rng = np.random.default_rng(0)
    rejected = [
        compare_classifiers(scores, control="classifier 1").iman_davenport_pvalue < 0.1
        for scores in rng.standard_normal((1000, 12, 5))
    ]
    assert abs(np.mean(rejected) - 0.1) < 4 * np.sqrt(0.09 / 1000)


def test_direction_and_order_of_classifiers():
    lower = compare_classifiers(PAPER)
    higher = compare_classifiers(100 - PAPER.to_numpy().round(2), lower_is_better=False)
    assert_allclose(higher.average_ranks, lower.average_ranks)
    assert list(higher.average_ranks.index[:2]) == ["classifier 1", "classifier 2"]
    turned = compare_classifiers(PAPER[PAPER.columns[::-1]])
    pd.testing.assert_series_equal(turned.average_ranks[::-1], lower.average_ranks)
    assert turned.cliques == lower.cliques


def test_cliques_are_the_largest_groups_without_a_different_pair():
    found = compare_classifiers(PAPER)
    assert found.cliques == (("Laplace", "EP", "SVM"), ("SVM", "EM", "SMLR", "RVM"))
    rng = np.random.default_rng(1)
    for _ in range(6):
        found = compare_classifiers(rng.standard_normal((40, 7)) + 0.5 * rng.permutation(7))
        alike = ~found.different_pairs
        subsets = (
            set(names)
            for size in range(2, 8)
            for names in itertools.combinations(alike.index, size)
            if alike.loc[list(names), list(names)].to_numpy().all()
        )
        expected = list(subsets)
        largest = [s for s in expected if not any(s < other for other in expected)]
        assert sorted(map(sorted, largest)) == sorted(map(sorted, found.cliques))


def test_names_come_from_the_columns_of_any_frame():
    polars = pl.DataFrame({name: PAPER[name].to_list() for name in PAPER})
    pd.testing.assert_series_equal(
        compare_classifiers(polars).average_ranks, compare_classifiers(PAPER).average_ranks
    )
    renamed = compare_classifiers(PAPER, names=list("abcdef"), control="f")
    assert list(renamed.different_from_control.index) == list("abcde")


def test_results_are_readable_and_frozen():
    control, pairs = compare_classifiers(PAPER, control="Laplace"), compare_classifiers(PAPER)
    assert str(control) == repr(control)
    for part in (
        "6 classifiers on 13 data sets", "Laplace  1.92", "SVM      3.46",
        "Friedman chi-square 27.65", "Iman-Davenport F 8.883 (5 and 60 degrees",
        "Bonferroni-Dunn critical difference 1.707", "different from Laplace: RVM, SMLR, EM",
    ):  # fmt: skip
        assert part in str(control)
    assert "not told apart: Laplace, EP, SVM; SVM, EM, SMLR, RVM" in str(pairs)
    with pytest.raises(dataclasses.FrozenInstanceError):
        control.alpha = 0.05


def test_what_was_not_tested_is_refused():
    control, pairs = compare_classifiers(PAPER, control="EP"), compare_classifiers(PAPER)
    with pytest.raises(
        ValueError, match=r"different_from_control needs a control.*different_pairs"
    ):
        _ = pairs.different_from_control
    for attribute in ("different_pairs", "cliques"):
        with pytest.raises(ValueError, match=f"{attribute} needs a comparison of all pairs"):
            getattr(control, attribute)


@pytest.mark.parametrize(
    ("scores", "options", "error", "message"),
    [
        ([[1.0, 2.0], [np.nan, 1.0]], {}, ValueError, "finite, got nan in row 1, column 0"),
        ([[1.0, 2.0], [1.0, np.inf]], {}, ValueError, "finite, got inf in row 1, column 1"),
        ([[1.0], [2.0]], {}, ValueError, r"two columns.*shape \(2, 1\)"),
        ([[1.0, 2.0]], {}, ValueError, r"two rows.*shape \(1, 2\)"),
        ([1.0, 2.0], {}, ValueError, r"shape \(2,\)"),
        ([["banana", 1.0, 2.0]] * 3, {}, ValueError, "numbers only.*index"),
        (PAPER, {"control": "Lapalce"}, ValueError, "SVM, RVM.*or None.*got 'Lapalce'"),
        (PAPER, {"alpha": 0}, ValueError, "alpha"),
        (PAPER, {"alpha": 1.0}, ValueError, "alpha must lie strictly between 0 and 1"),
        (PAPER, {"alpha": "5 %"}, TypeError, "alpha"),
        (PAPER, {"names": ["a", "b"]}, ValueError, "6 columns.*got 'a', 'b'"),
        (PAPER, {"names": list("aabcde")}, ValueError, "a name of its own"),
        (PAPER, {"names": "abcdef"}, TypeError, "got the string 'abcdef'"),
        (PAPER, {"lower_is_better": "yes"}, TypeError, "lower_is_better"),
    ],
)
def test_bad_input(scores, options, error, message):
    with pytest.raises(error, match=message):
        compare_classifiers(scores, **options)
