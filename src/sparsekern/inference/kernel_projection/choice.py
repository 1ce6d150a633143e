"""How scores of held-out rows decide: by averages, so that a little noise changes little."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from ..feature_search.row_order import content_order

# widths that share their training rows differ by chance about as much as by merit:
# differences of their log scores count half
_WEIGHT_OF_SCORES = 0.5


def row_order(features: np.ndarray, labels: np.ndarray, precomputed: bool) -> np.ndarray:
    """Return an order of the rows that is the same however they were ordered before.

    Rows of a kernel matrix, whose columns are ordered like its rows, go by their sorted values.
    """
    return content_order(np.sort(features, axis=1) if precomputed else features, labels)


def width_weights(scores: np.ndarray) -> np.ndarray:
    """Return how much each width counts, given the log scores of all rows (widths by rows)."""
    return softmax(_WEIGHT_OF_SCORES * scores.sum(axis=1))


def prefer_first(scores: list[np.ndarray]) -> int:
    """Return the place of the scores (of the same rows) to be preferred.

    That is the first unless others are better by more than the standard error of the difference:
    the best of many scores flatters, and a wrong choice costs more than a right one gains.
    """
    best = 0
    for place, other in enumerate(scores):
        gain = other - scores[0]
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        if gain.mean() > error and other.mean() > scores[best].mean():
            best = place
    return best
