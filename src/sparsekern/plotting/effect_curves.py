"""Curves with bands, points with bars, and surfaces, of effects."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from .effect_rows import Feature, Rows
from .figure_parts import CHAIN_COLOURS

_MOST_MARKS = 500  # rows marked
_DODGE = 0.6  # of the space between two values, for the points of several curves
_LONG = 4  # characters of a category's name, beyond which names are turned
# light enough for black lines and dots everywhere
_SURFACE = LinearSegmentedColormap.from_list("sparsekern_effect", ["#FFF9E8", "#B9DCE6", "#4E9AC8"])
_ABOVE: dict[str, Any] = {
    "loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2, "frameon": False,
    "fontsize": "small", "handletextpad": 0.4, "columnspacing": 1.2, "handlelength": 1.2,
}  # fmt: skip


def draw_curves(
    ax: Axes, features: list[Feature], line: np.ndarray, draws: np.ndarray, level: float
) -> None:
    """Draw the effect of the first feature, one curve for each value of the second if there is one.

    Parameters
    ----------
    ax : Axes
    features : list of one or two Features
    line : ndarray of shape (points,)
        The first feature runs fastest.
    draws : ndarray of shape (draws, points)
    level : float
    """
    along, by = features[0], features[1] if len(features) == 2 else None
    values = [None] if by is None else list(by.grid)
    size = len(along.grid)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    gap = np.diff(along.places).min() if along.discrete else 0.0
    shifts = np.zeros(1) if by is None else _DODGE * gap * np.linspace(-0.5, 0.5, len(values))
    for number, value in enumerate(values):
        part = slice(number * size, (number + 1) * size)
        colour = _colour(number, len(values))
        name = "prediction" if by is None else _text(value)
        kind = "interval" if along.discrete else "band"
        band = f"{100 * level:g} % {kind}" if by is None else ""
        places = along.places + shifts[number]
        if along.discrete:
            ax.vlines(places, low[part], high[part], color=colour, linewidth=1.5, label=band)
            ax.plot(places, line[part], color=colour, linestyle="none", marker="o", label=name)
        else:
            ax.fill_between(
                places, low[part], high[part], color=colour, alpha=0.2, linewidth=0, label=band
            )
            ax.plot(places, line[part], color=colour, linewidth=1.8, label=name)
    if by is None:
        ax.legend(ncols=2, **_ABOVE)
    else:
        kind = "intervals" if along.discrete else "bands"
        shown = f"{by.label} ({100 * level:g} % {kind})"
        ax.legend(
            title=shown, title_fontsize="small", alignment="left", ncols=min(len(values), 6),
            **_ABOVE,
        )  # fmt: skip
    if along.discrete:
        names = [_text(value) for value in along.grid]
        turned = not len(along.values) and max(map(len, names)) * len(names) > 10 * _LONG
        ax.set_xticks(
            along.places, names, rotation=30 if turned else 0, ha="right" if turned else "center"
        )
        ax.margins(x=0.1)


def _colour(number: int, count: int) -> Any:
    if count <= len(CHAIN_COLOURS):
        return CHAIN_COLOURS[number]
    return colormaps["viridis"](number / count)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)


def draw_surface(
    ax: Axes, features: list[Feature], line: np.ndarray, draws: np.ndarray, label: str
) -> None:
    """Draw the effect of two features as colours, its posterior deviation as lines."""
    grids = [feature.grid for feature in features]
    shape = (len(grids[1]), len(grids[0]))
    mean, spread = line.reshape(shape), draws.std(axis=0).reshape(shape)
    flat = np.ptp(mean) <= 1e-9 * max(1.0, float(np.abs(mean).max()))
    levels = mean[0, 0] + np.array([-1.0, 1.0]) if flat else 12
    surface = ax.contourf(*grids, mean, levels, cmap=_SURFACE)
    bar = ax.figure.colorbar(surface, ax=ax, label=label)
    bar.outline.set_visible(False)  # type: ignore[operator]
    if np.ptp(spread) > 1e-9 * max(1.0, float(spread.max())):
        lines = ax.contour(*grids, spread, 5, colors="black", linewidths=0.8, linestyles="dashed")
        ax.clabel(lines, fontsize="x-small", fmt="%.2g")
    ax.plot([], [], color="black", linewidth=0.8, linestyle="--", label="posterior sd")
    ax.legend(**_ABOVE)


def mark_rows(ax: Axes, features: list[Feature], rows: Rows) -> None:
    """Mark rows at the bottom of an axis of many values, or in the plane of two features."""
    if len(features) == 2:
        table = rows.frame.iloc[:, [feature.index for feature in features]].to_numpy(float)
        style: dict[str, Any] = {"marker": ".", "markersize": 3, "alpha": 0.4}
        ax.plot(*_evenly(table).T, color="black", linestyle="none", **style)
    elif not features[0].discrete:
        marks = _evenly(features[0].values)
        ax.plot(
            marks, np.zeros_like(marks), color="black", linestyle="none", marker="|", markersize=7,
            markeredgewidth=0.6, alpha=0.5, clip_on=False, transform=ax.get_xaxis_transform(),
        )  # fmt: skip


def _evenly(rows: np.ndarray) -> np.ndarray:
    """Return the rows, or evenly spaced ones if there are very many."""
    return rows[np.linspace(0, len(rows) - 1, min(_MOST_MARKS, len(rows))).astype(np.intp)]
