r"""The law of new responses at many rows, in the units of the user.

Rows come in blocks, each with its :class:`~.mixture.Mixture` of the scaled response
:math:`(y-c)/s`; a block is made when it is asked for and forgotten after it, so that memory is
bounded however many rows there are. With centre c and spread s

.. math:: p(y)=\frac1s\,p_{\mathrm{mixture}}\Big(\frac{y-c}s\Big).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .mixture import Mixture


@dataclass(frozen=True)
class PredictiveLaw:
    """One response at each of n rows.

    Attributes
    ----------
    blocks : callable
        Returns an iterator over slices of rows and their mixtures, in the order of the rows.
    n_rows : int
    centre, spread : float
        Of the response.
    n_draws : int or None
        Number of components where they are equally probable draws of one function of all rows;
        None: mixtures of laws, whose components may differ from block to block.
    """

    blocks: Callable[[], Iterator[tuple[slice, Mixture]]]
    n_rows: int
    centre: float = 0.0
    spread: float = 1.0
    n_draws: int | None = None

    @classmethod
    def of_mixture(cls, mixture: Mixture, centre: float, spread: float) -> PredictiveLaw:
        """Return the law of rows that are one block."""
        rows = slice(0, mixture.n_points)
        return cls(lambda: iter([(rows, mixture)]), mixture.n_points, centre, spread)

    def mean(self) -> np.ndarray:
        """Return the means."""
        return self._in_units([mixture.mean() for _, mixture in self.blocks()])

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Return means and variances, infinite where there are none, in one pass."""
        found = [(mixture.mean(), mixture.variance()) for _, mixture in self.blocks()]
        means, variances = zip(*found, strict=True)
        return self._in_units(means), self.spread**2 * np.concatenate(variances)

    def quantiles(self, levels: np.ndarray) -> np.ndarray:
        """Return quantiles, shape (n, levels)."""
        return self._in_units(
            [
                np.column_stack([mixture.quantile(level) for level in levels])
                for _, mixture in self.blocks()
            ]
        )

    def distribution(self, response: np.ndarray) -> np.ndarray:
        """Return P(Y <= y) at each row."""
        scaled = (response - self.centre) / self.spread
        return np.concatenate(
            [mixture.distribution(scaled[block]) for block, mixture in self.blocks()]
        )

    def log_density(self, response: np.ndarray) -> np.ndarray:
        """Return the log density, or probability, of one response for each row."""
        scaled = (response - self.centre) / self.spread
        found = [mixture.log_density(scaled[block]) for block, mixture in self.blocks()]
        return np.concatenate(found) - np.log(self.spread)

    def sample(self, rng: np.random.Generator, count: int | None = None) -> np.ndarray:
        """Return draws (count, n); None: one of every component, in their order.

        Draws of functions are the same ones at all rows. Components of other mixtures are the same
        at the rows of a block.
        """
        chosen = None
        if self.n_draws is not None:
            every = np.arange(self.n_draws)
            chosen = every if count is None else rng.integers(0, self.n_draws, count)
        found = [mixture.sample(rng, count, chosen) for _, mixture in self.blocks()]
        return self._in_units(found, axis=1)

    def _in_units(self, scaled: Any, axis: int = 0) -> np.ndarray:
        return self.centre + self.spread * np.concatenate(scaled, axis=axis)
