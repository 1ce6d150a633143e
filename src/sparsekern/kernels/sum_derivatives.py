r"""Derivatives of feature kernels with respect to the sum they are functions of.

With :math:`E=\sum_l\eta_ld_l` and :math:`k(E)` as in :mod:`.feature_sums`:

========= ============================== ======================== ==============================
kernel    k                              k'                       k''
========= ============================== ======================== ==============================
rbf,      :math:`e^{-E}`                 :math:`-e^{-E}`          :math:`e^{-E}`
laplacian
matern32  :math:`(1+t)e^{-t}`            :math:`-3e^{-t}`         :math:`9e^{-t}/t`
matern52  :math:`(1+t+t^2/3)e^{-t}`      :math:`-\frac53(1+t)     :math:`\frac{25}3e^{-t}`
                                         e^{-t}`
========= ============================== ======================== ==============================

with :math:`t=\sqrt{6E}` and :math:`\sqrt{10E}`. The second derivative of Matern 3/2 has a pole at
zero, where it only ever stands beside a factor :math:`E^2`: zero is written there.
"""

from __future__ import annotations

import math

from .._jit import jit
from .evaluate import MATERN32, MATERN52
from .exponential import exp_of_negative
from .feature_sums import FAR


@jit
def kernel_derivatives(sums, kind, values, first, second):
    """Write k, k' and k'' at every sum; all arrays are flat."""
    if kind in (MATERN32, MATERN52):
        factor = 6.0 if kind == MATERN32 else 10.0
        for i in range(sums.shape[0]):
            first[i] = min(math.sqrt(factor * sums[i]), FAR)
        exp_of_negative(first, second)
        for i in range(sums.shape[0]):
            t, e = first[i], second[i]
            if kind == MATERN32:
                values[i] = (1.0 + t) * e
                first[i] = -3.0 * e
                second[i] = 9.0 * e / t if t > 0.0 else 0.0
            else:
                values[i] = (1.0 + t + t * t / 3.0) * e
                first[i] = -5.0 / 3.0 * (1.0 + t) * e
                second[i] = 25.0 / 3.0 * e
    else:
        exp_of_negative(sums, values)
        for i in range(sums.shape[0]):
            first[i] = -values[i]
            second[i] = values[i]
