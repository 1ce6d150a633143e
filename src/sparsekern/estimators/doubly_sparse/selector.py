"""Estimators whose draws include some of the features, as feature selectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ..shared.estimator import Estimator


class FeatureSelector(SelectorMixin, Estimator):
    """Say which features are in the kernel, alone and together."""

    n_features_in_: int
    feature_inclusion_: np.ndarray
    feature_inclusion_error_: np.ndarray
    feature_inclusion_by_chain_: np.ndarray

    @property
    def selected_features_(self) -> np.ndarray:
        """Sorted indices of the features whose inclusion probability reaches the threshold."""
        return np.flatnonzero(self._get_support_mask())

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.feature_inclusion_ >= self._group("selection").threshold

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
        check_is_fitted(self)
        if features is None:
            chosen = np.flatnonzero(self.feature_inclusion_ >= 0.05)
        else:
            chosen = self._find_features(features)
        models = getattr(self, "estimators_", [self])
        included = np.any([m._posterior.draws.included()[..., chosen] for m in models], axis=0)
        flat = np.concatenate(included).astype(np.float64)  # chain after chain
        names = [self._posterior.names.feature(feature) for feature in chosen]
        return pd.DataFrame(flat.T @ flat / len(flat), index=names, columns=names)

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

    def _unweighing_option(self) -> str:
        """Return what to change where an option keeps rows from being weighed; or nothing."""
        if self._group("moves").large_n == "active_subset":
            return "moves__large_n='dictionary'"
        selection = self._group("selection")
        by_evidence = selection.screen is not None and selection.screen_by == "evidence"
        return "selection__screen_by='correlation'" if by_evidence else ""
