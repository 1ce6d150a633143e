"""Multiple kernel learning where the truth is known: which kernels, which error.

20 data sets each, 150 training and 400 test rows, noise .3 times the signal. `views`: 12 blocks of
five features, a Gaussian kernel for each, blocks 2 and 7 carry a function drawn from their kernel's
Gaussian process; `w21`: seven features times three widths, signal sin 5x_0 + sin 2x_1 + .8 x_2, one
matching kernel each. `rmse` in units of the signal's deviation, noise of the test rows included;
`coverage` of 95 % intervals; `AUC` of the kernel weights for the true kernels, and the number of
sets in which it is 1; `ratio` is the rmse beside that of a Gaussian process on a weighted sum of
the kernels with weights by maximum evidence, in the same run (the aim is 1.1). `per kernel` is the
default model, `shared` the published one with (1, 1) priors or the sparse ones.
"""

from __future__ import annotations

import warnings

import numpy as np
from joblib import Parallel, delayed, parallel_config
from scipy.spatial.distance import cdist
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR
from tables import Row
from weighted_sum_gp import WeightedSumGP

from sparsekern import BayesianMKLRegressor
from sparsekern.settings import MKLRegressionPriors

_TRAIN, _TEST, _NOISE = 150, 400, 0.3
MODELS: dict[str, dict] = {
    "per kernel": {},
    "shared": {"vectors": "shared"},
    "shared, sparse": {
        "vectors": "shared",
        "priors": MKLRegressionPriors(kernel_sparsity=True, sample_sparsity=True),
    },
}


def _gaussian(block: np.ndarray, width: float) -> np.ndarray:
    return np.exp(-0.5 * cdist(block, block, "sqeuclidean") / width**2)


def views(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return kernels of all rows (P, n, n), the signal, and which kernels carry it."""
    rng = np.random.default_rng([21, seed])
    features = rng.standard_normal((_TRAIN + _TEST, 60))
    width = float(np.sqrt(10.0))  # the root mean squared distance within a block of five
    blocks = [features[:, 5 * m : 5 * m + 5] for m in range(12)]
    signal = np.zeros(len(features))
    for m in (2, 7):
        frequencies = rng.standard_normal((5, 500)) / width
        waves = np.cos(blocks[m] @ frequencies + rng.uniform(0, 2 * np.pi, 500))
        function = waves @ rng.standard_normal(500)
        signal += (function - function.mean()) / function.std()
    return np.stack([_gaussian(b, width) for b in blocks]), signal, np.isin(np.arange(12), (2, 7))


def w21(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As :func:`views`."""
    rng = np.random.default_rng([22, seed])
    features = rng.uniform(-2, 2, (_TRAIN + _TEST, 7))
    kernels = [_gaussian(features[:, [m]], w) for m in range(7) for w in (0.3, 1.0, 3.0)]
    signal = np.sin(5 * features[:, 0]) + np.sin(2 * features[:, 1]) + 0.8 * features[:, 2]
    return np.stack(kernels), signal, np.isin(np.arange(21), (0, 4, 8))


def _judge(name: str, seed: int) -> dict[str, dict[str, float]]:
    kernels, signal, true = {"views": views, "w21": w21}[name](seed)
    rng = np.random.default_rng([23, seed])
    signal = (signal - signal.mean()) / signal.std()
    y = signal + _NOISE * rng.standard_normal(len(signal))
    train, test = slice(0, _TRAIN), slice(_TRAIN, None)
    inner = kernels[:, train, train]
    cross = kernels[:, train, test]
    found: dict[str, dict[str, float]] = {}

    def note(label: str, mean, std, weights) -> None:
        entry = {"rmse": float(np.sqrt(np.mean((mean - y[test]) ** 2)))}
        if std is not None:
            entry["coverage"] = float(np.mean(np.abs(mean - y[test]) < 1.96 * std))
        if weights is not None:
            entry["AUC"] = float(roc_auc_score(true, weights))
        found[label] = entry

    gp = WeightedSumGP().fit(inner, y[train])
    mean, std = gp.predict(cross, np.ones((len(kernels), _TEST)))
    note("weighted-sum GP", mean[:, 0], std[:, 0], gp.weights)
    for label, options in MODELS.items():
        model = BayesianMKLRegressor("precomputed", progress=False, random_state=seed, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(np.moveaxis(inner, 0, -1), y[train])
        mean, std = model.predict(np.moveaxis(cross, 0, -1).swapaxes(0, 1), return_std=True)
        note(label, mean, std, model.kernel_shares_)
    grid = {"C": [0.1, 1.0, 10.0, 100.0], "epsilon": [0.1, 0.3]}
    for label, weights in (("SVR, uniform", np.ones(len(true))), ("SVR, true kernels", true)):
        total = np.tensordot(weights / weights.sum(), kernels, axes=1)
        machine = GridSearchCV(SVR(kernel="precomputed"), grid, cv=5)
        machine.fit(total[train, train], y[train])
        note(label, machine.predict(total[test, train]), None, None)
    return found


def measure(quick: bool, n_jobs: int = 2) -> list[Row]:
    rows: list[Row] = []
    for name in ("views", "w21"):
        with parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1):
            found = Parallel()(delayed(_judge)(name, seed) for seed in range(2 if quick else 20))
        reference = np.mean([entry["weighted-sum GP"]["rmse"] for entry in found])
        for label in found[0]:
            here = [entry[label] for entry in found]
            rmse = np.array([entry["rmse"] for entry in here])
            row: Row = {
                "design": name, "method": label, "rmse": float(rmse.mean()),
                "error": float(rmse.std(ddof=1) / np.sqrt(len(rmse))),
                "ratio": float(rmse.mean() / reference),
            }  # fmt: skip
            for key in ("coverage", "AUC"):
                if key in here[0]:
                    row[key] = float(np.mean([entry[key] for entry in here]))
            if "AUC" in here[0]:
                right = sum(entry["AUC"] == 1.0 for entry in here)
                row["AUC = 1"] = f"{right} of {len(here)}"
            rows.append(row)
    return rows
