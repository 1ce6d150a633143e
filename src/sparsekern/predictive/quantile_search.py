"""Quantiles of many continuous laws at once, from their distribution functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

_MOST_STEPS = 100
_CLOSE = 1e-12  # in probability, or in units of the law where that is finer


def find_quantile(
    distribution: Callable[[np.ndarray], np.ndarray],
    level: float,
    centre: np.ndarray,
    deviation: np.ndarray,
) -> np.ndarray:
    """Return where each distribution function takes the value ``level``.

    False position with the stale end's value halved (the Illinois rule), every third step a
    bisection: a dozen evaluations where bisection alone takes sixty.

    Parameters
    ----------
    distribution : callable
        Takes one value for each law and returns their probabilities.
    level : float
    centre, deviation : ndarray of shape (q,)
        About the mean and the standard deviation of each law: the search begins around the
        quantile of a normal law, as wide as it has to be.
    """
    reach = np.maximum(deviation, np.finfo(np.float64).tiny)
    low = centre + (ndtri(level) - 0.5) * reach
    high = low + reach
    below = distribution(low) - level
    while (wide := below >= 0).any():
        low = np.where(wide, low - reach, low)
        reach = np.where(wide, 2 * reach, reach)
        below = np.where(wide, distribution(low) - level, below)
    above = distribution(high) - level
    while (wide := above < 0).any():
        high = np.where(wide, high + reach, high)
        reach = np.where(wide, 2 * reach, reach)
        above = np.where(wide, distribution(high) - level, above)
    found, side = 0.5 * (low + high), np.zeros(len(low))
    unit = high - low
    for step in range(_MOST_STEPS):
        guess = low - below * (high - low) / (above - below)
        if step % 3 == 2:
            guess = 0.5 * (low + high)
        value = distribution(guess) - level
        found = guess
        if ((np.abs(value) < _CLOSE) | (high - low < _CLOSE * unit)).all():
            break
        left = value < 0
        below = np.where(left, value, np.where(side > 0, 0.5 * below, below))
        above = np.where(left, np.where(side < 0, 0.5 * above, above), value)
        low, high = np.where(left, guess, low), np.where(left, high, guess)
        side = np.where(left, -1.0, 1.0)
    return found
