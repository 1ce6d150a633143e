r"""Silverman's g-prior with a point mass.

Active coefficients are :math:`\beta_\gamma\sim N(0,g^{-1}K_{\gamma\gamma}^{-1})`, the others zero.

The scales are :math:`g\sim Ga(a_g,b_g)` for the coefficients and :math:`\eta\sim
Ga(a_\eta,b_\eta)` for the intercept :math:`u\sim N(0,\eta^{-1})`, both as (shape, rate). The
density of a log scale is :math:`a\log g-bg` up to a constant.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class SilvermanPrior(NamedTuple):
    """Shape and rate of the two precisions.

    With several kernels ``scale_shape`` and ``scale_rate`` are those of each kernel's amplitude,
    which is zero with ``zero_probability``.
    """

    scale_shape: float
    scale_rate: float
    intercept_shape: float
    intercept_rate: float
    zero_probability: float = 0.0
    largest_variance: float = math.inf  # of the coefficients: the prior ends there
