"""Reliability curves: do events predicted with probability p happen with frequency p."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from scipy.special import ndtri
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from .._checks import check_count
from .figure_parts import CLASS_COLOURS, class_column, finish, open_axes

_HISTOGRAM = "predicted probabilities"
_LEVEL = 0.95
_COLOURS = (*CLASS_COLOURS, "#009E73", "#CC79A7")


def plot_calibration(
    model: Any,
    X: Any,
    y: Any,
    *,
    n_bins: int = 10,
    target: Any = None,
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Plot observed frequencies of a class against its predicted probabilities.

    The rows are put into bins of equal width by their predicted probability. A point stands at the
    mean prediction and the observed frequency of its bin, with the 95 % Wilson interval of a
    binomial proportion, which stays within 0 and 1 and is wide where a bin holds few rows. Empty
    bins have no point. The histogram above shows where the predictions lie.

    Parameters
    ----------
    model : fitted classifier
        Any with ``predict_proba``, also a pipeline.
    X : array-like of shape (n_samples, n_features)
        Rows that were not used to fit the model.
    y : array-like of shape (n_samples,)
        Their classes.
    n_bins : int, default=10
        Bins between 0 and 1.
    target : label, optional
        Class whose probability is shown; None: the last one of two.
    ax : Axes, optional
        None: a new figure. A second model may be drawn into the axes of a first one.
    label : str, optional
        Name of the model, for the legend.

    Returns
    -------
    Axes
        Of the reliability curve; the histogram is its first child axes.
    """
    n_bins = check_count("n_bins", n_bins)
    check_is_fitted(model)
    column = class_column(model.classes_, target)
    happened, predicted = _outcomes(model, X, y, column)
    ax = open_axes(ax, 1, 1, figsize=(4.6, 5.0))[0, 0]
    histogram: Any = next((a for a in ax.child_axes if a.get_label() == _HISTOGRAM), None)
    if histogram is None:
        histogram = _prepare(ax, model.classes_[column])
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    totals, means, frequencies = reliability_points(happened, predicted, edges)
    low, high = wilson_interval(frequencies * totals, totals)
    nth = sum(hasattr(container, "lines") for container in ax.containers)
    colour = _COLOURS[nth % len(_COLOURS)]
    ax.plot(means, frequencies, color=colour, linewidth=1.0, alpha=0.35, zorder=2)
    # rounding may leave a bound a few units in the last place beyond the point
    reach = np.maximum([frequencies - low, high - frequencies], 0.0)
    ax.errorbar(
        means, frequencies, reach, color=colour, linestyle="none", marker="os^D"[nth % 4],
        markersize=5, elinewidth=1.2, capsize=2.5, label=label, clip_on=False, zorder=3,
    )  # fmt: skip
    if nth == 0:
        histogram.hist(predicted, edges, histtype="stepfilled", color=colour, alpha=0.2)
    histogram.hist(predicted, edges, histtype="step", color=colour, linewidth=1.2)
    histogram.set_ylim(bottom=0.5)  # on the logarithmic scale one row must be seen too
    if label is not None:
        ax.legend(loc="upper left", frameon=False)
    return ax


def _outcomes(model: Any, X: Any, y: Any, column: int) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each row is of the class, and the probability the model gives it."""
    y = column_or_1d(y)
    check_consistent_length(X, y)
    strange = np.setdiff1d(y, model.classes_)
    if strange.size:
        raise ValueError(
            f"y holds {strange[0]!r}, which is none of the model's classes {model.classes_}."
        )
    return y == model.classes_[column], model.predict_proba(X)[:, column]


def reliability_points(
    happened: np.ndarray, predicted: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, mean prediction and frequency of every bin that is not empty."""
    which = np.clip(np.searchsorted(edges, predicted, side="right") - 1, 0, len(edges) - 2)
    totals = np.bincount(which, minlength=len(edges) - 1)
    used = totals > 0
    sums = (np.bincount(which, weights, len(edges) - 1)[used] for weights in (predicted, happened))
    mean, frequency = (values / totals[used] for values in sums)
    return totals[used], mean, frequency


def wilson_interval(
    successes: np.ndarray, totals: np.ndarray, level: float = _LEVEL
) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's score interval of binomial proportions."""
    z = ndtri(0.5 + level / 2)
    centre = (successes + z**2 / 2) / (totals + z**2)
    share = successes / totals
    half = z * np.sqrt(totals * share * (1 - share) + z**2 / 4) / (totals + z**2)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def _prepare(ax: Axes, positive: Any) -> Any:
    """Draw what does not depend on the model, and return the axes of the histogram."""
    ax.axline((0, 0), slope=1, color="0.5", linewidth=1, linestyle="--", zorder=1)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.set_xlabel(f"Predicted probability of class {positive}")
    ax.set_ylabel(f"Observed frequency of class {positive}")
    finish(ax)
    histogram = ax.inset_axes((0, 1.04, 1, 0.2), sharex=ax, label=_HISTOGRAM)
    histogram.tick_params(labelbottom=False)
    histogram.set_yscale("log")
    histogram.yaxis.set_major_formatter("{x:g}")
    histogram.set_ylabel("Rows")
    finish(histogram)
    return histogram
