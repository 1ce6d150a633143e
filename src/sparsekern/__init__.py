"""sparsekern: sparse Bayesian kernel learning with the scikit-learn interface."""

__version__ = "0.1.0.dev0"

from .estimators import (
    BayesianMKLClassifier,
    BayesianMKLRegressor,
    DoublySparseClassifier,
    DoublySparseRegressor,
    GKMClassifier,
    GKMRegressor,
    HybridSearchGPClassifier,
    HybridSearchGPRegressor,
    KernelProjectionClassifier,
    PCVMClassifier,
    RVMClassifier,
    RVMRegressor,
    SparseGPClassifier,
)
from .estimators.shared.composites import predict_quantiles

__all__ = [
    "BayesianMKLClassifier",
    "BayesianMKLRegressor",
    "DoublySparseClassifier",
    "DoublySparseRegressor",
    "GKMClassifier",
    "GKMRegressor",
    "HybridSearchGPClassifier",
    "HybridSearchGPRegressor",
    "KernelProjectionClassifier",
    "PCVMClassifier",
    "RVMClassifier",
    "RVMRegressor",
    "SparseGPClassifier",
    "__version__",
    "predict_quantiles",
]
