"""Calibration of inclusion probabilities where effects are weak.

Twice 200 simulated sets, n = 60, ten standard normal features, each with an effect with probability
0.2 (priors with `expected_features=2`, the same odds), noise of standard deviation one. `model`:
functions from the prior, eight active rows expected, coefficients of variance one half (`slab=.5`),
so that the function varies less than the noise: here probabilities must come true, and do if the
sampler is right. `sines`: effects the model does not know, each a sum of two sines of random
frequency and phase, scaled to a standard deviation uniform on (0, 1.2), default slab: many are too
weak to be seen, and the prior does not expect them so weak.

All 2,000 inclusion probabilities of a design are sorted into bins: in a calibrated model the share
of true features in a bin is its mean probability. `error` is the binomial standard error of that
share; a plot is written beside the table. The last row of a design has the share of all true
features and the Brier score.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed, parallel_config
from tables import Row

from sparsekern import DoublySparseRegressor
from sparsekern.settings import DoublySparseRegressionPriors

_ROWS, _FEATURES, _SHARE = 60, 10, 0.2
_SLAB, _VECTORS = 0.5, 8
_EDGES = np.array([0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1.0 + 1e-9])


def _sines(number: int):
    rng = np.random.default_rng([77, number])
    X = rng.standard_normal((_ROWS, _FEATURES))
    true = rng.random(_FEATURES) < _SHARE
    y = rng.standard_normal(_ROWS)
    for feature in np.flatnonzero(true):
        effect = np.zeros(_ROWS)
        for _ in range(2):
            frequency, phase = rng.uniform(0.3, 1.5), rng.uniform(0, 2 * np.pi)
            effect += rng.standard_normal() * np.sin(frequency * X[:, feature] + phase)
        y += rng.uniform(0, 1.2) * (effect - effect.mean()) / effect.std()
    return X, y, true


def _from_model(number: int):
    rng = np.random.default_rng([78, number])
    X = rng.standard_normal((_ROWS, _FEATURES))
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # the model's length scales are of scaled features
    true = rng.random(_FEATURES) < _SHARE
    bandwidth = true * rng.exponential(size=_FEATURES)
    active = rng.random(_ROWS) < _VECTORS / _ROWS
    distance = ((X[:, None, :] - X[active]) ** 2) @ bandwidth
    coefficients = np.sqrt(_SLAB) * rng.standard_normal(active.sum())
    return X, np.exp(-distance) @ coefficients + rng.standard_normal(_ROWS), true


_DESIGNS: dict[str, tuple[Callable, dict]] = {
    "model": (_from_model, {"slab": _SLAB, "expected_vectors": _VECTORS}),
    "sines": (_sines, {}),
}


def _run(design: str, number: int, effort: dict) -> tuple[np.ndarray, np.ndarray]:
    simulate, known = _DESIGNS[design]
    X, y, true = simulate(number)
    priors = DoublySparseRegressionPriors(expected_features=_SHARE * _FEATURES, **known)
    model = DoublySparseRegressor(priors=priors, random_state=number, progress=False, **effort)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y).feature_inclusion_, true


def measure(quick: bool, n_jobs: int = 2) -> list[Row]:
    effort = {"draws": 100, "tune": 100, "chains": 2} if quick else {"draws": 1000, "tune": 500}
    rows: list[Row] = []
    for design in _DESIGNS:
        with parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1):
            found = Parallel()(
                delayed(_run)(design, number, effort) for number in range(10 if quick else 200)
            )
        rows += _reliability(design, found)
    if not quick:
        _plot(rows)
    return rows


def _reliability(design: str, found: list[tuple[np.ndarray, np.ndarray]]) -> list[Row]:
    probability = np.concatenate([entry[0] for entry in found])
    true = np.concatenate([entry[1] for entry in found]).astype(float)
    rows: list[Row] = []
    for low, high in itertools.pairwise(_EDGES):
        inside = (probability >= low) & (probability < high)
        if inside.any():
            share, count = float(true[inside].mean()), int(inside.sum())
            mean = float(probability[inside].mean())
            spread = np.sqrt(max(mean * (1 - mean), 1e-6) / count)
            rows.append({
                "effects": design, "bin": f"{low:g} to {min(high, 1.0):g}", "features": count,
                "probability": mean, "share true": share, "error": float(spread),
                "z": float((share - mean) / spread),
            })  # fmt: skip
    brier = float(np.mean((probability - true) ** 2))
    spread = np.sqrt(np.sum(probability * (1 - probability))) / len(true)
    gap = float(true.mean() - probability.mean())
    rows.append({
        "effects": design, "bin": f"all (Brier score {brier:.4f})", "features": len(true),
        "probability": float(probability.mean()), "share true": float(true.mean()),
        "error": float(spread), "z": gap / float(spread),
    })  # fmt: skip
    return rows


def _plot(rows: list[Row]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
    for ax, design in zip(axes, _DESIGNS, strict=True):
        bins = [row for row in rows if row["effects"] == design][:-1]
        ax.plot([0, 1], [0, 1], "k:", linewidth=1)
        ax.errorbar(
            [row["probability"] for row in bins], [row["share true"] for row in bins],
            yerr=[2 * row["error"] for row in bins], fmt="o", capsize=3,
        )  # fmt: skip
        ax.set(xlabel="inclusion probability", ylabel="share of true features", title=design)
    figure.savefig(Path(__file__).parent / "results" / "doubly_sparse_calibration.png", dpi=130)
    plt.close(figure)
