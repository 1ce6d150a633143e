"""Fitted attributes of models that select features, and their face as feature selectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from arviz_stats.base import array_stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_share
from ...inference.chains.runner import ChainRun
from ...inference.doubly_sparse.collect import TrainingRows, collect
from ...posteriors.names import Names
from ...posteriors.sampled import SampledPosterior
from ..shared.draws import ExpansionEstimator
from ..shared.sampling import warn_caller

_DISAGREEMENT = 0.3  # between chains, in the inclusion probability of a feature
_LEAST_DRAWS = 100  # of each chain, below which chains differ by chance


class FeatureDrawsEstimator(SelectorMixin, ExpansionEstimator):
    """Draws of expansions whose kernels see some of the features."""

    threshold: float
    n_features_in_: int
    feature_inclusion_: np.ndarray
    _rows: TrainingRows  # of the fit under way

    def _collect(self, run: ChainRun, sampler: Any, names: Names) -> SampledPosterior:
        return collect(run, self._plan, sampler, names, self._rows)

    def _set_attributes(self) -> None:
        included = self._draws.included()
        self.feature_inclusion_ = included.mean(axis=(0, 1))
        self.feature_inclusion_by_chain_ = included.mean(axis=1)
        self.feature_inclusion_error_ = np.zeros(self.n_features_in_)
        varying = (self.feature_inclusion_ > 0) & (self.feature_inclusion_ < 1)
        if included.shape[1] < 4:
            self.feature_inclusion_error_[varying] = np.nan
            return
        for feature in np.flatnonzero(varying):
            self.feature_inclusion_error_[feature] = array_stats.mcse(
                included[..., feature].astype(np.float64), method="mean"
            )

    def _combine_attributes(self, members: list[Any]) -> None:
        """One-vs-rest: a feature counts as included if it is in any of the models."""
        absent = np.prod([1.0 - member.feature_inclusion_ for member in members], axis=0)
        self.feature_inclusion_ = 1.0 - absent
        others = [
            absent / np.maximum(1.0 - member.feature_inclusion_, 1e-300) for member in members
        ]
        errors = [
            other * member.feature_inclusion_error_
            for other, member in zip(others, members, strict=True)
        ]
        self.feature_inclusion_error_ = np.sqrt(np.sum(np.square(errors), axis=0))
        by_chain = [1.0 - member.feature_inclusion_by_chain_ for member in members]
        self.feature_inclusion_by_chain_ = 1.0 - np.prod(by_chain, axis=0)

    def _warn_about_convergence(self) -> None:
        super()._warn_about_convergence()
        shares = self.feature_inclusion_by_chain_
        apart = shares.max(axis=0) - shares.min(axis=0)
        if self.n_draws_ < _LEAST_DRAWS or not (apart > _DISAGREEMENT).any():
            return
        worst = np.argsort(-apart)[:3]
        named = "; ".join(
            f"{self._names.feature(j)}: {', '.join(f'{share:.2f}' for share in shares[:, j])}"
            for j in worst[apart[worst] > _DISAGREEMENT]
        )
        more = int((apart > _DISAGREEMENT).sum()) - len(worst)
        warn_caller(
            f"The chains disagree about features (inclusion probability chain by chain: {named}"
            f"{f', and {more} features more' if more > 0 else ''}). The average over chains is "
            "not to be trusted there: increase tune and draws, or chains; correlated features "
            "that stand in for each other are a common cause (see joint_inclusion).",
            ConvergenceWarning,
        )

    @property
    def selected_features_(self) -> np.ndarray:
        """Sorted indices of the features whose inclusion probability is at least ``threshold``."""
        return np.flatnonzero(self._get_support_mask())

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "n_draws_")
        return self.feature_inclusion_ >= check_share("threshold", self.threshold)

    def joint_inclusion(self, features: Any = None) -> pd.DataFrame:
        """Return the probabilities that two features are included together.

        Parameters
        ----------
        features : sequence of int or str, or mask, optional
            Features, by index or name, or a mask such as ``get_support()``; None: those whose
            inclusion probability is at least 0.05.

        Returns
        -------
        DataFrame
            Symmetric, with the features' own inclusion probabilities on the diagonal (one-vs-rest:
            in any of the models, draw by draw). A pair that is rarely in together although each is
            in often stands for the same thing.
        """
        check_is_fitted(self, "n_draws_")
        if features is None:
            chosen = np.flatnonzero(self.feature_inclusion_ >= 0.05)
        else:
            chosen = self._find_features(features)
        shares = []
        for model in getattr(self, "estimators_", [self]):
            included = model._draws.included()[..., chosen]
            flat = included.reshape(model._draws.n_draws, len(chosen)).astype(np.float64)
            shares.append(flat)
        together = 1.0 - np.prod([1.0 - flat for flat in shares], axis=0)  # in any of the models
        names = [self._names.feature(feature) for feature in chosen]
        return pd.DataFrame(together.T @ together / len(together), index=names, columns=names)

    def _find_features(self, features: Any) -> np.ndarray:
        """Return indices of features given by index, name or mask."""
        given = [features] if isinstance(features, (str, int, np.integer)) else list(features)
        if len(given) == self.n_features_in_ and all(
            isinstance(value, (bool, np.bool_)) for value in given
        ):
            return np.flatnonzero(np.asarray(given, dtype=bool))
        return np.array([self._find_feature(feature) for feature in given], dtype=np.intp)

    def _find_feature(self, feature: Any) -> int:
        names = list(getattr(self, "feature_names_in_", ()))
        if isinstance(feature, str):
            if feature not in names:
                raise ValueError(
                    f"{str(feature)!r} is not among the features seen in fit: {', '.join(names)}."
                )
            return names.index(feature)
        whole = isinstance(feature, (int, np.integer)) and not isinstance(feature, bool)
        if not whole or not 0 <= feature < self.n_features_in_:
            raise ValueError(
                f"features must be names, a mask, or whole numbers from 0 to "
                f"{self.n_features_in_ - 1}; got {feature}."
            )
        return int(feature)
