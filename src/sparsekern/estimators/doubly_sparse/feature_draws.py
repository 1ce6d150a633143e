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
from ...posteriors.feature_expansion import FeatureExpansionPosterior
from ..shared.draws import DrawsEstimator
from ..shared.sampling import warn_caller

_DISAGREEMENT = 0.3  # between chains, in the inclusion probability of a feature
_LEAST_DRAWS = 100  # of each chain, below which chains differ by chance


class FeatureDrawsEstimator(SelectorMixin, DrawsEstimator):
    """Draws of expansions whose kernels see some of the features."""

    threshold: float
    n_features_in_: int
    feature_inclusion_: np.ndarray
    _move_names = (
        "birth", "death", "swap", "feature_birth", "feature_death", "feature_swap", "bandwidth",
        "feature_pair", "temperature_swap", "joint",
    )  # fmt: skip

    def _collect_draws(self, stack: Any, sampler: Any) -> FeatureExpansionPosterior:
        shared = self._collect_expansion(stack, self._row_numbers(stack("rows")), 1, sampler)
        counts, slab = stack("n_features"), stack("slab")
        width = max(1, int(counts.max()))
        return FeatureExpansionPosterior(
            **shared,
            kind=sampler.model.kind,
            n_features=counts,
            features=self._screened[stack("features")[..., :width]].astype(np.int32),
            bandwidths=stack("bandwidths")[..., :width],
            slab=slab if slab.shape[-1] else None,
        )

    # set in fit: the features that passed the screening, the rows that are used as data, and all
    # rows with all features
    _screened: np.ndarray
    _used_rows: np.ndarray
    _every_row: np.ndarray

    def _training_data(self, sampler: Any) -> tuple[np.ndarray, np.ndarray]:
        rows = self._every_row
        if len(self._used_rows) < len(rows):
            rows = rows[self._used_rows]
        return rows, sampler.response

    def _row_numbers(self, rows: np.ndarray) -> np.ndarray:
        return self._used_rows[rows]

    def _vectors(self, sampler: Any, rows: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(self._every_row[rows])

    def _collect_scalars(self, stack: Any) -> dict[str, np.ndarray]:
        scalars = super()._collect_scalars(stack)
        scalars["n_active"] = self._draws.active_counts().astype(np.float64)
        scalars["n_features"] = self._draws.n_features.astype(np.float64)
        scalars["slab_variance"] = stack("variances")[..., 1]
        included = self._draws.included(self.n_features_in_).mean(axis=(0, 1))
        for feature in np.flatnonzero(included >= 0.5):
            name = f"bandwidth[{self._feature_name(feature)}]"
            scalars[name] = self._draws.bandwidth_draws(feature)
        return scalars

    def _feature_name(self, feature: Any) -> str:
        names = getattr(self, "feature_names_in_", None)
        return str(feature) if names is None else str(names[feature])

    def _collect_attributes(self, stack: Any) -> None:
        included = self._draws.included(self.n_features_in_)
        self.feature_inclusion_ = included.mean(axis=(0, 1))
        self._inclusion_by_chain = included.mean(axis=1)
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
        by_chain = [1.0 - member._inclusion_by_chain for member in members]
        self._inclusion_by_chain = 1.0 - np.prod(by_chain, axis=0)

    def _warn_about_convergence(self) -> None:
        super()._warn_about_convergence()
        shares = self._inclusion_by_chain
        apart = shares.max(axis=0) - shares.min(axis=0)
        if self.n_draws_ < _LEAST_DRAWS or not (apart > _DISAGREEMENT).any():
            return
        worst = np.argsort(-apart)[:3]
        named = "; ".join(
            f"{self._feature_name(j)}: {', '.join(f'{share:.2f}' for share in shares[:, j])}"
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
            included = model._draws.included(self.n_features_in_)[..., chosen]
            flat = included.reshape(model._draws.n_draws, len(chosen)).astype(np.float64)
            shares.append(flat)
        together = 1.0 - np.prod([1.0 - flat for flat in shares], axis=0)  # in any of the models
        names = [self._feature_name(feature) for feature in chosen]
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

    def _tree_groups(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        groups, dims, coords = super()._tree_groups()
        draws = self._draws
        held = np.arange(draws.features.shape[-1]) < draws.n_features[..., None]
        groups["sparse_features"] = {
            "feature": np.where(held, draws.features, -1),
            "feature_bandwidth": np.where(held, draws.bandwidths, 0.0),
        }
        dims |= {"feature": ["place"], "feature_bandwidth": ["place"]}
        named = [name for name in self._scalars if name.startswith("bandwidth[")]
        if named:
            groups["posterior"]["bandwidth"] = np.stack(
                [self._scalars[name] for name in named], axis=-1
            )
            dims["bandwidth"] = ["selected_feature"]
            coords["selected_feature"] = [name[len("bandwidth[") : -1] for name in named]
        return groups, dims, coords
