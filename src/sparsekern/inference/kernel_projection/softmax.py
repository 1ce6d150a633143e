r"""Class probabilities from latent values, one row at a time, without overflow.

Latent values are C-by-n arrays. With a reference class the last class has the latent value zero and
no row of its own.
"""

from __future__ import annotations

import math

from ..._jit import jit, jit_apart


@jit
def log_sum_of_others(latent, row, without, reference):
    r"""Return :math:`\log\sum_{q\ne k}e^{z_{iq}}`, the reference class included.

    With ``without = -1`` every class counts.
    """
    count = latent.shape[0]
    top = 0.0 if reference else -math.inf
    for q in range(count):
        if q != without and latent[q, row] > top:
            top = latent[q, row]
    total = math.exp(-top) if reference else 0.0
    for q in range(count):
        if q != without:
            total += math.exp(latent[q, row] - top)
    return top + math.log(total)


@jit
def row_log_likelihood(latent, row, label, reference):
    """Return the log probability of one row's class."""
    own = latent[label, row] if label < latent.shape[0] else 0.0
    return own - log_sum_of_others(latent, row, -1, reference)


@jit_apart
def log_likelihood(latent, labels, reference):
    """Return the log probability of all labels."""
    total = 0.0
    for i in range(labels.shape[0]):
        total += row_log_likelihood(latent, i, labels[i], reference)
    return total
