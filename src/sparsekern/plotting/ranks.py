"""Rank plots: whether the chains draw from the same distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .figure_parts import (
    chain_colour,
    finish,
    open_axes,
    posterior_scalars,
    quantity_label,
)

_MOST_BINS = 20
_DRAWS_PER_BIN = 10
_MOST_COLUMNS = 3


def plot_ranks(
    model: Any, quantities: str | Sequence[str] | None = None, axes: Any = None
) -> np.ndarray:
    """Plot, for each chain, the ranks of its draws among the draws of all chains.

    Every chain has a row of bars and a line at the height that all of its bars have on average.
    Where the chains have converged the bars scatter about the line; a chain that leans to one side
    lies lower or higher than the others, and one that peaks or sags in the middle has a smaller or
    larger spread. Ties, as of ``n_active``, are broken at random (always in the same way).

    Parameters
    ----------
    model : fitted estimator or DataTree
        A DataTree needs the group ``posterior``.
    quantities : str or sequence of str, optional
        Names as in ``diagnostics_``, such as ``"n_active"`` or ``"probability[0]"``; without the
        index, ``"probability"``, all entries. None: every quantity without an index.
    axes : Axes or array of Axes, optional
        One for each quantity. None: a new figure.

    Returns
    -------
    ndarray of Axes, shape (quantities,)

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021). Rank-normalization, folding, and
    localization: an improved R-hat. Bayesian Analysis 16.
    """
    scalars = posterior_scalars(model, quantities)
    if axes is None:
        n_columns = min(_MOST_COLUMNS, len(scalars))
        n_rows = -(-len(scalars) // n_columns)
        size = (0.4 + 2.5 * n_columns, 0.4 + 2.3 * n_rows)
        grid = open_axes(None, n_rows, n_columns, figsize=size)
        for unused in grid.flat[len(scalars) :]:
            unused.remove()
        first_column = set(grid[:, 0])
        axes = grid.ravel()[: len(scalars)]
    else:
        axes = open_axes(axes, len(scalars), 1).ravel()
        first_column = set(axes)
    for ax, (name, values) in zip(axes, scalars.items(), strict=True):
        _draw_ranks(ax, values)
        ax.set_title(quantity_label(name).replace("\n", " "), fontsize="medium")
        ax.set_xlabel("Rank among all draws")
        if ax in first_column:
            ax.set_ylabel("Chain")
    return axes


def pooled_ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks 0, 1, ... of all draws together, ties broken at random."""
    flat = values.ravel()
    order = np.lexsort((np.random.default_rng(0).random(flat.size), flat))
    ranks = np.empty(flat.size, dtype=np.int64)
    ranks[order] = np.arange(flat.size)
    return ranks.reshape(values.shape)


def _draw_ranks(ax: Axes, values: np.ndarray) -> None:
    n_chains, n_draws = values.shape
    n_bins = min(_MOST_BINS, max(2, n_draws // _DRAWS_PER_BIN))
    edges = np.linspace(0, values.size, n_bins + 1)
    counts = [np.histogram(ranks, edges)[0] for ranks in pooled_ranks(values)]
    row_height = 1.15 * np.max(counts)
    for chain, count in enumerate(counts):
        # the first chain is the uppermost row
        base = (n_chains - 1 - chain) * row_height
        ax.bar(
            edges[:-1],
            count,
            np.diff(edges),
            bottom=base,
            align="edge",
            color=chain_colour(chain),
            alpha=0.75,
            edgecolor="white",
            linewidth=0.5,
        )
        ax.axhline(base + n_draws / n_bins, color="black", linewidth=0.8, linestyle="--")
    middles = row_height * np.arange(n_chains)[::-1] + n_draws / n_bins / 2
    ax.set_yticks(middles, [str(chain + 1) for chain in range(n_chains)])
    ax.set_xticks([0, values.size // 2, values.size])
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, values.size)
    ax.set_ylim(0, n_chains * row_height)
    finish(ax)
    ax.spines["left"].set_visible(False)
