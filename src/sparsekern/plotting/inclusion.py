"""Inclusion probabilities of features."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._checks import check_count
from ..composites import take_apart
from .feature_sets import feature_label, inclusion_of
from .figure_parts import CLASS_COLOURS, POOLED_COLOUR, finish, open_axes

_ERRORS = 2.0  # Monte-Carlo standard errors on either side


def plot_inclusion(model: Any, max_features: int = 20, ax: Axes | None = None) -> Axes:
    """Plot the posterior probability that features are included, the most probable ones on top.

    Selected features, whose probability reaches ``selection.threshold`` (the dashed line), have
    another colour. Where the posterior was sampled by chains, an error bar reaches two
    Monte-Carlo standard errors to either side, and the dots are the probabilities of the chains.
    Chains far apart say that the average is not to be trusted, however short the bar. A hybrid
    search has neither: its probabilities are sums over the models of its window.

    Parameters
    ----------
    model : fitted estimator with ``feature_inclusion_``, or pipeline that ends in one
        The features are those that the model sees; a pipeline's steps before it name them.
    max_features : int, default=20
        Show at most so many features.
    ax : Axes, optional
        None: a new figure.

    Returns
    -------
    Axes
    """
    max_features = check_count("max_features", max_features)
    parts = take_apart(model)
    model, names = parts.final, parts.feature_names()
    probability, error, by_chain = inclusion_of(model)
    shown = np.argsort(-probability, kind="stable")[:max_features]
    height = 0.9 + 0.22 * len(shown)
    ax = open_axes(ax, 1, 1, figsize=(5.2, height))[0, 0]
    selected = np.isin(shown, model.selected_features_)
    places = np.arange(len(shown))
    for mask, colour, label in (
        (selected, CLASS_COLOURS[1], "selected"),
        (~selected, POOLED_COLOUR, "not selected"),
    ):
        if mask.any():
            ax.barh(places[mask], probability[shown[mask]], 0.7, color=colour, label=label)
    if error is not None:
        _draw_errors(ax, places, probability[shown], error[shown])
    if len(by_chain) > 1:
        ax.plot(
            by_chain[:, shown].T.ravel(), np.repeat(places, len(by_chain)), color="black",
            linestyle="none", marker="o", markersize=2.5, alpha=0.5, label="chains", clip_on=False,
        )  # fmt: skip
    threshold = model.get_params()["selection__threshold"]
    ax.axvline(threshold, color="black", linewidth=1, linestyle="--", label="threshold", zorder=0)
    ax.set_yticks(places, [feature_label(names, feature) for feature in shown])
    ax.set(xlim=(0, 1), ylim=(len(shown) - 0.4, -0.6), xlabel="Posterior inclusion probability")
    if len(shown) < len(probability):
        ax.set_ylabel(f"{len(shown)} of {len(probability)} features")
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=4, frameon=False,
        fontsize="small", handletextpad=0.4, columnspacing=1.2, handlelength=1.2,
    )  # fmt: skip
    finish(ax)
    return ax


def _draw_errors(ax: Axes, places: np.ndarray, probability: np.ndarray, error: np.ndarray) -> None:
    reach = _ERRORS * np.nan_to_num(error)  # unknown with very few draws
    low, high = np.maximum(probability - reach, 0.0), np.minimum(probability + reach, 1.0)
    # rounding may leave a bound a few units in the last place beyond the bar
    sides = np.maximum([probability - low, high - probability], 0.0)
    ax.errorbar(
        probability, places, xerr=sides, color="black", linestyle="none", elinewidth=1.2,
        capsize=2.5, clip_on=False,
    )  # fmt: skip
