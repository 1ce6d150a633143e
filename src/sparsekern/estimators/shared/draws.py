"""Fitted attributes of estimators that are fitted by chains, and their draws for ArviZ."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...inference.chains.runner import ChainRun
from ...inference.diagnostics import summarize_scalars
from ...posteriors.names import Names, row_labels
from ...posteriors.sampled import SampledPosterior
from .limits import warn_if_limited
from .memory_guard import require_memory
from .sampling import SamplingEstimator

_LIMITED_BY = {"n_active": "max_active", "n_features": "max_features"}


class DrawsEstimator(SamplingEstimator):
    """Set fitted attributes from the posterior that an engine returns, and offer its draws."""

    _posterior: SampledPosterior
    _names: Names  # of the fit under way
    _prepare: Any  # of the estimator: rows as predictions see them

    def _collect(self, run: ChainRun, sampler: Any, names: Names) -> SampledPosterior:
        """Return the posterior that the engine makes of a run."""
        raise NotImplementedError

    def _name_data(
        self, rows: np.ndarray | None, y: np.ndarray, centre: float = 0.0, spread: float = 1.0
    ) -> None:
        """Remember the user's words and units for the training data; y is as it was given."""
        self._names = Names(
            response=np.array(y),  # a copy: the user may change theirs
            rows=rows,
            features=getattr(self, "feature_names_in_", None),
            classes=getattr(self, "classes_", None),
            centre=centre,
            spread=spread,
        )

    def _keep(self, posterior: SampledPosterior) -> None:
        """Set fitted attributes and judge the chains."""
        self._set_posterior(posterior)
        self.diagnostics_ = summarize_scalars(posterior.scalars)
        self._warn_about_convergence()

    def _set_posterior(self, posterior: SampledPosterior) -> None:
        """Set the fitted attributes that every posterior gives."""
        self.__dict__.pop("_posterior_tree", None)
        self._posterior = posterior
        self.n_draws_ = posterior.n_kept
        self.acceptance_rates_ = posterior.acceptance_rates
        self._set_attributes()

    def _set_attributes(self) -> None:
        """Set the fitted attributes that belong to this kind of model."""

    def _warn_about_convergence(self) -> None:
        """Judge by the log-likelihood and by what is followed at a few training rows."""
        posterior = self._posterior
        judged = [name for name in posterior.scalars if self._is_decisive(name)]
        self._warn_unless_converged(self.diagnostics_, judged, self.n_draws_)
        for count, most in posterior.record.limits.items():
            draws = [
                values
                for name, values in posterior.scalars.items()
                if name.partition("[")[0] == count
            ]
            share = max(float(np.mean(values >= most)) for values in draws)
            warn_if_limited(_LIMITED_BY[count], most, share)

    def _is_decisive(self, name: str) -> bool:
        """Tell whether chains are judged by the scalar of this name."""
        return name.partition("[")[0] in ("log_likelihood", self._posterior.monitored_name)

    @property
    def _draws(self) -> Any:
        """Draws that predict."""
        return self._posterior.draws

    @property
    def _scalars(self) -> dict[str, np.ndarray]:
        return self._posterior.scalars

    @property
    def _training(self) -> tuple[Any, np.ndarray]:
        """Return the rows that made the likelihood, as predictions see them, and responses."""
        return self._posterior.features, self._posterior.response

    @property
    def _monitored_rows(self) -> np.ndarray:
        return self._posterior.monitored_rows

    def pointwise_log_likelihood(self) -> np.ndarray:
        """Return the log-likelihood of every training row under every draw.

        Returns
        -------
        ndarray of shape (chains, draws, n_samples)
            Part of ``posterior_`` unless it holds over 2e7 numbers; then it is made only here.
        """
        check_is_fitted(self, "n_draws_")
        return self._posterior.pointwise_log_likelihood()

    @property
    def posterior_(self) -> Any:
        """Draws as an xarray.DataTree for ArviZ; built when first asked for."""
        check_is_fitted(self, "n_draws_")
        if "_posterior_tree" not in self.__dict__:
            self._posterior_tree = self._posterior.to_datatree()
        return self._posterior_tree

    def add_posterior_predictive(self, X: Any = None, *, random_state: Any = None) -> Any:
        """Draw new responses and add them to ``posterior_``, where ArviZ looks for them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), optional
            None: the training rows, in the group ``posterior_predictive``, to be compared with
            ``observed_data``. Otherwise the group is ``predictions``.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        xarray.DataTree
            ``posterior_`` with the group: ``y`` by (chain, draw, row), one response of every draw,
            in the units, or of the class labels, of the training data. A stored or copied estimator
            does not keep it.
        """
        check_is_fitted(self, "n_draws_")
        if X is None:
            return self._add_predictive(None, None, random_state)
        return self._add_predictive(
            self._prepare(X), row_labels(X), random_state, self._offset_at(X)
        )

    def _offset_at(self, X: Any) -> np.ndarray | float:
        """Return what is added to the function at new rows."""
        return 0.0

    def _add_predictive(
        self,
        features: np.ndarray | None,
        rows: np.ndarray | None,
        random_state: Any,
        offset: np.ndarray | float = 0.0,
    ) -> Any:
        """Do so for rows as predictions see them, with their labels."""
        tree = self.posterior_
        n_rows = len(self._posterior.response if features is None else features)
        require_memory(
            3 * 8.0 * self._posterior.log_likelihood.size * n_rows,
            self._spoken_name,
            f"responses of {self._posterior.log_likelihood.size} draws at {n_rows} rows",
            "give fewer rows at a time",
        )
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        group, dataset = self._posterior.predictive_dataset(features, rows, rng, offset)
        tree[group] = type(tree)(dataset)
        return tree


class ExpansionEstimator(DrawsEstimator):
    """Estimators whose functions rest on a few training rows each."""

    def _set_posterior(self, posterior: SampledPosterior) -> None:
        self.active_probabilities_ = posterior.active_probabilities()
        self.active_vectors_ = np.flatnonzero(self.active_probabilities_)
        self.traces_ = posterior.record.traces
        super()._set_posterior(posterior)

    def is_fitted_to(self, X: Any, y: Any) -> bool:
        """Tell whether these are the rows and responses of the fit, in their order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        bool
            Figures ask this before they mark ``active_vectors_`` among rows.
        """
        return self._posterior_is_of(self._prepare(X), y)

    def _posterior_is_of(self, features: np.ndarray, y: Any) -> bool:
        """Tell so for rows as predictions see them."""
        posterior = self._posterior
        given = posterior.names.response[posterior.used_rows]
        if posterior.features is None or posterior.features.shape != features.shape:
            return False
        return np.allclose(features, posterior.features) and np.array_equal(np.asarray(y), given)
