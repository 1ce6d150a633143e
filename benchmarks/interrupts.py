"""Ctrl-C at the largest settings that are allowed: every sampled estimator, ten features.

`moves` has all moves of a sweep at their upper bounds. With `all rows` active sets may take every
row, too, and length scales are learned feature by feature. `dense` has all vectors active: every
move of a feature factors a matrix of all rows; with 1,000 rows one sweep was not over after 100
seconds. `sampling` has as many components or candidates as rows; `search` is the work before it: a
thousand splits and components, a thousand widths. Ctrl-C comes `pressed at` seconds after the fit
begins. `back after` is the time from then until `fit` returns or raises, `gone after` until the
process has ended: Python's exit waits for a sweep under way, which ends after its present move,
unless Ctrl-C is pressed again, here ten seconds after the fit was over (`again`). Such a process
ends in the midst of compiled code, now and then by signal 11 (-11 in `targets`). Seconds are of a
shared machine. To be met: back within 3 seconds; a sentence where there are no draws (but for
`search`), a warning that says how to go on where there are; and an orderly end of the process.
"""

from __future__ import annotations

from typing import Any

from many_rows import SOON, Fit, watch
from tables import Row

Options = dict[str, Any]
_LATENT = {
    "moves__active_set": 10_000, "moves__blocks": 10_000, "moves__joint": 10_000,
    "moves__latent_scans": 1_000,
}  # fmt: skip
_FEATURES = {
    "moves__active_set": 10_000, "moves__blocks": 10_000, "moves__latent_scans": 1_000,
    "moves__features": 10_000, "moves__swaps": 10_000, "moves__pairs": 10_000,
    "moves__length_scales": 1_000,
}  # fmt: skip
_GKM = {
    "GKMClassifier": _LATENT,
    "GKMRegressor": {},  # its moves have no settings
    "SparseGPClassifier": _LATENT | {"draws": 50},  # more of all rows do not fit into memory
}
_EARLY, _LATE = 4.0, 12.0
_SENTENCES = ("before any draw was kept", "before there was anything to keep")
_NO_TUNING = {"tune": 0, "chains": 2}  # few chains, or none of them has a whole sweep by then


def _cases(rows: int) -> list[tuple[str, str, Options]]:
    """Return estimator, a word for the settings, and the settings."""
    all_rows = {"priors__max_active": rows, "learn_length_scale": "per_feature"}
    dense = {"priors__max_active": rows, "priors__select_vectors": False}
    components = {"n_components": rows, "inference": "polya_gamma", "length_scale": 1.0}
    components["prediction__sharpness"] = 1.0
    search = {"n_components": "log_score", "search__max_components": 1_000}
    search |= {"search__n_splits": 1_000, "search__draws": 10**6}
    sampled = {"inference": "mcmc", "candidates": rows}
    found: list[tuple[str, str, Options]] = []
    for name, moves in _GKM.items():
        found += [(name, "moves", moves), (name, "all rows", moves | all_rows)]
    for name in ("DoublySparseRegressor", "DoublySparseClassifier"):
        found += [(name, "moves", _FEATURES), (name, "dense", _FEATURES | dense)]
    return [
        *found,
        ("KernelProjectionClassifier", "sampling", components),
        ("KernelProjectionClassifier", "search", search),
        ("PCVMClassifier", "sampling", sampled | {"length_scale": 1.0, "draws": 20_000}),
        ("PCVMClassifier", "search", sampled | {"search__n_length_scales": 1_000}),
    ]


def _judge(fit: Fit) -> str:
    wrong = []
    if fit.over is None or fit.over - (fit.pressed or 0.0) > SOON:
        wrong.append("SLOW TO STOP")
    if fit.pressed is None:
        wrong.append("OVER BEFORE")
    elif fit.outcome.startswith("returned"):
        if "To go on from here" not in fit.last_words:
            wrong.append("NO WARNING")
    elif not fit.outcome.startswith("KeyboardInterrupt"):
        wrong.append("ERROR")
    elif not any(words in fit.outcome for words in _SENTENCES):
        wrong.append("NO SENTENCE")
    if fit.status != 0:
        wrong.append(f"ENDED WITH {fit.status}")
    return ", ".join(wrong) or "met"


def _measure_one(name: str, case: str, rows: int, press: float, options: Options) -> Row:
    fit = watch(name, rows, press, options)
    since = fit.pressed or 0.0
    row: Row = {
        "estimator": name, "settings": case, "n": rows, "tune": options.get("tune", 1000),
        "pressed at": fit.pressed, "after Ctrl-C": fit.outcome[:110],
        "back after": None if None in (fit.over, fit.pressed) else fit.over - since,
        "again": "yes" if fit.again else "", "gone after": fit.gone - since,
        "MB": fit.megabytes, "targets": _judge(fit),
    }  # fmt: skip
    print(row, flush=True)
    return row


def measure(quick: bool) -> list[Row]:
    table: list[Row] = []
    for rows in (300,) if quick else (1_000, 2_000):
        for name, case, options in _cases(rows)[: 2 if quick else None]:
            table.append(_measure_one(name, case, rows, _EARLY, options))
            if rows == 1_000 and case in ("moves", "sampling"):  # whole sweeps within seconds
                late = options | _NO_TUNING
                if name == "GKMRegressor":  # whose sweeps are short: not over by then
                    late |= {"draws": 20_000}
                table.append(_measure_one(name, case, rows, _LATE, late))
    return table
