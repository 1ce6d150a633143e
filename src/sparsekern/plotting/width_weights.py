"""Weights of a vector machine's widths."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..composites import final_estimator
from .figure_parts import CHAIN_COLOURS, POOLED_COLOUR, finish, open_axes
from .vector_machines import check_machine

_GROUP = 0.8  # of the space of a width that bars fill


def plot_width_weights(model: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the weights of the length scales that a vector machine averages over.

    The number on a bar counts the vectors of that model. Weights spread over many widths say that
    rows left out are predicted about as well at all of them. A large weight at the narrowest or
    widest one says that ``search.length_scale_range`` should reach further.

    Parameters
    ----------
    model : fitted PCVMClassifier, RVMClassifier or RVMRegressor
        Models of one class against the rest have a bar for each class. With ``inference="mcmc"``
        the weights are those of the fit before sampling, which goes on with the heaviest width.
    ax : Axes, optional
        None: a new figure.

    Returns
    -------
    Axes
    """
    model = final_estimator(model)
    check_machine(model)
    if model.length_scales_ is None:
        raise ValueError(
            f"model has no widths to show: kernel={model.kernel!r} has no length scale, or brings "
            "its own."
        )
    widths = model.length_scales_
    weights = np.atleast_2d(model.length_scale_weights_)
    counts = model.models_["n_vectors"].to_numpy().reshape(weights.shape)
    ax = open_axes(ax, 1, 1, figsize=(6.0, 3.2))[0, 0]
    places = np.arange(len(widths))
    breadth = _GROUP / len(weights)
    for number, (here, vectors) in enumerate(zip(weights, counts, strict=True)):
        shift = (number + 0.5) * breadth - 0.5 * _GROUP
        one = len(weights) == 1
        bars = ax.bar(
            places + shift, here, breadth,
            color=POOLED_COLOUR if one else CHAIN_COLOURS[number % len(CHAIN_COLOURS)],
            label=None if one else f"class {model.classes_[number]}",
        )  # fmt: skip
        shown = (here > 0) | one  # numbers of bars that are not there would crowd the figure
        labels = [str(n) if show else "" for n, show in zip(vectors, shown, strict=True)]
        ax.bar_label(bars, labels, fontsize="small", padding=1)
    ax.set_xticks(places, [f"{width:.3g}" for width in widths])
    ax.set(xlabel="Length scale", ylabel="Weight\n(on the bar: vectors)")
    ax.margins(y=0.12)
    finish(ax)
    if len(weights) > 1:
        ax.legend(frameon=False, fontsize="small", handlelength=1.2)
    return ax
