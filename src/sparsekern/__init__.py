"""sparsekern: sparse Bayesian kernel learning with the scikit-learn interface."""

__version__ = "0.1.0.dev0"

from .estimators import GKMClassifier, GKMRegressor, SparseGPClassifier

__all__ = ["GKMClassifier", "GKMRegressor", "SparseGPClassifier", "__version__"]
