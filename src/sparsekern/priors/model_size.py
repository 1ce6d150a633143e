r"""Beta-binomial prior on the active set.

With inclusion probability :math:`\alpha\sim Be(a,b)` integrated out, a set of k rows out of n has
weight :math:`p(\gamma)\propto B(k+a,\,n-k+b)` for :math:`k\le k_{max}`. With :math:`a=b=1` the
size k is uniform on :math:`0..k_{max}`.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln


def beta_binomial_log_weights(n_rows: int, max_active: int, shapes: tuple[float, float]):
    """Return the log weight of one set of size k, for k = 0..max_active."""
    sizes = np.arange(max_active + 1)
    return betaln(sizes + shapes[0], n_rows - sizes + shapes[1])
