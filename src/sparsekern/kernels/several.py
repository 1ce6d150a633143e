"""Lists of kernels and kernels of some columns: the grammar that all estimators share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .resolve import Kernel, resolve_kernel


def resolve_kernels(
    kernel: Any, length_scale: Any, features: np.ndarray, names: np.ndarray | None = None
) -> tuple[Kernel, ...]:
    """Turn one kernel, a list of kernels or of ``(kernel, columns)`` pairs into kernels.

    Parameters
    ----------
    kernel : see :func:`resolve_kernel`, or a list of such, or of pairs
        ``columns`` are indices, a slice, a mask, or feature names.
    length_scale : see :func:`resolve_kernel`
        The same for every kernel.
    features : ndarray of shape (n, p)
    names : ndarray of str or None
        Feature names, where the user gave any.
    """
    if isinstance(kernel, tuple):  # one pair
        kernel = [kernel]
    if not isinstance(kernel, list):
        return (resolve_kernel(kernel, length_scale, features),)
    if not kernel:
        raise ValueError("kernel=[] holds no kernel; give at least one.")
    kernels = []
    for entry in kernel:
        if isinstance(entry, tuple) and len(entry) != 2:
            raise ValueError(f"kernel holds {entry!r}; a tuple must be a (kernel, columns) pair.")
        entry, columns = entry if isinstance(entry, tuple) else (entry, None)
        if isinstance(entry, str) and entry == "precomputed":
            raise ValueError("kernel='precomputed' cannot stand in a list of kernels.")
        if columns is None:
            kernels.append(resolve_kernel(entry, length_scale, features))
        else:
            seen = _columns(columns, features.shape[1], names)
            part = resolve_kernel(entry, length_scale, features[:, seen])
            kernels.append(_restricted(part, seen, features.shape[1]))
    return tuple(kernels)


def _columns(columns: Any, n_features: int, names: np.ndarray | None) -> np.ndarray:
    """Return column indices of a specification as ColumnTransformer takes them."""
    if isinstance(columns, (str, int, np.integer)):
        columns = [columns]
    if isinstance(columns, slice):
        return np.arange(n_features)[columns]
    chosen = np.asarray(columns)
    if chosen.dtype.kind in "UO" and all(isinstance(name, str) for name in chosen.ravel()):
        places = {} if names is None else {name: j for j, name in enumerate(names)}
        missing = [str(name) for name in chosen if name not in places]
        if missing:
            raise ValueError(
                f"kernel names the columns {missing}, which X does not have"
                + (" (X has no column names)." if names is None else f"; it has {list(names)}.")
            )
        return np.array([places[name] for name in chosen], dtype=np.int64)
    try:
        seen = np.arange(n_features)[chosen]
    except IndexError:
        seen = np.zeros(0, np.int64)
    if seen.ndim != 1 or len(seen) == 0:
        raise ValueError(
            f"the columns of a (kernel, columns) pair must be some of the {n_features} columns of "
            f"X, by index, mask, slice or name; got {columns!r}."
        )
    return seen


def _restricted(kernel: Kernel, seen: np.ndarray, n_features: int) -> Kernel:
    """Return a kernel of some features as one of all: the others get an infinite length scale."""
    function = kernel.function
    if function is not None:
        function = partial(_on_columns, function, seen)
    length_scale = np.full(n_features, np.inf)
    length_scale[seen] = kernel.length_scale
    return replace(kernel, length_scale=length_scale, function=function)


def _on_columns(
    function: Callable[..., np.ndarray], seen: np.ndarray, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    return function(left[:, seen], right[:, seen])
