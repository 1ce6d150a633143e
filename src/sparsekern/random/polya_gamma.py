r"""Exact draws from the Polya-Gamma law PG(1, z).

:math:`\omega=X/4` with X from the exponentially tilted Jacobi law of tilt :math:`z/2` (Polson,
Scott and Windle 2013; the rejection method is Devroye's). Left of a point t the density is bounded
by an inverse Gaussian, right of it by an exponential law; a proposal is accepted by squeezing it
between the partial sums of an alternating series, which takes one or two terms as a rule.
"""

from __future__ import annotations

import math

from .._jit import jit

_CUT = 0.64  # where the two bounds change over; any value near gives the right law
_HALF_PI_SQUARED = 0.5 * math.pi * math.pi


@jit
def _log_upper_normal(x):
    r"""Return :math:`\log P(N>x)`."""
    if x < 30.0:
        return math.log(0.5 * math.erfc(x * math.sqrt(0.5)))
    square = 1.0 / (x * x)
    return -0.5 * x * x - math.log(x * math.sqrt(2.0 * math.pi)) + math.log1p(-square)


@jit
def inverse_gaussian(rng, mean):
    r"""Draw from the inverse Gaussian law with the given mean and shape 1.

    :math:`\mu/(1+\mu y/2+\sqrt{\mu y+\mu^2y^2/4})`, :math:`y=N^2`, or :math:`\mu^2` over it: a form
    of Michael, Schucany and Haas that does not cancel for a large mean.
    """
    square = rng.standard_normal() ** 2
    half = 0.5 * mean * square
    smaller = mean / (1.0 + half + math.sqrt(mean * square + half * half))
    if rng.random() * (mean + smaller) <= mean:
        return smaller
    return mean * (mean / smaller)


@jit
def _left_of_cut(rng, tilt):
    """Draw from the inverse Gaussian law of mean 1/tilt, given that it is below the cut."""
    if tilt * _CUT < 1.0:  # the mean is beyond the cut: a scaled chi-square tail, thinned
        while True:
            while True:
                first = rng.standard_exponential()
                second = rng.standard_exponential()
                if first * first <= 2.0 * second / _CUT:
                    break
            x = 1.0 + first * _CUT
            x = _CUT / (x * x)
            if rng.random() <= math.exp(-0.5 * tilt * tilt * x):
                return x
    while True:
        x = inverse_gaussian(rng, 1.0 / tilt)
        if x < _CUT:
            return x


@jit
def _term(n, x):
    """Return the n-th term of the series of the Jacobi density at ``x``."""
    k = n + 0.5
    if x > _CUT:
        return math.pi * k * math.exp(-k * k * _HALF_PI_SQUARED * x)
    return math.pi * k * (2.0 / (math.pi * x)) ** 1.5 * math.exp(-2.0 * k * k / x)


@jit
def polya_gamma(rng, z):
    """Draw from PG(1, z)."""
    if math.isnan(z):  # nothing would ever be accepted: hand the NaN on, do not hang
        return z
    tilt = 0.5 * abs(z)
    rate = 0.25 * _HALF_PI_SQUARED + 0.5 * tilt * tilt
    # log masses of the two bounds: right of the cut, and left of it
    right = math.log(0.5 * math.pi / rate) - rate * _CUT
    root = math.sqrt(1.0 / _CUT)
    first = _log_upper_normal(-root * (_CUT * tilt - 1.0)) - tilt
    second = _log_upper_normal(root * (_CUT * tilt + 1.0)) + tilt
    left = math.log(2.0) + max(first, second)
    left += math.log1p(math.exp(-abs(first - second)))
    share_right = 1.0 / (1.0 + math.exp(left - right))
    while True:
        if rng.random() < share_right:
            x = _CUT + rng.standard_exponential() / rate
        else:
            x = _left_of_cut(rng, tilt)
        total = _term(0, x)
        level = rng.random() * total
        n = 0
        while True:
            n += 1
            if n % 2 == 1:
                total -= _term(n, x)
                if level <= total:
                    return 0.25 * x
            else:
                total += _term(n, x)
                if level > total:
                    break
