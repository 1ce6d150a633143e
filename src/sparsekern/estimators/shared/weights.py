"""Weights of rows: what is asked for, and the rows that a model is fitted to because of it.

A row of weight w counts w times. An engine that can weigh rows sees each of them once; any other
sees rows of whole-number weight as often as they count. To be the same fit either way, data with
copies are brought into one order, made of what the rows hold, and so are they without weights.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier

from ...inference.feature_search.row_order import exact_keys
from ...posteriors.row_map import RowMap

Weigh = Literal["never", "fractions", "always"]
_MOST_REPEATED = 1_000_000  # rows, repetitions counted
_LARGEST = 1e9  # beyond it the precision of floating point is used up
_LEAST_SUM = 0.01  # below it vague priors have draws that overflow


def map_rows(
    estimator: Any, X: np.ndarray, y: np.ndarray, sample_weight: Any, weigh: Weigh
) -> RowMap | None:
    """Return the rows to fit a model to; None: the rows as they are.

    Parameters
    ----------
    estimator : Estimator
    X : ndarray of shape (n, p)
        Validated rows, or a precomputed kernel matrix.
    y : ndarray of shape (n,) or (n, outputs)
    sample_weight : array-like of shape (n,) or None
    weigh : {"never", "fractions", "always"}
        When the engine weighs rows, or where weights are fractions; otherwise they are repeated.
    """
    if issparse(y):
        return None  # refused where labels are looked at
    given = None if sample_weight is None else check_weights(sample_weight, len(y))
    if given is None and estimator._is_precomputed():
        return None  # a row of a kernel matrix holds something else when rows are moved
    weights = np.ones(len(y)) if given is None else given
    whole = (weights == np.round(weights)).all()
    weighed = weigh == "always" or (weigh == "fractions" and not whole)
    if not weighed:
        _refuse_fractions(estimator, weights)
    kept = np.flatnonzero(weights)
    if len(kept) < len(y):
        _refuse_too_few(estimator, y, kept)
    if estimator._is_precomputed():
        order, first = np.arange(len(kept)), np.arange(len(kept))
    else:
        order, first = find_copies(X[kept] if len(kept) < len(y) else X, y[kept])
    alone = len(np.unique(first)) == len(kept)
    if alone and (weights[kept] == 1).all():
        if len(kept) == len(y):
            return None
        order = np.arange(len(kept))  # without copies rows stay in their order
    alike = np.full(len(y), -1)
    alike[kept] = kept[first]
    if not weighed:
        often = weights[kept][order].astype(np.int64)
        return RowMap(np.repeat(kept[order], often), alike, None, np.array(y))
    totals = np.bincount(first, weights[kept], minlength=len(kept))
    distinct = order[first[order] == order]
    together = totals[distinct]
    return RowMap(kept[distinct], alike, None if (together == 1).all() else together, np.array(y))


def when_to_weigh(law: Any) -> Weigh:
    """Return when samplers of a law weigh rows."""
    if "row weights" in law.provides:
        return "always"
    # whole numbers are repeated: with a working response no sweep is in vain
    return "fractions" if "weighted form" in law.provides else "never"


def find_copies(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of rows made of what they hold, and for each the first that holds the same.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    y : ndarray of shape (n,) or (n, outputs)
        Numbers or labels; copies have the same y.
    """
    if y.dtype.kind != "f":  # whole numbers too: large ones are not told apart as floats
        labels = y if y.dtype.kind in "biu" else y.astype(str)
        y = np.unique(labels, return_inverse=True)[1].reshape(y.shape)
    columns = y.reshape(len(y), -1).astype(np.float64)
    salt = 0
    while True:
        keys = np.stack([exact_keys(columns, salt), exact_keys(X, salt)])
        order = np.lexsort(keys)  # by X, so that other labels of the same rows leave it alone
        starts = np.append(True, (np.diff(keys[:, order], axis=1) != 0).any(axis=0))
        first = np.empty(len(y), dtype=np.intp)
        first[order] = order[starts][np.cumsum(starts) - 1]
        copies = np.flatnonzero(first != np.arange(len(y)))
        if all((part[copies] == part[first[copies]]).all() for part in (X, columns)):
            return order, first
        salt += 1  # two rows have one key by chance, which happens once in a lifetime


def check_weights(sample_weight: Any, count: int) -> np.ndarray:
    """Return the weights as an array; refuse what cannot be one."""
    try:
        given = np.asarray(sample_weight)
        if given.dtype.kind not in "biufO":  # numpy makes numbers of dates and words, too
            raise TypeError
        weights = given.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "sample_weight must hold one number for every row; it holds something else. Give an "
            "array of numbers, zero or more."
        ) from None
    if weights.ndim == 0:
        weights = np.full(count, float(weights))
    if weights.shape != (count,):
        raise ValueError(
            f"sample_weight must hold one number for every row, the shape ({count},); got the "
            f"shape {weights.shape}."
        )
    for wrong, what in (
        (np.isnan(weights), "NaN"),
        (np.isinf(weights), "an infinite number"),
        (weights < 0, "a negative number"),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"sample_weight must be zero or more; row {row} has {what} "
                f"({float(weights[row])!r})."
            )
    if not weights.any():
        raise ValueError("sample_weight is zero in every row; there is nothing to learn from.")
    if weights.max() > _LARGEST:
        row = int(np.argmax(weights))
        raise ValueError(
            f"sample_weight must be {_LARGEST:g} or less; row {row} has {float(weights[row])!r}. "
            "Divide all weights by their mean."
        )
    if weights.sum() < _LEAST_SUM:
        raise ValueError(
            f"sample_weight must add up to {_LEAST_SUM:g} or more, as it says how often rows "
            f"count; it adds up to {weights.sum():.3g}. Divide all weights by their mean."
        )
    return weights


def _refuse_fractions(estimator: Any, weights: np.ndarray) -> None:
    """Raise where rows cannot be repeated as often as they count."""
    fractions = weights != np.round(weights)
    if fractions.any():
        row = int(np.argmax(fractions))
        raise ValueError(
            f"{_described(estimator)} takes whole numbers as sample_weight, and repeats rows; row "
            f"{row} has {float(weights[row])!r}. Give whole numbers, or use "
            f"{estimator._weighing_laws()}."
        )
    if weights.sum() > _MOST_REPEATED:
        raise ValueError(
            f"{_described(estimator)} repeats rows as often as sample_weight says, which makes "
            f"{weights.sum():.3g} rows, over {_MOST_REPEATED}; give smaller weights, or a sample "
            "of the rows."
        )


def _described(estimator: Any) -> str:
    """Return the estimator and its law of the response in the words of its parameters."""
    name, parameters = type(estimator).__name__, estimator.get_params(deep=False)
    for law in ("counts", "likelihood", "noise"):
        if parameters.get(law) is not None:
            return f"{name} with {law}={parameters[law]!r}"
    return name


def _refuse_too_few(estimator: Any, y: np.ndarray, kept: np.ndarray) -> None:
    """Raise where rows of weight zero leave one class, or one row of a regression."""
    if not is_classifier(estimator):
        if len(kept) == 1:
            raise ValueError(
                f"sample_weight is zero in every row but row {kept[0]}; a regressor needs two rows."
            )
        return
    classes = set(y[kept].tolist()) if y.ndim == 1 else ()
    if len(classes) == 1 and len(set(y.tolist())) > 1:
        (only,) = classes
        raise ValueError(
            f"sample_weight is zero for every class but {only!r}; a classifier needs two classes."
        )
