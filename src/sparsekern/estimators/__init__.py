"""scikit-learn estimators."""

from .doubly_sparse.classifier import DoublySparseClassifier
from .doubly_sparse.regressor import DoublySparseRegressor
from .generalized_kernel.gkm_classifier import GKMClassifier
from .generalized_kernel.gkm_regressor import GKMRegressor
from .generalized_kernel.sparse_gp_classifier import SparseGPClassifier
from .hybrid_search.classifier import HybridSearchGPClassifier
from .hybrid_search.regressor import HybridSearchGPRegressor
from .kernel_projection.classifier import KernelProjectionClassifier
from .multiple_kernel.classifier import BayesianMKLClassifier
from .multiple_kernel.regressor import BayesianMKLRegressor
from .vector_machine.pcvm_classifier import PCVMClassifier
from .vector_machine.rvm_classifier import RVMClassifier
from .vector_machine.rvm_regressor import RVMRegressor

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
