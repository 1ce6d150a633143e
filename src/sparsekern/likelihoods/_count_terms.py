r"""Log probabilities of counts in their log mean f, exact for counts of any size.

The terms of :math:`yf-e^f-\log y!` are as large as y while their sum is about one: at a million
counts ten digits are lost. So each value is split into what it would be at the mean y, where

.. math::
    \log p(y\mid\mu=y)=-\tfrac12\log2\pi y-\delta(y)

with :math:`\delta` the rest of Stirling's formula, and the difference to it, which is made of
:math:`d=f-\log y`; for the Poisson law :math:`-y(e^d-1-d)`.
"""

from __future__ import annotations

import math

from .._jit import jit

_LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)
_LARGEST = 300.0  # log means, and their distances, beyond which exponentials are cut
_FEW = 16.0  # below it Stirling's series does not give all digits


@jit
def stirling_rest(x):
    r"""Return :math:`\delta(x)=\log\Gamma(x+1)-(x+\frac12)\log x+x-\frac12\log2\pi`."""
    if x < _FEW:
        return math.lgamma(x + 1.0) - (x + 0.5) * math.log(x) + x - _LOG_ROOT_2PI
    s = 1.0 / (x * x)
    return (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s / 1680.0))) / x


@jit
def poisson_terms(y, f):
    """Return log p(y | f), its slope and its curvature."""
    if y == 0.0:
        mean = math.exp(min(f, _LARGEST))
        return -mean, -mean, mean
    apart = f - math.log(y)
    excess = math.expm1(min(apart, _LARGEST))  # of the mean over y, relative to y
    at_best = -0.5 * math.log(y) - _LOG_ROOT_2PI - stirling_rest(y)
    return y * (apart - excess) + at_best, -y * excess, y * (1.0 + excess)


@jit
def negative_binomial_terms(y, f, last):
    """Return log p(y | f), its slope and its curvature; ``last``: log of the dispersion."""
    size = math.exp(-last)
    if y == 0.0:
        mean = math.exp(min(f, _LARGEST))
        share = size / (size + mean)
        return -size * math.log1p(mean / size), -mean * share, mean * share * share
    total = y + size
    apart = f - math.log(y)
    excess = math.expm1(min(apart, _LARGEST))
    # two ways to write the same: the terms of the first are as large as y, of the second as size
    if y <= size or apart < -30.0:
        value = y * apart - total * math.log1p(y * excess / total)
    else:
        value = -size * apart - total * math.log1p(size * math.expm1(-apart) / total)
    value += 0.5 * math.log(size / (y * total)) - _LOG_ROOT_2PI
    value += stirling_rest(total) - stirling_rest(size) - stirling_rest(y)
    mean = y * (1.0 + excess)
    share = size / (size + mean)
    return value, -y * excess * share, total * share * (mean / (size + mean))
