r"""Latent outputs of classifications: their means and their part of a bound.

An output is latent, :math:`f\sim N(\eta,1)`, and restricted to a region that the label names. The
optimal factor is that normal law cut to the region, with the mean
:math:`\langle f\rangle=\eta+\nabla\log Z(\eta)`. In the bound the variances of f cancel against its
entropy; what is left, beside the Gaussian part at :math:`\langle f\rangle`, is

.. math:: \sum\{\log Z+\tfrac12|\langle f\rangle-\eta|^2\}+\tfrac{NL}2\ln2\pi.

*Probit*: :math:`yf>\nu`, with the margin :math:`\nu\ge0`. *Multinomial probit*: the output of the
label is the largest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import erfcx, log_ndtr, roots_hermitenorm

_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_NODES, _WEIGHTS = roots_hermitenorm(60)
_LOG_WEIGHTS = np.log(_WEIGHTS) - _HALF_LOG_TWO_PI


class Latent(Protocol):
    """A likelihood with latent outputs."""

    def start(self) -> np.ndarray:
        """Return means to begin with, shape (N, L)."""
        ...

    def step(self, eta: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the means of the latent outputs and their part of the bound."""
        ...


def mills(z: np.ndarray) -> np.ndarray:
    r"""Return :math:`\varphi(z)/\Phi(z)`, exact in both tails."""
    # beyond 38 deviations erfcx overflows, and the ratio is zero
    return math.sqrt(2.0 / math.pi) / erfcx(-np.minimum(z, 37.0) / math.sqrt(2.0))


@dataclass(frozen=True)
class Probit:
    """Labels -1 and 1, shape (N, L), and the margin."""

    signs: np.ndarray
    margin: float = 0.0

    def start(self) -> np.ndarray:
        """Return latent means on the side of the label."""
        return self.signs * (1.0 + self.margin)

    def step(self, eta: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the means of the latent outputs and their part of the bound."""
        z = self.signs * eta - self.margin
        ratio = mills(z)
        mean = eta + self.signs * ratio
        part = np.sum(log_ndtr(z) + 0.5 * ratio**2)
        return mean, float(part) + eta.size * _HALF_LOG_TWO_PI


@dataclass(frozen=True)
class MultinomialProbit:
    """Labels 0, 1, .., shape (N,), of so many classes."""

    labels: np.ndarray
    n_classes: int

    def start(self) -> np.ndarray:
        """Return latent means that are largest at the label."""
        return np.where(np.arange(self.n_classes) == self.labels[:, None], 1.0, -0.5)

    def step(self, eta: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the means of the latent outputs and their part of the bound."""
        rows = np.arange(len(eta))
        gap = eta[rows, self.labels][:, None] - eta  # (N, L)
        z = gap[:, :, None] + _NODES
        logs = log_ndtr(z)
        logs[rows, self.labels] = 0.0
        log_terms = logs.sum(axis=1) + _LOG_WEIGHTS
        top = log_terms.max(axis=1, keepdims=True)
        terms = np.exp(log_terms - top)
        total = terms.sum(axis=1)
        shift = np.einsum("ncq,nq->nc", mills(z), terms / total[:, None])
        shift[rows, self.labels] = 0.0
        shift[rows, self.labels] = -shift.sum(axis=1)
        part = np.sum(np.log(total) + top[:, 0]) + 0.5 * np.sum(shift**2)
        return eta - shift, float(part) + eta.size * _HALF_LOG_TWO_PI


def winning_probabilities(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    r"""Return the probability that each of several independent normal variables is the largest.

    :math:`\int\varphi(u)\prod_{j\ne c}\Phi((m_c+s_cu-m_j)/s_j)\,du` by quadrature, made to add up
    to one.
    """
    deviation = np.sqrt(variance)
    found = np.empty_like(mean)
    for c in range(mean.shape[1]):
        value = mean[:, [c]] + deviation[:, [c]] * _NODES  # (n, Q)
        logs = np.zeros_like(value)
        for j in range(mean.shape[1]):
            if j != c:
                logs += log_ndtr((value - mean[:, [j]]) / deviation[:, [j]])
        found[:, c] = np.exp(logs + _LOG_WEIGHTS).sum(axis=1)
    found = np.maximum(found, np.finfo(np.float64).tiny)
    return found / found.sum(axis=1, keepdims=True)
