"""What is given as X: checks that name the columns, and the way from there to the kernels."""

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


class Standardizer:
    """Centre every column and divide it by its standard deviation (constant columns: by one).

    Sums are taken after division by the largest absolute value, so that columns near the limits
    of floating point neither overflow nor vanish.

    Parameters
    ----------
    features : ndarray of shape (n, p)
    weights : ndarray of shape (n,) or None
        How often each row counts; None: once.
    """

    def __init__(self, features: np.ndarray, weights: np.ndarray | None = None) -> None:
        largest = np.abs(features).max(axis=0)
        self._largest = np.where(largest > 0, largest, 1.0)
        scaled = features / self._largest
        self._mean, deviation = moments(scaled, weights)
        # rounding leaves a constant column with a deviation of a few units in the last place
        constant = deviation <= 8 * np.finfo(np.float64).eps * np.abs(self._mean)
        self._deviation = np.where(constant | (deviation == 0), 1.0, deviation)

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """Return the columns on the common scale."""
        with np.errstate(over="ignore"):  # absurdly far points end at infinity: distance is too
            scaled = features / self._largest
            scaled -= self._mean
            scaled /= self._deviation
            return scaled


def moments(values: np.ndarray, weights: np.ndarray | None) -> tuple[Any, Any]:
    """Return mean and standard deviation over rows; without weights every row counts once."""
    if weights is None:
        return values.mean(axis=0), values.std(axis=0)
    mean = np.average(values, axis=0, weights=weights)
    return mean, np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weights))


class Inputs:
    """Rows on their way from the user to the kernels, the same way in ``fit`` and afterwards.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
        Training rows, validated.
    standardize : bool
    exposure : int or None
        A column that is no feature of the kernels: it is set to zero, so that no distance sees it.
    weights : ndarray of shape (n,) or None
        How often each row counts; None: once.

    Attributes
    ----------
    columns : ndarray or None
        Columns that are taken of rows: of a precomputed kernel where not all training rows are in
        the model, or some are repeated. None: all.
    """

    def __init__(
        self,
        rows: np.ndarray,
        standardize: bool,
        exposure: int | None = None,
        weights: np.ndarray | None = None,
    ) -> None:
        self.exposure = exposure
        self.columns: np.ndarray | None = None
        self._scale = None
        if standardize:
            self._scale = Standardizer(self.without_exposure(rows), weights)

    def without_exposure(self, rows: np.ndarray) -> np.ndarray:
        """Return the rows with zeros where the exposure stands."""
        if self.exposure is None:
            return rows
        rows = rows.copy(order="K")
        rows[:, self.exposure] = 0.0
        return rows

    def __call__(self, rows: np.ndarray, order: Literal["C", "F"] = "C") -> np.ndarray:
        """Return rows as kernels see them, by row or (``"F"``) by feature."""
        rows = self.without_exposure(rows if self.columns is None else rows[:, self.columns])
        if self._scale is not None:
            rows = self._scale(rows)
        return np.require(rows, requirements=[order, "A", "W"])
