"""Predictions of regressions whose predictive law is a mixture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from ...likelihoods._contract import ResponseLaw
from ...predictive.mixture import Mixture
from .counts import check_count
from .memory_guard import check_samples


class MixturePrediction:
    """Mean, deviation, quantiles, draws and density; subclasses say what is mixed."""

    noise: str
    draws: int
    _centre: float
    _spread: float
    _prepare: Callable[[Any], np.ndarray]
    _latent_draws: Callable[[Any, int], Iterator[tuple[slice, np.ndarray, np.ndarray]]]
    _law: Callable[[], ResponseLaw]

    def _mixtures(self, X: Any) -> Iterator[tuple[slice, Mixture]]:
        """Yield slices of rows and their predictive laws, in scaled units."""
        raise NotImplementedError

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the predictive mean and, if asked, standard deviation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to return the standard deviation of a new response, noise included.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only if ``return_std``.
        """
        found = [(part.mean(), part.variance()) for _, part in self._mixtures(X)]
        mean = self._centre + self._spread * np.concatenate([mean for mean, _ in found])
        if not return_std:
            return mean
        return mean, self._spread * np.sqrt(np.concatenate([variance for _, variance in found]))

    def predict_quantiles(self, X: Any, quantiles: Any = (0.025, 0.5, 0.975)) -> np.ndarray:
        """Return quantiles of a new response.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        quantiles : array-like of shape (n_quantiles,), default=(0.025, 0.5, 0.975)

        Returns
        -------
        ndarray of shape (n_samples, n_quantiles)
        """
        levels = check_levels(quantiles)
        found = [
            np.column_stack([part.quantile(level) for level in levels])
            for _, part in self._mixtures(X)
        ]
        return self._centre + self._spread * np.concatenate(found)

    def sample_mean(self, X: Any, *, thin: int = 1) -> np.ndarray:
        """Return posterior draws of the mean of y, without noise.

        A draw has a model, its parameters and a function. It is the same function at every call.
        With local models (more than 2,000 rows, or ``search_rows`` where the noise is not Gaussian)
        there is no function of all rows: a draw then has the same quantile at all of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        thin : int, default=1
            Return so many times fewer draws.

        Returns
        -------
        ndarray of shape (n_draws, n_samples)
            With ``thin=1`` there are ``draws`` of them; their mean is ``predict(X)`` but for their
            number.
        """
        check_is_fitted(self, "models_")
        count = -(-check_count("draws", self.draws) // check_count("thin", thin))
        law = self._law()
        found = [law.mean(latent) for _, latent, _ in self._latent_draws(X, count)]
        return self._centre + self._spread * np.concatenate(found, axis=1)

    def sample_predictive(
        self, X: Any, n_samples: int = 1000, *, random_state: Any = None
    ) -> np.ndarray:
        """Draw new responses, each row from its own predictive law.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        n_samples : int, default=1000
        random_state : int, RandomState or None, default=None

        Returns
        -------
        ndarray of shape (n_samples, n_rows)
            Rows of one draw share model and parameters (within a block of many rows), but not the
            rest of the function.
        """
        seed = check_random_state(random_state).randint(2**31)
        count = check_samples(self, n_samples, len(self._prepare(X)))
        out = [
            part.sample(np.random.default_rng([seed, block.start]), count)
            for block, part in self._mixtures(X)
        ]
        return self._centre + self._spread * np.concatenate(out, axis=1)

    def log_predictive_density(self, X: Any, y: Any) -> np.ndarray:
        """Return the log density of each response under its predictive law.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        response = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        check_consistent_length(X, response)
        scaled = (response - self._centre) / self._spread
        found = [part.log_density(scaled[block]) for block, part in self._mixtures(X)]
        return np.concatenate(found) - np.log(self._spread)


def check_levels(quantiles: Any) -> np.ndarray:
    """Return levels strictly between 0 and 1."""
    levels = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
    if levels.ndim != 1 or not ((levels > 0) & (levels < 1)).all():
        raise ValueError(f"quantiles must lie strictly between 0 and 1; got {quantiles!r}.")
    return levels
