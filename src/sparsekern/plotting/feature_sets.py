"""What the figures of feature selection read from fitted models, and how they name features."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimators.doubly_sparse.selector import FeatureSelector
from ..estimators.hybrid_search.family import HybridSearchEstimator


class Inclusion(NamedTuple):
    """Inclusion probabilities of the features."""

    probability: np.ndarray  # float64[p]
    error: np.ndarray | None  # float64[p], of Monte Carlo; None where nothing was sampled
    by_chain: np.ndarray  # float64[chains, p]


@singledispatch
def inclusion_of(model: Any) -> Inclusion:
    """Return the inclusion probabilities of a fitted estimator."""
    raise TypeError(
        "model must select features, as DoublySparseRegressor and HybridSearchGPRegressor do; got "
        f"{type(model).__name__}, which has no feature_inclusion_."
    )


@inclusion_of.register
def _(model: FeatureSelector) -> Inclusion:
    check_is_fitted(model)
    return Inclusion(
        model.feature_inclusion_, model.feature_inclusion_error_, model.feature_inclusion_by_chain_
    )


@inclusion_of.register
def _(model: HybridSearchEstimator) -> Inclusion:
    check_is_fitted(model)
    return Inclusion(model.feature_inclusion_, None, np.empty((0, model.n_features_in_)))


def check_searched(model: Any) -> None:
    """Refuse a model that is no fitted hybrid search."""
    if not isinstance(model, HybridSearchEstimator):
        raise TypeError(
            "model must be a hybrid search, such as HybridSearchGPRegressor; got "
            f"{type(model).__name__}, which has no models_."
        )
    check_is_fitted(model)


def feature_label(names: Sequence[Any] | np.ndarray | None, feature: int) -> str:
    """Return a feature's name, or the column it is."""
    return f"X[:, {feature}]" if names is None else str(names[feature])


def set_label(features: Sequence[Any], names: Sequence[Any] | np.ndarray | None = None) -> str:
    """Return what stands for a feature set of ``models_``: names, or the columns they are."""
    if not features:
        return "no feature"
    if names is not None:
        features = [f if isinstance(f, str) else str(names[f]) for f in features]
    if isinstance(features[0], str):
        return ", ".join(features)
    return f"X[:, {features[0] if len(features) == 1 else list(features)}]"
