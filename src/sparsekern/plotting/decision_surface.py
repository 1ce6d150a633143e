"""The predicted probability over the plane, with the posterior of its boundary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from .._checks import check_count
from ..composites import Composite, take_apart
from ..estimators.shared.inputs import validate_rows
from .figure_parts import CLASS_COLOURS, class_column, open_axes
from .probability_grid import probabilities_on_grid, sides_on_grid
from .vector_machines import is_drawless

_SURFACE = LinearSegmentedColormap.from_list(
    "sparsekern_surface", ["#79B2DA", "#F8F8F8", "#EFA274"]
)
_MARGIN = 0.08
_RING_AREAS = (20.0, 150.0)  # of a vector that is active never, always
_SURE = 0.9  # of a side, at the dashed lines


def plot_decision_surface(
    model: Any,
    X: Any,
    y: Any,
    *,
    ax: Axes | None = None,
    n_boundaries: int = 50,
    resolution: int = 80,
    features: Sequence[str] | None = None,
    target: Any = None,
) -> Axes:
    """Plot the probability of a class over two features, and how sure its boundary is.

    The colours and the thick line, where it is one half, are the posterior mean. Each thin line is
    the boundary of one posterior draw, so that their spread is the posterior of the boundary. Rings
    mark the active vectors; area and darkness grow with the share of draws in which they are.

    PCVMClassifier and RVMClassifier have no draws, but for ``inference="mcmc"``. In place of thin
    lines there is then a dashed one to each side of the boundary, where the posterior probability
    of that side is .9; rings grow with the weight of the widths at which a vector is active.

    Parameters
    ----------
    model : fitted classifier of this package, or pipeline that ends in one
        Of two classes.
    X : array-like of shape (n_samples, 2)
        The training rows, in the units in which they were given to ``fit``.
    y : array-like of shape (n_samples,)
        Their classes.
    ax : Axes, optional
        None: a new figure.
    n_boundaries : int, default=50
        Posterior draws whose boundary is shown, evenly spaced over the chains; 0 for none, and
        for no dashed lines.
    resolution : int, default=80
        Grid points along each feature.
    features : pair of str, optional
        Labels of the axes. None: the feature names of the model, if it has any.
    target : label, optional
        Class whose probability the colour bar shows; None: the last one.

    Returns
    -------
    Axes
        The colour bar is a further Axes of its figure.
    """
    n_boundaries = check_count("n_boundaries", n_boundaries, 0)
    resolution = check_count("resolution", resolution, 2)
    parts = take_apart(model)
    rows, y = _training_rows(parts, X, y)
    names, model = _axis_names(model, features), parts.final
    column = class_column(model.classes_, target)
    spread = np.ptp(rows, axis=0)
    margin = _MARGIN * np.where(spread > 0, spread, 1.0)
    first, second = np.linspace(rows.min(axis=0) - margin, rows.max(axis=0) + margin, resolution).T
    mean, boundaries = probabilities_on_grid(parts, first, second, n_boundaries)

    ax = open_axes(ax, 1, 1, figsize=(6.0, 4.6))[0, 0]
    # a class keeps its colour, whichever of the two the numbers belong to
    shown, colours = (mean, _SURFACE) if column else (1.0 - mean, _SURFACE.reversed())
    surface = ax.pcolormesh(
        first, second, shown, cmap=colours, vmin=0, vmax=1, shading="gouraud", rasterized=True
    )
    for draw in boundaries:
        _draw_boundary(ax, first, second, draw, linewidths=0.5, alpha=0.25)
    _draw_boundary(ax, first, second, mean, linewidths=1.8)
    banded = is_drawless(model) and n_boundaries > 0
    if banded:
        side = sides_on_grid(parts, first, second)
        for level in (1.0 - _SURE, _SURE):
            style = {"linewidths": 0.9, "linestyles": "dashed"}
            _draw_boundary(ax, first, second, side, level, **style)
    _draw_rows(ax, model, rows, y)
    ax.plot([], [], color="black", linewidth=1.8, label="boundary of the mean")
    if len(boundaries):
        label = f"boundaries of {len(boundaries)} draws"
        ax.plot([], [], color="black", linewidth=0.5, alpha=0.5, label=label)
    if banded:
        ax.plot([], [], "k--", linewidth=0.9, label=f"side sure to {_SURE:.0%}")
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=3, frameon=False,
        fontsize="small", handletextpad=0.4, columnspacing=1.2, handlelength=1.2,
    )  # fmt: skip
    bar = ax.figure.colorbar(surface, ax=ax, label=f"Probability of class {model.classes_[column]}")
    bar.outline.set_visible(False)  # type: ignore[operator]
    ax.set(xlim=first[[0, -1]], ylim=second[[0, -1]], xlabel=names[0], ylabel=names[1])
    return ax


def _training_rows(parts: Composite, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    model, whole = parts.final, parts.whole
    check_is_fitted(model)
    if whole.n_features_in_ != 2:
        raise ValueError(
            f"A decision surface needs a model of 2 features; this one has {whole.n_features_in_}. "
            "Fit a model on the two features to be shown."
        )
    if len(model.classes_) != 2:
        raise ValueError(
            f"A decision surface needs a model of 2 classes; this one has {len(model.classes_)}. "
            "Fit one class against the rest."
        )
    y = column_or_1d(y)
    check_consistent_length(X, y)
    seen = parts.inputs(X)
    if hasattr(model, "active_vectors_"):
        known = model.is_fitted_to(seen, y)  # this also compares column names
    else:  # nothing is marked among the rows
        validate_rows(model, seen, reset=False)
        known = np.isin(y, model.classes_).all()
    if not known:
        raise ValueError(
            "X and y must be the rows and classes the model was fitted to, in their order and "
            "units: the active vectors are marked among them."
        )
    return check_array(X, dtype=np.float64), y


def _axis_names(model: Any, features: Sequence[str] | None) -> Sequence[str]:
    if features is None:
        return list(getattr(model, "feature_names_in_", ("Feature 1", "Feature 2")))
    if isinstance(features, str) or len(features) != 2:
        raise ValueError(f"features must be the two labels of the axes, got {features!r}.")
    return features


def _draw_boundary(
    ax: Axes,
    first: np.ndarray,
    second: np.ndarray,
    probability: np.ndarray,
    level: float = 0.5,
    **style: Any,
) -> None:
    if probability.min() < level < probability.max():  # else matplotlib warns of an empty contour
        ax.contour(first, second, probability, [level], colors="black", **style)


def _draw_rows(ax: Any, model: Any, rows: np.ndarray, y: np.ndarray) -> None:
    points: dict[str, Any] = {"s": 16, "edgecolor": "white", "linewidth": 0.4, "zorder": 3}
    for name, colour, marker in zip(model.classes_, CLASS_COLOURS, "o^", strict=True):
        label = f"class {name}"
        ax.scatter(*rows[y == name].T, color=colour, marker=marker, label=label, **points)
    if not hasattr(model, "active_vectors_"):
        return
    active = model.active_vectors_
    if is_drawless(model):
        _draw_rings(ax, rows[active], model.active_weights()[active])
        label = f"{len(active)} active vector{'' if len(active) == 1 else 's'}"
        _draw_rings(ax, np.full((1, 2), np.nan), np.ones(1), label)
        return
    probability = model.active_probabilities_[active]
    _draw_rings(ax, rows[active], probability)
    most = probability.max(initial=0.0)
    _draw_rings(ax, np.full((1, 2), np.nan), np.array([most]), f"active in {most:.0%} of draws")


def _draw_rings(ax: Any, where: np.ndarray, probability: np.ndarray, label: str = "") -> None:
    edges = np.zeros((len(where), 4))  # black, more or less opaque
    edges[:, 3] = np.sqrt(probability)
    areas = _RING_AREAS[0] + probability * (_RING_AREAS[1] - _RING_AREAS[0])
    ax.scatter(*where.T, s=areas, facecolor="none", edgecolor=edges, zorder=4, label=label)
