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

from ._contract import BOX

_REACH = 1.1
_MOST_CORNERS = 4  # parameters


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
