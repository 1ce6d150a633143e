"""Weights of rows: the log-likelihood of a row is multiplied by its weight."""

from __future__ import annotations

from typing import Any

import numpy as np


def row_weights(likelihood: Any, count: int) -> np.ndarray:
    """Return how often each of the first rows counts; once where a likelihood says nothing.

    Parameters
    ----------
    likelihood : Likelihood
        With ``weights``, an array or None, if it provides "row weights".
    count : int
    """
    weights = getattr(likelihood, "weights", None)
    return np.ones(count) if weights is None else np.array(weights[:count], dtype=np.float64)
