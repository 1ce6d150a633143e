r"""A column of X that holds the exposure of counts: :math:`E[y]=e_i\,e^{f(x_i)}`.

Its logarithm is added to the function, and the column is no feature of the kernel: it is set to
zero there, so that distances do not see it.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from ...likelihoods.table import TABLE


def find_offset(estimator: Any, law: Any) -> int | None:
    """Return the position of the column that the parameter ``offset`` names, or None."""
    asked = estimator.offset
    if asked is None:
        return None
    if law.support != "counts":
        laws = " or ".join(
            f"noise={name!r}" for name, other in TABLE.items() if other.support == "counts"
        )
        raise ValueError(
            f"offset={asked!r} is for counts, not for noise={law.name!r}; leave offset=None, or "
            f"use {laws}."
        )
    names = getattr(estimator, "feature_names_in_", None)
    if isinstance(asked, str):
        if names is None or asked not in list(names):
            known = "X has no column names" if names is None else f"X has {list(names)!r}"
            raise ValueError(
                f"offset={asked!r} names no column of X: {known}; give a name or a position."
            )
        return list(names).index(asked)
    count = estimator.n_features_in_
    whole = isinstance(asked, Integral) and not isinstance(asked, bool)
    if not whole or not 0 <= int(asked) < count:
        raise ValueError(
            f"offset must be None, the name or the position of a column of X (0 to {count - 1}), "
            f"got {asked!r}."
        )
    if count == 1:
        raise ValueError(
            f"offset={asked!r} is the only column of X; there must be another as a feature."
        )
    return int(asked)


def log_exposure(X: np.ndarray, column: int | None) -> np.ndarray:
    """Return the logarithm of the exposure of every row, zero without such a column."""
    if column is None:
        return np.zeros(len(X))
    exposure = X[:, column]
    if not (exposure > 0).all():
        raise ValueError(
            f"The exposure, column {column} of X, must be positive; its smallest value is "
            f"{exposure.min():g}. Drop such rows, or leave offset=None."
        )
    return np.log(exposure)


def without_exposure(X: np.ndarray, column: int | None) -> np.ndarray:
    """Return X with the column at zero, a copy if there is such a column."""
    if column is None:
        return X
    X = X.copy(order="K")
    X[:, column] = 0.0
    return X


def check_counts(y: np.ndarray, law: Any) -> None:
    """Raise unless y holds counts."""
    if (y < 0).any() or (y != np.round(y)).any():
        raise ValueError(
            f"noise={law.name!r} needs counts, whole numbers from 0 on, as y; use "
            "noise='gaussian' or 'student_t' for other responses."
        )
