"""sparsekern: sparse Bayesian kernel learning with the scikit-learn interface."""

__version__ = "0.1.0.dev0"

from typing import TYPE_CHECKING, Any

from . import estimators
from .composites import predict_quantiles

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    """Return an estimator; its family is loaded when it is asked for."""
    if name not in estimators.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(estimators, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
