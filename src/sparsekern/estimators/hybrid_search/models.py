"""The table of models that a search has found, and what it says about features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_share
from ...inference.hybrid.scoring import FittedModel
from ...inference.hybrid.search import HybridSearch
from ..shared.limits import warn_if_limited
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


class ModelTable(SelectorMixin):
    """Models, inclusion probabilities, and the face of a feature selector."""

    kernel: str
    max_features: int
    threshold: float
    n_features_in_: int
    feature_inclusion_: np.ndarray
    _screened: np.ndarray

    @property
    def _last_parameter(self) -> str | None:
        """Name of the last parameter; None where the response has none."""
        return "noise_variance"

    @property
    def _shared(self) -> bool:
        """Whether all features of a model have one bandwidth."""
        raise NotImplementedError

    def _keep_models(self, search: HybridSearch, models: list[FittedModel]) -> np.ndarray:
        """Make the table of models and inclusion probabilities; return the weights."""
        scores = np.array([model.score for model in models])
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        self._set_models(models, weights)
        self.n_fits_, self.n_plug_ins_ = search.n_fits, search.n_plug_ins
        self._path = [(step, model.score, len(model.features)) for step, model in search.path]
        if any(model.doubtful for model in models):
            count = sum(model.doubtful for model in models)
            warn_caller(
                f"{count} of {len(models)} models have no clear maximum of their parameters; their "
                "evidence is a guess. Scale the data (scale=True), or give stronger priors."
            )
        return weights

    def _warn_at_limit(self) -> None:
        """Warn if models of the most features have weight, and there are more features."""
        searches = getattr(self, "estimators_", [self])
        most = min(search.max_features for search in searches)
        if most < max(len(search._screened) for search in searches):
            shares = [
                search.models_.loc[search.models_["features"].map(len) >= most, "weight"].sum()
                for search in searches
            ]
            warn_if_limited("max_features", most, max(shares))

    def _set_models(self, models: list[FittedModel], weights: np.ndarray) -> None:
        inclusion = np.zeros(self.n_features_in_)
        rows = []
        for model, weight in zip(models, weights, strict=True):
            inside = self._screened[list(model.features)]
            inclusion[inside] += weight
            row: dict[str, Any] = {
                "features": tuple(self._feature_name(j) for j in inside),
                "weight": weight,
                "log_evidence": model.log_evidence,
                "score": model.score,
            }
            rows.append(row | self._describe_parameters(model.parameters))
        self.models_ = pd.DataFrame(rows)
        self.feature_inclusion_ = np.minimum(inclusion, 1.0)

    def _describe_parameters(self, parameters: np.ndarray) -> dict[str, Any]:
        """Return parameters by name, in the units of the user where there are any."""
        bandwidths = np.exp(parameters[1:-1])
        scales = bandwidths if self.kernel == "laplacian" else np.sqrt(0.5 * bandwidths)
        length_scale: Any = tuple(scales)
        if self._shared:
            length_scale = float(scales[0]) if len(scales) else np.nan
        unit = float(self._target.spread[0]) ** 2 if hasattr(self, "_target") else 1.0
        found = {"amplitude": float(np.exp(parameters[0])) * unit, "length_scale": length_scale}
        if self._last_parameter is not None:
            found[self._last_parameter] = float(np.exp(parameters[-1])) * unit
        return found

    def _feature_name(self, feature: Any) -> Any:
        names = getattr(self, "feature_names_in_", None)
        return int(feature) if names is None else str(names[feature])

    @property
    def selected_features_(self) -> np.ndarray:
        """Sorted indices of the features whose inclusion probability is at least ``threshold``."""
        return np.flatnonzero(self._get_support_mask())

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "models_")
        return self.feature_inclusion_ >= check_share("threshold", self.threshold)
