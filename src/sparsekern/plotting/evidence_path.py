"""The fit of a vector machine, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ..composites import final_estimator
from .figure_parts import CHAIN_COLOURS, finish, open_axes
from .vector_machines import check_machine, evidence_paths

_SIZES = "vectors by step"


def plot_evidence_path(model: Any, *, ax: Axes | None = None) -> Axes:
    """Plot how log evidence and number of vectors went while a vector machine was fitted.

    Step 0 is the bias alone. The path is that of the width with the largest weight. A level end
    says that nothing was left to gain; a path that still rises was cut by ``max_steps`` or
    ``max_active``. Where the number of vectors falls, vectors that came early were replaced by
    better ones. Evidence belongs to one width: paths of two widths cannot be compared by their
    height.

    Parameters
    ----------
    model : fitted PCVMClassifier, RVMClassifier or RVMRegressor
        Models of one class against the rest have a line for each class. With
        ``inference="mcmc"`` the path is that of the fit before sampling; with ``"em"`` it is that
        of the algorithm's objective, and all vectors that are left count from the start.
    ax : Axes, optional
        None: a new figure. Its upper third is taken for the numbers of vectors.

    Returns
    -------
    Axes
        That of the evidence; that of the numbers of vectors is a further Axes of its figure.
    """
    model = final_estimator(model)
    check_machine(model)
    paths = evidence_paths(model)
    several = len(getattr(model, "classes_", ())) > 2
    ax = open_axes(ax, 1, 1, figsize=(6.0, 3.8))[0, 0]
    sizes = _axes_above(ax)
    for number, path in enumerate(paths):
        style: dict[str, Any] = {"color": CHAIN_COLOURS[number % len(CHAIN_COLOURS)]}
        steps = np.arange(len(path.log_evidence))
        ax.plot(steps, path.log_evidence, label=path.label or None, **style)
        sizes.plot(steps, path.n_columns, drawstyle="steps-post", **style)
    ax.set_xlabel("Step of the fit")
    by_em = getattr(model, "inference", None) == "em"
    ax.set_ylabel("Objective" if by_em else "Log evidence")
    # in a softmax model a row may have a column in several classes
    sizes.set_ylabel("Columns" if several and len(paths) == 1 else "Vectors")
    sizes.set_ylim(bottom=0)
    sizes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    sizes.tick_params(labelbottom=False)
    finish(ax)
    finish(sizes)
    ax.figure.align_ylabels([ax, sizes])
    if len(paths) > 1:
        ax.legend(frameon=False, fontsize="small", handlelength=1.2, loc="lower right")
    return ax


def _axes_above(ax: Axes) -> Axes:
    """Return axes in the upper third of those given, which make room for them."""
    for other in ax.get_shared_x_axes().get_siblings(ax):
        if other.get_label() == _SIZES:
            return other
    place = ax.get_subplotspec()
    if place is None:  # axes that stand anywhere in their figure
        return ax.inset_axes((0, 1.06, 1, 0.5), sharex=ax, label=_SIZES)
    grid = place.subgridspec(2, 1, height_ratios=(1, 2))
    ax.set_subplotspec(grid[1, 0])
    return ax.figure.add_subplot(grid[0, 0], sharex=ax, label=_SIZES)
