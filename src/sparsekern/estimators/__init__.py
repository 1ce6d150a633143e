"""scikit-learn estimators."""

from .gkm_classifier import GKMClassifier

__all__ = ["GKMClassifier"]
