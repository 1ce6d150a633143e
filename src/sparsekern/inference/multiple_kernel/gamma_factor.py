r"""Gamma factors of a mean-field posterior, with shape :math:`\alpha` and *scale* :math:`\beta`.

The mean is :math:`\alpha\beta`. Precisions of the models here all have such factors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln, psi

Prior = tuple[float, float] | tuple[float, np.ndarray]


@dataclass(frozen=True)
class GammaFactor:
    """Independent gamma variables with their prior.

    Attributes
    ----------
    shape, scale : ndarray
        Of the factor, of any common form.
    prior : (float, float) or None
        Shape and scale of the prior; None where the variables are known: ``scale`` is their value.
    """

    shape: np.ndarray
    scale: np.ndarray
    prior: Prior | None

    @classmethod
    def start(cls, form: tuple[int, ...] | int, prior: tuple[float, float]) -> GammaFactor:
        """Return the prior itself as a factor."""
        return cls(np.full(form, prior[0]), np.full(form, prior[1]), prior)

    @classmethod
    def known(cls, value: float) -> GammaFactor:
        """Return a variable that is known."""
        return cls(np.array(1.0), np.array(value), None)

    def with_prior(self, prior: Prior) -> GammaFactor:
        """Return the factor as it is with another prior; what is known stays known."""
        return self if self.prior is None else replace(self, prior=prior)

    def updated(self, half_count: float, half_sum: np.ndarray | float) -> GammaFactor:
        """Return the factor of a precision, given half the count and half the sum of squares."""
        if self.prior is None:
            return self
        shape = np.full_like(self.shape, self.prior[0] + half_count)
        scale = np.asarray(1.0 / (1.0 / self.prior[1] + half_sum))
        return replace(self, shape=shape, scale=scale)

    def rescaled(self, factor: float) -> GammaFactor:
        """Return the factor of the variables times ``factor``."""
        return replace(self, scale=self.scale * factor)

    @property
    def mean(self) -> np.ndarray:
        """Expectation."""
        return self.shape * self.scale

    @property
    def mean_log(self) -> np.ndarray:
        """Expectation of the logarithm."""
        return np.log(self.scale) + (0.0 if self.prior is None else psi(self.shape))

    @property
    def mean_inverse(self) -> np.ndarray:
        """Expectation of the reciprocal, infinite for a shape up to one."""
        if self.prior is None:
            return 1.0 / self.scale
        with np.errstate(divide="ignore"):
            return np.where(
                self.shape > 1, 1.0 / (self.scale * np.maximum(self.shape - 1.0, 0.0)), np.inf
            )

    def divergence(self) -> float:
        """Return the Kullback-Leibler divergence from the prior, summed."""
        if self.prior is None:
            return 0.0
        a, b = self.prior
        shape, scale = self.shape, self.scale
        terms = (shape - a) * psi(shape) - gammaln(shape) + gammaln(a)
        terms = terms + a * np.log(b / scale) + shape * (scale / b - 1.0)
        return float(np.sum(terms))
