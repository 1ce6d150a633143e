"""Error, log-loss and size of the vector machines over 20 random halves of seven sets.

The splits are those of Chen, Tino and Yao (half/half, standardised). PCVM and RVM run with their
defaults (seven widths averaged with leave-one-out weights); the SVC has the same seven widths times
five costs by 5-fold error on at most 1,000 rows and is calibrated; SMLR (seven widths, four
penalties) and scikit-learn's Gaussian process see 500 rows at most. `vectors` counts distinct rows
over all widths. `paper` is the error printed for the method where there is one. The last rows are
means over sets with average ranks of the error and the Friedman test.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from sklearn.metrics import log_loss
from tables import Row, markdown
from vector_machine_peers import SETS, FewRowsGP, TunedSMLR, TunedSVC, halves

from sparsekern import PCVMClassifier, RVMClassifier
from sparsekern.diagnostics import compare_classifiers

METHODS = (
    "PCVM laplace", "PCVM ep", "PCVM smoothed", "RVM", "SMLR", "SVC", "Gaussian process",
)  # fmt: skip
PAPER = {
    "SVC": (9.72, 27.31, 16.15, 4.57, 21.18, 8.86, 1.67),
    "RVM": (9.76, 28.37, 18.90, 5.49, 22.14, 9.27, 1.65),
    "SMLR": (9.74, 27.39, 19.52, 5.25, 21.18, 9.21, 1.68),
    "PCVM ep": (9.60, 26.65, 16.65, 5.16, 21.02, 9.16, 1.66),
    "PCVM smoothed": (9.62, 26.71, 16.65, 5.02, 20.83, 9.13, 1.52),
}
PAPER_VECTORS = {
    "RVM": (265, 11, 12, 31, 61, 238, 1729),
    "PCVM ep": (113, 8, 12, 10, 117, 282, 1213),
    "PCVM smoothed": (327, 16, 15, 20, 121, 538, 1849),
}


def make(method: str, seed: int) -> Any:
    """Return an estimator by name."""
    if method == "SVC":
        return TunedSVC(seed)
    if method == "SMLR":
        return TunedSMLR(seed)
    if method == "Gaussian process":
        return FewRowsGP()
    options: dict[str, Any] = {"progress": False, "random_state": seed}
    if method == "RVM":
        return RVMClassifier(**options)
    return PCVMClassifier(inference=method.split()[1], **options)


def judge(method: str, name: str, number: int) -> dict[str, float]:
    """Return error (%), log-loss and number of vectors of one fit."""
    data = halves(name, number)
    assert data is not None
    features, labels, new, truth = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(method, number).fit(features, labels)
        return {
            "error": 100.0 * float(np.mean(model.predict(new) != truth)),
            "log-loss": float(log_loss(truth, model.predict_proba(new))),
            "vectors": float(len(model.active_vectors_)),
        }


def measure(quick: bool, n_jobs: int = 2, sets: tuple[str, ...] = SETS) -> list[Row]:
    splits = 2 if quick else 20
    chosen = [name for name in sets if halves(name, 0) is not None]
    chosen = [name for name in chosen if not quick or name in ("heart", "thyroid")]
    rows: list[Row] = []
    errors: dict[str, list[float]] = {method: [] for method in METHODS}
    for name in chosen:
        for method in METHODS:
            with parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1):
                found = Parallel()(delayed(judge)(method, name, k) for k in range(splits))
            row: Row = {"data": name, "method": method}
            for key in found[0]:
                values = [entry[key] for entry in found]
                row[key] = float(np.mean(values))
                row[f"{key} sd"] = float(np.std(values, ddof=1))
            place = SETS.index(name)
            row["paper"] = PAPER[method][place] if method in PAPER else None
            row["paper vectors"] = PAPER_VECTORS.get(method, [None] * 7)[place]
            errors[method].append(float(row["error"]))
            rows.append(row)
            print(markdown([row]).splitlines()[-1], flush=True)
    return rows + _summary(rows, errors)


def _summary(rows: list[Row], errors: dict[str, list[float]]) -> list[Row]:
    table = np.column_stack([errors[method] for method in METHODS])
    out: list[Row] = []
    ranks = None
    if len(table) > 1:
        comparison = compare_classifiers(table, names=list(METHODS))
        print(comparison, flush=True)
        ranks = comparison.average_ranks
    for method in METHODS:
        mine = [row for row in rows if row["method"] == method]
        row: Row = {"data": "mean", "method": method}
        for key in ("error", "log-loss", "vectors"):
            row[key] = float(np.mean([entry[key] for entry in mine]))
        row["rank"] = None if ranks is None else float(ranks[method])
        out.append(row)
    if ranks is not None:
        out.append({
            "data": "Friedman", "method": "all",
            "statistic": comparison.friedman_statistic, "p": comparison.friedman_pvalue,
            "Iman-Davenport": comparison.iman_davenport_statistic,
            "critical difference": comparison.critical_difference,
        })  # fmt: skip
    return out
