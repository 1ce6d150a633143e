r"""Exponentials of many numbers at once.

:math:`e^{-v}=2^me^r` with :math:`m` the integer nearest to :math:`-v/\log2` and :math:`|r|\le
\frac12\log2`, :math:`e^r` by its Taylor series to the twelfth power: at most two units in the last
place off. Adding and subtracting :math:`1.5\cdot2^{52}` rounds to the nearest integer and leaves it
in the low bits, from where it is shifted into the exponent. No branch and no call: the compiler
works on several numbers at a time, four times as fast as one call of ``exp`` after the other.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import jit

_BLOCK = 512
_ROUND = 1.5 * 2.0**52
_PER_LOG_2 = 1.0 / math.log(2.0)
_LOG_2_HIGH = 6.93147180369123816490e-01  # log 2 in two parts, the first with trailing zeros
_LOG_2_LOW = 1.90821492927058770002e-10
_LARGEST = 708.0  # beyond, the result is zero
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12 = (
    1.0 / math.factorial(power) for power in range(2, 13)
)


@jit
def exp_of_negative(values, out):
    r"""Write :math:`e^{-v}` for every v of a contiguous array, v not negative."""
    total = values.shape[0]
    size = min(total, _BLOCK)
    rounded = np.empty(size)
    whole = rounded.view(np.int64)
    bits = out.view(np.int64)
    for start in range(0, total, _BLOCK):
        count = min(_BLOCK, total - start)
        here, there = values[start : start + count], out[start : start + count]
        exponents = bits[start : start + count]
        for i in range(count):
            x = -here[i]
            x = x if x > -_LARGEST else -_LARGEST
            shifted = x * _PER_LOG_2 + _ROUND
            rounded[i] = shifted
            m = shifted - _ROUND
            r = (x - m * _LOG_2_HIGH) - m * _LOG_2_LOW
            series = _C12 * r + _C11
            series = series * r + _C10
            series = series * r + _C9
            series = series * r + _C8
            series = series * r + _C7
            series = series * r + _C6
            series = series * r + _C5
            series = series * r + _C4
            series = series * r + _C3
            series = series * r + _C2
            there[i] = 1.0 + (r + series * (r * r))
        for i in range(count):
            scaled = exponents[i] + (whole[i] << 52)
            exponents[i] = scaled if here[i] < _LARGEST else 0
