"""The models that a search has found: their weights, a table of them, and what is to be said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from ..._checks import warn_caller
from ...inference.hybrid.scoring import FittedModel
from ...inference.hybrid.search import HybridSearch
from ...settings.limits import warn_if_limited


def warn_unless_settled(backend: Any) -> None:
    """Say it where inner fits of a response that is not Gaussian have not converged."""
    count = getattr(backend, "unsettled", 0)
    if count:
        warn_caller(
            f"{count} inner fits have not converged: predictions made of them are not those of the "
            "model. Give priors with a larger rate of length_scale or a larger shape of amplitude, "
            "or another law of the response (for counts counts='negative_binomial').",
            ConvergenceWarning,
        )


def weigh_models(models: list[FittedModel]) -> np.ndarray:
    """Return the weights of models by their scores; says so where these are guesses."""
    scores = np.array([model.score for model in models])
    weights = np.exp(scores - scores.max())
    count = sum(model.doubtful for model in models)
    if count:
        warn_caller(
            f"{count} of {len(models)} models have no clear maximum of their parameters; their "
            "evidence is a guess. Scale the data (standardize=True), or give stronger priors."
        )
    return weights / weights.sum()


def keep_models(
    estimator: Any, models: list[FittedModel], weights: np.ndarray, search: HybridSearch
) -> None:
    """Set the fitted attributes that models and a search give."""
    names = getattr(estimator, "feature_names_in_", None)
    screened, unit = estimator._screened, estimator._unit
    estimator.models_ = _describe_models(
        models,
        weights,
        [int(j) if names is None else str(names[j]) for j in screened],
        estimator,
        unit**2,
    )
    inclusion = np.zeros(estimator.n_features_in_)
    for model, weight in zip(models, weights, strict=True):
        inclusion[screened[list(model.features)]] += weight
    estimator.feature_inclusion_ = np.minimum(inclusion, 1.0)
    estimator.n_fits_, estimator.n_plug_ins_ = search.n_fits, search.n_plug_ins
    estimator.search_path_ = [
        (step, model.score, len(model.features)) for step, model in search.path
    ]


def _describe_models(
    models: list[FittedModel], weights: np.ndarray, names: list[Any], estimator: Any, unit: float
) -> pd.DataFrame:
    """Return a table of models in the units of the user.

    ``names`` are those of the features that models are made of, in their order; ``unit`` is what a
    variance of one is in the units of the user.
    """
    last_parameter = getattr(estimator._law, "last_parameter", None)
    rows = []
    for model, weight in zip(models, weights, strict=True):
        bandwidths = np.exp(model.parameters[1:-1])
        scales = bandwidths if estimator.kernel == "laplacian" else np.sqrt(0.5 * bandwidths)
        length_scale: Any = tuple(scales)
        if estimator.learn_length_scale == "shared":
            length_scale = float(scales[0]) if len(scales) else np.nan
        row = {
            "features": tuple(names[j] for j in model.features),
            "weight": weight,
            "log_evidence": model.log_evidence,
            "score": model.score,
            "amplitude": float(np.exp(model.parameters[0])) * unit,
            "length_scale": length_scale,
        }
        if last_parameter is not None:
            row[last_parameter] = float(np.exp(model.parameters[-1])) * unit
        rows.append(row)
    return pd.DataFrame(rows)


def warn_at_limit(searches: list[Any], most: int) -> None:
    """Warn if models of the most features have weight, and there are more features."""
    if most < max(len(search._screened) for search in searches):
        shares = [
            search.models_.loc[search.models_["features"].map(len) >= most, "weight"].sum()
            for search in searches
        ]
        warn_if_limited("selection__max_features", most, max(shares))
