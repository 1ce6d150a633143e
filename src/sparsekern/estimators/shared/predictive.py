r"""Predictive laws of regression from posterior draws.

A new response is a mixture over draws, :math:`\frac1T\sum_tp(y\mid f_t(x),\sigma_t)`. Its mean,
variance, density and quantiles are those of the mixture; nothing is approximated but for the
number of draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from ..._checks import check_choice, check_positive
from ...likelihoods._contract import SAMPLED, ResponseLaw
from ...likelihoods.table import find_law
from ...predictive.mixture import Mixture
from ...predictive.quantile_search import find_quantile
from .counts import check_count
from .draws import DrawsEstimator
from .exposure import check_counts, find_offset, log_exposure, without_exposure
from .kernel_inputs import KernelInputs
from .memory_guard import check_samples
from .response_scale import measure_response
from .validation import validate_rows


def resolve_noise(noise: Any, degrees_of_freedom: Any, estimator: str) -> Any:
    """Return the likelihood that the parameters ``noise`` and ``degrees_of_freedom`` ask for."""
    law = find_law("noise", noise, ("reals", "counts"), SAMPLED, estimator)
    if "degrees of freedom" not in law.provides:
        return law()
    if isinstance(degrees_of_freedom, str):
        check_choice("degrees_of_freedom", degrees_of_freedom, ("learned",))
        return law()
    values = np.atleast_1d(degrees_of_freedom).tolist()
    return law([check_positive("degrees_of_freedom", value) for value in values])


class PredictiveRegression(KernelInputs, DrawsEstimator):
    """Predictions of a fitted regression whose posterior is a set of kernel expansions."""

    offset: Any
    _offset_column: int | None = None
    _log_rate = 0.0  # of counts: the logarithm of their mean, over that of the exposure

    def _fit_law(self, X: np.ndarray, y: Any, law: Any, prior: tuple[float, float]) -> Any:
        """Return X as kernels see it, y in the units of the model, the law, and its noise prior.

        Real responses are centred and scaled, by median and median deviation (those of a Gaussian)
        where the law has heavy tails: a few gross errors shall not squeeze all other responses
        together. Counts stay; their function has the log of their mean as an offset.
        """
        y, centre, spread = measure_response(y, "heavy tails" in law.provides)
        column = self._offset_column = find_offset(self, law)
        if law.support != "counts":
            self._centre, self._spread, self._log_rate = centre, spread, 0.0
            return X, (y - centre) / spread, law, prior
        check_counts(y, law)
        exposure = log_exposure(X, column)
        self._centre, self._spread = 0.0, 1.0
        self._log_rate = float(np.log(y.mean()) - logsumexp(exposure) + np.log(len(y)))
        return without_exposure(X, column), y, type(law)(exposure + self._log_rate, prior), None

    def _prepare(self, X: Any, order: Literal["C", "F"] = "C") -> np.ndarray:
        return without_exposure(super()._prepare(X, order), self._offset_column)

    def _offset_at(self, X: Any) -> np.ndarray:
        """Return what is added to the function at new rows."""
        rows = X
        if self._offset_column is not None:
            rows = validate_rows(self, X, reset=False)
        return self._log_rate + log_exposure(rows, self._offset_column)

    def _collect_scalars(self, stack: Any) -> dict[str, np.ndarray]:
        """Return the scalars in the units of y."""
        scalars = super()._collect_scalars(stack)
        scalars["log_likelihood"] = scalars["log_likelihood"] - self._n_rows * np.log(self._spread)
        for name in scalars:
            if name.startswith("mean[") or name == "intercept":
                scalars[name] = self._centre + self._spread * scalars[name]
        if "noise_variance" in scalars:
            scalars["noise_variance"] = scalars["noise_variance"] * self._spread**2
        return scalars

    @property
    def _n_rows(self) -> int:
        return len(self._training[1])

    @property
    def _noise(self) -> ResponseLaw:
        likelihood = self._draws.likelihood
        assert isinstance(likelihood, ResponseLaw)
        return likelihood

    def pointwise_log_likelihood(self) -> np.ndarray:
        """Return the log-likelihood of every training response under every draw.

        Returns
        -------
        ndarray of shape (chains, draws, n_samples)
            Part of ``posterior_`` unless it holds over 2e7 numbers; then it is made only here.
        """
        if self._noise.support != "counts":
            return super().pointwise_log_likelihood() - np.log(self._spread)
        check_is_fitted(self, "n_draws_")
        (features, response), draws = self._training, self._draws
        offset, out = draws.likelihood.offset, np.empty((draws.n_draws, len(response)))
        parameters = draws.parameters.reshape(draws.n_draws, 1, -1)
        for block, latent in draws.latent_blocks(features):
            shifted = latent + offset[block]
            out[:, block] = self._noise.log_likelihood(response[block], shifted, 1.0, parameters)
        return out.reshape(*draws.counts.shape, len(response))

    def _components(self, X: Any) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield (rows, latent draws, noise variances, likelihood parameters), scaled units."""
        features, draws = self._prepare(X), self._draws
        variance = draws.noise_variances.reshape(-1, 1)
        parameters = draws.parameters.reshape(draws.n_draws, 1, -1)
        if self._noise.support != "counts":
            for block, latent in draws.latent_blocks(features):
                yield block, latent, variance, parameters
            return
        offset = self._offset_at(X)
        for block, latent in draws.latent_blocks(features):
            yield block, latent + offset[block], variance, parameters

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
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only if ``return_std``.
        """
        means, variances = [], []
        for _, latent, variance, parameters in self._components(X):
            own = self._noise.response_variance(latent, variance, parameters)
            centre = self._noise.mean(latent)
            means.append(centre.mean(axis=0))
            variances.append(centre.var(axis=0) + own.mean(axis=0))
        mean = self._centre + self._spread * np.concatenate(means)
        if not return_std:
            return mean
        return mean, self._spread * np.sqrt(np.concatenate(variances))

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
        levels = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
        if levels.ndim != 1 or not ((levels > 0) & (levels < 1)).all():
            raise ValueError(f"quantiles must lie strictly between 0 and 1; got {quantiles!r}.")
        found = [
            np.column_stack([self._quantile(level, *components) for level in levels])
            for _, *components in self._components(X)
        ]
        return self._centre + self._spread * np.concatenate(found)

    def _quantile(
        self, level: float, latent: np.ndarray, variance: np.ndarray, parameters: np.ndarray
    ) -> np.ndarray:
        """Return one quantile of the mixture at every row, in scaled units."""
        if self._noise.support == "counts":
            return Mixture.of_draws(self._noise, latent, variance, parameters).quantile(level)

        def distribution(y: np.ndarray) -> np.ndarray:
            return self._noise.distribution(y, latent, variance, parameters).mean(axis=0)

        spread = np.sqrt(latent.var(axis=0) + variance.mean())
        return find_quantile(distribution, level, latent.mean(axis=0), spread)

    def sample_mean(self, X: Any, *, thin: int = 1) -> np.ndarray:
        """Return posterior draws of the mean of y, without noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        thin : int, default=1
            Return every ``thin``-th draw of each chain only.

        Returns
        -------
        ndarray of shape (n_draws, n_samples)
            Chain after chain. With ``thin=1`` there are ``chains * draws`` of them, and their mean
            is ``predict(X)``.
        """
        thin = check_count("thin", thin)
        if self._noise.support == "counts":
            shape = (*self._draws.counts.shape, -1)  # chains, draws, rows
            found = [
                self._noise.mean(latent).reshape(shape)[:, ::thin].reshape(-1, latent.shape[1])
                for _, latent, _, _ in self._components(X)
            ]
            return np.concatenate(found, axis=1)
        draws = self._draws.thinned(thin).response_draws(self._prepare(X))
        return self._centre + self._spread * draws

    def sample_predictive(
        self, X: Any, n_samples: int | None = None, *, random_state: Any = None
    ) -> np.ndarray:
        """Draw new responses from the predictive law.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        n_samples : int or None, default=None
            Draws for each row; None: one for every kept draw of the posterior.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        ndarray of shape (n_samples, n_rows)
            Rows of one draw share the function, so that joint statements can be made.
        """
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        features = self._prepare(X)
        total = self._draws.n_draws
        chosen = np.arange(total)
        if n_samples is not None:
            count = check_samples(self, n_samples, len(features))
            chosen = rng.integers(0, total, count)
        out = []
        for _, latent, variance, parameters in self._components(X):
            drawn = latent[chosen], variance[chosen], parameters[chosen]
            out.append(self._noise.sample(rng, *drawn))
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
        out = []
        for block, latent, variance, parameters in self._components(X):
            logs = self._noise.log_likelihood(scaled[block], latent, variance, parameters)
            out.append(logsumexp(logs, axis=0) - np.log(len(latent)))
        return np.concatenate(out) - np.log(self._spread)
