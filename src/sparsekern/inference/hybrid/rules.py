r"""Points and weights that stand for the uncertainty of the parameters of a fitted model.

The central composite rule: with :math:`RR^\top=H^{-1}` from the eigenvectors of H, points
:math:`\hat u+R\zeta` at :math:`\zeta=0`, :math:`\pm f_0\sqrt m\,e_i` and, up to four parameters,
the corners :math:`f_0(\pm1,..,\pm1)`, with :math:`f_0=1.1`; every point but the first has the
weight :math:`1/(Nf_0^2)` for N of them. Mean and covariance of the normal law are exact; three
parameters make 15 points.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import ndtri

from ._contract import BOX

_REACH = 1.1
_MOST_CORNERS = 4  # parameters
_STEPS = (0.7548776662466927, 0.5698402909980532)  # 1/g and 1/g^2 with g^3 = g + 1


def composite_rule(modes: np.ndarray, hessians: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points [B, T, m] for modes [B, m], and weights [T]."""
    m = modes.shape[1]
    axes = np.sqrt(m) * np.eye(m)
    listed = [*axes, *(-axes)]
    if m <= _MOST_CORNERS:
        listed += [np.array(signs) for signs in product((-1.0, 1.0), repeat=m)]
    offsets = np.vstack([np.zeros((1, m)), _REACH * np.array(listed)])
    weights = np.full(len(offsets), 1.0 / ((len(offsets) - 1) * _REACH**2))
    weights[0] = 1.0 - 1.0 / _REACH**2
    points = modes[:, None] + np.einsum("tj,bij->bti", offsets, _roots(hessians))
    return np.clip(points, *BOX), weights


def normal_draws(
    mode: np.ndarray, hessian: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return draws of N(mode, H^-1) and equal weights."""
    offsets = rng.standard_normal((count, len(mode)))
    return np.clip(mode + offsets @ _roots(hessian[None])[0].T, *BOX), np.full(count, 1.0 / count)


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


def parameter_rule(
    integration: str, mode: np.ndarray, hessian: np.ndarray, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return points [T, m] and weights [T] for one model: "composite", "draws", or the mode."""
    if integration == "composite":
        points, weights = composite_rule(mode[None], hessian[None])
        return points[0], weights
    if integration == "draws":
        return normal_draws(mode, hessian, draws, rng)
    return mode[None], np.ones(1)


def _roots(hessians: np.ndarray) -> np.ndarray:
    """Return R with RR' = H^-1, from eigenvectors."""
    values, vectors = np.linalg.eigh(hessians)
    return vectors / np.sqrt(values)[:, None, :]
