"""Posterior weights of the models that a hybrid search has found."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._checks import check_count
from ..composites import take_apart
from .feature_sets import check_searched, set_label
from .figure_parts import POOLED_COLOUR, finish, open_axes

_LABEL_WIDTH = 40  # characters of a line


def plot_models(model: Any, n_models: int = 10, ax: Axes | None = None) -> Axes:
    """Plot the posterior weights of the best feature sets, the best one on top.

    The weights of all models in ``models_`` add up to one. One model with a weight near one says
    that the data decide for a feature set. Many small weights say that they do not; the sets then
    often differ by features that stand in for each other, and predictions are averages over them.

    Parameters
    ----------
    model : fitted HybridSearchGPRegressor or HybridSearchGPClassifier, or pipeline with it
    n_models : int, default=10
        Show at most so many models.
    ax : Axes, optional
        None: a new figure.

    Returns
    -------
    Axes
    """
    n_models = check_count("n_models", n_models)
    parts = take_apart(model)
    model, names = parts.final, parts.feature_names()
    check_searched(model)
    weights = model.models_["weight"].to_numpy()
    shown = np.argsort(-weights, kind="stable")[:n_models]
    labels = [
        fill(set_label(features, names), _LABEL_WIDTH, break_long_words=False)
        for features in model.models_["features"].iloc[shown]
    ]
    lines = sum(label.count("\n") + 1 for label in labels)
    ax = open_axes(ax, 1, 1, figsize=(5.8, 0.9 + 0.24 * lines))[0, 0]
    places = np.arange(len(shown))
    ax.barh(places, weights[shown], 0.7, color=POOLED_COLOUR)
    ax.set_yticks(places, labels, fontsize="small")
    ax.set(xlim=(0, min(1, 1.1 * weights.max())), ylim=(len(shown) - 0.4, -0.6))
    ax.set_xlabel(
        "Posterior weight"
        if len(shown) == len(weights)
        else f"Posterior weight\n({len(shown)} of {len(weights)} models, "
        f"{100 * weights[shown].sum():.3g} % of the weight)"
    )
    finish(ax)
    return ax
