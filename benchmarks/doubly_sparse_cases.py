"""Doubly-sparse regression on the designs of Duan (2022), section 11 of the specification.

Case 1: n = 50, one bump, Laplacian kernel as in the paper; Case 2: n = 100, three effects; Case 3:
n = 1,000, four effects. 20 repetitions, 1,000 test rows each, defaults otherwise. `exact set` is
the share of repetitions whose selected features are exactly the true ones; `MSPE` the mean squared
prediction error, with its standard error; `MSPE given features` that of the same sampler when it
gets the true features only (`select_features=False`), `ratio` the quotient of the two means (the
aim is at most 1.05); `coverage` that of central 95 % intervals; `disagree` counts repetitions with
a warning that chains disagree about a feature, `not converged` those with any convergence warning;
`seconds` are processor seconds of a fit (four chains of 2,000 sweeps). `bkmr MSPE` are published
figures of R bkmr 0.2.2 on the same design, from a good start (p = 200: 12.5 from its default one).
"""

from __future__ import annotations

import warnings

import numpy as np
from joblib import Parallel, delayed, parallel_config
from measuring import seconds
from sklearn.exceptions import ConvergenceWarning
from tables import Row

from sparsekern import DoublySparseRegressor
from sparsekern.datasets import make_additive, make_bump
from sparsekern.settings import DoublySparseRegressionPriors

CASES = (
    ("1", 50, 20, 1.724, None), ("1", 50, 200, 1.755, None), ("1", 50, 500, 1.781, None),
    ("2", 100, 20, 1.276, 1.52), ("2", 100, 200, 1.284, 1.45), ("2", 100, 500, 1.285, None),
    ("3", 1000, 20, 1.264, None), ("3", 1000, 200, 1.278, None),
)  # fmt: skip
_TEST_ROWS = 1000


def draw_case(case: str, n: int, p: int, number: int):
    """Return training and test data and the true features of repetition ``number``."""
    options = {"n_features": p, "random_state": number, "return_features": True}
    rows = n + _TEST_ROWS
    if case == "1":
        X, y, chosen = make_bump(rows, **options)
    else:
        X, y, chosen = make_additive(rows, n_effects=3 if case == "2" else 4, **options)
    return X[:n], y[:n], X[n:], y[n:], np.sort(chosen)


def run_case(case: str, n: int, p: int, number: int, effort: dict) -> Row:
    """Fit one repetition with and without knowing the features."""
    X, y, new, target, true = draw_case(case, n, p, number)
    options = {
        "kernel": "laplacian" if case == "1" else "rbf", "random_state": number, "progress": False,
        **effort,
    }  # fmt: skip
    model = DoublySparseRegressor(**options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        time = seconds(lambda: model.fit(X, y))
    sentences = [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        all_in = DoublySparseRegressionPriors(select_features=False)
        given = DoublySparseRegressor(priors=all_in, **options).fit(X[:, true], y)
    low, high = model.predict_quantiles(new, [0.025, 0.975]).T
    return {
        "exact": float(np.array_equal(model.selected_features_, true)),
        "MSPE": float(np.mean((model.predict(new) - target) ** 2)),
        "given": float(np.mean((given.predict(new[:, true]) - target) ** 2)),
        "coverage": float(np.mean((low < target) & (target < high))),
        "disagree": any("disagree" in text for text in sentences),
        "warned": bool(sentences),
        "seconds": time,
    }


def measure(quick: bool, n_jobs: int = 2, sets: tuple[str, ...] = ()) -> list[Row]:
    rows: list[Row] = []
    effort = {"draws": 100, "tune": 100, "chains": 2} if quick else {"draws": 1000}
    for case, n, p, paper, bkmr in CASES:
        if (sets and case not in sets) or (quick and p > 20):
            continue
        with parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1):
            found = Parallel()(
                delayed(run_case)(case, n, p, number, effort)
                for number in range(2 if quick else 20)
            )
        values = {name: np.array([row[name] for row in found], dtype=float) for name in found[0]}
        row: Row = {
            "case": case, "n": n, "p": p, "exact set": float(values["exact"].mean()),
            "MSPE": float(values["MSPE"].mean()),
            "MSPE sd": float(values["MSPE"].std(ddof=1) / np.sqrt(len(found))),
            "MSPE given features": float(values["given"].mean()),
            "ratio": float(values["MSPE"].mean() / values["given"].mean()),
            "paper MSPE": paper, "bkmr MSPE": bkmr, "coverage": float(values["coverage"].mean()),
            "disagree": int(values["disagree"].sum()),
            "not converged": int(values["warned"].sum()),
            "seconds": float(values["seconds"].mean()),
        }  # fmt: skip
        rows.append(row)
        print(row, flush=True)
    return rows
