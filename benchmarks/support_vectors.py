"""The hinge beside the complete support vector machine, probit and a tuned SVC.

Error and log-loss over random splits (10, fixed seeds) of the sets of `accuracy`, at the sizes of
Zhang, Dai and Jordan (2011). `GKM hinge` and `GKM probit` run with their defaults, the complete
SVM (normalised hinge, every row active, `complete_svm.py`) with one chain of 2,000 draws after
1,000 sweeps; the SVC is tuned and calibrated as in `accuracy`. The probability of the hinge is
a heuristic. `not converged` counts the splits with a warning.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from accuracy_split import TunedSVC
from complete_svm import CompleteSVM
from joblib import Parallel, delayed, parallel_config
from problems import PAPER_PROBLEMS, PaperProblem, read, split
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from tables import Row

from sparsekern import GKMClassifier

_METHODS = ("GKM hinge", "GKM probit", "complete SVM", "SVC")


def _make(method: str, n_features: int, number: int, quick: bool) -> Any:
    if method == "SVC":
        return TunedSVC(n_features, number)
    if method == "complete SVM":
        return CompleteSVM(*((100, 100) if quick else (2000, 1000)), seed=number)
    effort = {"draws": 50, "tune": 50} if quick else {"draws": 1000}
    name = method.removeprefix("GKM ")
    return GKMClassifier(likelihood=name, progress=False, random_state=number, **effort)


def _run(problem: PaperProblem, features, labels, number: int, quick: bool) -> list[Row]:
    train, test = split(problem, len(features), number)
    rows: list[Row] = []
    for method in _METHODS:
        model = _make(method, features.shape[1], number, quick)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(features[train], labels[train])
        warned = any(issubclass(w.category, ConvergenceWarning) for w in caught)
        rows.append({
            "error": 100.0 * float(np.mean(model.predict(features[test]) != labels[test])),
            "log-loss": float(log_loss(labels[test], model.predict_proba(features[test]))),
            "warned": warned and method.startswith("GKM"),
        })  # fmt: skip
    return rows


def measure(quick: bool, n_jobs: int = 2) -> list[Row]:
    rows: list[Row] = []
    for problem in PAPER_PROBLEMS:
        data = read(problem)
        if data is None:
            continue
        features, labels, _ = data
        with parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1):
            splits = Parallel()(
                delayed(_run)(problem, features, labels, number, quick)
                for number in range(2 if quick else 10)
            )
        for place, method in enumerate(_METHODS):
            found = [results[place] for results in splits]
            row: Row = {"data": problem.name, "method": method}
            for name in ("error", "log-loss"):
                values = [entry[name] for entry in found]
                row[name] = float(np.mean(values))
                row[f"{name} sd"] = float(np.std(values, ddof=1))
            row["not converged"] = int(sum(entry["warned"] for entry in found))
            rows.append(row)
    return rows
