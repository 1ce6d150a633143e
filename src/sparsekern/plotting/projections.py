"""Kernel projections: their number, their scatter by class, their matrix, single cases."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from .._checks import check_count
from ..composites import final_estimator, take_apart
from ..estimators import KernelProjectionClassifier
from .figure_parts import CHAIN_COLOURS, POOLED_COLOUR, finish, open_axes

_BINS = np.linspace(0.0, 1.0, 26)


def _check_projections(model: Any) -> None:
    if not isinstance(model, KernelProjectionClassifier):
        raise TypeError(
            f"model must be a fitted KernelProjectionClassifier; got {type(model).__name__}."
        )
    check_is_fitted(model, "n_draws_")


def _inside(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the model at the end of a pipeline, and rows as it sees them."""
    parts = take_apart(model)
    _check_projections(parts.final)
    return parts.final, parts.inputs(X)


def _colour(number: int) -> str:
    return CHAIN_COLOURS[number % len(CHAIN_COLOURS)]


def plot_expected_utility(model: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the expected utility of every number of components, and its maximum.

    Bars are one standard error, over the random halves, of the difference to the best size: sizes
    whose bar reaches the dotted line are not clearly worse. A ring marks the size that was used.

    Parameters
    ----------
    model : fitted KernelProjectionClassifier
        With ``n_components="utility"`` or ``"log_score"``.
    ax : Axes, optional
        None: a new figure.

    Returns
    -------
    Axes
    """
    model = final_estimator(model)
    _check_projections(model)
    if not hasattr(model, "utility_") or model.utility_.empty:
        raise ValueError(
            f"n_components={model.n_components!r} made no search; fit with "
            "n_components='utility' or 'log_score'."
        )
    table = model.utility_
    sizes, utility = table.index.to_numpy(), table["utility"].to_numpy()
    error = table["to_best_error"].fillna(0.0).to_numpy()
    ax = open_axes(ax, 1, 1, figsize=(5.6, 3.4))[0, 0]
    ax.errorbar(sizes, utility, error, color=POOLED_COLOUR, marker="o", markersize=4, capsize=2)
    best = int(utility.argmax())
    ax.axhline(utility[best], color="black", linewidth=0.8, linestyle=":")
    used = int(np.abs(sizes - model.n_components_).argmin())
    ax.plot(
        sizes[used], utility[used], "o", markersize=11, fillstyle="none", color=CHAIN_COLOURS[5],
        label=f"{sizes[used]} components used",
    )  # fmt: skip
    label = "Expected utility" if model.n_components == "utility" else "Log score"
    ax.set(xlabel="Components", ylabel=label)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(frameon=False, fontsize="small")
    finish(ax)
    return ax


def _projected(model: Any, X: Any, y: Any, most: int) -> tuple[np.ndarray, np.ndarray]:
    labels = column_or_1d(y)
    check_consistent_length(X, labels)
    unknown = sorted({*labels.tolist()} - {*model.classes_.tolist()}, key=str)
    if unknown:
        raise ValueError(f"y holds {unknown}, which are not among the classes of the model.")
    values = np.asarray(model.transform(X))[:, :most]
    if values.shape[1] == 0:
        raise ValueError("the model has no components: all its training rows look the same.")
    return values, labels


def plot_components(
    model: Any, X: Any, y: Any, *, n_components: int = 4, axes: Any = None
) -> np.ndarray:
    """Plot the leading components of rows against each other, coloured by class.

    On the diagonal are histograms of each component by class. Classes that fall apart in some panel
    are easy; those that do so in none may still be told apart by several components together.

    Parameters
    ----------
    model : fitted KernelProjectionClassifier
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Their classes.
    n_components : int, default=4
        Show at most so many.
    axes : array of Axes, optional
        None: a new figure.

    Returns
    -------
    ndarray of Axes of shape (n_components, n_components)
    """
    model, X = _inside(model, X)
    values, labels = _projected(model, X, y, check_count("n_components", n_components))
    count = values.shape[1]
    grid = open_axes(axes, count, count, figsize=(1.6 * count + 0.6, 1.6 * count + 0.4))
    for row in range(count):
        bins = np.histogram_bin_edges(values[:, row], bins=15)
        for column in range(count):
            ax = grid[row, column]
            for number, name in enumerate(model.classes_):
                here = values[labels == name]
                colour = _colour(number)
                if row == column:
                    ax.hist(here[:, row], bins, color=colour, alpha=0.5)
                else:
                    ax.scatter(here[:, column], here[:, row], s=9, color=colour, linewidth=0)
            ax.tick_params(labelsize="x-small")
            if row == count - 1:
                ax.set_xlabel(f"Component {column + 1}", fontsize="small")
            if column == 0:
                ax.set_ylabel(f"Component {row + 1}", fontsize="small")
            finish(ax)
    for number, name in enumerate(model.classes_):
        grid[0, 0].scatter([], [], s=14, color=_colour(number), label=f"class {name}")
    grid[0, 0].legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, frameon=False,
        fontsize="small", ncols=min(count * 2, len(model.classes_)), handletextpad=0.2,
    )  # fmt: skip
    return grid


def plot_projection_matrix(
    model: Any, X: Any, y: Any, *, n_components: int = 15, ax: Axes | None = None
) -> Axes:
    """Plot the projections of rows as an image, rows sorted by class.

    Every component is divided by its largest absolute value, so that small ones can be seen, too.
    Stripes that change colour between classes show what separates them.

    Parameters
    ----------
    model : fitted KernelProjectionClassifier
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Their classes.
    n_components : int, default=15
        Show at most so many.
    ax : Axes, optional
        None: a new figure.

    Returns
    -------
    Axes
        The colour bar is a further Axes of its figure.
    """
    model, X = _inside(model, X)
    values, labels = _projected(model, X, y, check_count("n_components", n_components))
    places = np.searchsorted(model.classes_, labels)
    order = np.argsort(places, kind="stable")
    largest = np.abs(values).max(axis=0)
    scaled = values[order] / np.where(largest > 0, largest, 1.0)
    ax = open_axes(ax, 1, 1, figsize=(5.2, 4.6))[0, 0]
    image = ax.imshow(scaled, aspect="auto", cmap="RdBu_r", vmin=-1, vmax=1, interpolation="none")
    ends = np.cumsum(np.bincount(places, minlength=len(model.classes_)))
    for end in ends[:-1]:
        ax.axhline(end - 0.5, color="black", linewidth=0.8)
    starts = np.concatenate([[0], ends[:-1]])
    ax.set_yticks(0.5 * (starts + ends) - 0.5, [f"class {name}" for name in model.classes_])
    step = max(1, values.shape[1] // 10)
    shown = np.arange(0, values.shape[1], step)
    ax.set_xticks(shown, [str(number + 1) for number in shown])
    ax.set(xlabel="Component")
    ax.figure.colorbar(image, ax=ax, label="Projection, over its largest")
    return ax


def plot_class_probabilities(model: Any, X: Any, *, axes: Any = None) -> np.ndarray:
    """Plot histograms of the class probabilities' posterior draws, one panel for each row.

    A class with all its mass near one is sure; a class whose histogram reaches from zero to one may
    have the same mean as one with all draws at one half. Vertical lines are ``predict_proba``.

    Parameters
    ----------
    model : fitted KernelProjectionClassifier
    X : array-like of shape (n_rows, n_features)
        A few rows.
    axes : array of Axes, optional
        As many as rows. None: a new figure.

    Returns
    -------
    ndarray of Axes of shape (n_rows,)
    """
    model, X = _inside(model, X)
    draws, predicted = model.sample_proba(X), model.predict_proba(X)
    rows = draws.shape[1]
    grid = open_axes(axes, rows, 1, figsize=(5.6, 0.7 + 1.5 * rows), sharex=axes is None)[:, 0]
    for row, ax in enumerate(grid):
        weights = np.full(len(draws), 1.0 / len(draws))
        for number, name in enumerate(model.classes_):
            colour = _colour(number)
            ax.hist(
                draws[:, row, number], _BINS, weights=weights, color=colour, alpha=0.5,
                label=f"class {name}",
            )  # fmt: skip
            ax.axvline(predicted[row, number], color=colour, linewidth=1.5)
        ax.set(xlim=(0, 1), ylabel=f"Row {row}\nshare of draws")
        finish(ax)
    grid[-1].set_xlabel("Class probability")
    grid[0].legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, frameon=False,
        fontsize="small", ncols=len(model.classes_),
    )  # fmt: skip
    return grid
