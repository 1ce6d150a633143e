"""Groups of parameters that estimators take, such as ``priors=GKMPriors(scale=(2, 0.1))``.

None stands for a group with its defaults, as ``draws="auto"`` does for :class:`UntilConverged`.
Single values are reached by two underscores: ``model.set_params(priors__scale=(2, 0.1))``, and in
the same way by ``GridSearchCV``. A group cannot be changed; :func:`dataclasses.replace` makes
another. What is set after a fit takes a new fit, but for ``selection__threshold`` and, in a hybrid
search, ``prediction__draws``.

The prior of an intercept is called ``intercept`` in all of them. A number is its known variance, a
pair the shape and rate of the gamma prior of its precision; a model takes one of the two.
"""

from .estimators.doubly_sparse.settings import (
    DoublySparseMoves,
    DoublySparsePriors,
    DoublySparseRegressionMoves,
    DoublySparseRegressionPriors,
    DoublySparseSelection,
)
from .estimators.generalized_kernel.settings import (
    GKMMoves,
    GKMPriors,
    GKMRegressionPriors,
)
from .estimators.hybrid_search.settings import (
    HybridPrediction,
    HybridPriors,
    HybridRegressionPriors,
    HybridRegressionSearch,
    HybridSearchOptions,
    HybridSelection,
)
from .estimators.kernel_projection.settings import (
    ProjectionPrediction,
    ProjectionPriors,
    ProjectionSearchOptions,
)
from .estimators.multiple_kernel.settings import MKLPriors, MKLRegressionPriors
from .estimators.shared.until_converged import UntilConverged
from .estimators.vector_machine.settings import (
    PCVMPriors,
    PCVMSearch,
    VectorMachinePriors,
    VectorMachineSearch,
)

__all__ = [
    "DoublySparseMoves",
    "DoublySparsePriors",
    "DoublySparseRegressionMoves",
    "DoublySparseRegressionPriors",
    "DoublySparseSelection",
    "GKMMoves",
    "GKMPriors",
    "GKMRegressionPriors",
    "HybridPrediction",
    "HybridPriors",
    "HybridRegressionPriors",
    "HybridRegressionSearch",
    "HybridSearchOptions",
    "HybridSelection",
    "MKLPriors",
    "MKLRegressionPriors",
    "PCVMPriors",
    "PCVMSearch",
    "ProjectionPrediction",
    "ProjectionPriors",
    "ProjectionSearchOptions",
    "UntilConverged",
    "VectorMachinePriors",
    "VectorMachineSearch",
]
