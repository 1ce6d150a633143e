"""What the figures share: colours, names of quantities, draws of scalars, and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from sklearn.utils.validation import check_is_fitted

from ..composites import final_estimator
from ..posteriors.datatree import STATISTICS

# Okabe and Ito's palette, which readers with any of the common colour blindnesses can tell apart.
CHAIN_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
CLASS_COLOURS = ("#0072B2", "#D55E00")
POOLED_COLOUR = "#6E7F8D"
_MOST_CHAINS_IN_LEGEND = 8

_LABELS = {
    "log_likelihood": "Log-likelihood",
    "n_active": "Active vectors",
    "scale": "Scale $g$",
    "intercept": "Intercept $u$",
    "intercept_precision": "Intercept\nprecision $\\eta$",
    "length_scale": "Length scale $\\ell$",
    "probability": "Probability",
}


def chain_colour(chain: int) -> str:
    """Return the colour of a chain."""
    return CHAIN_COLOURS[chain % len(CHAIN_COLOURS)]


def quantity_label(name: str) -> str:
    """Return what an axis says for a quantity such as ``"n_active"`` or ``"probability[3]"``."""
    base, bracket, index = name.partition("[")
    label = _LABELS.get(base, base)
    if not bracket:
        return label
    index = index.removesuffix("]")
    return f"{label},\nrow {index}" if base == "probability" else f"{label},\n{index}"


def posterior_scalars(
    model: Any, quantities: str | Sequence[str] | None = None
) -> dict[str, np.ndarray]:
    """Return the draws of scalar quantities, each of shape (chains, draws).

    Parameters
    ----------
    model : fitted estimator or DataTree with the group ``posterior``
    quantities : str or sequence of str, optional
        Names as in ``diagnostics_``. The name of an indexed quantity without its index, such as
        ``"probability"``, stands for all of its entries. None: every quantity without an index.
    """
    entries: dict[str, dict[str, np.ndarray]] = {}
    for variable, array in sampled_variables(model).items():
        inner = [dim for dim in array.dims if dim not in ("chain", "draw")]
        values = array.transpose("chain", "draw", *inner)
        if not inner:
            entries[variable] = {variable: values.values}
        else:
            stacked = values.stack(entry=inner)
            # length scales of features that are out, in some draws or in all; their inverses are
            # in every draw
            given = ~np.isnan(stacked.values).any(axis=(0, 1))
            entries[variable] = {
                f"{variable}[{', '.join(map(str, index))}]": stacked.values[..., q]
                for q, index in enumerate(stacked["entry"].values)
                if given[q]
            }
    if quantities is None:
        quantities = [name for name, members in entries.items() if name in members]
    wanted = [quantities] if isinstance(quantities, str) else list(quantities)
    known = {name: values for members in entries.values() for name, values in members.items()}
    unknown = [name for name in wanted if name not in known and not entries.get(name)]
    if unknown or not wanted:
        wrong = f"unknown {', '.join(map(repr, unknown))}" if unknown else "nothing to plot"
        raise ValueError(f"quantities: {wrong}; the known ones are {', '.join(known)}.")
    chosen: dict[str, np.ndarray] = {}
    for name in wanted:
        chosen |= {name: known[name]} if name in known else entries[name]
    return chosen


def sampled_variables(model: Any) -> dict[str, Any]:
    """Return the draws of an estimator's (or a DataTree's) posterior, by name.

    Sizes and log-likelihood of the draws, which are statistics in ArviZ's terms, come first.
    """
    tree = model
    if hasattr(model, "fit"):
        tree = final_estimator(model)
        check_is_fitted(tree)
        tree = tree.posterior_
    try:
        posterior = tree["posterior"]
        statistics = tree.get("sample_stats", {})
    except (KeyError, TypeError, IndexError):
        raise TypeError(
            "model must be a fitted estimator with posterior_, or a DataTree with the group "
            f"'posterior'; got {type(model).__name__}."
        ) from None
    found = {name: statistics[name] for name in STATISTICS if name in statistics}
    return found | {name: posterior[name] for name in posterior.data_vars}


def class_column(classes: np.ndarray, target: Any) -> int:
    """Return the column of the class whose probability is shown: ``target``, or the last of two."""
    if target is None:
        if len(classes) > 2:
            raise ValueError(
                f"target must name a class, got None; the model has {len(classes)} classes: "
                f"pass one of {classes.tolist()}."
            )
        return 1
    found = np.flatnonzero(classes == target)
    if len(found) != 1:
        raise ValueError(f"target={target!r} is no class; pass one of {classes.tolist()}.")
    return int(found[0])


def open_axes(axes: Any, n_rows: int, n_columns: int, **figure_options: Any) -> np.ndarray:
    """Return the given axes as an array (n_rows, n_columns), or those of a new figure."""
    if axes is None:
        figure_options["layout"] = "constrained"
        return plt.subplots(n_rows, n_columns, squeeze=False, **figure_options)[1]
    given = np.atleast_1d(np.asarray(axes, dtype=object))
    if given.size != n_rows * n_columns:
        raise ValueError(
            f"This plot needs {n_rows * n_columns} axes ({n_rows} by {n_columns}); "
            f"axes holds {given.size}."
        )
    for ax in given.flat:
        if not isinstance(ax, Axes):
            raise TypeError(f"axes must hold matplotlib Axes, got {type(ax).__name__}.")
    return given.reshape(n_rows, n_columns)


def finish(ax: Axes) -> None:
    """Take away the frame lines that carry no information."""
    ax.spines[["top", "right"]].set_visible(False)


def name_chains(ax: Axes, n_chains: int) -> None:
    """Put the legend of the chains above the axes, unless there is one chain or a great many."""
    if not 1 < n_chains <= _MOST_CHAINS_IN_LEGEND:
        return
    handles = [Line2D([], [], color=chain_colour(c)) for c in range(n_chains)]
    ax.legend(
        handles, [f"Chain {c + 1}" for c in range(n_chains)], ncols=n_chains, loc="lower left",
        bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, frameon=False, fontsize="small",
        handlelength=1.2, columnspacing=1.2,
    )  # fmt: skip


def shared_bins(values: np.ndarray, most: int = 30) -> np.ndarray:
    """Return histogram edges for all chains together; whole numbers lie in the middle of bins."""
    low, high = float(values.min()), float(values.max())
    if np.all(values == np.round(values)):
        step = max(1, int(np.ceil((high - low + 1) / most)))
        return np.append(np.arange(low - 0.5, high + 0.5, step), high + 0.5)
    if low == high:
        return np.array([low - 0.5, high + 0.5])
    edges = np.histogram_bin_edges(values, bins="fd")
    return edges if len(edges) <= most + 1 else np.linspace(low, high, most + 1)
