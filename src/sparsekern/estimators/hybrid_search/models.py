"""The models that a search has found: their weights, and a table of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from ...inference.hybrid.scoring import FittedModel
from ..shared.sampling import warn_caller


def warn_unless_settled(backend: Any) -> None:
    """Say it where inner fits of a response that is not Gaussian have not converged."""
    count = getattr(backend, "unsettled", 0)
    if count:
        warn_caller(
            f"{count} inner fits have not converged: predictions made of them are not those of the "
            "model. Give a larger rate to bandwidth_prior or a larger shape to amplitude_prior, or "
            "another law of the response (for counts noise='negative_binomial').",
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
            "evidence is a guess. Scale the data (scale=True), or give stronger priors."
        )
    return weights / weights.sum()


def describe_models(
    models: list[FittedModel],
    weights: np.ndarray,
    names: list[Any],
    kernel: str,
    shared: bool,
    last_parameter: str | None,
    unit: float,
) -> pd.DataFrame:
    """Return a table of models in the units of the user.

    Parameters
    ----------
    models : list of FittedModel
    weights : ndarray
    names : list of str or int
        Of the features that models are made of, in their order.
    kernel : str
    shared : bool
        Whether all features of a model have one bandwidth.
    last_parameter : str or None
        Name of the last parameter; None where the response has none.
    unit : float
        What a variance of one is in the units of the user.
    """
    rows = []
    for model, weight in zip(models, weights, strict=True):
        bandwidths = np.exp(model.parameters[1:-1])
        scales = bandwidths if kernel == "laplacian" else np.sqrt(0.5 * bandwidths)
        length_scale: Any = tuple(scales)
        if shared:
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
