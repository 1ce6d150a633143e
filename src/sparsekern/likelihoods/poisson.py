r"""Counts of mean :math:`e^f`.

:math:`\log p(y\mid f)=yf-e^f-\log y!`.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln, pdtr

from .._jit import jit
from ._by_terms import ByTerms
from ._stirling import LARGEST, LOG_ROOT_2PI, stirling_rest


class Poisson(ByTerms):
    r"""Counts, :math:`y\sim Poisson(e^f)`."""

    name: ClassVar[str] = "poisson"
    support: ClassVar[str] = "counts"
    provides: ClassVar[frozenset[str]] = frozenset(
        {"law", "terms", "concave terms", "stand-in", "row weights"}
    )
    last_parameter: ClassVar[str | None] = None

    def mean(self, latent: np.ndarray) -> np.ndarray:
        """Return the mean count."""
        return np.exp(latent)

    def link(self, mean: np.ndarray) -> np.ndarray:
        """Return the log of a mean count."""
        return np.log(mean)

    def read_last(self, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return noise variance and parameters that the logarithm of one number stands for."""
        return np.ones(1), np.zeros(0)

    def response_variance(
        self, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return the variance, which is the mean."""
        return np.exp(latent)

    def distribution(
        self, response: np.ndarray, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return P(Y <= y)."""
        return np.where(response >= 0, pdtr(np.maximum(response, 0), np.exp(latent)), 0.0)

    def log_likelihood(
        self,
        response: np.ndarray,
        latent: np.ndarray,
        variance: Any = 1.0,
        parameters: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the log probability of each count."""
        return response * latent - np.exp(latent) - gammaln(response + 1.0)

    def sample(
        self, rng: np.random.Generator, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return a new count for each latent value."""
        return rng.poisson(np.exp(latent)).astype(np.float64)


@jit
def poisson_terms(y, f, last, freedom):
    """Return log p(y | f) and its derivatives, see :mod:`.terms`."""
    if y == 0.0:
        mean = math.exp(min(f, LARGEST))
        return -mean, -mean, mean, mean
    apart = f - math.log(y)
    excess = math.expm1(min(apart, LARGEST))  # of the mean over y, relative to y
    at_best = -0.5 * math.log(y) - LOG_ROOT_2PI - stirling_rest(y)
    mean = y * (1.0 + excess)
    return y * (apart - excess) + at_best, -y * excess, mean, mean
