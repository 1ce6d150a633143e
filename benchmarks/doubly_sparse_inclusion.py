"""How many features to expect: which default is best over designs *and* real sets.

The problems of `doubly_sparse_slab`, and with more features Cases 1 and 2 (p = 200), the ring and
blob with 198 features of noise, and two classes of the microarrays (83 x 2308, logarithms, 200
genes screened in the training half). Score: mean squared error over the variance of the test
responses, or log-loss (logit). Two chains of 2,000 sweeps, the same
data for every number. `relative` is the geometric mean over repetitions of the score over that with
one feature expected; `all` the geometric mean over problems.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from doubly_sparse_slab import CLASSES, REGRESSION, Split, case, hold_out, score
from joblib import Parallel, delayed, parallel_config
from problems import data_folder
from tables import Row

from sparsekern.datasets import load, make_ring_and_blob
from sparsekern.inference.feature_search.screening import screen_features

EXPECTED = (1.0, 2.0, 3.0, 5.0, 10.0, None)  # the default of regression first, of classes last
Problems = dict[str, tuple[Callable[[int], Split], int]]


def _noisy_ring(number: int) -> Split:
    X, y = make_ring_and_blob(700, random_state=50 + number)
    noise = np.random.default_rng(number).standard_normal((700, 198))
    X = np.hstack([X, noise])
    return X[:200], y[:200], X[200:], y[200:]


def _microarray(number: int) -> Split:
    data = load("bkpc_microarray", data_folder())
    common = np.argsort(-np.bincount(data.target))[:2]
    rows = np.isin(data.target, common)
    X, y = np.log(data.data[rows]), (data.target[rows] == common[0]).astype(int)
    seen, target, new, later = hold_out(X, y, len(y) // 2, number, True)
    genes = screen_features(seen, target.astype(float)[:, None], 200)
    return seen[:, genes], target, new[:, genes], later


TASKS: dict[str, Problems] = {
    "regression": {
        **REGRESSION,
        "Case 1, p = 200": (case("1", 50, 200), 10),
        "Case 2, p = 200": (case("2", 100, 200), 10),
    },
    "classes": {**CLASSES, "ring, p = 200": (_noisy_ring, 3), "microarray": (_microarray, 10)},
}


def _name(expected: float | None) -> str:
    return "p/10, 1 to 5" if expected is None else f"{expected:g}"


def measure(quick: bool, n_jobs: int = 2, sets: tuple[str, ...] = ()) -> list[Row]:
    effort = {"draws": 30, "tune": 30} if quick else {"draws": 1000}
    rows: list[Row] = []
    for task, problems in TASKS.items():
        if sets and task not in sets:
            continue
        logs = []
        for problem, (draw, repetitions) in problems.items():
            count = 1 if quick else repetitions
            splits = [draw(number) for number in range(count)]
            with parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1):
                found = Parallel()(
                    delayed(score)(task, problem, splits[number], number, {
                        "priors__expected_features": expected, **effort,
                    })
                    for expected in EXPECTED
                    for number in range(count)
                )  # fmt: skip
            scores = np.array(found).reshape(len(EXPECTED), count)
            logs.append(np.log(scores / scores[0]).mean(axis=1))
            for expected, values, relative in zip(EXPECTED, scores, logs[-1], strict=True):
                rows.append({
                    "task": task, "problem": problem, "expected": _name(expected),
                    "score": float(values.mean()), "relative": float(np.exp(relative)),
                })  # fmt: skip
                print(rows[-1], flush=True)
        for expected, relative in zip(EXPECTED, np.transpose(logs), strict=True):
            rows.append({
                "task": task, "problem": f"all (worst {np.exp(relative.max()):.3f})",
                "expected": _name(expected), "score": np.nan,
                "relative": float(np.exp(relative.mean())),
            })  # fmt: skip
    return rows
