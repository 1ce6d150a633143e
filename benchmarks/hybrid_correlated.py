"""Hybrid search among correlated features, beside Metropolis sampling and the true features.

The moderate design (100 rows, four effects) with 200 features in blocks of ten, a Gaussian copula
of the given correlation within each block (0: what a search among 200 features loses in any case);
the true features lie in different blocks. `MSPE` over 500 test rows, `true` that of the hybrid
search given the true features, both also with a length scale for each feature; `excess` is the mean
difference of the two with its standard error, `median` the median one. All else is on the first ten
sets: `sampled MSPE` is that of `method="mcmc"` (two chains of 1,000 sweeps, of which 200 tune;
correlated features are exchanged there as well), to be held against `MSPE, ten`. `largest
difference` is that of the inclusion probabilities of hybrid search and sampling, its mean over
sets, and the share of sets below .1; `chains` the same between the two chains of the sampler, as a
measure of how well sampling itself is known. `narrow` and `narrow difference` are error and
difference of the hybrid search with `window=20`, which is the default where no features are
exchanged.
"""

from __future__ import annotations

import warnings

import numpy as np
from joblib import Parallel, delayed, parallel_config
from scipy.stats import norm
from tables import Row

from sparsekern import HybridSearchGPRegressor
from sparsekern.settings import HybridPrediction, HybridRegressionSearch


def draw(correlation: float, number: int, n: int = 600, p: int = 200):
    """Return data and true features, one in each of the first four blocks."""
    rng = np.random.default_rng([7, number])
    common = np.repeat(rng.standard_normal((n, p // 10)), 10, axis=1)
    latent = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.standard_normal((n, p))
    X = np.pi * (2 * norm.cdf(latent) - 1)
    true = np.array([block * 10 + rng.integers(10) for block in range(4)])
    x = X[:, true].T
    f = 2 * np.sin(x[0]) + x[1] ** 2 / 2 + np.exp(x[2]) / 5 + x[3]
    return X, f + rng.standard_normal(n), true


def _errors(correlation: float, number: int) -> dict[str, float]:
    """Return errors with all features and with the true ones."""
    X, y, true = draw(correlation, number)
    found = {}
    for length_scale in ("shared", "per_feature"):
        for name, columns in (("all", np.arange(X.shape[1])), ("true", true)):
            model = HybridSearchGPRegressor(
                learn_length_scale=length_scale, random_state=number, progress=False
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X[:100, columns], y[:100])
            gap = model.predict(X[100:, columns]) - y[100:]
            found[f"{length_scale} {name}"] = float(np.mean(gap**2))
    return found


def _against_sampling(correlation: float, number: int, quick: bool) -> dict[str, float]:
    """Return what hybrid search and Metropolis sampling find."""
    X, y, true = draw(correlation, number)
    seen, new = (X[:100], y[:100]), (X[100:], y[100:])
    options = {"random_state": number, "progress": False}
    draws, tune = (20, 20) if quick else (800, 200)
    sampling = HybridRegressionSearch(method="mcmc", tune=tune, chains=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = HybridSearchGPRegressor(**options).fit(*seen)
        narrow = HybridSearchGPRegressor(**options, search=HybridRegressionSearch(window=20))
        narrow.fit(*seen)
        one, other = (
            HybridSearchGPRegressor(
                search=sampling,
                prediction=HybridPrediction(draws=draws),
                **options | {"random_state": number + shift},
            ).fit(*seen)
            for shift in (0, 1000)
        )
        both = 0.5 * (one.feature_inclusion_ + other.feature_inclusion_)
        sampled = 0.5 * (one.predict(new[0]) + other.predict(new[0]))

        def error(prediction: np.ndarray) -> float:
            return float(np.mean((prediction - new[1]) ** 2))

        return {
            "MSPE, ten": error(ours.predict(new[0])),
            "narrow": error(narrow.predict(new[0])),
            "sampled MSPE": error(sampled),
            "TPR": float(np.isin(true, ours.selected_features_).mean()),
            "false positives": float((~np.isin(ours.selected_features_, true)).sum()),
            "largest difference": float(np.abs(ours.feature_inclusion_ - both).max()),
            "narrow difference": float(np.abs(narrow.feature_inclusion_ - both).max()),
            "chains": float(np.abs(one.feature_inclusion_ - other.feature_inclusion_).max()),
            "models": float(len(ours.models_)),
        }


def measure(quick: bool, n_jobs: int = 2) -> list[Row]:
    rows: list[Row] = []
    for correlation in (0.0, 0.7, 0.95):
        with parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1):
            errors = Parallel()(
                delayed(_errors)(correlation, number) for number in range(2 if quick else 40)
            )
            found = Parallel()(
                delayed(_against_sampling)(correlation, number, quick)
                for number in range(2 if quick else 10)
                if correlation > 0.0
            )
        for length_scale in ("shared", "per_feature"):
            ours, true = (
                np.array([entry[f"{length_scale} {name}"] for entry in errors])
                for name in ("all", "true")
            )
            excess = ours - true
            rows.append({
                "correlation": correlation, "length scale": length_scale, "sets": len(errors),
                "MSPE": float(ours.mean()), "true": float(true.mean()),
                "excess": float(excess.mean()),
                "excess sd": float(excess.std(ddof=1) / np.sqrt(len(excess))),
                "median": float(np.median(excess)),
            })  # fmt: skip
        if found:
            means = {name: float(np.mean([entry[name] for entry in found])) for name in found[0]}
            below = float(np.mean([entry["largest difference"] < 0.1 for entry in found]))
            rows[-2] |= {**means, "below .1": below}
        print(rows[-2:], flush=True)
    return rows
