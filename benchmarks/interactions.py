"""Features that matter only together: the estimators that select features, and what others do.

100 rows, features uniform on (-2, 2), noise .7: `product` x0 x1; `quadrants` 2 sign(x0 x1); `waves`
2 sin(2 x0) sin(2 x1); `mixed` x0 x1 + x2 + |x3|. `MSPE` over 500 test rows, its standard error over
sets, `true` that of the same method given the true features, `found` the share of true features
selected, `others` the mean number of other features selected. `hybrid` and `doubly sparse` at their
defaults, and `without pairs` (`pairs=False`, `moves__pairs=0`). A forest of 500 trees and a
support-vector regression tuned by five folds select nothing.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from tables import Row

from sparsekern import DoublySparseRegressor, HybridSearchGPRegressor
from sparsekern.settings import DoublySparseRegressionMoves, HybridRegressionSearch

DESIGNS = {
    "product": (2, lambda x: x[0] * x[1]),
    "quadrants": (2, lambda x: 2 * np.sign(x[0] * x[1])),
    "waves": (2, lambda x: 2 * np.sin(2 * x[0]) * np.sin(2 * x[1])),
    "mixed": (4, lambda x: x[0] * x[1] + x[2] + np.abs(x[3])),
}


def draw(design: str, p: int, number: int, n: int = 600):
    """Return data; the true features come first."""
    rng = np.random.default_rng([9, number])
    X = rng.uniform(-2, 2, (n, p))
    return X, DESIGNS[design][1](X.T) + 0.7 * rng.standard_normal(n)


def _support_vectors() -> Any:
    grid = {"svr__C": [0.3, 1, 3, 10, 30], "svr__gamma": [0.003, 0.01, 0.03, 0.1, 0.3]}
    return GridSearchCV(make_pipeline(StandardScaler(), SVR()), grid, cv=5)


def methods(number: int, quick: bool) -> dict[str, Any]:
    """Return the methods compared."""
    short = {"draws": 20, "tune": 20} if quick else {"draws": 1000}
    shared = {"random_state": number, "progress": False}
    return {
        "hybrid": HybridSearchGPRegressor(**shared),
        "hybrid, without pairs": HybridSearchGPRegressor(
            search=HybridRegressionSearch(pairs=False), **shared
        ),
        "doubly sparse": DoublySparseRegressor(**shared, **short),
        "doubly sparse, without pairs": DoublySparseRegressor(
            moves=DoublySparseRegressionMoves(pairs=0), **shared, **short
        ),
        "forest": RandomForestRegressor(50 if quick else 500, random_state=number),
        "support vectors": _support_vectors(),
    }


def _measure(design: str, p: int, number: int, quick: bool) -> dict[str, tuple[float, ...]]:
    X, y = draw(design, p, number)
    count = DESIGNS[design][0]
    found = {}
    for name, model in methods(number, quick).items():
        errors = []
        for columns in (np.arange(p), np.arange(count)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                given = model if len(columns) == p else methods(number, quick)[name]
                given.fit(X[:100, columns], y[:100])
            errors.append(float(np.mean((given.predict(X[100:, columns]) - y[100:]) ** 2)))
        chosen = getattr(model, "selected_features_", None)
        shares = (np.nan, np.nan)
        if chosen is not None:
            shares = (
                float(np.mean(np.isin(np.arange(count), chosen))),
                float((chosen >= count).sum()),
            )
        found[name] = (*errors, *shares)
    return found


def measure(quick: bool, n_jobs: int = 2) -> list[Row]:
    rows: list[Row] = []
    sets = 2 if quick else 6
    for p in (50,) if quick else (50, 200):
        for design in DESIGNS:
            with parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1):
                results = Parallel()(
                    delayed(_measure)(design, p, number, quick) for number in range(sets)
                )
            for name in results[0]:
                error, true, found, others = np.array([result[name] for result in results]).T
                selects = np.isfinite(found).all()
                rows.append({
                    "design": design, "p": p, "method": name, "sets": sets,
                    "MSPE": float(error.mean()),
                    "MSPE sd": float(error.std(ddof=1) / np.sqrt(sets)),
                    "true": float(true.mean()),
                    "found": float(found.mean()) if selects else None,
                    "others": float(others.mean()) if selects else None,
                })  # fmt: skip
            print(rows[-6:], flush=True)
    return rows
