"""Rows of the user, as a table whose columns may be numbers or categories."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_array

from .feature_sets import feature_label

FEW_VALUES = 10  # of a feature: shown one by one, nothing is interpolated between them


@dataclass(frozen=True)
class Feature:
    """A column of the rows, and the values at which an effect is shown.

    Attributes
    ----------
    index : int
    label : str
    discrete : bool
        Whether it has few values, or categories: nothing lies between them.
    grid : list or ndarray
        All values that it has, in order, or numbers from its smallest to its largest.
    values : ndarray
        The different numbers in the rows; empty for categories.
    """

    index: int
    label: str
    discrete: bool
    grid: Any
    values: np.ndarray

    @property
    def places(self) -> np.ndarray:
        """Where the values lie on an axis: numbers at themselves, categories side by side."""
        return np.asarray(self.grid, float) if len(self.values) else np.arange(len(self.grid))


class Rows:
    """Rows in the units of the user.

    Parameters
    ----------
    model : fitted estimator
    X : array-like of shape (n_samples, n_features)
    """

    def __init__(self, model: Any, X: Any) -> None:
        self.names = getattr(model, "feature_names_in_", None)
        if hasattr(X, "columns"):
            # other kinds of data frame by their columns; pandas' own keep their categories
            own = X if isinstance(X, pd.DataFrame) else {c: X[c].to_numpy() for c in X.columns}
            self.frame = pd.DataFrame(own).reset_index(drop=True)
        else:
            table = check_array(X, dtype=None, ensure_all_finite="allow-nan")
            self.frame = pd.DataFrame(table).infer_objects()
            if self.names is not None and len(self.names) == table.shape[1]:
                self.frame.columns = self.names
        model.predict(self.as_input(self.frame[:1]))  # compares number and names of the columns

    def as_input(self, frame: pd.DataFrame) -> Any:
        """Return a table as the model takes it: with names where it was fitted with names."""
        return frame if self.names is not None else frame.to_numpy()

    def feature(self, wanted: Any, number: int) -> Feature:
        """Return a feature by its index or name, with ``number`` values if it has many."""
        index = self._find(wanted)
        label = feature_label(self.names, index)
        column = self.frame.iloc[:, index]
        found = _categories(column)
        values = np.empty(0)
        if found is None:
            values = np.unique(column.to_numpy(float)[~column.isna()])
            found = list(values)
        if len(found) < 2:
            only = "missing" if not found else found[0] if not len(values) else f"{values[0]:g}"
            raise ValueError(
                f"feature {label} is {only} in every row of X; pass rows in which it varies."
            )
        discrete = not len(values) or len(values) <= FEW_VALUES
        grid = found if discrete else np.linspace(values[0], values[-1], number)
        return Feature(index, label, discrete, grid, values)

    def _find(self, wanted: Any) -> int:
        names = [] if self.names is None else [str(name) for name in self.names]
        if isinstance(wanted, str):
            if wanted not in names:
                known = (
                    f"one of {names}" if names else "an index: the model was fitted without names"
                )
                raise ValueError(f"feature {wanted!r} was not seen in fit; pass {known}.")
            return names.index(wanted)
        if isinstance(wanted, bool) or not isinstance(wanted, Integral):
            raise TypeError(
                f"feature must be an index or a name, got {wanted!r} of type "
                f"{type(wanted).__name__}; pass an int or a str, or a pair of them."
            )
        last = self.frame.shape[1] - 1
        if not 0 <= int(wanted) <= last:
            raise ValueError(
                f"feature must lie between 0 and {last}, got {wanted!r}; pass the index of a "
                "column of X."
            )
        return int(wanted)

    def medians(self) -> pd.DataFrame:
        """Return one row of medians.

        A column of few values has one of these, the lower one of two in the middle; categories
        have the most frequent one.
        """
        return pd.DataFrame({name: [_middle(column)] for name, column in self.frame.items()})

    def placed(self, background: pd.DataFrame, features: list[Feature], points: list) -> Any:
        """Return the background once for each point, the features at the point's values."""
        n = len(background)
        table = background.iloc[np.tile(np.arange(n), len(points))].reset_index(drop=True)
        for place, feature in enumerate(features):
            column = table.columns[feature.index]
            values = pd.Series([point[place] for point in points for _ in range(n)])
            kept = background.dtypes.iloc[feature.index] if feature.discrete else np.float64
            table[column] = values.astype(kept)
        return self.as_input(table)


def _categories(column: pd.Series) -> list | None:
    """Return the values of a column that holds no numbers; None for numbers."""
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return None
    present = column.dropna()
    if isinstance(column.dtype, pd.CategoricalDtype):
        return [name for name in column.dtype.categories if (present == name).any()]
    return sorted(present.unique().tolist(), key=lambda value: (str(type(value)), value))


def _middle(column: pd.Series) -> Any:
    if _categories(column) is not None:
        return column.mode().iloc[0]
    values = column.dropna().to_numpy()
    if len(np.unique(values)) > FEW_VALUES:
        return float(np.median(values))
    return np.quantile(values, 0.5, method="inverted_cdf")
