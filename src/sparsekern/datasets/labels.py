"""Class labels of the generators: equal class sizes in random order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def balanced_labels(
    n_samples: int, classes: Sequence[int], generator: np.random.RandomState
) -> np.ndarray:
    """Return a random order of labels whose class sizes differ by at most one.

    Equal sizes instead of independent draws keep both classes present in small samples. The
    distribution within each class, and so the Bayes rule, is the same.
    """
    in_turn = np.resize(np.asarray(classes, dtype=np.int64), n_samples)
    return generator.permutation(in_turn)
