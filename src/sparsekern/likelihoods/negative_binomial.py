r"""Counts of mean :math:`e^f` and variance :math:`e^f+\alpha e^{2f}`.

A Poisson law whose mean is multiplied by a gamma variable of mean one and variance
:math:`\alpha`, the dispersion; its compiled terms are in :mod:`._count_terms`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import betainc, gammaln


class NegativeBinomial:
    r"""Counts of mean :math:`e^f`; the only parameter is the dispersion :math:`\alpha`."""

    name: ClassVar[str] = "negative_binomial"
    support: ClassVar[str] = "counts"
    provides: ClassVar[frozenset[str]] = frozenset({"law", "terms"})
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
