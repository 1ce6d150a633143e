"""Groups of parameters that estimators take, such as ``priors=GKMPriors(scale=(2, 0.1))``.

None stands for a group with its defaults, as ``draws="auto"`` does for :class:`UntilConverged`.
Single values are reached by two underscores: ``model.set_params(priors__scale=(2, 0.1))``, and in
the same way by ``GridSearchCV``. A group cannot be changed; :func:`dataclasses.replace` makes
another. What is set after a fit takes a new fit, but for ``selection__threshold`` and, in a hybrid
search, ``prediction__draws``.

The prior of an intercept is called ``intercept`` in all of them. A number is its known variance, a
pair the shape and rate of the gamma prior of its precision; a model takes one of the two.
"""

from .doubly_sparse import (
    DoublySparseMoves,
    DoublySparsePriors,
    DoublySparseRegressionMoves,
    DoublySparseRegressionPriors,
    DoublySparseSelection,
)
from .generalized_kernel import (
    GKMMoves,
    GKMPriors,
    GKMRegressionPriors,
)
from .hybrid_search import (
    HybridPrediction,
    HybridPriors,
    HybridRegressionPriors,
    HybridRegressionSearch,
    HybridSearchOptions,
    HybridSelection,
)
from .kernel_projection import (
    ProjectionPrediction,
    ProjectionPriors,
    ProjectionSearchOptions,
)
from .multiple_kernel import MKLPriors, MKLRegressionPriors
from .until_converged import UntilConverged
from .vector_machine import (
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
