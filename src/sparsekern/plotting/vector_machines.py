"""What the figures read from fitted vector machines."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr
from sklearn.utils.validation import check_is_fitted

from ..estimators.vector_machine.classifier import VectorMachineClassifier
from ..estimators.vector_machine.family import VectorMachine


class EvidencePath(NamedTuple):
    """The fit of one model, at the width of the largest weight."""

    label: str  # empty where there is one model only
    log_evidence: np.ndarray
    n_columns: np.ndarray  # biases not counted


def check_machine(model: Any) -> None:
    """Refuse a model that is no fitted vector machine."""
    if not isinstance(model, VectorMachine):
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
    return isinstance(model, VectorMachineClassifier) and getattr(model, "_sampled", None) is None


def training_of(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the training rows, as the kernel sees them, and signs of a model with draws."""
    return (model._sampled if isinstance(model, VectorMachineClassifier) else model)._training


def fitted_to(model: Any, features: np.ndarray, signs: np.ndarray) -> bool:
    """Return whether a machine without draws fits these rows: it knows its active ones only."""
    fits = model._averages[0].fits
    if len(features) != len(fits[0].log_left_out) or np.any(signs == 0):
        return False
    same = [np.allclose(features[fit.rows], fit.expansion.vectors) for fit in fits]
    if fits[0].expansion.signs.min(initial=1.0) < 0:  # columns carry labels
        same += [np.array_equal(signs[fit.rows], fit.expansion.signs) for fit in fits]
    return all(same)


def active_weight(model: Any, n_rows: int) -> np.ndarray:
    """Return for each training row the weight of the widths at which it is active."""
    total = np.zeros(n_rows)
    for weight, fit in model._averages[0].kept:
        total[fit.rows] += weight
    return np.minimum(total, 1.0)  # weights add up to one but for rounding


def side_probability(model: Any, X: Any) -> np.ndarray:
    r"""Return the posterior probability that f is positive: :math:`\sum_kw_k\Phi(m_k/s_k)`."""
    features = model._prepare(X)
    total = np.zeros(len(features))
    for weight, fit in model._averages[0].kept:
        mean, variance = fit.expansion.moments(features)
        total += weight * ndtr(mean[:, 0] / np.sqrt(variance))
    return total
