"""Do chains arrive? Default fits on ordinary data, twenty data sets of each kind (`--fits`).

Everything is at its default, whatever the number of draws; only seeds are given. A data set is a
random draw of a design, or a random split of real data (140 rows of thyroid, 100 of wine, 400 of
breast cancer, waveform and ringnorm, 300 of the USPS pairs, two thirds of Leukemia's patients).
`quiet` counts fits without any convergence warning, `R-hat` is the worst of all judged scalars (its
median over the data sets, and the largest), `ESS` the least bulk or tail effective sample size of
any of them (median), `sweeps` the mean number of sweeps of a chain after tuning, `seconds` the
processor seconds of a fit (median; four chains). `error` is the share of wrong labels, or the mean
squared error against the true function where it is known and against new responses where not.
`right features` counts fits whose selected features are exactly the true ones; for Leukemia, fits
in which chains agree within .1 on every inclusion probability above .3. The aim: at least 95 %
quiet fits, and R-hat at most 1.01.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from doubly_sparse_cases import draw_case
from joblib import Parallel, delayed, parallel_config
from measuring import seconds
from problems import data_folder
from sklearn.datasets import load_breast_cancer, load_wine, make_friedman1
from sklearn.exceptions import ConvergenceWarning
from tables import Row

from sparsekern import (
    DoublySparseClassifier,
    DoublySparseRegressor,
    GKMClassifier,
    GKMRegressor,
    SparseGPClassifier,
)
from sparsekern.datasets import load, make_ringnorm, make_waveform

_NEW_ROWS = 1000


class Task(NamedTuple):
    """A data set, cut in two, and the true features, if they are known."""

    X: np.ndarray
    y: np.ndarray
    new: np.ndarray
    target: np.ndarray
    true: np.ndarray | None = None


def _friedman(n: int, number: int) -> Task:
    X, y = make_friedman1(n, n_features=10, noise=1.0, random_state=number)
    new, target = make_friedman1(_NEW_ROWS, n_features=10, noise=0.0, random_state=1000 + number)
    return Task(X, y, new, target, np.arange(5))


def _housing(number: int) -> Task:
    """Eight features, three of them weak and two twins: the shape of the California data."""
    rng = np.random.default_rng([7, number])
    n = 1000 + _NEW_ROWS
    X = rng.standard_normal((n, 8))
    X[:, 1] = 0.9 * X[:, 0] + 0.45 * X[:, 1]
    X[:, 3:] = np.exp(0.5 * X[:, 3:])
    truth = np.tanh(X[:, 0]) + 0.5 * np.log(X[:, 3]) * X[:, 2] + 0.3 * np.cos(2.0 * X[:, 2])
    truth += 0.2 * np.log(X[:, 4]) - 0.15 * np.log(X[:, 5])
    y = truth + 0.5 * rng.standard_normal(n)
    return Task(X[:1000], y[:1000], X[1000:], truth[1000:])


def _case(case: str, n: int, p: int) -> Callable[[int], Task]:
    return lambda number: Task(*draw_case(case, n, p, number))


def _ring(number: int) -> Task:
    rng = np.random.default_rng(100 + number)
    X = rng.standard_normal((200 + _NEW_ROWS, 100))
    y = (X[:, 3] ** 2 + X[:, 40] ** 2 > 1.4).astype(int)
    return Task(X[:200], y[:200], X[200:], y[200:], np.array([3, 40]))


def _cut(X: np.ndarray, y: np.ndarray, train: int, number: int) -> Task:
    order = np.random.default_rng([2026, number]).permutation(len(y))
    one, other = order[:train], order[train : train + 4000]
    return Task(X[one], y[one], X[other], y[other])


def _file(name: str, train: int) -> Callable[[int], Task]:
    def draw(number: int) -> Task:
        data = load(name, data_folder())
        return _cut(data.data, data.target, train, number)

    return draw


def _usps(number: int) -> Task:
    data = load("usps_all", data_folder())
    pair = [(3, 5), (4, 9), (7, 9), (5, 8)][number % 4]
    rows = np.flatnonzero(np.isin(data.target, pair))
    return _cut(data.data[rows], data.target[rows], 300, number)


def _bunch(read: Callable, train: int) -> Callable[[int], Task]:
    return lambda number: _cut(*read(return_X_y=True), train, number)


def _made(make: Callable) -> Callable[[int], Task]:
    return lambda number: _cut(*make(400 + 4000, random_state=number), 400, number)


_REGRESSION = {
    "Friedman 1, n = 300": lambda number: _friedman(300, number),
    "Friedman 1, n = 1000": lambda number: _friedman(1000, number),
    "Friedman 1, n = 5000": lambda number: _friedman(5000, number),
    "housing, n = 1000": _housing,
    "Case 1, p = 200": _case("1", 50, 200),
    "Case 2, p = 200": _case("2", 100, 200),
    "Case 3, p = 200": _case("3", 1000, 200),
}
_CLASSES = {
    "breast cancer": _bunch(load_breast_cancer, 400),
    "wine": _bunch(load_wine, 100),
    "thyroid": _file("raetsch_thyroid", 140),
    "waveform": _made(make_waveform),
    "ringnorm": _made(make_ringnorm),
    "USPS pairs": _usps,
    "Leukemia": _file("leukemia", 48),
}
_OF_FILES = {"thyroid", "USPS pairs", "Leukemia"}
_SMALL = ("breast cancer", "wine", "thyroid", "waveform", "ringnorm", "USPS pairs")
DESIGNS: dict[str, tuple[Callable[[int], Task], type, dict]] = {
    **{name: (draw, DoublySparseRegressor, {}) for name, draw in _REGRESSION.items()},
    **{name: (draw, DoublySparseClassifier, {}) for name, draw in _CLASSES.items()},
    **{
        f"ring, {law}": (_ring, DoublySparseClassifier, {"likelihood": law})
        for law in ("logit", "probit", "hinge")
    },
    **{
        f"GKM: {name}": (_REGRESSION[name], GKMRegressor, {})
        for name in ("Friedman 1, n = 300", "Friedman 1, n = 1000", "housing, n = 1000")
    },
    **{f"GKM: {name}": (_CLASSES[name], GKMClassifier, {}) for name in _SMALL},
    **{f"sparse GP: {name}": (_CLASSES[name], SparseGPClassifier, {}) for name in _SMALL[2:5]},
}


def _agree(model) -> bool:
    """Tell whether chains agree within .1 on every inclusion probability above .3."""
    shares = model.feature_inclusion_by_chain_
    apart = np.ptp(shares, axis=0)
    return bool((apart[shares.max(axis=0) > 0.3] <= 0.1).all())


def _fit(name: str, number: int) -> dict:
    draw, estimator, options = DESIGNS[name]
    task = draw(number)
    model = estimator(**options, random_state=number, progress=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        time = seconds(lambda: model.fit(task.X, task.y))
    table = model.diagnostics_.loc[list(model._posterior.judged_scalars(sizes=True))]
    predicted = model.predict(task.new)
    regression = isinstance(model, (DoublySparseRegressor, GKMRegressor))
    right = None
    if name == "Leukemia":
        right = _agree(model)
    elif task.true is not None and hasattr(model, "selected_features_"):
        right = np.array_equal(model.selected_features_, task.true)
    return {
        "quiet": not any(issubclass(w.category, ConvergenceWarning) for w in caught),
        "R-hat": float(table["r_hat"].max()),
        "ESS": float(table[["ess_bulk", "ess_tail"]].min(axis=None)),
        "sweeps": len(model.traces_["n_active"][0]) - model.tune,
        "error": float(
            np.mean((predicted - task.target) ** 2 if regression else predicted != task.target)
        ),
        "right": right,
        "seconds": time,
    }


def _summary(name: str, fits: list[dict]) -> Row:
    def values(key: str) -> np.ndarray:
        return np.array([fit[key] for fit in fits], dtype=float)

    right = [fit["right"] for fit in fits if fit["right"] is not None]
    return {
        "design": name, "fits": len(fits), "quiet": int(values("quiet").sum()),
        "R-hat": float(np.median(values("R-hat"))), "largest R-hat": float(values("R-hat").max()),
        "ESS": float(np.median(values("ESS"))), "sweeps": float(values("sweeps").mean()),
        "error": float(values("error").mean()),
        "error se": float(values("error").std(ddof=1) / len(fits) ** 0.5) if fits[1:] else None,
        "right features": sum(right) if right else None,
        "seconds": float(np.median(values("seconds"))),
    }  # fmt: skip


def measure(
    quick: bool, sets: tuple[str, ...] = tuple(DESIGNS), n_jobs: int = 2, fits: int = 20
) -> list[Row]:
    if quick:
        sets, fits = sets[:1], 2
    rows: list[Row] = []
    for name in sets:
        if name.split(": ")[-1] in _OF_FILES and data_folder() is None:
            print(f"{name}: the folder of data is not there", flush=True)
            continue
        with parallel_config("loky", n_jobs=n_jobs, inner_max_num_threads=1):
            done = Parallel()(delayed(_fit)(name, number) for number in range(fits))
        rows.append(_summary(name, done))
        print(rows[-1], flush=True)
    return rows
