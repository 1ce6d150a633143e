"""Speed of the vector machines: ratios in one run, processor seconds of one thread.

`PCVM / SVC`: a default fit (seven widths, averaging included) over an SVC with the same seven
widths times five costs by 5-fold cross-validation, and its calibration, on the same half of the
data (at most 1,000 rows); `RVM / SVC` likewise; `prediction`: seconds of SVC's `predict` over ours.
`RVM / fastrvm`, `RVM / EMRVC`: fit and prediction at one width, a median distance, on both sides,
at most 400 rows, with errors and log-losses, means over twenty splits (EMRVC: one); the packages
`fastrvm` and `sklearn-rvm` are used where they are installed. `narrow`: the same at a tenth of the
median distance, and how the first fit, or one that raised, ended. `growth`: time and peak memory of
a default fit to generated ringnorm rows, alone in a process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from measuring import seconds
from sklearn.metrics import log_loss
from tables import Row
from vector_machine_peers import SETS, TunedSVC, halves, median_distance

from sparsekern import PCVMClassifier, RVMClassifier

_FEW, _MANY, _SPLITS = 400, 1000, 20
_GROWTH = (500, 1000, 2000, 5000, 10_000, 20_000)


def _peers() -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        from fastrvm import RVC

        found["fastrvm"] = lambda gamma: RVC(kernel="rbf", gamma=gamma, fit_intercept=True)
    except ImportError:
        print("fastrvm is not installed", flush=True)
    try:
        from sklearn_rvm import EMRVC

        found["EMRVC"] = lambda gamma: EMRVC(kernel="rbf", gamma=gamma)
    except ImportError:
        print("sklearn-rvm is not installed", flush=True)
    return found


def _best_of(action: Any, times: int = 3) -> float:
    return min(seconds(action) for _ in range(times))


def _against_svc(name: str) -> Row:
    features, labels, new, _ = halves(name, 0)
    features, labels = features[:_MANY], labels[:_MANY]
    support = TunedSVC(0)
    tuning = seconds(lambda: support.fit(features, labels))
    row: Row = {"data": name, "what": "tuned fit", "n": len(labels)}
    many = np.resize(new, (20_000, new.shape[1]))
    theirs = _best_of(lambda: support.predict(many))
    for title, model in (
        ("PCVM", PCVMClassifier(progress=False, random_state=0)),
        ("RVM", RVMClassifier(progress=False, random_state=0)),
    ):
        row[f"{title} / SVC"] = _best_of(lambda m=model: m.fit(features, labels)) / tuning
        row[f"prediction, {title}"] = theirs / _best_of(lambda m=model: m.predict(many))
        row[f"vectors, {title}"] = len(model.active_vectors_)
    row["vectors, SVC"] = len(support.active_vectors_)
    return row


def _end(model: Any, features, labels, new, truth) -> tuple[str, float | None, float | None]:
    """Return how a fit ends: vectors or exception, error and log-loss."""
    try:
        model.fit(features, labels)
        error = 100.0 * float(np.mean(model.predict(new) != truth))
        loss = float(log_loss(truth, model.predict_proba(new)))
    except Exception as problem:  # what a peer raises is the figure
        return type(problem).__name__, None, None
    vectors = getattr(model, "active_vectors_", getattr(model, "relevance_", ()))
    return f"{len(vectors)} vectors", error, loss


def _against_peers(name: str, factor: float, what: str, peers: dict[str, Any]) -> Row:
    row: Row = {"data": name, "what": what}
    errors: dict[str, list[float]] = {}
    for number in range(_SPLITS):
        features, labels, new, truth = halves(name, number)
        features, labels = features[:_FEW], labels[:_FEW]
        scale = factor * median_distance(features)
        ours = RVMClassifier(length_scale=scale, standardize=False, progress=False)
        begin = time.process_time()
        ends = {"RVM": _end(ours, features, labels, new, truth)}
        spent = {"RVM": time.process_time() - begin}
        for title, make in peers.items():
            if title == "EMRVC" and (what == "narrow" or number > 0):
                continue  # minutes
            begin = time.process_time()
            ends[title] = _end(make(0.5 / scale**2), features, labels, new, truth)
            spent[title] = time.process_time() - begin
        for title, (end, error, loss) in ends.items():
            row.setdefault(title, end)
            if error is None:
                row[title] = end  # an exception in any split is told
                continue
            errors.setdefault(f"{title} error", []).append(error)
            errors.setdefault(f"{title} log-loss", []).append(loss)
            if title != "RVM":
                errors.setdefault(f"RVM / {title}", []).append(spent["RVM"] / spent[title])
    row["n"] = len(labels)
    return row | {key: float(np.mean(values)) for key, values in errors.items()}


def _grow(n: int) -> Row:
    """Fit in a process of its own, so that its peak memory is its own."""
    finished = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("vector_machine_growth.py")), str(n)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {"data": "ringnorm", "what": "growth", "n": n, **json.loads(finished.stdout)}


def measure(quick: bool) -> list[Row]:
    rows: list[Row] = []
    chosen = [name for name in SETS if halves(name, 0) is not None]
    chosen = chosen[3:4] if quick else chosen
    peers = _peers()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in chosen:
            PCVMClassifier(progress=False).fit(*halves(name, 0)[:2])  # compiled before the clock
            rows.append(_against_svc(name))
            print(rows[-1], flush=True)
        for what, factor in (("one width", 1.0), ("narrow", 0.1)):
            for name in chosen:
                rows.append(_against_peers(name, factor, what, peers))
                print(rows[-1], flush=True)
        first = None
        for n in _GROWTH[:2] if quick else _GROWTH:
            row = _grow(n)
            first = first or row["time"]
            row["time"] = float(row["time"]) / float(first)
            rows.append(row)
            print(rows[-1], flush=True)
    if not quick:
        _plot([row for row in rows if row["what"] == "growth"])
    return rows


def _plot(rows: list[Row]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    n = [row["n"] for row in rows]
    axes[0].loglog(n, [row["time"] for row in rows], "o-", label="PCVMClassifier()")
    axes[0].loglog(n, [value / n[0] for value in n], "k:", label="linear")
    axes[0].set(xlabel="rows", ylabel=f"time of a fit, relative to n = {n[0]}")
    axes[1].loglog(n, [row["MB"] for row in rows], "o-")
    axes[1].set(xlabel="rows", ylabel="peak memory of the process, MB")
    axes[0].legend(frameon=False)
    figure.savefig(Path(__file__).parent / "results" / "vector_machine_speed.png", dpi=130)
    plt.close(figure)
