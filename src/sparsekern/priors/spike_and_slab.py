r"""Independent inclusion: each of n candidates is in with probability :math:`\rho`.

A set of k has the weight :math:`\rho^k(1-\rho)^{n-k}`, so that one more counts
:math:`\log\frac\rho{1-\rho}`. Coefficients of those that are in are :math:`N(0,\nu_1)`, the slab;
the others are zero (or, with a continuous spike, :math:`N(0,\nu_0)`).
"""

from __future__ import annotations

import math

import numpy as np


def inclusion_log_odds(probability: float) -> float:
    """Return what one more member adds to the log weight of a set; infinite if all are in."""
    return math.log(probability / (1.0 - probability)) if probability < 1.0 else math.inf


def independent_log_weights(max_active: int, probability: float) -> np.ndarray:
    """Return the log weight of one set of size k, for k = 0..max_active, up to a constant."""
    return inclusion_log_odds(probability) * np.arange(max_active + 1.0)
