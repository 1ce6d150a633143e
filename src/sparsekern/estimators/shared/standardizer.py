"""Inputs scaled inside the estimator."""

from __future__ import annotations

import numpy as np


class Standardizer:
    """Centre every column and divide it by its standard deviation (constant columns: by one).

    Sums are taken after division by the largest absolute value, so that columns near the limits
    of floating point neither overflow nor vanish.
    """

    def __init__(self, features: np.ndarray) -> None:
        largest = np.abs(features).max(axis=0)
        self._largest = np.where(largest > 0, largest, 1.0)
        scaled = features / self._largest
        self._mean = scaled.mean(axis=0)
        deviation = scaled.std(axis=0)
        # rounding leaves a constant column with a deviation of a few units in the last place
        constant = deviation <= 8 * np.finfo(np.float64).eps * np.abs(self._mean)
        self._deviation = np.where(constant | (deviation == 0), 1.0, deviation)

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """Return the columns on the common scale."""
        with np.errstate(over="ignore"):  # absurdly far points end at infinity: distance is too
            scaled = features / self._largest
            scaled -= self._mean
            scaled /= self._deviation
            return scaled
