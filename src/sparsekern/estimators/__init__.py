"""scikit-learn estimators."""

from .gkm_classifier import GKMClassifier
from .gkm_regressor import GKMRegressor
from .sparse_gp_classifier import SparseGPClassifier

__all__ = ["GKMClassifier", "GKMRegressor", "SparseGPClassifier"]
