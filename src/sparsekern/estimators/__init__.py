"""scikit-learn estimators; the modules of a family are loaded when one of it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_MODULES = {
    "BayesianMKLClassifier": "multiple_kernel.classifier",
    "BayesianMKLRegressor": "multiple_kernel.regressor",
    "DoublySparseClassifier": "doubly_sparse.classifier",
    "DoublySparseRegressor": "doubly_sparse.regressor",
    "GKMClassifier": "generalized_kernel.gkm_classifier",
    "GKMRegressor": "generalized_kernel.gkm_regressor",
    "HybridSearchGPClassifier": "hybrid_search.classifier",
    "HybridSearchGPRegressor": "hybrid_search.regressor",
    "KernelProjectionClassifier": "kernel_projection.classifier",
    "PCVMClassifier": "vector_machine.pcvm_classifier",
    "RVMClassifier": "vector_machine.rvm_classifier",
    "RVMRegressor": "vector_machine.rvm_regressor",
    "SparseGPClassifier": "generalized_kernel.sparse_gp_classifier",
}

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


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
