r"""Moments of a normal variable restricted to the positive half line, exact in both tails.

For :math:`x\sim N(z,1)` given :math:`x>0`, with the inverse Mills ratio
:math:`r(z)=\varphi(z)/\Phi(z)`: the mean is :math:`z+r` and the variance :math:`V=1-r(z+r)`. Far
below zero both are small differences of large numbers. There the continued fraction of the Mills
ratio (:math:`x=-z`)

.. math:: z+r=a=\frac1{x+b},\quad b=\frac2{x+\frac3{x+\cdots}},\quad V=a(b-a)

has no such difference.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfcx

from .._jit import jit

_TAIL = -4.0  # where the continued fraction takes over
_TERMS = 70  # enough for 1e-15 there; fewer are needed farther out


@jit
def half_line_moments(z):
    """Return the inverse Mills ratio, the mean and the variance."""
    if z > _TAIL:
        ratio = math.exp(-0.5 * z * z) / (math.sqrt(0.5 * math.pi) * math.erfc(-z * math.sqrt(0.5)))
        mean = z + ratio
        return ratio, mean, 1.0 - ratio * mean
    x = -z
    b = 0.0
    for k in range(_TERMS if x < 12.0 else 14, 1, -1):
        b = k / (x + b)
    mean = 1.0 / (x + b)
    return x + mean, mean, mean * (b - mean)


@jit
def log_normal_cdf(z):
    r"""Return :math:`\log\Phi(z)` without underflow."""
    if z > 0.0:
        return math.log1p(-0.5 * math.erfc(z * math.sqrt(0.5)))
    if z > -30.0:
        return math.log(0.5 * math.erfc(-z * math.sqrt(0.5)))
    return -0.5 * z * z - 0.5 * math.log(2.0 * math.pi) - math.log(half_line_moments(z)[0])


def inverse_mills(z: np.ndarray) -> np.ndarray:
    r"""Return :math:`\varphi(z)/\Phi(z)` of an array, exact in both tails."""
    # beyond 38 deviations erfcx overflows, and the ratio is zero
    return math.sqrt(2.0 / math.pi) / erfcx(-np.minimum(z, 37.0) / math.sqrt(2.0))
