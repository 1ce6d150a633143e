"""A fitted function of one feature, with its band and the active samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from sklearn.base import is_regressor
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from .._checks import check_count
from ..composites import take_apart
from .figure_parts import CHAIN_COLOURS, POOLED_COLOUR, finish, open_axes

_DEVIATIONS = 1.959964  # 95 % of a normal law


def plot_fit(
    model: Any, X: Any, y: Any, *, output: int = 0, resolution: int = 300, ax: Axes | None = None
) -> Axes:
    """Plot the function of one feature with its 95 % band, the data, and the active samples.

    The band is that of new responses, noise included. Rings mark the training rows that the
    predictions use.

    Parameters
    ----------
    model : fitted regressor with ``active_vectors_`` and ``predict(X, return_std=True)``
        Such as BayesianMKLRegressor or RVMRegressor, or a pipeline that ends in one.
    X : array-like of shape (n_samples, 1)
        The training rows.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Their responses.
    output : int, default=0
        Which of several outputs.
    resolution : int, default=300
        Points of the curve.
    ax : Axes, optional
        None: a new figure.

    Returns
    -------
    Axes
    """
    parts = take_apart(model)
    final = parts.final
    if not is_regressor(final) or not hasattr(type(final), "predict_quantiles"):
        raise TypeError(
            "model must be a regressor with standard deviations, such as BayesianMKLRegressor; got "
            f"{type(model).__name__}."
        )
    if parts.responses:
        raise TypeError(
            "model must predict standard deviations in the units of y, which "
            "TransformedTargetRegressor does not; plot the regressor inside."
        )
    check_is_fitted(final, "active_vectors_")
    check_count("resolution", resolution, 2)
    rows = check_array(X, dtype=np.float64)
    response = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    check_consistent_length(rows, response)
    if rows.shape[1] != 1:
        raise ValueError(f"X must have one feature for this figure; it has {rows.shape[1]}.")
    response = response.reshape(len(response), -1)
    if not 0 <= output < response.shape[1]:
        raise ValueError(f"output must lie between 0 and {response.shape[1] - 1}, got {output!r}.")
    if len(final.active_vectors_) and final.active_vectors_.max() >= len(rows):
        raise ValueError("X and y must be the data of the fit, in their order.")
    x, values = rows[:, 0], response[:, output]
    grid = np.linspace(x.min(), x.max(), resolution)
    table: Any = grid[:, None]
    if hasattr(model, "feature_names_in_"):
        table = type(X)(grid[:, None], columns=list(model.feature_names_in_))
    mean, deviation = (
        np.reshape(part, (resolution, -1))[:, output]
        for part in final.predict(parts.inputs(table), return_std=True)
    )
    ax = open_axes(ax, 1, 1, figsize=(6.4, 3.8))[0, 0]
    low, high = mean - _DEVIATIONS * deviation, mean + _DEVIATIONS * deviation
    ax.fill_between(grid, low, high, color=CHAIN_COLOURS[0], alpha=0.18, linewidth=0, label="95 %")
    ax.plot(x, values, ".", color=POOLED_COLOUR, markersize=4, label="data")
    ax.plot(grid, mean, color=CHAIN_COLOURS[0], label="mean")
    active = np.asarray(final.active_vectors_, dtype=np.intp)
    if len(active) < len(rows):  # where all are active rings say nothing
        noun = "sample" if len(active) == 1 else "samples"
        ax.plot(
            x[active], values[active], "o", color=CHAIN_COLOURS[5], markerfacecolor="none",
            markersize=8, label=f"{len(active)} active {noun}",
        )  # fmt: skip
    name = getattr(model, "feature_names_in_", ["x"])[0]
    ax.set(xlabel=str(name), ylabel="y")
    finish(ax)
    ax.legend(frameon=False, fontsize="small", handlelength=1.2)
    return ax
