"""More than two classes by one hybrid search for each of them against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone


def fit_one_vs_rest(estimator: Any, X: Any, y: np.ndarray) -> None:
    """Fit a copy of a classifier for every class; it keeps what they found side by side.

    The copies are silent: what is to be said is said once, of all together.
    """
    members: list[Any] = [clone(estimator) for _ in estimator.classes_]
    tables = []
    for label, member in zip(estimator.classes_, members, strict=True):
        member._fit(X, y == label)
        table = member.models_.copy()
        table.insert(0, "class", label)
        tables.append(table)
    estimator.estimators_ = members
    estimator.models_ = pd.concat(tables, ignore_index=True)
    # the searches know nothing of each other: a feature is in no model with the product
    absent = np.prod([1.0 - member.feature_inclusion_ for member in members], axis=0)
    estimator.feature_inclusion_ = 1.0 - absent
    estimator.n_fits_ = sum(member.n_fits_ for member in members)
    estimator.n_plug_ins_ = sum(member.n_plug_ins_ for member in members)
    estimator.search_path_ = [step for member in members for step in member.search_path_]
