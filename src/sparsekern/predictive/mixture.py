"""Mixtures of normal laws, one for each point of prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, ndtr

from .laws import Law
from .quantile_search import find_quantile


@dataclass(frozen=True)
class NormalMixtures:
    """C components at q points.

    Attributes
    ----------
    weights : ndarray of shape (C, 1) or (C, q)
        They add up to one.
    means, variances : ndarray of shape (C, q)
        Of the function.
    noise : ndarray of shape (C, 1) or (C, q)
        Variance of the noise.
    """

    weights: np.ndarray
    means: np.ndarray
    variances: np.ndarray
    noise: np.ndarray

    def mean(self) -> np.ndarray:
        """Return the mean at every point."""
        return (self.weights * self.means).sum(axis=0)

    def variance(self) -> np.ndarray:
        """Return the variance of a new response."""
        spread = self.variances + self.noise + (self.means - self.mean()) ** 2
        return (self.weights * spread).sum(axis=0)

    def quantile(self, level: float) -> np.ndarray:
        """Return a quantile of a new response."""
        deviation = np.sqrt(self.variances + self.noise)

        def distribution(y: np.ndarray) -> np.ndarray:
            return (self.weights * ndtr((y - self.means) / deviation)).sum(axis=0)

        return find_quantile(distribution, level, self.mean(), np.sqrt(self.variance()))

    def log_density(self, response: np.ndarray) -> np.ndarray:
        """Return the log density of new responses."""
        variance = self.variances + self.noise
        logs = -0.5 * (np.log(2 * np.pi * variance) + (response - self.means) ** 2 / variance)
        return logsumexp(logs, axis=0, b=self.weights)

    def sample(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Return draws [count, q]; a draw has the same component at all points."""
        weights = np.broadcast_to(self.weights, self.means.shape)[:, 0]
        chosen = rng.choice(len(weights), size=count, p=weights / weights.sum())
        deviation = np.sqrt(self.variances + self.noise)
        noise = rng.standard_normal((count, self.means.shape[1]))
        return self.means[chosen] + deviation[chosen] * noise


_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_NODE_WEIGHTS = _NODE_WEIGHTS / _NODE_WEIGHTS.sum()


@dataclass(frozen=True)
class LatentMixtures:
    """Mixtures of normal laws of the latent value, seen through the law of a response.

    Attributes
    ----------
    weights, means, variances
        As for :class:`NormalMixtures`.
    last : ndarray of shape (C, 1) or (C, q)
        The last parameter.
    law : Law
    """

    weights: np.ndarray
    means: np.ndarray
    variances: np.ndarray
    last: np.ndarray
    law: Law

    def _latent(self) -> Iterator[tuple[float, np.ndarray]]:
        """Yield weights and latent values of the Gauss-Hermite rule."""
        deviation = np.sqrt(self.variances)
        for node, weight in zip(_NODES, _NODE_WEIGHTS, strict=True):
            yield weight, self.means + node * deviation

    def _average(self, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the mean of a function of the latent value over everything."""
        total = np.zeros(self.means.shape[1])
        for weight, latent in self._latent():
            total += weight * (self.weights * function(latent)).sum(axis=0)
        return total

    def mean(self) -> np.ndarray:
        """Return the mean of a new response."""
        return self._average(lambda f: self.law.mean(f, self.last))

    def variance(self) -> np.ndarray:
        """Return the variance of a new response."""
        centre = self.mean()

        def spread(f: np.ndarray) -> np.ndarray:
            return self.law.variance(f, self.last) + (self.law.mean(f, self.last) - centre) ** 2

        return self._average(spread)

    def _scale(self) -> np.ndarray:
        """Return a variance of about the right size, finite whatever the law."""
        spread = self.variances + np.exp(self.last) + (self.means - self.mean()) ** 2
        return (self.weights * spread).sum(axis=0)

    def _below(self, y: np.ndarray) -> np.ndarray:
        return self._average(lambda f: self.law.distribution(y, f, self.last))

    def quantile(self, level: float) -> np.ndarray:
        """Return a quantile of a new response; a whole number for counts."""
        centre = self.mean()
        if not self.law.whole:
            return find_quantile(self._below, level, centre, np.sqrt(self._scale()))
        low, high = np.full_like(centre, -1.0), np.ceil(2.0 * centre + 1.0)
        while (wide := self._below(high) < level).any():
            high = np.where(wide, 2 * high, high)
        while (open_ := high - low > 1).any():
            middle = np.floor(0.5 * (low + high))
            left = self._below(middle) < level
            low = np.where(open_ & left, middle, low)
            high = np.where(open_ & ~left, middle, high)
        return high

    def log_density(self, response: np.ndarray) -> np.ndarray:
        """Return the log density (or probability) of new responses."""
        logs = [
            self.law.log_density(response, f, self.last) + np.log(weight)
            for weight, f in self._latent()
        ]
        return logsumexp(logs, axis=(0, 1), b=np.broadcast_to(self.weights, self.means.shape))

    def sample(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Return draws [count, q]; a draw has the same component at all points."""
        weights = np.broadcast_to(self.weights, self.means.shape)[:, 0]
        chosen = rng.choice(len(weights), size=count, p=weights / weights.sum())
        noise = rng.standard_normal((count, self.means.shape[1]))
        latent = self.means[chosen] + np.sqrt(self.variances[chosen]) * noise
        last = np.broadcast_to(self.last, self.means.shape)[chosen]
        return self.law.sample(rng, latent, last)
