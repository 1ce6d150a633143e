"""Draws from weighted components, spread evenly and the same at every call."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

N_DRAWS = 1000  # of a posterior that is no set of draws, without thinning
_STEPS = (0.7548776662466927, 0.5698402909980532)  # 1/g and 1/g^2 with g^3 = g + 1


def even_draws(weights: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Return components and standard normal values of ``count`` draws from a mixture.

    The two are independent and spread evenly: draw t takes the component in whose share of [0, 1)
    :math:`\{\frac12+t/g\}` lies, and the normal quantile of :math:`\{\frac12+t/g^2\}`, with
    :math:`g^3=g+1` and :math:`\{\cdot\}` the fractional part. Any number of the first draws is
    spread evenly as well.
    """
    places = 0.5 + np.outer(np.arange(count), _STEPS)
    shares, levels = (places - np.floor(places)).T
    edges = np.cumsum(weights)
    chosen = np.searchsorted(edges / edges[-1], shares, side="right")
    return np.minimum(chosen, len(weights) - 1), ndtri(levels)
