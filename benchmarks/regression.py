"""Regression: coverage, error and log density of GKMRegressor beside a Gaussian process.

Designs of the hybrid-search specification, section 12, restricted to their true features:
`moderate` is y = 2 sin x1 + x2^2/2 + exp(x3)/5 + x4 + N(0, 1), x uniform on (-pi, pi), 100 rows;
`massive` is y = 2 sin x1 + x2^2/2 + exp(x3)/6 + N(0, 1) with 1,000 rows here; `outliers` is
`moderate` with 200 rows, 5 % of the responses off by 10 to 20. 20 repetitions, 1,000 clean test
rows each. `coverage` is that of central 95 % intervals, `log density` the mean log predictive
density. The Gaussian process of scikit-learn has a Gaussian kernel with one width per feature, and
noise, all by maximum likelihood; GKMRegressor runs with its defaults, with a learned width per
feature, and with Student-t noise.
"""

from __future__ import annotations

import warnings

import numpy as np
from joblib import Parallel, delayed, parallel_config
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from tables import Row, markdown

from sparsekern import GKMRegressor

_METHODS = ("GKM", "GKM, widths learned", "GKM, student-t", "Gaussian process")


def _design(name: str, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    p, last = (3, 6.0) if name == "massive" else (4, 5.0)
    X = rng.uniform(-np.pi, np.pi, (n, p))
    f = 2 * np.sin(X[:, 0]) + X[:, 1] ** 2 / 2 + np.exp(X[:, 2]) / last
    return X, f + (X[:, 3] if p == 4 else 0.0)


def _data(name: str, number: int, rows: int):
    rng = np.random.default_rng([12, number])
    X, f = _design(name, rng, rows)
    y = f + rng.standard_normal(rows)
    if name == "outliers":
        spoiled = rng.permutation(rows)[: rows // 20]
        y[spoiled] += rng.choice([-1, 1], len(spoiled)) * rng.uniform(10, 20, len(spoiled))
    new, truth = _design(name, rng, 1000)
    return X, y, new, truth + rng.standard_normal(1000)


def _judge(method: str, X, y, new, target, draws: int) -> dict[str, float]:
    if method == "Gaussian process":
        kernel = ConstantKernel() * RBF(np.ones(X.shape[1])) + WhiteKernel()
        process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0).fit(X, y)
        mean, std = process.predict(new, return_std=True)
        low, high = mean - 1.96 * std, mean + 1.96 * std
        density = norm.logpdf(target, mean, std)
    else:
        options = {"draws": draws, "tune": draws, "random_state": 0, "progress": False, "n_jobs": 1}
        if "widths" in method:
            options["learn_length_scale"] = "per_feature"
        if "student" in method:
            options["noise"] = "student_t"
        model = GKMRegressor(**options).fit(X, y)
        mean = model.predict(new)
        low, _, high = model.predict_quantiles(new).T
        density = model.log_predictive_density(new, target)
    return {
        "MSPE": float(np.mean((target - mean) ** 2)),
        "coverage": float(np.mean((low < target) & (target < high))),
        "log density": float(density.mean()),
    }


def _repetition(method: str, name: str, number: int, n: int, draws: int) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _judge(method, *_data(name, number, n), draws)


def measure(quick: bool, n_jobs: int = 2) -> list[Row]:
    repetitions, draws = (2, 50) if quick else (20, 500)
    sizes = {"moderate": 100, "massive": 1000, "outliers": 200}
    rows: list[Row] = []
    for name, n in sizes.items():
        for method in _METHODS:
            with parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1):
                found = Parallel()(
                    delayed(_repetition)(method, name, number, n, draws)
                    for number in range(repetitions)
                )
            row: Row = {"design": name, "n": n, "method": method}
            for key in found[0]:
                values = [entry[key] for entry in found]
                row[key] = float(np.mean(values))
                row[f"{key} sd"] = float(np.std(values, ddof=1))
            rows.append(row)
            print(markdown([row]).splitlines()[-1], flush=True)
    return rows
