"""Labels as Gaussian responses: their density with the coefficients integrated out.

The formula is that of :mod:`.least_squares`.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit_apart
from ...linalg.blas import cholesky_in_place
from ...linalg.triangular import dot, solve_lower
from .moves import find_included, prior_precision

RESPONSE = 10.0  # softmax of the responses is sure of the class, and has a power near one


def make_responses(labels: np.ndarray, n_classes: int, reference: bool) -> np.ndarray:
    """Return the responses of all latent functions, by row."""
    indicators = (labels == np.arange(n_classes)[:, None]).astype(np.float64)
    if reference:
        return RESPONSE * (indicators[:-1] - indicators[-1])
    return RESPONSE * (indicators - 1.0 / n_classes)


@jit_apart
def factor_precision(state, work, settings, k):
    """Leave the Cholesky factor of A in ``work.root``; returns its order, -1 if there is none.

    With a factor for all, the one of the first class is made and the intercept's entry, which is
    orthogonal to the others and last, written anew for each.
    """
    count = find_included(state, work, k)
    root, last = work.root, settings.design.shape[0] - 1
    if settings.one_factor and k > 0:
        if last >= 0 and settings.block[last] < 0:
            own = settings.squares[last] / state.noise[0] + state.precisions[k, last]
            root[count - 1, count - 1] = math.sqrt(own)
        return count
    for i in range(count):
        a = work.places[i]
        for j in range(i):
            root[i, j] = settings.gram[a, work.places[j]] / state.noise[0]
        root[i, i] = settings.squares[a] / state.noise[0] + prior_precision(state, settings, k, a)
    if count > 0 and cholesky_in_place(root, count) != 0:
        return -1
    return count


@jit_apart
def log_evidence(state, work, settings):
    """Return the log density of the responses given scales, noise and precisions."""
    classes, m = state.coefficients.shape
    n = settings.design.shape[1]
    noise = state.noise[0]
    total = -0.5 * n * classes * math.log(noise)
    for k in range(classes):
        total -= 0.5 * settings.energies[k] / noise
        if settings.gram.shape[0] == 0:
            for a in range(m):
                if state.included[k, a] == 1:
                    prior = prior_precision(state, settings, k, a)
                    posterior = settings.squares[a] / noise + prior
                    total += 0.5 * math.log(prior / posterior)
                    total += 0.5 * (settings.products[k, a] / noise) ** 2 / posterior
        else:
            count = factor_precision(state, work, settings, k)
            if count < 0:
                return -math.inf
            for i in range(count):
                a = work.places[i]
                work.vector[i] = settings.products[k, a] / noise
                total += 0.5 * math.log(prior_precision(state, settings, k, a))
                total -= math.log(work.root[i, i])
            solve_lower(work.root, count, work.vector)
            total += 0.5 * dot(work.vector, work.vector, count)
    return total
