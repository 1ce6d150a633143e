r"""Latent outputs of classifications: their means and their part of a bound.

An output is latent, :math:`f\sim N(\eta,1)`, and restricted to a region that the label names. The
optimal factor is that normal law cut to the region, with the mean
:math:`\langle f\rangle=\eta+\nabla\log Z(\eta)`. In the bound the variances of f cancel against its
entropy; what is left, beside the Gaussian part at :math:`\langle f\rangle`, is

.. math:: \sum\{\log Z+\tfrac12|\langle f\rangle-\eta|^2\}+\tfrac{NL}2\ln2\pi.

Which region it is, the likelihood knows (*probit*: :math:`yf>\nu`, with the margin
:math:`\nu\ge0`; *multinomial probit*: the output of the label is the largest).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

REQUIRES = (frozenset({"truncated latents"}),)
_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


class TruncatedLatents(Protocol):
    """A likelihood whose label is the region of a normal latent output."""

    def truncated_start(self, response: np.ndarray, margin: float = 0.0) -> np.ndarray:
        """Return latent means to begin with."""
        ...

    def truncated_shift(
        self, response: np.ndarray, latent: np.ndarray, margin: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return how far the region moves each mean, and log Z."""
        ...


@dataclass(frozen=True)
class Latent:
    """A likelihood with latent outputs, its labels, and the margin (probit)."""

    likelihood: TruncatedLatents
    labels: np.ndarray
    margin: float = 0.0

    def start(self) -> np.ndarray:
        """Return means to begin with, shape (N, L)."""
        return self.likelihood.truncated_start(self.labels, self.margin)

    def step(self, eta: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the means of the latent outputs and their part of the bound."""
        shift, log_constants = self.likelihood.truncated_shift(self.labels, eta, self.margin)
        part = np.sum(log_constants) + 0.5 * np.sum(shift**2)
        return eta + shift, float(part) + eta.size * _HALF_LOG_TWO_PI
