"""scikit-learn estimators."""

from .doubly_sparse_classifier import DoublySparseClassifier
from .doubly_sparse_regressor import DoublySparseRegressor
from .gkm_classifier import GKMClassifier
from .gkm_regressor import GKMRegressor
from .hybrid_search_classifier import HybridSearchGPClassifier
from .hybrid_search_regressor import HybridSearchGPRegressor
from .kernel_projection_classifier import KernelProjectionClassifier
from .mkl_classifier import BayesianMKLClassifier
from .mkl_regressor import BayesianMKLRegressor
from .pcvm_classifier import PCVMClassifier
from .rvm_classifier import RVMClassifier
from .rvm_regressor import RVMRegressor
from .sparse_gp_classifier import SparseGPClassifier

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
]
