"""More than two classes by one hybrid search for each of them against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from .models import ModelTable


class HybridOneVsRest(ModelTable):
    """Adds one-vs-rest models to a classifier of two classes."""

    classes_: np.ndarray
    estimators_: list[Any]

    def _fit_member(self, X: Any, y: np.ndarray) -> Any:
        """Fit a copy to two classes; what is to be said is said once, of all together."""
        member: Any = clone(self)
        member._fit(X, y)
        return member

    def _fit_one_vs_rest(self, X: Any, y: np.ndarray) -> None:
        """Fit a copy of the estimator for every class, and keep what they found side by side."""
        members: list[Any] = [self._fit_member(X, y == label) for label in self.classes_]
        self.estimators_ = members
        tables = []
        for label, member in zip(self.classes_, members, strict=True):
            table = member.models_.copy()
            table.insert(0, "class", label)
            tables.append(table)
        self.models_ = pd.concat(tables, ignore_index=True)
        # the searches know nothing of each other: a feature is in no model with the product
        absent = np.prod([1.0 - member.feature_inclusion_ for member in members], axis=0)
        self.feature_inclusion_ = 1.0 - absent
        self.n_fits_ = sum(member.n_fits_ for member in members)
        self.n_plug_ins_ = sum(member.n_plug_ins_ for member in members)
        self.search_path_ = [step for member in members for step in member.search_path_]
