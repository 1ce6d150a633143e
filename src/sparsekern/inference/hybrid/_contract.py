r"""Batches of Gaussian-process problems, and what a backend computes for them.

Problem b has a few rows of the data, a few features and a response of its own:

.. math::
    y_b\sim N(0,C),\quad C=\lambda k(E)+\sigma^2I,\quad E=\sum_{l\in\gamma_b}d_l/\tau_l .

Its parameters are :math:`u=(\log\lambda,\log\tau_1..\log\tau_q,\log\sigma^2)`, with q = 1 where
all features share a bandwidth. Everything that costs time - searching, screening, local models,
prediction - is asked for in batches of these, so that one set of tests holds for every backend.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ..feature_search.pairs import Block

BOX = (-14.0, 12.0)  # where log parameters may lie: noise down to a thousandth of the response
JITTERS = (1e-10, 1e-9, 1e-8, 1e-7, 1e-6)  # of lambda, tried in turn where C does not factor


class Batch(NamedTuple):
    """B problems; an axis of length 1 in place of B is shared by all."""

    columns: np.ndarray  # float64[p, n], the data by feature
    kind: int  # code of the kernel
    rows: np.ndarray  # int64[B or 1, k], rows of each problem
    targets: np.ndarray  # float64[B or 1, k], responses of those rows
    features: np.ndarray  # int64[B, s], of which
    counts: np.ndarray  # int64[B], so many hold
    shared: bool  # whether all features of a problem have one bandwidth

    @property
    def size(self) -> int:
        """Number of problems."""
        return len(self.counts)

    def take(self, chosen: np.ndarray) -> Batch:
        """Return some of the problems."""
        return self._replace(
            rows=self.rows if len(self.rows) == 1 else self.rows[chosen],
            targets=self.targets if len(self.targets) == 1 else self.targets[chosen],
            features=self.features[chosen],
            counts=self.counts[chosen],
        )


class Backend(Protocol):
    """What computes; all arrays go in and come out as NumPy's, in double precision."""

    workers: int  # threads that may be used beside it, -1 for all
    together: int  # full fits worth making before one looks at their result

    def log_likelihood(self, batch: Batch, parameters: np.ndarray) -> np.ndarray:
        """Return l(u) of every problem; -inf where C is not positive definite."""
        ...

    def derivatives(
        self, batch: Batch, parameters: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return l(u), its gradient [B, m] and its Hessian [B, m, m]."""
        ...

    def toggles(
        self, batch: Batch, parameters: np.ndarray, changes: np.ndarray, bandwidth: float
    ) -> np.ndarray:
        """Return l(u) of one problem with features changed, parameters as they are.

        ``changes[t]`` holds a feature to remove and one to add, -1 for none; a newcomer has the
        log bandwidth parameter ``bandwidth``.
        """
        ...

    def predict(
        self, batch: Batch, parameters: np.ndarray, points: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of f at new points.

        ``parameters`` [B, T, m]: T parameter vectors for each problem; ``points`` [B, q, s]: values
        of the problem's features, in their order; the results are [B, T, q].
        """
        ...

    def slope(self, targets: np.ndarray, latent: np.ndarray, last: float) -> np.ndarray:
        """Return the slope of log p(y | f) in f, up to a factor; ``last``: the last parameter."""
        ...

    def blocks_of_pairs(self, polynomials: np.ndarray, weighted: np.ndarray, count: int) -> Block:
        """Return what looks for pairs; see :func:`..feature_search.pairs.blocks_of_pairs`."""
        ...


class GaussianResponse:
    """What backends for Gaussian noise share."""

    def slope(self, targets: np.ndarray, latent: np.ndarray, last: float) -> np.ndarray:
        """Return the slope of log p(y | f) in f, times the variance of the noise."""
        return targets - latent
