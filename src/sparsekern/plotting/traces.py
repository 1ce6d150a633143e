"""Traces of scalar quantities, with their marginal distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .figure_parts import (
    chain_colour,
    finish,
    name_chains,
    open_axes,
    posterior_scalars,
    quantity_label,
    shared_bins,
)


def plot_traces(
    model: Any, quantities: str | Sequence[str] | None = None, axes: Any = None
) -> np.ndarray:
    """Plot the kept draws of scalar quantities in the order they were made.

    Chains that have converged overlap, in the trace and in the histogram beside it. The histogram
    is not smoothed: many quantities end at a bound, which a density estimate would blur.

    Parameters
    ----------
    model : fitted estimator or DataTree
        A DataTree needs the group ``posterior``.
    quantities : str or sequence of str, optional
        Names as in ``diagnostics_``, such as ``"n_active"`` or ``"probability[0]"``; without the
        index, ``"probability"``, all entries. None: every quantity without an index.
    axes : array of Axes, optional
        Two for each quantity. None: a new figure.

    Returns
    -------
    ndarray of Axes, shape (quantities, 2)
        The trace and the histogram of each quantity.
    """
    scalars = posterior_scalars(model, quantities)
    size = (7.5, 0.7 + 1.35 * len(scalars))
    own = axes is None
    axes = open_axes(axes, len(scalars), 2, figsize=size, width_ratios=(3.2, 1))
    for (trace, marginal), (name, values) in zip(axes, scalars.items(), strict=True):
        edges = shared_bins(values)
        for chain, draws in enumerate(values):
            style = {"color": chain_colour(chain), "linewidth": 0.6, "alpha": 0.75}
            trace.plot(np.arange(len(draws)), draws, **style)
            style |= {"linewidth": 1.2, "alpha": 0.9}
            marginal.hist(
                draws, edges, density=True, histtype="step", orientation="horizontal", **style
            )
        trace.set_ylabel(quantity_label(name))
        trace.set_xlim(0, max(1, values.shape[1] - 1))
        marginal.set_ylim(trace.get_ylim())
        marginal.set_xticks([])
        marginal.tick_params(labelleft=False)
        for ax in (trace, marginal):
            finish(ax)
    for ax in axes[:-1, 0] if own else ():
        ax.tick_params(labelbottom=False)
    axes[-1, 0].set_xlabel("Kept draw")
    axes[-1, 1].set_xlabel("Density")
    name_chains(axes[0, 0], len(values))
    if own:
        axes[0, 0].figure.align_ylabels(axes[:, 0])
        axes[0, 0].figure.align_xlabels(axes[-1])
    return axes
