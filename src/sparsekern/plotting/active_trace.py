"""The number of active vectors or features while the chains run, and its posterior."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from ..composites import final_estimator
from .figure_parts import (
    POOLED_COLOUR,
    chain_colour,
    finish,
    name_chains,
    open_axes,
    sampled_variables,
    shared_bins,
)

_INTERVAL = 0.95


def plot_active_trace(model: Any, axes: Any = None) -> np.ndarray:
    """Plot the number of active vectors after every sweep, and its posterior.

    Chains start apart from each other; tuning, which is shaded, should last until they have met.
    The histogram is of the kept draws of all chains, with their mean and central 95 % interval.

    Parameters
    ----------
    model : fitted estimator or DataTree
        A DataTree, which needs the groups ``posterior`` and ``sample_stats``, holds kept draws
        only: no tuning is shown.
    axes : array of two Axes, optional
        None: a new figure.

    Returns
    -------
    ndarray of Axes, shape (2,)
        The traces and the histogram.
    """
    return _plot_counts(model, axes, "n_active", "Active vectors", "max_active")


def plot_feature_trace(model: Any, axes: Any = None) -> np.ndarray:
    """Plot the number of features in the kernel after every sweep, and its posterior.

    Parameters
    ----------
    model : fitted estimator that selects features, or DataTree
        A DataTree, which needs the groups ``posterior`` and ``sample_stats``, holds kept draws
        only: no tuning is shown.
    axes : array of two Axes, optional
        None: a new figure.

    Returns
    -------
    ndarray of Axes, shape (2,)
        The traces and the histogram. Whether chains agree on *which* features is in
        :func:`plot_inclusion`.
    """
    return _plot_counts(model, axes, "n_features", "Features", "max_features")


def _plot_counts(model: Any, axes: Any, name: str, label: str, bound: str) -> np.ndarray:
    """Plot the counts called ``name``; ``bound`` is what the end of the prior is called."""
    model = final_estimator(model)
    group = sampled_variables(model)
    if name not in group:
        raise ValueError(
            f"model has no {name!r} among its draws; {label.lower()} are counted by "
            "DoublySparseRegressor and DoublySparseClassifier."
        )
    sizes = group[name]
    if "class" in sizes.dims:  # one-vs-rest models, each with its own
        sizes = sizes.sum("class")
    kept = sizes.transpose("chain", "draw").values
    sweeps, tune, limit = list(kept), 0, np.inf
    if hasattr(model, "fit"):
        tune = model.posterior_["posterior"].attrs["tuning_steps"]
        sweeps = model.traces_[name]
        limit = getattr(model, "limits_", {}).get(name, np.inf)
    axes = open_axes(axes, 1, 2, figsize=(7.5, 3.0), width_ratios=(2.4, 1)).ravel()
    trace, marginal = axes
    note: dict[str, Any] = {"fontsize": "small", "color": "0.3", "va": "top", "ha": "right"}
    if tune:
        trace.axvspan(0, tune, color="0.92", linewidth=0, zorder=0)
        trace.text(tune, 0.98, "tuning ", transform=trace.get_xaxis_transform(), **note)
    for chain, sizes in enumerate(sweeps):
        trace.plot(np.arange(1, len(sizes) + 1), sizes, color=chain_colour(chain), linewidth=0.7)
    edges = shared_bins(kept)
    density = np.histogram(kept, edges, density=True)[0]
    marginal.barh(edges[:-1], density, np.diff(edges), align="edge", color=POOLED_COLOUR)
    mean = kept.mean()
    low, high = np.quantile(kept, [(1 - _INTERVAL) / 2, (1 + _INTERVAL) / 2])
    marginal.axhline(mean, color="black", linewidth=1.2)
    marginal.axhspan(low, high, color="black", alpha=0.08, linewidth=0)
    marginal.set_title(
        f"mean {mean:.0f}, {_INTERVAL:.0%} in {low:.0f} to {high:.0f}", fontsize="small"
    )
    top = max(int(np.max(sizes)) for sizes in sweeps)
    if top >= limit:
        trace.text(0.995, 0.98, f"dotted: {bound}", transform=trace.transAxes, **note)
    for ax in axes:
        if top >= limit:
            ax.axhline(limit, color="black", linewidth=0.8, linestyle=":")
        ax.set_ylim(0, 1.14 * top)
        finish(ax)
    trace.set_xlim(0, max(len(sizes) for sizes in sweeps))
    trace.set_ylabel(label)
    trace.set_xlabel("Sweep" if hasattr(model, "fit") else "Kept draw")
    marginal.tick_params(labelleft=False)
    marginal.xaxis.set_major_locator(MaxNLocator(3))
    marginal.set_xlabel("Posterior probability")
    name_chains(trace, len(sweeps))
    return axes
