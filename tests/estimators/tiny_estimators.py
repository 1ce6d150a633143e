"""Every public estimator with settings of a fit that takes a fraction of a second."""

import numpy as np

import sparsekern

NAMES = [name for name in sparsekern.__all__ if name[0].isupper()]
_CHAINS = {"draws": 8, "tune": 8, "chains": 2}
_WIDTHS = {"search__n_length_scales": 2}
_SEARCH = {"search__n_wander": 0, "search__n_refine": 1, "selection__max_features": 2}
SETTINGS = {
    "BayesianMKLClassifier": {"n_init": 1},
    "BayesianMKLRegressor": {"n_init": 1},
    "DoublySparseClassifier": _CHAINS,
    "DoublySparseRegressor": _CHAINS,
    "GKMClassifier": _CHAINS,
    "GKMRegressor": _CHAINS,
    "HybridSearchGPClassifier": _SEARCH,
    "HybridSearchGPRegressor": _SEARCH,
    "KernelProjectionClassifier": {
        **_CHAINS,
        "search__draws": 8,
        "prediction__sharpness": 1.0,
        "length_scale": 1.0,
    },
    "PCVMClassifier": _WIDTHS,
    "RVMClassifier": _WIDTHS,
    "RVMRegressor": _WIDTHS,
    "SparseGPClassifier": _CHAINS,
}
SAMPLING = [name for name in NAMES if SETTINGS[name] is _CHAINS or "draws" in SETTINGS[name]]
WITH_KERNELS = [name for name in NAMES if "DoublySparse" not in name and "Hybrid" not in name]

_rng = np.random.default_rng(0)
ROWS = _rng.normal(size=(30, 3))
NEW = _rng.normal(size=(6, 3))
LABELS = (ROWS[:, 0] + 0.3 * _rng.normal(size=30) > 0).astype(np.float64)
RESPONSE = np.sin(ROWS[:, 0]) + 0.1 * _rng.normal(size=30)


def make(name, **parameters):
    """Return an estimator that is not fitted, with a fixed seed and no progress.

    Parameters inside groups are given as ``set_params`` takes them.
    """
    options = SETTINGS[name] | {"progress": False, "random_state": 0} | parameters
    return getattr(sparsekern, name)().set_params(**options)


def target(name):
    """Return a response that suits the estimator; the caller may change it."""
    return (LABELS if name.endswith("Classifier") else RESPONSE).copy()


def predict(model, rows=NEW):
    """Return the richest prediction that the estimator has."""
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)
