r"""What one column is worth, everything else held: exact one-dimensional evidences.

With the column's own factors taken out, the likelihood of its weight is
:math:`\exp(qw-\frac12sw^2)`. Relative to a model without the column the log evidence is

.. math::

   l_G(\alpha)&=\tfrac12\Big[\log\frac\alpha{\alpha+s}+\frac{q^2}{\alpha+s}\Big],
      &\alpha^*&=\frac{s^2}{q^2-s}\ \text{if}\ q^2>s,\\
   l_T(\alpha)&=\tfrac12\log\frac\alpha{\alpha+s}+\tfrac12u^2+\log2\Phi(u),\quad
      u=\frac q{\sqrt{\alpha+s}},&\alpha^*&=\frac{q^2}{u^2}-s\ \text{if}\ q>0

for a normal and a half-normal weight; in the second case u solves
:math:`u^2+u/(u+r(u))=q^2/s`, whose left side increases.
"""

from __future__ import annotations

import math

from ..._jit import jit
from ...random.half_line_moments import half_line_moments, log_normal_cdf

GAUSSIAN, TRUNCATED, SMOOTHED = range(3)
RULES = {"gaussian": GAUSSIAN, "truncated": TRUNCATED, "smoothed": SMOOTHED}
_LEAST, _MOST = 1e-10, 1e12  # a finite precision against the column's own information


@jit
def gain(rule, alpha, s, q):
    """Return the log evidence of a column with precision ``alpha`` over that without it."""
    if not math.isfinite(alpha):
        return 0.0
    value = -0.5 * math.log1p(s / alpha)
    u = q / math.sqrt(alpha + s)
    value += 0.5 * u * u
    if rule == TRUNCATED:
        value += math.log(2.0) + log_normal_cdf(u)
    return value


@jit
def _stationary(u):
    return u * u + u / half_line_moments(u)[1]


@jit
def _best_truncated(s, q):
    """Return the best precision by regula falsi (Illinois) on an increasing function."""
    target = q * q / s
    low, high = 0.0, math.sqrt(target)
    at_low, at_high = -target, _stationary(high) - target
    u = high
    for _ in range(100):
        u = (low * at_high - high * at_low) / (at_high - at_low)
        here = _stationary(u) - target
        if abs(here) <= 1e-13 * target or high - low <= 1e-15 * high:
            break
        if here > 0.0:
            high, at_high = u, here
            at_low *= 0.5
        else:
            low, at_low = u, here
            at_high *= 0.5
    return (q / u) ** 2 - s


@jit
def best_precision(rule, signed, s, q):
    """Return the precision of the largest gain; infinite where no column is best."""
    if s <= 0.0 or (signed and q <= 0.0):
        return math.inf
    if rule == TRUNCATED:
        best = _best_truncated(s, q)
        if best >= _MOST * s:  # a weight of no consequence
            return math.inf
    else:
        if q * q <= s:
            return math.inf
        best = s * (s / (q * q - s))
    return min(max(best, _LEAST * s), _MOST * s)
