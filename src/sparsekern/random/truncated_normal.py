r"""Normal draws restricted to a half line, exact in the far tail.

Plain rejection serves bounds up to 0.45 standard deviations; beyond, a shifted exponential of
rate :math:`\lambda=(a+\sqrt{a^2+4})/2` is accepted with :math:`\exp(-(z-\lambda)^2/2)` (Robert
1995). No distribution function is inverted, so nothing overflows however far the bound lies.
"""

from __future__ import annotations

import math

from .._jit import jit


@jit
def excess_above(rng, bound):
    r"""Draw :math:`z-b` for :math:`z\sim N(0,1)` given :math:`z>b`.

    The excess over the bound is positive and keeps all its digits however far the bound lies.
    """
    if math.isnan(bound):  # nothing would ever be accepted: hand the NaN on, do not hang
        return bound
    if bound <= 0.45:
        while True:
            z = rng.standard_normal()
            if z > bound:
                return z - bound
    rate = 0.5 * (bound + math.sqrt(bound * bound + 4.0))
    while True:
        excess = rng.standard_exponential() / rate
        if rng.random() <= math.exp(-0.5 * (bound + excess - rate) ** 2):
            return excess


@jit
def normal_on_side(rng, mean, sd, side):
    r"""Draw from :math:`N(\text{mean},\text{sd}^2)` given that its sign is ``side`` (+1 or -1)."""
    return side * sd * excess_above(rng, -side * mean / sd)
