"""The way of a hybrid search: scores and numbers of features, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from ..composites import final_estimator
from .feature_sets import check_searched
from .figure_parts import CHAIN_COLOURS, finish, open_axes

_STEPS = ("start", "climb", "wander", "close")
_COLOURS = dict(zip(_STEPS, ("#000000", *CHAIN_COLOURS), strict=False))


def plot_search(model: Any, axes: Any = None) -> np.ndarray:
    """Plot how a hybrid search came to its best model.

    A point is the model that a step has left the search with, coloured by the kind of the step;
    the line is the best one so far. *Climb* moves to a better neighbour, *wander* looks around at
    random, *close* looks at the neighbours of all models within the window. Points that rise while
    the search wanders or closes say that the climb alone would have missed a model: more starts
    (``search.n_starts``) or steps (``search.n_wander``) may find a better one still. With several
    starts each begins below the line.

    Parameters
    ----------
    model : fitted HybridSearchGPRegressor or HybridSearchGPClassifier
    axes : array of two Axes, optional
        None: a new figure.

    Returns
    -------
    ndarray of Axes, shape (2,)
        The scores, log evidence plus log prior, and the numbers of features.
    """
    model = final_estimator(model)
    check_searched(model)
    if not model.search_path_:
        raise ValueError(
            "model has no search to show: it was fitted with method='mcmc'; fit it with "
            "method='hybrid'."
        )
    steps = np.array([step for step, _, _ in model.search_path_])
    quantities = np.array([path[1:] for path in model.search_path_], dtype=np.float64).T
    places = np.arange(1, len(steps) + 1)
    best = _best_so_far(quantities[0])
    own = axes is None
    axes = open_axes(axes, 2, 1, figsize=(6.0, 4.2), height_ratios=(1.8, 1)).ravel()
    for ax, values in zip(axes, quantities, strict=True):
        ax.plot(
            places, values[best], color="0.7", linewidth=1.2, drawstyle="steps-post", zorder=1,
            label="best so far",
        )  # fmt: skip
        for step in _STEPS:
            here = steps == step
            if here.any():
                ax.plot(
                    places[here], values[here], color=_COLOURS[step], linestyle="none", marker="o",
                    markersize=4, label=step, clip_on=False,
                )  # fmt: skip
        ax.set_xlim(0.5, len(steps) + 0.5)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        finish(ax)
    scores, sizes = axes
    scores.set_ylabel("Score")
    sizes.set(xlabel="Step of the search", ylabel="Features", ylim=(0, 1.1 * quantities[1].max()))
    sizes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    scores.legend(
        loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=5, frameon=False,
        fontsize="small", handletextpad=0.4, columnspacing=1.2, handlelength=1.2,
    )  # fmt: skip
    if own:
        scores.tick_params(labelbottom=False)
        scores.figure.align_ylabels(axes)
    return axes


def _best_so_far(scores: np.ndarray) -> np.ndarray:
    """Return, for every step, the step of the largest score until then."""
    best = np.maximum.accumulate(scores)
    new = np.append(True, best[1:] > best[:-1])
    return np.maximum.accumulate(np.where(new, np.arange(len(scores)), 0))
