r"""The gamma prior of a positive quantity: its log density on the log scale, and its draws.

:math:`x\sim Ga(a,b)`, shape and rate. The density of :math:`\log x` is :math:`a\log x-bx` up to a
constant. The precision of m coefficients :math:`\beta_i\sim N(0,\sigma^2/x)` has the law
:math:`Ga(a+\frac m2,b+\frac1{2\sigma^2}\sum\beta_i^2)` given them.
"""

from __future__ import annotations

import math

from .._jit import jit


@jit
def log_gamma_density(log_value, shape, rate):
    """Return the log density of log x, up to a constant."""
    return shape * log_value - rate * math.exp(log_value)


@jit
def draw_gamma(rng, shape, rate):
    """Return a draw."""
    return rng.standard_gamma(shape) / rate


@jit
def draw_precision(rng, shape, rate, members, squares):
    """Return the precision of ``members`` coefficients whose squares, over the noise, add up so."""
    return draw_gamma(rng, shape + 0.5 * members, rate + 0.5 * squares)
