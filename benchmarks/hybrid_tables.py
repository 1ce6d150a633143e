"""Hybrid-search Gaussian processes on the designs and data of Duan (2022), chapter 2.

`moderate`: 100 rows, four effects among p features, as in the paper (`standardize=False`,
IG(1, 1)) and with our defaults; `massive`: 10,000 rows, three effects, the search on 100 rows
chosen by value of y or at random, 100 test points with local models of 50 rows; `meatspec`: log
fat, two outliers dropped, 149 rows to learn from; `news`: log shares, the search on 250 rows, 100
test rows. `TPR` and `TNR` are the shares of true features selected and of others left out, `true
in A` the share of sets whose true model is in the window; `true` is the error of the same method
given the true features. `near` is the error of meatspec without two samples: rows 43 and 184 (from
0) have the largest absorbances, are far from all others and near each other, so that models
extrapolate in the one split of eleven that has both among its test rows. Errors after ± are
standard errors. Paper: 1,000 repetitions (moderate, massive), 5,000 splits (meatspec).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from measuring import seconds
from problems import data_folder
from sklearn.base import clone
from tables import Row

from sparsekern import HybridSearchGPRegressor
from sparsekern.datasets import load
from sparsekern.settings import HybridPrediction, HybridRegressionPriors, HybridRegressionSearch

PAPER_SETTINGS = {
    "standardize": False, "priors__noise": (1, 1), "search__n_wander": 100, "search__pairs": False,
    "prediction__integration": "mode",
}  # fmt: skip
MODERATE = ((20, 50, 2.04, 0.991), (200, 50, 2.09, 0.978), (1000, 20, 2.20, 0.955))
MASSIVE = (
    ("value", 100, 1.06, 0.995), ("random", 100, 1.17, 0.941),
    ("value", 1000, 1.07, 0.988), ("random", 1000, 1.23, 0.913),
)  # fmt: skip
_MEATSPEC_OUTLIERS = (132, 100)
_MEATSPEC_FAR = (43, 184)


def draw_design(n: int, p: int, number: int, massive: bool):
    """Return data and the true features, which are drawn at random."""
    rng = np.random.default_rng([2, number, p])
    X = rng.uniform(-np.pi, np.pi, (n, p))
    true = rng.permutation(p)[: 3 if massive else 4]
    x = X[:, true].T
    f = 2 * np.sin(x[0]) + x[1] ** 2 / 2 + np.exp(x[2]) / (6.0 if massive else 5.0)
    if not massive:
        f = f + x[3]
    return X, f + rng.standard_normal(n), np.sort(true)


def _judge(model: Any, X, y, new, target, true, far=None) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        time = seconds(lambda: model.fit(X, y))
        given = clone(model)
        found: dict[str, float] = {"seconds": time}
        error = (model.predict(new) - target) ** 2
        found["MSPE"] = float(error.mean())
        if far is not None:
            found["near"] = float(error[~far].mean())
        low, high = model.predict_quantiles(new, [0.025, 0.975]).T
        found["coverage"] = float(np.mean((low < target) & (target < high)))
        found["size"] = float(len(model.models_))
        if true is not None:
            selected = set(model.selected_features_.tolist())
            right = len(selected & set(true.tolist()))
            found["TPR"] = right / len(true)
            found["TNR"] = 1.0 - (len(selected) - right) / (X.shape[1] - len(true))
            found["inside"] = float(tuple(true.tolist()) in set(model.models_["features"]))
            given.set_params(selection__screen=None).fit(X[:, true], y)
            found["true"] = float(np.mean((given.predict(new[:, true]) - target) ** 2))
    return found


def _moderate(p: int, number: int, settings: dict) -> dict[str, float]:
    X, y, true = draw_design(200, p, number, False)
    model = HybridSearchGPRegressor(random_state=number, progress=False).set_params(**settings)
    return _judge(model, X[:100], y[:100], X[100:], y[100:], true)


def _massive(grid: str, p: int, number: int) -> dict[str, float]:
    X, y, true = draw_design(10_100, p, number, True)
    model = HybridSearchGPRegressor(
        standardize=False,
        priors=HybridRegressionPriors(noise=(1, 1)),
        search=HybridRegressionSearch(rows=100, grid=grid),
        progress=False,
        random_state=number,
    )
    return _judge(model, X[:10_000], y[:10_000], X[10_000:], y[10_000:], true)


def _meatspec(number: int, settings: dict) -> dict[str, float]:
    data = load("meatspec", data_folder())
    kept = np.setdiff1d(np.arange(len(data.target)), _MEATSPEC_OUTLIERS)
    X, y = data.data[kept].astype(float), np.log(data.target[kept])
    order = np.random.default_rng([3, number]).permutation(len(y))
    train, test = order[:149], order[149:]
    model = HybridSearchGPRegressor(random_state=number, progress=False)
    model.set_params(search__swaps=True, **settings)
    far = np.isin(kept[test], _MEATSPEC_FAR)
    return _judge(model, X[train], y[train], X[test], y[test], None, far)


def _news(number: int) -> dict[str, float]:
    data = load("online_news_39000", data_folder())
    good = np.setdiff1d(np.arange(len(data.target)), [31037])
    X, y = data.data[good].astype(float), np.log(data.target[good])
    order = np.random.default_rng([4, number]).permutation(len(y))
    model = HybridSearchGPRegressor(
        search=HybridRegressionSearch(rows=250),
        prediction=HybridPrediction(local_neighbors=50),
        progress=False,
        random_state=number,
    )
    train, test = order[100:], order[:100]
    return _judge(model, X[train], y[train], X[test], y[test], None)


def _row(name: str, p: Any, found: list[dict[str, float]], paper: Any, rate: Any) -> Row:
    def mean(key: str) -> float | None:
        values = [entry[key] for entry in found if key in entry]
        return float(np.mean(values)) if values else None

    def error(key: str) -> float | None:
        values = [entry[key] for entry in found if key in entry]
        return float(np.std(values, ddof=1) / np.sqrt(len(values))) if values else None

    return {
        "design": name, "p": p, "sets": len(found), "MSPE": mean("MSPE"), "MSPE sd": error("MSPE"),
        "paper": paper, "near": mean("near"), "near sd": error("near"), "true": mean("true"),
        "TPR": mean("TPR"), "paper TPR": rate, "TNR": mean("TNR"),
        "true in A": mean("inside"), "models": mean("size"), "coverage": mean("coverage"),
        "seconds": mean("seconds"),
    }  # fmt: skip


SETS = ("moderate", "massive", "meatspec", "news")  # for --sets


def measure(quick: bool, n_jobs: int = 2, sets: tuple[str, ...] = ()) -> list[Row]:
    rows: list[Row] = []

    def run(name: str, p: Any, count: int, paper: Any, rate: Any, work: Any, *arguments) -> None:
        if sets and name.split(",")[0] not in sets:
            return
        with parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1):
            found = Parallel()(
                delayed(work)(*(number if a is None else a for a in arguments))
                for number in range(2 if quick else count)
            )
        rows.append(_row(name, p, found, paper, rate))
        print(rows[-1], flush=True)

    for p, count, paper, rate in MODERATE:
        if not (quick and p > 20):
            run("moderate, as the paper", p, count, paper, rate, _moderate, p, None, PAPER_SETTINGS)
            run("moderate", p, count, paper, rate, _moderate, p, None, {})
    for grid, p, paper, rate in MASSIVE:
        if not quick:
            run(f"massive, {grid}", p, 50, paper, rate, _massive, grid, p, None)
    if data_folder() is not None:
        paper_settings = PAPER_SETTINGS | {"prediction__integration": "composite"}
        run("meatspec, as the paper", 100, 50, 0.054, None, _meatspec, None, paper_settings)
        run("meatspec", 100, 50, 0.054, None, _meatspec, None, {})
        if not quick:
            run("news", 59, 20, 0.794, None, _news, None)
    return rows
