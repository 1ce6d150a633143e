"""The prior of the slab's variance: which default is best over designs *and* real sets.

Regression: Cases 1 to 3 of Duan (2022) with p = 20 (seeds other than those of
`doubly_sparse_cases`), Friedman's first function (n = 100, p = 10), meatspec (log fat, 100
channels), mcycle, diabetes and 500 rows of online news (log shares); score: mean squared error over
the variance of the test responses. Classification (logit): ring and blob with eight noise features,
thyroid, heart, breast cancer, waveform (200 rows) and leukemia (200 genes screened in the training
half); score: log-loss. Two chains of 2,000 sweeps, the same data for every prior. `relative` is the
geometric mean over repetitions of the score over that of the first prior of the task, `worst` the
largest over problems. IG(a, b) has shape a and rate b; a number alone is a known variance.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from doubly_sparse_cases import draw_case
from joblib import Parallel, delayed, parallel_config
from problems import data_folder
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from tables import Row

from sparsekern import DoublySparseClassifier, DoublySparseRegressor
from sparsekern.datasets import load, make_ring_and_blob
from sparsekern.inference.feature_search.screening import screen_features

REGRESSION_PRIORS = ((0.5, 50), (1, 1000), (1, 100), (1, 1), (0.001, 0.001), 1000.0)
CLASS_PRIORS = ((1, 10), (1, 100), (1, 1), (0.5, 50), 10.0, 100.0)
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def case(name: str, n: int, p: int) -> Callable[[int], Split]:
    """Return the sets of a case of the paper, other ones than `doubly_sparse_cases` has."""
    return lambda number: draw_case(name, n, p, 1000 + number)[:4]


def _friedman(number: int) -> Split:
    X, y = make_friedman1(1100, n_features=10, noise=1.0, random_state=number)
    return X[:100], y[:100], X[100:], y[100:]


def hold_out(X: np.ndarray, y: np.ndarray, train: int, number: int, classes: bool) -> Split:
    """Return so many training rows and the others, classes in the same shares."""
    seen, new, target, later = train_test_split(
        X, y, train_size=train, random_state=number, stratify=y if classes else None
    )
    return seen, target, new, later


def _real(name: str, train: int, classes: bool, log: bool = False) -> Callable[[int], Split]:
    def split(number: int) -> Split:
        if name == "diabetes":
            X, y = load_diabetes(return_X_y=True)
        else:
            data = load(name, data_folder())
            X, y = data.data.astype(float), data.target
        y = np.log(y) if log else y
        return hold_out(X, y, train, number, classes)

    return split


def _ring(number: int) -> Split:
    X, y = make_ring_and_blob(700, random_state=number)
    noise = np.random.default_rng(number).standard_normal((700, 8))
    X = np.hstack([X, noise])
    return X[:200], y[:200], X[200:], y[200:]


def _leukemia(number: int) -> Split:
    data = load("leukemia", data_folder())
    X = np.log10(np.maximum(data.data, 100.0))
    seen, target, new, later = hold_out(X, data.target, 36, number, True)
    genes = screen_features(seen, target.astype(float)[:, None], 200)
    return seen[:, genes], target, new[:, genes], later


REGRESSION: dict[str, tuple[Callable[[int], Split], int]] = {
    "Case 1": (case("1", 50, 20), 10), "Case 2": (case("2", 100, 20), 10),
    "Case 3": (case("3", 1000, 20), 2), "friedman": (_friedman, 5),
    "meatspec": (_real("meatspec", 172, False, True), 4),
    "mcycle": (_real("mcycle", 100, False), 5), "diabetes": (_real("diabetes", 300, False), 4),
    "news": (_real("online_news_39000", 500, False, True), 3),
}  # fmt: skip
CLASSES: dict[str, tuple[Callable[[int], Split], int]] = {
    "ring": (_ring, 3), "thyroid": (_real("raetsch_thyroid", 140, True), 5),
    "heart": (_real("raetsch_heart", 170, True), 4),
    "cancer": (_real("raetsch_breast_cancer", 200, True), 4),
    "waveform": (_real("raetsch_waveform", 200, True), 3), "leukemia": (_leukemia, 5),
}  # fmt: skip


def score(task: str, problem: str, split: Split, number: int, chosen: dict) -> float:
    """Fit with the options chosen; return the relative squared error or the log-loss."""
    seen, target, new, later = split
    later, new = later[:2000], new[:2000]
    options = {"random_state": number, "progress": False, "chains": 2, **chosen}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if task == "regression":
            kernel = "laplacian" if problem.startswith("Case 1") else "rbf"
            model = DoublySparseRegressor(kernel).set_params(**options).fit(seen, target)
            return float(np.mean((model.predict(new) - later) ** 2) / np.var(later))
        classifier = DoublySparseClassifier().set_params(**options).fit(seen, target)
        return float(log_loss(later, classifier.predict_proba(new), labels=classifier.classes_))


def _score(task: str, problem: str, prior: object, number: int, effort: dict) -> float:
    table = REGRESSION if task == "regression" else CLASSES
    options = {"priors__slab": prior, **effort}
    return score(task, problem, table[problem][0](number), number, options)


def _name(prior: object) -> str:
    return f"IG{prior}" if isinstance(prior, tuple) else f"{prior:g}"


def measure(quick: bool, n_jobs: int = 2, sets: tuple[str, ...] = ()) -> list[Row]:
    effort = {"draws": 30, "tune": 30} if quick else {"draws": 1000}
    rows: list[Row] = []
    for task, table, priors in (
        ("regression", REGRESSION, REGRESSION_PRIORS), ("classes", CLASSES, CLASS_PRIORS),
    ):  # fmt: skip
        if sets and task not in sets:
            continue
        logs: dict[str, list[float]] = {_name(prior): [] for prior in priors}
        for problem, (_, repetitions) in table.items():
            count = 1 if quick else repetitions
            jobs = [(prior, number) for prior in priors for number in range(count)]
            with parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1):
                found = Parallel()(
                    delayed(_score)(task, problem, prior, number, effort) for prior, number in jobs
                )
            scores = np.array(found).reshape(len(priors), count)
            for prior, values in zip(priors, scores, strict=True):
                relative = float(np.mean(np.log(values / scores[0])))
                logs[_name(prior)].append(relative)
                rows.append(
                    {
                        "task": task, "problem": problem, "slab": _name(prior),
                        "score": float(values.mean()), "relative": float(np.exp(relative)),
                    }
                )  # fmt: skip
                print(rows[-1], flush=True)
        for name, values in logs.items():
            rows.append(
                {
                    "task": task, "problem": f"all (worst {np.exp(max(values)):.3f})",
                    "slab": name, "score": np.nan, "relative": float(np.exp(np.mean(values))),
                }
            )  # fmt: skip
    return rows
