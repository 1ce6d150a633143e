"""What the figures read from fitted vector machines."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimators.vector_machine.classifier import VectorMachineClassifier
from ..estimators.vector_machine.rvm_regressor import RVMRegressor


class EvidencePath(NamedTuple):
    """The fit of one model, at the width of the largest weight."""

    label: str  # empty where there is one model only
    log_evidence: np.ndarray
    n_columns: np.ndarray  # biases not counted


def check_machine(model: Any) -> None:
    """Refuse a model that is no fitted vector machine."""
    if not isinstance(model, (VectorMachineClassifier, RVMRegressor)):
        raise TypeError(
            "model must be a vector machine: PCVMClassifier, RVMClassifier or RVMRegressor; got "
            f"{type(model).__name__}."
        )
    check_is_fitted(model)


def evidence_paths(model: Any) -> list[EvidencePath]:
    """Return the path of every model: one, or one for each class."""
    if isinstance(model.evidence_path_, list):
        labels = [f"class {name}" for name in model.classes_]
        paths, n_biases = model.evidence_path_, 1
    else:
        labels, paths = [""], [model.evidence_path_]
        n_classes = len(getattr(model, "classes_", ()))
        n_biases = n_classes if n_classes > 2 else 1
    return [
        EvidencePath(label, path[:, 0], path[:, 1] - n_biases)
        for label, path in zip(labels, paths, strict=True)
    ]


def is_drawless(model: Any) -> bool:
    """Return whether this is a vector machine without posterior draws."""
    return isinstance(model, VectorMachineClassifier) and not hasattr(model, "n_draws_")
