"""Laws of a response given the latent value, for prediction; the last parameter is theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit, ndtr
from scipy.stats import nbinom, poisson
from scipy.stats import t as student


class Law(Protocol):
    """What prediction asks of a response; arrays broadcast."""

    whole: bool  # whether responses are whole numbers

    def mean(self, f: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return E[y | f]."""
        ...

    def variance(self, f: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return Var[y | f]."""
        ...

    def distribution(self, y: np.ndarray, f: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return P(Y <= y | f)."""
        ...

    def log_density(self, y: np.ndarray, f: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return log p(y | f)."""
        ...

    def sample(self, rng: np.random.Generator, f: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return a draw for each f."""
        ...


@dataclass(frozen=True)
class StudentLaw:
    """f plus Student's noise of ``freedom`` degrees and scale sigma, last = log sigma^2."""

    freedom: float
    whole = False

    def mean(self, f, last):
        """Return f."""
        return f + 0.0 * last

    def variance(self, f, last):
        """Return the variance of the noise, infinite up to two degrees of freedom."""
        factor = self.freedom / (self.freedom - 2.0) if self.freedom > 2.0 else np.inf
        return factor * np.exp(last) + 0.0 * f

    def distribution(self, y, f, last):
        """Return P(Y <= y | f)."""
        return student.cdf((y - f) * np.exp(-0.5 * last), self.freedom)

    def log_density(self, y, f, last):
        """Return log p(y | f)."""
        return student.logpdf((y - f) * np.exp(-0.5 * last), self.freedom) - 0.5 * last

    def sample(self, rng, f, last):
        """Return a draw for each f."""
        return f + np.exp(0.5 * last) * rng.standard_t(self.freedom, np.broadcast(f, last).shape)


@dataclass(frozen=True)
class PoissonLaw:
    """Counts of mean e^f."""

    whole = True

    def mean(self, f, last):
        """Return e^f."""
        return np.exp(f) + 0.0 * last

    def variance(self, f, last):
        """Return e^f."""
        return np.exp(f) + 0.0 * last

    def distribution(self, y, f, last):
        """Return P(Y <= y | f)."""
        return poisson.cdf(y, np.exp(f))

    def log_density(self, y, f, last):
        """Return log p(y | f)."""
        return poisson.logpmf(y, np.exp(f))

    def sample(self, rng, f, last):
        """Return a draw for each f."""
        return rng.poisson(np.exp(f)).astype(float)


@dataclass(frozen=True)
class NegativeBinomialLaw:
    """Counts of mean e^f and variance e^f + alpha e^2f, last = log alpha."""

    whole = True

    def mean(self, f, last):
        """Return e^f."""
        return np.exp(f) + 0.0 * last

    def variance(self, f, last):
        """Return e^f + alpha e^2f."""
        return np.exp(f) + np.exp(last + 2.0 * f)

    @staticmethod
    def _shape(f, last):
        size = np.exp(-last)
        return size, size / (size + np.exp(f))

    def distribution(self, y, f, last):
        """Return P(Y <= y | f)."""
        return nbinom.cdf(y, *self._shape(f, last))

    def log_density(self, y, f, last):
        """Return log p(y | f)."""
        return nbinom.logpmf(y, *self._shape(f, last))

    def sample(self, rng, f, last):
        """Return a draw for each f."""
        return rng.negative_binomial(*self._shape(f, last)).astype(float)


def class_probability(name: str, means: np.ndarray, variances: np.ndarray) -> np.ndarray:
    r"""Return P(y = 1) for a normal latent value.

    Probit has the closed form :math:`\Phi(\mu/\sqrt{1+v})`; logit is integrated by Gauss and
    Hermite's rule of 32 points.
    """
    if name == "probit":
        return ndtr(means / np.sqrt(1.0 + variances))
    nodes, weights = np.polynomial.hermite_e.hermegauss(32)
    total = np.zeros(np.shape(means))
    deviation = np.sqrt(variances)
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        total += weight * expit(means + node * deviation)
    return total
