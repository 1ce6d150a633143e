r"""Class probabilities made of one number each.

Models of one class against the rest give :math:`\pi_c`, apart from each other; the probability of
class c is its share, :math:`\pi_c/\sum_l\pi_l`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_TINY = np.finfo(np.float64).tiny


def normalized_shares(positive: Sequence[np.ndarray]) -> np.ndarray:
    """Return the probabilities of models of one class each as shares, classes last."""
    # none is quite zero, so that there is always something to share
    stacked = np.maximum(np.stack(positive, axis=-1), _TINY)
    return stacked / stacked.sum(axis=-1, keepdims=True)


def by_class(response: np.ndarray, n_classes: int) -> np.ndarray:
    """Return probabilities with the classes as last axis, none outside [0, 1].

    For two classes ``response`` holds that of the second.
    """
    # weights of a mean may sum to a little more than one
    response = np.clip(response, 0.0, 1.0)
    return np.stack([1.0 - response, response], axis=-1) if n_classes == 2 else response
