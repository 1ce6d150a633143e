"""Peers of the vector machines, each with its tuning, and the random halves they are judged on."""

from __future__ import annotations

from typing import Any

import numpy as np
from problems import data_folder
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC
from sparse_multinomial import SparseMultinomial

from sparsekern.datasets import load

SETS = ("banana", "breast_cancer", "heart", "thyroid", "titanic", "waveform", "ringnorm")
COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
PENALTIES = (0.1, 0.3, 1.0, 3.0)
FACTORS = np.geomspace(0.2, 3.0, 7)  # the widths of our default, in median distances
TUNING_ROWS = 1000
FEWER_ROWS = 500


def halves(name: str, number: int) -> tuple[np.ndarray, ...] | None:
    """Return standardised training rows, labels, test rows and labels of a random half."""
    folder = data_folder()
    if folder is None or not (folder / f"raetsch_{name}.npz").is_file():
        return None
    data = load(f"raetsch_{name}", folder)
    features, labels = data.data.astype(np.float64), data.target.astype(np.float64)
    order = np.random.default_rng([2014, number]).permutation(len(labels))
    train, test = np.split(order, [len(labels) // 2])
    centre, spread = features[train].mean(axis=0), features[train].std(axis=0)
    features = (features - centre) / np.where(spread > 0, spread, 1.0)
    return features[train], labels[train], features[test], labels[test]


def median_distance(features: np.ndarray) -> float:
    """Return the median distance between distinct rows."""
    distances = pdist(features[:2000])
    return float(np.median(distances[distances > 0]))


def folds(seed: int) -> StratifiedKFold:
    """Return five folds."""
    return StratifiedKFold(5, shuffle=True, random_state=seed)


class TunedSVC:
    """SVC with cost and width (those of our default) by 5-fold error, and a calibrated copy.

    Beyond ``tuning_rows`` rows it is tuned on so many of them and then fitted to all.
    """

    def __init__(self, seed: int, tuning_rows: int = TUNING_ROWS) -> None:
        self._seed, self._tuning_rows = seed, tuning_rows

    def fit(self, features: np.ndarray, labels: np.ndarray) -> TunedSVC:
        """Tune, fit and calibrate."""
        scales = median_distance(features) * FACTORS
        grid = {"C": COSTS, "gamma": 0.5 / scales**2}
        search = GridSearchCV(SVC(), grid, cv=folds(self._seed), refit=False)
        few = slice(self._tuning_rows)
        search.fit(features[few], labels[few])
        self.machine = SVC(**search.best_params_).fit(features, labels)
        self._calibrated = CalibratedClassifierCV(
            clone(self.machine), method="sigmoid", cv=folds(self._seed), ensemble=False
        ).fit(features, labels)
        self.active_vectors_ = self.machine.support_
        return self

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Return the labels the machine itself gives."""
        return self.machine.predict(features)

    def predict_proba(self, features: np.ndarray) -> np.ndarray:
        """Return calibrated probabilities."""
        return self._calibrated.predict_proba(features)


class TunedSMLR:
    """Sparse multinomial logistic regression, penalty and width by 5-fold log-loss, 500 rows."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def fit(self, features: np.ndarray, labels: np.ndarray) -> Any:
        """Tune and fit."""
        features, labels = features[:FEWER_ROWS], labels[:FEWER_ROWS]
        grid = {"penalty": PENALTIES, "length_scale": median_distance(features) * FACTORS}
        machine = SparseMultinomial(tolerance=1e-3, max_rounds=200)
        search = GridSearchCV(machine, grid, scoring="neg_log_loss", cv=folds(self._seed))
        return search.fit(features, labels).best_estimator_


class FewRowsGP:
    """Gaussian process classifier of scikit-learn on 500 rows, its own optimiser, one start."""

    def fit(self, features: np.ndarray, labels: np.ndarray) -> Any:
        """Fit."""
        # from a unit length its optimiser ends at a constant where there are many features
        kernel = ConstantKernel() * RBF(median_distance(features[:FEWER_ROWS]))
        process = GaussianProcessClassifier(kernel, random_state=0)
        process.fit(features[:FEWER_ROWS], labels[:FEWER_ROWS])
        process.active_vectors_ = np.arange(min(FEWER_ROWS, len(labels)))
        return process
