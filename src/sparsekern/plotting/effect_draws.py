r"""Posterior draws of the function along a few features, the other features averaged out.

The effect of features S at the value v is :math:`\frac1n\sum_if_t(v,x_{i,-S})`, draw by draw (the
partial dependence), or :math:`f_t(v,\tilde x_{-S})` at the medians of the other features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .._checks import check_choice
from ..estimators.draws import DrawsEstimator

_MOST_DRAWS = 400  # of the function; more do not change a band that can be seen
_MOST_VALUES = 20_000_000  # of the function, over all draws, rows and grid points
_LEAST_ROWS = 30  # averaged over, however fine the grid
_BLOCK_NUMBERS = 4_000_000  # held at once


def rows_of(model: Any, X: Any) -> np.ndarray:
    """Return X as numbers, in the units of the user, if it has the features of the fit."""
    if not isinstance(model, DrawsEstimator):
        raise TypeError(
            "model must be a regressor or classifier with posterior draws, of this package; got "
            f"{type(model).__name__}."
        )
    check_is_fitted(model)
    if getattr(model, "kernel", None) == "precomputed":
        raise ValueError(
            "kernel='precomputed' sees no features: there is no effect to plot; fit a model with "
            "another kernel."
        )
    model._prepare(X)  # compares number and names of the columns
    return check_array(X, dtype=np.float64)


def resolve_target(model: Any, target: Any) -> int | None:
    """Return the column of the class whose probability is shown; None for a regressor."""
    if not is_classifier(model):
        if target is not None:
            raise ValueError(
                f"target={target!r} names a class, but {type(model).__name__} is a regressor; "
                "leave it out."
            )
        return None
    classes = model.classes_
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


def effect_draws(
    model: Any,
    rows: np.ndarray,
    features: list[int],
    points: np.ndarray,
    others: str,
    target: int | None,
) -> np.ndarray:
    """Return the effect at each point, draw by draw, of shape (draws, points).

    Parameters
    ----------
    model : fitted estimator
    rows : ndarray of shape (n, p)
        They say what the other features are.
    features : list of s ints
    points : ndarray of shape (g, s)
        Values of these features.
    others : {"average", "median"}
    target : int or None
        Column of the class, for a classifier.
    """
    thin = max(1, -(-model._draws.n_draws // _MOST_DRAWS))
    n_draws = min(model._draws.n_draws, _MOST_DRAWS)
    if check_choice("others", others, ("average", "median")) == "median":
        background = np.median(rows, axis=0, keepdims=True)
    else:
        most = max(_LEAST_ROWS, _MOST_VALUES // (n_draws * len(points)))
        chosen = np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(np.intp)
        background = rows[chosen]
    n_classes = 1 if target is None else len(model.classes_)
    step = max(1, _BLOCK_NUMBERS // (len(background) * (n_draws * n_classes + rows.shape[1])))
    out = []
    for start in range(0, len(points), step):
        here = points[start : start + step]
        inputs = np.repeat(background[None], len(here), axis=0)
        inputs[:, :, features] = here[:, None, :]
        draws = _function_draws(model, inputs.reshape(-1, rows.shape[1]), thin, target)
        out.append(draws.reshape(len(draws), len(here), -1).mean(axis=2))
    return np.concatenate(out, axis=1)


def _function_draws(model: Any, inputs: Any, thin: int, target: int | None) -> np.ndarray:
    """Return draws of the mean response, or of the probability of a class, at rows of inputs."""
    if hasattr(model, "feature_names_in_"):
        inputs = pd.DataFrame(inputs, columns=model.feature_names_in_)
    if target is not None:
        return model.sample_proba(inputs, thin=thin)[:, :, target]
    draws = model._draws.thinned(thin).response_draws(model._prepare(inputs))
    return model._centre + model._spread * draws
