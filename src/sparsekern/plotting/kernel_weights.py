"""What each kernel contributes, and how a bound rose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from sklearn.utils.validation import check_is_fitted

from ..composites import final_estimator
from ..estimators.multiple_kernel.model import MultipleKernelModel
from .figure_parts import CHAIN_COLOURS, POOLED_COLOUR, finish, open_axes

_GROUP = 0.8  # of the space of a kernel that bars fill


def check_kernel_model(model: Any) -> None:
    """Refuse what is no fitted model of several kernels."""
    if not isinstance(model, MultipleKernelModel):
        raise TypeError(
            "model must be a BayesianMKLRegressor or BayesianMKLClassifier; got "
            f"{type(model).__name__}."
        )
    check_is_fitted(model)


def plot_kernel_weights(
    model: Any, names: Sequence[str] | None = None, *, ax: Axes | None = None
) -> Axes:
    """Plot the weight of each kernel with two posterior standard deviations either way.

    With ``vectors="per_kernel"`` a weight is the size of the function that the kernel contributes,
    and zero where the kernel has left the model. With ``"shared"`` only relative signs mean
    anything: all signs may be turned at once.

    Parameters
    ----------
    model : fitted BayesianMKLRegressor or BayesianMKLClassifier
        Outputs that share sample weights have a bar each.
    names : sequence of str, optional
        Of the kernels; None: their numbers.
    ax : Axes, optional
        None: a new figure.

    Returns
    -------
    Axes
    """
    model = final_estimator(model)
    check_kernel_model(model)
    weights = np.atleast_2d(model.kernel_weights_)
    deviations = np.atleast_2d(model.kernel_weights_std_)
    count = weights.shape[1]
    labels = [str(m) for m in range(count)] if names is None else [str(name) for name in names]
    if len(labels) != count:
        raise ValueError(f"names holds {len(labels)} names, but the model has {count} kernels.")
    ax = open_axes(ax, 1, 1, figsize=(max(4.0, 1.5 + 0.35 * count), 3.2))[0, 0]
    places, breadth = np.arange(count), _GROUP / len(weights)
    for number, (here, spread) in enumerate(zip(weights, deviations, strict=True)):
        one = len(weights) == 1
        low = 2.0 * spread
        if model.vectors == "per_kernel":  # a size is not negative
            low = np.minimum(low, here)
        ax.bar(
            places + (number + 0.5) * breadth - 0.5 * _GROUP, here, breadth,
            yerr=np.stack([low, 2.0 * spread]), ecolor="black", capsize=2,
            color=POOLED_COLOUR if one else CHAIN_COLOURS[number % len(CHAIN_COLOURS)],
            label=None if one else f"output {number}",
        )  # fmt: skip
    long = max(len(label) for label in labels) > 4
    ax.set_xticks(places, labels, rotation=60 if long else 0, ha="right" if long else "center")
    per_kernel = model.vectors == "per_kernel"
    ax.set_ylabel("Size of its function" if per_kernel else "Kernel weight")
    ax.set_xlabel("Kernel")
    if not per_kernel:
        ax.axhline(0.0, color="black", linewidth=0.8)
    finish(ax)
    if len(weights) > 1:
        ax.legend(frameon=False, fontsize="small", handlelength=1.2)
    return ax


def plot_bound(model: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the lower bound of the log evidence, iteration by iteration.

    It rises until the fit ends. Where the priors were changed, or dead kernels and rows were
    dropped, another model begins, and with it a new line.

    Parameters
    ----------
    model : fitted BayesianMKLRegressor or BayesianMKLClassifier
    ax : Axes, optional
        None: a new figure.

    Returns
    -------
    Axes
    """
    model = final_estimator(model)
    check_kernel_model(model)
    ax = open_axes(ax, 1, 1, figsize=(6.0, 3.2))[0, 0]
    ends = [0, *model.evidence_stages_, model.n_iter_]
    steps = np.arange(1, model.n_iter_ + 1)
    for number in range(len(ends) - 1):
        part = slice(ends[number], ends[number + 1])
        if ends[number] < ends[number + 1]:
            ax.plot(
                steps[part], model.evidence_path_[part], color=CHAIN_COLOURS[0],
                marker="." if ends[number + 1] - ends[number] == 1 else None,
            )  # fmt: skip
        if number:
            ax.axvline(ends[number] + 0.5, color=POOLED_COLOUR, linewidth=0.8, linestyle=":")
    ax.set(xlabel="Iteration", ylabel="Bound of the log evidence")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    finish(ax)
    return ax
