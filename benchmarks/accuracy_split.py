"""One random split of the accuracy benchmark: GKMClassifier and a tuned, calibrated SVC."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
from measuring import seconds
from problems import PaperProblem, split
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from sparsekern import GKMClassifier
from sparsekern.datasets import make_ripley
from sparsekern.settings import GKMPriors

_COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
_GAMMAS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # times 1 / number of features


class TunedSVC:
    """SVC with cost and width by cross-validation, and a calibrated copy for probabilities."""

    def __init__(self, n_features: int, seed: int) -> None:
        self._folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        grid = {"svc__C": _COSTS, "svc__gamma": [gamma / n_features for gamma in _GAMMAS]}
        machine = make_pipeline(StandardScaler(), SVC())
        self._search = GridSearchCV(machine, grid, cv=self._folds)

    def fit(self, features: np.ndarray, labels: np.ndarray) -> None:
        """Tune, fit and calibrate."""
        self._search.fit(features, labels)
        self._calibrated = CalibratedClassifierCV(
            self._search.best_estimator_, method="sigmoid", cv=self._folds, ensemble=False
        ).fit(features, labels)

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Return the labels the machine itself gives."""
        return self._search.predict(features)

    def predict_proba(self, features: np.ndarray) -> np.ndarray:
        """Return calibrated probabilities."""
        return self._calibrated.predict_proba(features)


def _score(model: Any, features: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    error = 100.0 * float(np.mean(model.predict(features) != labels))
    return error, float(log_loss(labels, model.predict_proba(features)))


@functools.cache
def _load_compiled_code() -> None:
    """Fit something small, once in every process, before anything is timed."""
    small = GKMClassifier(draws=5, tune=5, chains=1, progress=False)
    small.fit(*make_ripley(40, random_state=0))


def run_split(
    problem: PaperProblem,
    features: np.ndarray,
    labels: np.ndarray,
    number: int,
    max_active: int,
    quick: bool,
) -> dict[str, float]:
    """Return errors (%), log-losses, diagnostics and processor seconds of split ``number``."""
    train, test = split(problem, len(features), number)
    effort = {"draws": 100, "tune": 100} if quick else {"draws": 1000}
    priors = GKMPriors(max_active=max_active)
    ours = GKMClassifier(priors=priors, progress=False, random_state=number, **effort)
    machine = TunedSVC(features.shape[1], number)
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _load_compiled_code()
        caught.clear()
        our_seconds = seconds(lambda: ours.fit(features[train], labels[train]))
        warned = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
        machine_seconds = seconds(lambda: machine.fit(features[train], labels[train]))
        error, loss = _score(ours, features[test], labels[test])
        machine_error, machine_loss = _score(machine, features[test], labels[test])
    table = ours.diagnostics_
    judged = table.index.str.startswith(("log_likelihood", "probability"))
    return {
        "error": error,
        "log-loss": loss,
        "SVC error": machine_error,
        "SVC log-loss": machine_loss,
        "R-hat": float(table.loc[judged, "r_hat"].max()),
        "warned": float(warned),
        "mean k": float(table.loc["n_active", "mean"]),
        "seconds": our_seconds,
        "SVC seconds": machine_seconds,
    }
