r"""The law of new responses: a mixture over draws, models or points of quadrature.

Every fit ends in components c with weights :math:`w_c`, each with a normal law of the latent value
at every point of prediction, and a likelihood,

.. math:: p(y)=\sum_cw_c\int p(y\mid f,\sigma_c^2,\theta_c)\,N(f;m_c,v_c)\,df .

The integral is exact where the likelihood is Gaussian (its variance takes in that of f) or where f
is known (a draw of the function), and is made by Gauss and Hermite's rule elsewhere. Mean,
variance, density and quantiles are those of the mixture; nothing else is approximated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from ..likelihoods._contract import ResponseLaw
from .quantile_search import find_quantile

_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_NODE_WEIGHTS = _NODE_WEIGHTS / _NODE_WEIGHTS.sum()


@dataclass(frozen=True)
class Mixture:
    """C components at q points.

    Attributes
    ----------
    law : ResponseLaw
        Law of a response given its latent value.
    weights : ndarray of shape (C, 1) or (C, q)
        They add up to one.
    means : ndarray of shape (C, q)
        Of the latent values.
    variances : ndarray of shape (C, q) or None
        Of the latent values; None: they are known.
    noise : ndarray of shape (C, 1) or (C, q)
        Variance of the noise, where the law has one.
    parameters : ndarray of shape (..., r)
        The law's own.
    """

    law: ResponseLaw
    weights: np.ndarray
    means: np.ndarray
    variances: np.ndarray | None
    noise: np.ndarray
    parameters: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of_draws(
        cls, law: ResponseLaw, latent: np.ndarray, noise: np.ndarray, parameters: np.ndarray
    ) -> Mixture:
        """Return the mixture of equally probable draws of the function."""
        weights = np.full((len(latent), 1), 1.0 / len(latent))
        return cls(law, weights, latent, None, noise, parameters)

    @cached_property
    def _parts(self) -> tuple[np.ndarray | None, np.ndarray]:
        """Return variances of the latent values, None if there are none to integrate, and noise."""
        if self.variances is not None and "normal noise" in self.law.provides:
            return None, self.noise + self.variances
        return self.variances, self.noise

    @property
    def n_points(self) -> int:
        """Points of prediction."""
        return self.means.shape[1]

    def _latent(self) -> Iterator[tuple[float, np.ndarray]]:
        """Yield weights and latent values that stand for each component."""
        variances, _ = self._parts
        if variances is None:
            yield 1.0, self.means
            return
        deviation = np.sqrt(variances)
        for node, weight in zip(_NODES, _NODE_WEIGHTS, strict=True):
            yield weight, self.means + node * deviation

    def _average(self, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the mean of a function of the latent value over everything."""
        total = np.zeros(self.n_points)
        for weight, latent in self._latent():
            total += weight * (self.weights * function(latent)).sum(axis=0)
        return total

    def mean(self) -> np.ndarray:
        """Return the mean of a new response."""
        return self._average(self.law.mean)

    def variance(self) -> np.ndarray:
        """Return the variance of a new response, infinite where there is none."""
        centre, (_, noise) = self.mean(), self._parts

        def spread(f: np.ndarray) -> np.ndarray:
            own = self.law.response_variance(f, noise, self.parameters)
            return own + (self.law.mean(f) - centre) ** 2

        return self._average(spread)

    def distribution(self, response: np.ndarray) -> np.ndarray:
        """Return P(Y <= y) at every point."""
        _, noise = self._parts
        return self._average(lambda f: self.law.distribution(response, f, noise, self.parameters))

    def quantile(self, level: float) -> np.ndarray:
        """Return a quantile of a new response; a whole number for counts."""
        centre = self.mean()
        if self.law.support == "counts":
            return self._whole_quantile(level, centre)
        # of about the right size, and finite whatever the law
        spread = self.noise + (self.means - centre) ** 2
        if self.variances is not None:
            spread = spread + self.variances
        deviation = np.sqrt((self.weights * spread).sum(axis=0))
        return find_quantile(self.distribution, level, centre, deviation)

    def _whole_quantile(self, level: float, centre: np.ndarray) -> np.ndarray:
        """Return the smallest count that is not exceeded with probability ``level``."""
        low, high = np.full_like(centre, -1.0), np.ceil(2.0 * centre + 1.0)
        while (wide := self.distribution(high) < level).any():
            high = np.where(wide, 2 * high, high)
        while (open_ := high - low > 1).any():
            middle = np.floor(0.5 * (low + high))
            left = self.distribution(middle) < level
            low = np.where(open_ & left, middle, low)
            high = np.where(open_ & ~left, middle, high)
        return high

    def log_density(self, response: np.ndarray) -> np.ndarray:
        """Return the log density (or probability) of new responses."""
        _, noise = self._parts
        logs = [
            self.law.log_likelihood(response, f, noise, self.parameters) + np.log(weight)
            for weight, f in self._latent()
        ]
        return logsumexp(logs, axis=(0, 1), b=np.broadcast_to(self.weights, self.means.shape))

    def sample(
        self,
        rng: np.random.Generator,
        count: int | None = None,
        chosen: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return draws [count, q]; a draw has the same component at all points.

        ``chosen`` gives the component of each draw, such as those of other points of the same
        function. Without it they come at random, or, if ``count`` is None, one of each in order.
        """
        size = len(self.means)
        if chosen is None:
            chosen = np.arange(size)
            if count is not None:
                weights = np.broadcast_to(self.weights, self.means.shape)[:, 0]
                chosen = rng.choice(size, size=count, p=weights / weights.sum())
        latent, (variances, noise) = self.means[chosen], self._parts
        if variances is not None:
            latent = latent + np.sqrt(variances[chosen]) * rng.standard_normal(latent.shape)
        noise = np.broadcast_to(noise, self.means.shape)[chosen]
        parameters = self.parameters
        if parameters.ndim > 1 and len(parameters) == size:
            parameters = parameters[chosen]
        return self.law.sample(rng, latent, noise, parameters)
