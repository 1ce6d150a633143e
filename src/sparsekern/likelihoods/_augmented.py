r"""Working responses of likelihoods that are Gaussian given auxiliary variables.

Given the active set and the scales, draw the function, then the auxiliary variables given the
function, then write the working response z and precision :math:`\omega` that make
:math:`L(f)\propto\exp(-\frac12\sum\omega_i(z_i-f_i)^2)`. Auxiliary variables are never drawn with
the coefficients integrated out: their conditional law is known given the function only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import jit, jit_apart
from ..linalg.factor_columns import refresh_cross, refresh_products
from ..linalg.whitened_factor import VARIANCE, refactor
from ..linalg.whitened_response import draw_coefficients, draw_noise
from ._compiled import draw_working


class WorkingMemory(NamedTuple):
    """Scratch memory of ``update_working``."""

    hat: np.ndarray  # float64[(q + 1) n]
    free: np.ndarray  # float64[n]
    coefficients: np.ndarray  # float64[q]
    fitted: np.ndarray  # float64[n]


@jit_apart
def renew_working(data, rng, factor, fitted, stale_gram):
    """Draw the auxiliary variables given the function, and leave the factor exact.

    ``stale_gram`` says that the Gram matrix has to be made anew even if the precision stays.
    """
    variance = factor.noise[VARIANCE]
    if (
        draw_working(data, rng, fitted, variance, factor.response[0], factor.precision)
        or stale_gram
    ):
        refresh_products(factor)
    else:
        refresh_cross(factor)
    refactor(factor)


@jit
def update_by_function(data, rng, factor, diagonal, scans, memory):
    """Draw noise, function and auxiliary variables in turn: ``update_working`` of most."""
    draw_noise(rng, factor)
    draw_coefficients(rng, factor, 0, memory.coefficients, memory.fitted)
    renew_working(data, rng, factor, memory.fitted, False)


@jit
def keep_working(data, rng, factor, diagonal, scans, memory):
    """Leave a response that is Gaussian as it stands: ``update_working`` of Gaussian noise."""
