"""How the function depends on one feature, or on two."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from .._checks import check_count, check_share
from .effect_draws import effect_draws, resolve_target, rows_of
from .feature_sets import feature_label
from .figure_parts import CLASS_COLOURS, finish, open_axes

_FEW_VALUES = 10  # of a feature: shown as points, not as a curve
_MOST_MARKS = 500  # rows marked
_COLOUR = CLASS_COLOURS[0]
# light enough for black lines and dots everywhere
_SURFACE = LinearSegmentedColormap.from_list("sparsekern_effect", ["#FFF9E8", "#B9DCE6", "#4E9AC8"])


def plot_feature_effect(
    model: Any,
    X: Any,
    feature: Any,
    *,
    grid_points: int | None = None,
    level: float = 0.95,
    others: str = "average",
    target: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the function along one feature with its credible band, or over two features.

    For a regressor the function is the mean of y, without noise; for a classifier it is the
    probability of a class. One feature: the posterior mean, and a band that holds the function at
    each value with probability ``level``. Marks at the bottom are rows of X. Two features: the
    posterior mean as colours, and the posterior standard deviation as dashed lines; dots are rows
    of X, away from which the function is extrapolated.

    Parameters
    ----------
    model : fitted regressor or classifier of this package
    X : array-like of shape (n_samples, n_features)
        Rows, such as the training rows: they say what range the feature has and what the other
        features are.
    feature : int, str or a pair of them
        Index or name.
    grid_points : int, optional
        Values of the feature, from its smallest to its largest in X; None: 50, and 25 along each
        of two features. A feature with at most ten values is shown at these.
    level : float, default=0.95
        Of the band.
    others : {"average", "median"}, default="average"
        Average the function over the other features as they are in the rows (the partial
        dependence; over evenly spaced rows if there are very many), or put them at their medians.
    target : label, optional
        Class whose probability is shown; None: the last one of two.
    ax : Axes, optional
        None: a new figure.

    Returns
    -------
    Axes
        With two features the colour bar is a further Axes of its figure.

    Notes
    -----
    At most about 400 evenly spaced draws of the posterior are used. The band is that of the curve
    given the rows of X, and pointwise: the whole curve leaves it more often.
    """
    level = check_share("level", level)
    rows = rows_of(model, X)
    column = resolve_target(model, target)
    chosen = _resolve_features(model, feature)
    number = (50, 25)[len(chosen) - 1]
    if grid_points is not None:
        number = check_count("grid_points", grid_points, 2)
    grids = [_grid(model, rows, index, number) for index in chosen]
    points = np.stack(np.meshgrid(*grids), axis=-1).reshape(-1, len(chosen))
    draws = effect_draws(model, rows, chosen, points, others, column)
    ax = open_axes(ax, 1, 1, figsize=(4.8, 3.6) if len(chosen) == 1 else (5.6, 4.2))[0, 0]
    how = "others averaged" if others == "average" else "others at their medians"
    what = "Mean of y" if column is None else f"Probability of class {model.classes_[column]}"
    label = f"{what}\n({how})" if len(rows[0]) > len(chosen) else what
    ax.set_xlabel(feature_label(model, chosen[0]))
    if len(chosen) == 1:
        values = np.unique(rows[:, chosen[0]])
        _draw_curve(ax, grids[0], draws, level, few=len(values) <= _FEW_VALUES)
        _mark_rows(ax, values)
        ax.set_ylabel(label)
        finish(ax)
    else:
        _draw_surface(ax, grids, draws, label)
        ax.set_ylabel(feature_label(model, chosen[1]))
        ax.plot(
            *_evenly(rows[:, chosen]).T,
            color="black",
            linestyle="none",
            marker=".",
            markersize=3,
            alpha=0.4,
        )
    return ax


