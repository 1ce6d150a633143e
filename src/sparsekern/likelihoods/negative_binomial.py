r"""Counts of mean :math:`e^f` and variance :math:`e^f+\alpha e^{2f}`.

A Poisson law whose mean is multiplied by a gamma variable of mean one and variance
:math:`\alpha`, the dispersion.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from scipy.special import betainc, gammaln

from .._jit import jit
from ._by_terms import ByTerms
from ._stirling import LARGEST, LOG_ROOT_2PI, stirling_rest


class NegativeBinomial(ByTerms):
    r"""Counts of mean :math:`e^f`; the only parameter is the dispersion :math:`\alpha`."""

    name: ClassVar[str] = "negative_binomial"
    support: ClassVar[str] = "counts"
    provides: ClassVar[frozenset[str]] = frozenset({"law", "terms", "stand-in", "row weights"})
    last_parameter: ClassVar[str | None] = "dispersion"
    parameter_names: ClassVar[tuple[str, ...]] = ("dispersion",)

    def mean(self, latent: np.ndarray) -> np.ndarray:
        """Return the mean count."""
        return np.exp(latent)

    def link(self, mean: np.ndarray) -> np.ndarray:
        """Return the log of a mean count."""
        return np.log(mean)

    def read_last(self, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return noise variance and parameters that the logarithm of one number stands for."""
        return np.ones(1), np.exp(last)[..., None]

    def response_variance(
        self, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        r"""Return :math:`e^f+\alpha e^{2f}`."""
        return np.exp(latent) + parameters[..., 0] * np.exp(2.0 * latent)

    @staticmethod
    def _size_and_share(
        latent: np.ndarray, parameters: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return 1/alpha and the share of it in 1/alpha + e^f."""
        size = 1.0 / parameters[..., 0]
        return size, size / (size + np.exp(latent))

    def distribution(
        self, response: np.ndarray, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return P(Y <= y)."""
        size, share = self._size_and_share(latent, parameters)
        below = betainc(size, np.floor(np.maximum(response, 0.0)) + 1.0, share)
        return np.where(response >= 0, below, 0.0)

    def log_likelihood(
        self,
        response: np.ndarray,
        latent: np.ndarray,
        variance: Any = 1.0,
        parameters: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the log probability of each count."""
        assert parameters is not None
        size, _ = self._size_and_share(latent, parameters)
        mean = np.exp(latent)
        logs = gammaln(response + size) - gammaln(size) - gammaln(response + 1.0)
        # log of the share, and of what is left of one, without cancellation
        return logs - size * np.log1p(mean / size) + response * (latent - np.log(size + mean))

    def sample(
        self, rng: np.random.Generator, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return a new count for each latent value."""
        size, share = self._size_and_share(latent, parameters)
        return rng.negative_binomial(np.broadcast_to(size, latent.shape), share).astype(np.float64)


@jit
def negative_binomial_terms(y, f, last, freedom):
    """Return log p(y | f) and its derivatives, see :mod:`.terms`; ``last`` is log dispersion."""
    size = math.exp(-last)
    if y == 0.0:
        mean = math.exp(min(f, LARGEST))
        share = size / (size + mean)
        curvature = mean * share * share
        return -size * math.log1p(mean / size), -mean * share, curvature, curvature
    total = y + size
    apart = f - math.log(y)
    excess = math.expm1(min(apart, LARGEST))
    # two ways to write the same: the terms of the first are as large as y, of the second as size
    if y <= size or apart < -30.0:
        value = y * apart - total * math.log1p(y * excess / total)
    else:
        value = -size * apart - total * math.log1p(size * math.expm1(-apart) / total)
    value += 0.5 * math.log(size / (y * total)) - LOG_ROOT_2PI
    value += stirling_rest(total) - stirling_rest(size) - stirling_rest(y)
    mean = y * (1.0 + excess)
    share = size / (size + mean)
    curvature = total * share * (mean / (size + mean))
    return value, -y * excess * share, curvature, curvature
