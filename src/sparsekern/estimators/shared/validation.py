"""Checks of what is given as X, with the columns named where X has names."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import validate_data

_REMEDY_FOR_DATES = (
    "turn them into numbers, for instance into days since a date of your choice, or drop them"
)
_REMEDIES = {
    "dates or times": _REMEDY_FOR_DATES,
    "complex numbers": "split them into real and imaginary parts (Complex data not supported)",
    "values that are no numbers": (
        "encode them, for instance by sklearn.preprocessing.OneHotEncoder, or drop them"
    ),
}


def validate_rows(
    estimator: Any, X: Any, y: Any = "no_validation", order: Literal["C", "F"] = "C", **options: Any
) -> Any:
    """Return X (and y) as :func:`sklearn.utils.validation.validate_data` does, X as float64.

    That function gives foreign errors, or numbers of microseconds, for columns that are no numbers,
    and a foreign error for names that are not unique; here they get a sentence.
    """
    if all(hasattr(type(X), name) for name in ("columns", "dtypes", "__array__")):
        _check_columns(X)
    else:
        refuse_dates(X, "X")
    return validate_data(estimator, X, y, dtype=np.float64, order=order, **options)


def refuse_dates(values: Any, name: str) -> None:
    """Raise if an array holds dates, which numpy turns into numbers without a word."""
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "f") in "mM":
        raise ValueError(f"{name} holds dates or times ({dtype}); {_REMEDY_FOR_DATES}.")


def _check_columns(frame: Any) -> None:
    """Raise unless the columns of a data frame hold numbers and have names of their own."""
    names = list(frame.columns)
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(
            f"X has more than one column of the name {_listed(repeated)}; give every column a "
            "name of its own."
        )
    kinds = {
        name: _kind_of(frame[name], dtype)
        for name, dtype in zip(names, frame.dtypes, strict=True)
        if not _is_numeric(dtype)
    }
    for kind, remedy in _REMEDIES.items():
        found = [name for name in kinds if kinds[name] == kind]
        if found:
            raise ValueError(f"X holds {kind} in the columns {_listed(found)}; {remedy}.")


def _is_numeric(dtype: Any) -> bool:
    """Tell whether a type of pandas or polars is one of real numbers or truth values."""
    kind = getattr(dtype, "kind", None)  # of numpy and pandas
    return kind in "biuf" if kind is not None else dtype.is_numeric() or str(dtype) == "Boolean"


def _kind_of(column: Any, dtype: Any) -> str | None:
    """Return what a column holds, in the message's words; None: what can be read as numbers."""
    values = np.asarray(column)
    kinds = {values.dtype.kind, getattr(dtype, "kind", None)}
    if kinds & {"m", "M"}:
        return "dates or times"
    if "c" in kinds:
        return "complex numbers"
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return "values that are no numbers"
    return None


def _listed(names: list[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:10])
    return shown if len(names) <= 10 else f"{shown} and {len(names) - 10} more"
