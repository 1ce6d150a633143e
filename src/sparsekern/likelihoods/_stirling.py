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

LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)
LARGEST = 300.0  # log means, and their distances, beyond which exponentials are cut
_FEW = 16.0  # below it Stirling's series does not give all digits


@jit
def stirling_rest(x):
    r"""Return :math:`\delta(x)=\log\Gamma(x+1)-(x+\frac12)\log x+x-\frac12\log2\pi`."""
    if x < _FEW:
        return math.lgamma(x + 1.0) - (x + 0.5) * math.log(x) + x - LOG_ROOT_2PI
    s = 1.0 / (x * x)
    return (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s / 1680.0))) / x
