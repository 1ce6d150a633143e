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

from ..._checks import check_choice, check_positive
from ...likelihoods._contract import SAMPLED, ResponseLaw
from ...likelihoods.table import find_law
from ...predictive.law import PredictiveLaw
from ...predictive.mixture import Mixture
from .draws import DrawsEstimator
from .exposure import check_counts, find_offset, log_exposure, without_exposure
from .regressor_face import RegressorFace
from .target import Target, measure_response
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


class PredictiveRegression(RegressorFace, DrawsEstimator):
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
            self._target, self._log_rate = Target(np.array([centre]), np.array([spread])), 0.0
            return X, (y - centre) / spread, law, prior
        check_counts(y, law)
        exposure = log_exposure(X, column)
        self._target = Target(np.zeros(1), np.ones(1))
        self._log_rate = float(np.log(y.mean()) - logsumexp(exposure) + np.log(len(y)))
        return without_exposure(X, column), y, type(law)(exposure + self._log_rate, prior), None

    def _prepare(self, X: Any, order: Literal["C", "F"] = "C") -> np.ndarray:
        return without_exposure(super()._prepare(X, order), self._offset_column)

    def _offset_at(self, X: Any) -> np.ndarray | float:
        """Return what is added to the function at new rows."""
        if self._offset_column is None:
            return self._log_rate
        rows = validate_rows(self, X, reset=False)
        return self._log_rate + log_exposure(rows, self._offset_column)

    def _predictive(self, X: Any) -> list[PredictiveLaw]:
        features, draws, target = self._prepare(X), self._draws, self._target
        law = draws.likelihood
        assert isinstance(law, ResponseLaw)
        noise = draws.noise_variances.reshape(-1, 1)
        parameters = draws.parameters.reshape(draws.n_draws, 1, -1)
        offset = np.broadcast_to(self._offset_at(X), len(features))

        def blocks() -> Iterator[tuple[slice, Mixture]]:
            for block, latent in draws.latent_blocks(features):
                yield block, Mixture.of_draws(law, latent + offset[block], noise, parameters)

        return [
            PredictiveLaw(blocks, len(features), target.centre[0], target.spread[0], draws.n_draws)
        ]

    def _function_draws(self, X: Any, thin: int) -> np.ndarray:
        features, draws = self._prepare(X), self._draws.thinned(thin)
        offset = np.broadcast_to(self._offset_at(X), len(features))
        found = [
            draws.likelihood.mean(latent + offset[block])
            for block, latent in draws.latent_blocks(features)
        ]
        return np.concatenate(found, axis=1)[..., None]
