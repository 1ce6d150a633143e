"""scikit-learn estimators."""

from .gkm_classifier import GKMClassifier
from .gkm_regressor import GKMRegressor

__all__ = ["GKMClassifier", "GKMRegressor"]
