r"""Comparison of classifiers over data sets by their ranks (Demšar 2006).

On each of T data sets the j classifiers get ranks 1 (best) to j, ties the mean of their ranks.
With the rank sums :math:`R_i` Kendall's coefficient of concordance

.. math:: W=\frac{12\sum_i(R_i-T(j+1)/2)^2}{T^2j(j^2-1)}\in[0,1]

is 1 where all data sets agree. Friedman's statistic is :math:`\chi^2=T(j-1)W`, with j - 1 degrees
of freedom; it is too cautious, and :math:`F=(T-1)W/(1-W)=(T-1)\chi^2/(T(j-1)-\chi^2)` of Iman and
Davenport, with j - 1 and (j - 1)(T - 1), takes its place. Where they reject that all classifiers
are alike, two of them differ at the level :math:`\alpha` if their average ranks differ by at least

.. math:: CD=q\sqrt{\frac{j(j+1)}{6T}},\qquad
    q_{Bonferroni-Dunn}=z_{1-\alpha/(2(j-1))},\quad q_{Nemenyi}=Q_{1-\alpha}(j,\infty)/\sqrt2,

Q the quantile of the studentized range. The first compares each classifier with a control and
nothing else, the second all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from ..._checks import check_flag, check_share
from .classifier_comparison import ClassifierComparison


def compare_classifiers(
    scores: Any,
    *,
    names: Sequence[str] | None = None,
    control: str | None = None,
    alpha: float = 0.10,
    lower_is_better: bool = True,
) -> ClassifierComparison:
    r"""Compare classifiers over several data sets by their average ranks.

    Friedman's test and its correction by Iman and Davenport say whether the classifiers differ at
    all; the critical difference says which of them do: each from a control (Bonferroni-Dunn), or
    all pairs (Nemenyi) if there is no control.

    Parameters
    ----------
    scores : array-like or DataFrame of shape (data sets, classifiers)
        Such as mean errors over splits. Scores are tied only where they are equal: round them
        first if differences in their last digits mean nothing.
    names : sequence of str, optional
        Names of the classifiers. None: the columns of a DataFrame, else "classifier 1" and so on.
    control : str, optional
        Name of the classifier that the others are compared with. None: all pairs are compared.
    alpha : float, default=0.10
        Level of the test, for all of its comparisons together.
    lower_is_better : bool, default=True
        True for errors and losses, False for accuracies.

    Returns
    -------
    ClassifierComparison

    Notes
    -----
    With rank sums :math:`R_i` of j classifiers on T data sets,

    .. math:: \chi^2=\frac{12}{Tj(j+1)}\sum_i\Big(R_i-\frac{T(j+1)}2\Big)^2,\quad
        F=\frac{(T-1)\chi^2}{T(j-1)-\chi^2},\quad CD=q\sqrt{\frac{j(j+1)}{6T}}.

    As in Demšar's formula the statistics are not divided by a correction for ties, which
    :func:`scipy.stats.friedmanchisquare` applies: with ties they are somewhat smaller, and so
    cautious. Where all data sets order the classifiers alike F is infinite and its p-value that
    of the exact test, :math:`(1/j!)^{T-1}`. The approximations are good from some ten data sets
    and five classifiers on.

    References
    ----------
    Demšar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7. Iman and Davenport (1980). Approximations of the critical region
    of the Friedman statistic. Communications in Statistics A 9. Conover (1999). Practical
    nonparametric statistics, section 5.8 (perfect agreement).

    Examples
    --------
    >>> from sparsekern.diagnostics import compare_classifiers
    >>> errors = [[21.2, 20.4, 22.1], [9.7, 9.6, 9.9], [27.3, 26.7, 27.1], [23.5, 23.1, 23.4]]
    >>> found = compare_classifiers(errors, names=["SVM", "Laplace", "EM"], control="Laplace")
    >>> found.average_ranks.to_list()
    [2.5, 1.0, 2.5]
    """
    values = _check_scores(scores)
    labels = _check_names(scores, names, values.shape[1])
    if control is not None and control not in labels:
        raise ValueError(
            f"control must be the name of one of the classifiers, {', '.join(labels)}, or None "
            f"to compare all pairs; got {control!r}."
        )
    alpha = check_share("alpha", alpha)
    lower = check_flag("lower_is_better", lower_is_better)
    ranks = stats.rankdata(values if lower else -values, axis=1)
    n_sets, n_classifiers = ranks.shape
    friedman, friedman_pvalue, iman_davenport, iman_davenport_pvalue = _overall_tests(ranks)
    if control is None:
        quantile = stats.studentized_range.isf(alpha, n_classifiers, np.inf) / math.sqrt(2.0)
    else:
        quantile = stats.norm.isf(alpha / (2 * (n_classifiers - 1)))
    return ClassifierComparison(
        average_ranks=pd.Series(
            ranks.mean(axis=0), index=pd.Index(labels, name="classifier"), name="average rank"
        ),
        n_data_sets=n_sets,
        friedman_statistic=friedman,
        friedman_pvalue=friedman_pvalue,
        iman_davenport_statistic=iman_davenport,
        iman_davenport_pvalue=iman_davenport_pvalue,
        test="Nemenyi" if control is None else "Bonferroni-Dunn",
        alpha=alpha,
        critical_difference=float(
            quantile * math.sqrt(n_classifiers * (n_classifiers + 1) / (6.0 * n_sets))
        ),
        control=control,
    )


def _overall_tests(ranks: np.ndarray) -> tuple[float, float, float, float]:
    """Return Friedman's statistic and p-value, and Iman and Davenport's."""
    T, j = ranks.shape
    # ranks are halves of whole numbers: these sums are exact, and agreement is seen exactly
    spread = float(np.sum((ranks.sum(axis=0) - T * (j + 1) / 2) ** 2))
    largest = T**2 * j * (j**2 - 1) / 12
    friedman = T * (j - 1) * spread / largest
    friedman_pvalue = float(stats.chi2.sf(friedman, j - 1))
    if spread == largest:
        return friedman, friedman_pvalue, math.inf, math.exp((1 - T) * math.lgamma(j + 1))
    ratio = (T - 1) * spread / (largest - spread)
    return friedman, friedman_pvalue, ratio, float(stats.f.sf(ratio, j - 1, (j - 1) * (T - 1)))


def _check_scores(scores: Any) -> np.ndarray:
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "scores must hold numbers only, one row for each data set and one column for each "
            "classifier; put the names of data sets into the index."
        ) from None
    if values.ndim != 2 or min(values.shape) < 2:
        raise ValueError(
            "scores must have at least two rows (data sets) and two columns (classifiers), got "
            f"the shape {values.shape}; scores of repeated splits belong into one mean per data "
            "set."
        )
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"scores must be finite, got {values[row, column]} in row {row}, column {column}; "
            "leave out the data set or the classifier that has no score."
        )
    return values


def _check_names(scores: Any, names: Sequence[str] | None, count: int) -> list[str]:
    if isinstance(names, str):
        raise TypeError(f"names must be a sequence of {count} names, got the string {names!r}.")
    if names is None:
        names = getattr(scores, "columns", None)
    if names is None:
        names = [f"classifier {number}" for number in range(1, count + 1)]
    labels = [str(name) for name in names]
    if len(labels) != count or len(set(labels)) != count:
        raise ValueError(
            f"names must give each of the {count} columns of scores a name of its own; "
            f"got {', '.join(map(repr, labels))}."
        )
    return labels
