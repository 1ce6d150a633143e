r"""Predictive laws of regression from posterior draws.

A new response is a mixture over draws, :math:`\frac1T\sum_tp(y\mid f_t(x),\sigma_t)`. Its mean,
variance, density and quantiles are those of the mixture; nothing is approximated but for the
number of draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._checks import check_choice, check_positive
from ...likelihoods import Gaussian, StudentT
from ...likelihoods._contract import Likelihood, ResponseLaw
from ...predictive.law import PredictiveLaw
from ...predictive.mixture import Mixture
from .draws import DrawsEstimator
from .regressor_face import RegressorFace


def resolve_noise(noise: Any, degrees_of_freedom: Any) -> Likelihood:
    """Return the likelihood that the parameters ``noise`` and ``degrees_of_freedom`` ask for."""
    if check_choice("noise", noise, ("gaussian", "student_t")) == "gaussian":
        return Gaussian()
    if isinstance(degrees_of_freedom, str):
        check_choice("degrees_of_freedom", degrees_of_freedom, ("learned",))
        return StudentT()
    values = np.atleast_1d(degrees_of_freedom).tolist()
    return StudentT([check_positive("degrees_of_freedom", value) for value in values])


class PredictiveRegression(RegressorFace, DrawsEstimator):
    """Predictions of a fitted regression whose posterior is a set of kernel expansions."""

    _prepare: Any

    def _predictive(self, X: Any) -> list[PredictiveLaw]:
        features, draws, target = self._prepare(X), self._draws, self._target
        law = draws.likelihood
        assert isinstance(law, ResponseLaw)
        noise = draws.noise_variances.reshape(-1, 1)
        parameters = draws.parameters.reshape(draws.n_draws, 1, -1)

        def blocks() -> Iterator[tuple[slice, Mixture]]:
            for block, latent in draws.latent_blocks(features):
                yield block, Mixture.of_draws(law, latent, noise, parameters)

        return [
            PredictiveLaw(blocks, len(features), target.centre[0], target.spread[0], draws.n_draws)
        ]

    def _function_draws(self, X: Any, thin: int) -> np.ndarray:
        return self._draws.thinned(thin).response_draws(self._prepare(X))[..., None]