def _draw_curve(ax: Axes, grid: np.ndarray, draws: np.ndarray, level: float, few: bool) -> None:
    mean = draws.mean(axis=0)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    label = f"{100 * level:g} % band"
    if not few:
        ax.fill_between(grid, low, high, color=_COLOUR, alpha=0.2, linewidth=0, label=label)
        ax.plot(grid, mean, color=_COLOUR, linewidth=1.8, label="posterior mean")
    else:
        ax.vlines(grid, low, high, color=_COLOUR, linewidth=1.5, label=label)
        ax.plot(grid, mean, color=_COLOUR, linestyle="none", marker="o", label="posterior mean")
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=2, frameon=False,
        fontsize="small", handletextpad=0.4, columnspacing=1.2, handlelength=1.2,
    )  # fmt: skip


def _mark_rows(ax: Axes, values: np.ndarray) -> None:
    if len(values) <= _FEW_VALUES:
        ax.set_xticks(values)
        return
    marks = _evenly(values)
    ax.plot(
        marks, np.zeros_like(marks), color="black", linestyle="none", marker="|", markersize=7,
        markeredgewidth=0.6, alpha=0.5, clip_on=False, transform=ax.get_xaxis_transform(),
    )  # fmt: skip


def _draw_surface(ax: Axes, grids: list[np.ndarray], draws: np.ndarray, label: str) -> None:
    shape = (len(grids[1]), len(grids[0]))
    mean, spread = (values.reshape(shape) for values in (draws.mean(axis=0), draws.std(axis=0)))
    flat = np.ptp(mean) <= 1e-9 * max(1.0, float(np.abs(mean).max()))
    levels = mean[0, 0] + np.array([-1.0, 1.0]) if flat else 12
    surface = ax.contourf(*grids, mean, levels, cmap=_SURFACE)
    bar = ax.figure.colorbar(surface, ax=ax, label=label)
    bar.outline.set_visible(False)  # type: ignore[operator]
    if np.ptp(spread) > 1e-9 * max(1.0, float(spread.max())):
        lines = ax.contour(*grids, spread, 5, colors="black", linewidths=0.8, linestyles="dashed")
        ax.clabel(lines, fontsize="x-small", fmt="%.2g")
    ax.plot([], [], color="black", linewidth=0.8, linestyle="--", label="posterior sd")
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, frameon=False, fontsize="small"
    )


def _resolve_features(model: Any, feature: Any) -> list[int]:
    """Return the indices of one or two features."""
    given = list(feature) if isinstance(feature, (tuple, list, np.ndarray)) else [feature]
    chosen = [_find(model, item) for item in given]
    if not 1 <= len(chosen) <= 2 or len(set(chosen)) < len(chosen):
        raise ValueError(
            f"feature must be one feature or a pair of two different ones, got {feature!r}."
        )
    return chosen


def _find(model: Any, feature: Any) -> int:
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if isinstance(feature, str):
        if feature not in names:
            known = f"one of {names}" if names else "an index: the model was fitted without names"
            raise ValueError(f"feature {feature!r} was not seen in fit; pass {known}.")
        return names.index(feature)
    if isinstance(feature, bool) or not isinstance(feature, Integral):
        raise TypeError(
            f"feature must be an index or a name, got {feature!r} of type "
            f"{type(feature).__name__}; pass an int or a str, or a pair of them."
        )
    if not 0 <= int(feature) < model.n_features_in_:
        raise ValueError(
            f"feature must lie between 0 and {model.n_features_in_ - 1}, got {feature!r}; pass "
            "the index of a column of X."
        )
    return int(feature)


def _grid(model: Any, rows: np.ndarray, feature: int, number: int) -> np.ndarray:
    values = np.unique(rows[:, feature])
    if len(values) == 1:
        raise ValueError(
            f"feature {feature_label(model, feature)} is {values[0]:g} in every row of X; pass "
            "rows in which it varies."
        )
    return values if len(values) <= _FEW_VALUES else np.linspace(values[0], values[-1], number)


def _evenly(rows: np.ndarray) -> np.ndarray:
    """Return the rows, or evenly spaced ones if there are very many."""
    return rows[np.linspace(0, len(rows) - 1, min(_MOST_MARKS, len(rows))).astype(np.intp)]
