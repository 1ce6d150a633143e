"""The face of every regressor: mean, deviation, quantiles, draws and density of new responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_consistent_length

from ..._memory import check_samples
from ...likelihoods._contract import ResponseLaw
from ...predictive.law import PredictiveLaw
from ...predictive.mixture import Mixture
from ...settings.limits import check_count
from .inputs import validate_rows
from .target import Target

_N_SAMPLES = 1000  # of sample_predictive, where the posterior is not a number of draws


class RegressorFace:
    r"""Predictions from the predictive law of each output, and from draws of the functions.

    Both are made here of posterior draws of kernel expansions: a new response is a mixture over
    draws, :math:`\frac1T\sum_tp(y\mid f_t(x),\sigma_t)`, and its mean, variance, density and
    quantiles are those of the mixture. Estimators with other posteriors say how they make them.
    """

    _target: Target
    _posterior: Any
    _prepare: Any  # of the estimator: rows as kernels see them

    def _predictive(self, X: Any) -> list[PredictiveLaw]:
        """Return the law of each output; refuses an estimator that is not fitted."""
        features = self._prepare(X)
        draws, target, offset = self._posterior.draws, self._target, self._offset_at(X)
        law = draws.likelihood
        assert isinstance(law, ResponseLaw)
        noise = draws.noise_variances.reshape(-1, 1)
        parameters = draws.parameters.reshape(draws.n_draws, 1, -1)

        def blocks() -> Iterator[tuple[slice, Mixture]]:
            for block, latent in draws.latent_blocks(features):
                yield block, Mixture.of_draws(law, latent + offset[block], noise, parameters)

        return [
            PredictiveLaw(blocks, len(features), target.centre[0], target.spread[0], draws.n_draws)
        ]

    def _function_draws(self, X: Any, thin: int) -> np.ndarray:
        """Return draws of the mean, shape (draws, n, outputs), in scaled units."""
        features = self._prepare(X)
        draws, offset = self._posterior.draws.thinned(thin), self._offset_at(X)
        found = [
            draws.likelihood.mean(latent + offset[block])
            for block, latent in draws.latent_blocks(features)
        ]
        return np.concatenate(found, axis=1)[..., None]

    def _offset_at(self, X: Any) -> np.ndarray:
        """Return what is added to the function at new rows."""
        return self._target.offset(validate_rows(self, X, reset=False))

    def _together(self, parts: list[np.ndarray]) -> np.ndarray:
        """Return one array per output as one, the outputs last."""
        return parts[0] if self._target.single else np.stack(parts, axis=-1)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the predictive mean and, if asked, standard deviation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to return the standard deviation of a new response, noise included. It is
            infinite where the noise has no variance.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        std : ndarray of the same shape
            Only if ``return_std``.
        """
        laws = self._predictive(X)
        if not return_std:
            return self._together([law.mean() for law in laws])
        means, variances = zip(*(law.moments() for law in laws), strict=True)
        return self._together(list(means)), self._together([np.sqrt(v) for v in variances])

    def predict_quantiles(self, X: Any, quantiles: Any = (0.025, 0.5, 0.975)) -> np.ndarray:
        """Return quantiles of a new response.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        quantiles : array-like of shape (n_quantiles,), default=(0.025, 0.5, 0.975)

        Returns
        -------
        ndarray of shape (n_samples, n_quantiles) or (n_samples, n_quantiles, n_outputs)
        """
        levels = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
        if levels.ndim != 1 or not ((levels > 0) & (levels < 1)).all():
            raise ValueError(f"quantiles must lie strictly between 0 and 1; got {quantiles!r}.")
        return self._together([law.quantiles(levels) for law in self._predictive(X)])

    def sample_mean(self, X: Any, *, thin: int = 1) -> np.ndarray:
        """Return posterior draws of the mean of y, without noise.

        A draw is a function, the same at every call. Where every row has a model of its own (hybrid
        search on many rows) there is no function of all rows: a draw then has the same quantile at
        all of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        thin : int, default=1
            Return every ``thin``-th draw (of each chain) only, or so many times fewer.

        Returns
        -------
        ndarray of shape (n_draws, n_samples) or (n_draws, n_samples, n_outputs)
            Their mean is ``predict(X)``. With ``thin=1`` they are the ``chains * n_draws_`` draws
            of the posterior, chain after chain. A fit without chains has as many as
            ``prediction.draws`` says, or 1,000, and their mean is ``predict(X)`` but for their
            number.
        """
        return self._target.in_units(self._function_draws(X, check_count("thin", thin)))

    def sample_predictive(
        self, X: Any, n_samples: int | None = None, *, random_state: Any = None
    ) -> np.ndarray:
        """Draw new responses from the predictive law.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        n_samples : int or None, default=None
            Draws for each row; None: one for every kept draw of the posterior, 1,000 after a fit
            without chains.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        ndarray of shape (n_samples, n_rows) or (n_samples, n_rows, n_outputs)
            After a fit by chains, rows of one draw share the function, so that joint statements can
            be made. Without chains they share the model and its parameters (within a block of many
            rows), but not the rest of the function: see :meth:`sample_mean`.
        """
        laws = self._predictive(X)
        if n_samples is None and laws[0].n_draws is None:
            n_samples = _N_SAMPLES
        if n_samples is not None:
            n_samples = check_samples(self, n_samples, len(laws) * laws[0].n_rows)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        return self._together([law.sample(rng, n_samples) for law in laws])

    def log_predictive_density(self, X: Any, y: Any) -> np.ndarray:
        """Return the log density of each response under its predictive law.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        response = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        check_consistent_length(X, response)
        laws = self._predictive(X)
        response = np.reshape(response, (len(response), -1))
        if response.shape[1] != len(laws):
            raise ValueError(f"y has {response.shape[1]} outputs, but fit saw {len(laws)}.")
        return self._together(
            [law.log_density(values) for law, values in zip(laws, response.T, strict=True)]
        )
