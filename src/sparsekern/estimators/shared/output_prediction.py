"""Predictions of regressions with one or several outputs, a predictive law for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_consistent_length

from ...predictive.mixture import Mixture
from .counts import check_count
from .memory_guard import check_samples
from .mixture_prediction import check_levels


class OutputPrediction:
    """Mean, deviation, quantiles, draws and density; subclasses give the laws of the outputs."""

    _centre: np.ndarray
    _spread: np.ndarray
    _single_output: bool

    def _laws(self, X: Any) -> list[Mixture]:
        """Return the predictive law of each output, in scaled units."""
        raise NotImplementedError

    def _function_draws(self, X: Any, thin: int) -> np.ndarray:
        """Return draws of the functions, shape (draws, n, outputs), in scaled units."""
        raise NotImplementedError

    def _in_units(self, scaled: list[np.ndarray], shift: bool = True) -> np.ndarray:
        """Return one array per output in the units of y, the outputs last."""
        parts = [
            (centre if shift else 0.0) + spread * values
            for values, centre, spread in zip(scaled, self._centre, self._spread, strict=True)
        ]
        return parts[0] if self._single_output else np.stack(parts, axis=-1)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the predictive mean and, if asked, standard deviation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to return the standard deviation of a new response, noise included.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        std : ndarray of the same shape
            Only if ``return_std``.
        """
        laws = self._laws(X)
        mean = self._in_units([law.mean() for law in laws])
        if not return_std:
            return mean
        return mean, self._in_units([np.sqrt(law.variance()) for law in laws], shift=False)

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
        levels = check_levels(quantiles)
        laws = self._laws(X)
        return self._in_units(
            [np.column_stack([law.quantile(level) for level in levels]) for law in laws]
        )

    def sample_mean(self, X: Any, *, thin: int = 1) -> np.ndarray:
        """Return posterior draws of the mean of y, without noise.

        A draw is a function, the same at every call.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        thin : int, default=1
            Return every ``thin``-th draw only.

        Returns
        -------
        ndarray of shape (n_draws, n_samples) or (n_draws, n_samples, n_outputs)
            With ``thin=1`` there are 1,000 of them; their mean is ``predict(X)`` but for their
            number.
        """
        thin = check_count("thin", thin)
        draws = self._function_draws(X, thin)
        return self._in_units(list(np.moveaxis(draws, 2, 0)))

    def sample_predictive(
        self, X: Any, n_samples: int = 1000, *, random_state: Any = None
    ) -> np.ndarray:
        """Draw new responses.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        n_samples : int, default=1000
        random_state : int, RandomState or None, default=None

        Returns
        -------
        ndarray of shape (n_samples, n_rows) or (n_samples, n_rows, n_outputs)
            Rows of one draw share the width of a mixture, but not the rest of the function.
        """
        laws = self._laws(X)
        count = check_samples(self, n_samples, len(laws) * laws[0].means.shape[1])
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        return self._in_units([law.sample(rng, count) for law in laws])

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
        laws = self._laws(X)
        response = np.reshape(response, (len(response), -1))
        if response.shape[1] != len(laws):
            raise ValueError(f"y has {response.shape[1]} outputs, but fit saw {len(laws)}.")
        scaled = ((response - self._centre) / self._spread).T
        found = [
            law.log_density(values) - np.log(spread)
            for law, values, spread in zip(laws, scaled, self._spread, strict=True)
        ]
        return found[0] if self._single_output else np.column_stack(found)
