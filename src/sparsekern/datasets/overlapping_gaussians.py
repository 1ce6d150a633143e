"""Two Gaussians whose overlap, and so whose Bayes error, is chosen."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from .arguments import check_count, check_scale
from .labels import balanced_labels


def make_overlapping_gaussians(
    n_samples: int = 200,
    *,
    separation: float = 2.0,
    n_features: int = 2,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Generate two spherical Gaussians whose overlap is set by their distance.

    .. math::

        x \mid y \sim N\left(y\, (\Delta/2, 0, \dots, 0)^\top,\, I\right).

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows. The class sizes differ by at most one.
    separation : float, default=2.0
        Distance :math:`\Delta` between the class means, in standard deviations.
    n_features : int, default=2
        Number of features. Only the first one tells the classes apart.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw; pass an int for the same data in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The features.
    y : ndarray of shape (n_samples,)
        The labels, -1 or +1.

    Notes
    -----
    The Bayes rule is the sign of the first feature; its error is :math:`\Phi(-\Delta/2)`, 15.9 %
    by default. The true posterior is logistic, :math:`P(y = 1 \mid x) = 1/(1 + e^{-\Delta x_1})`,
    which makes the set a reference for calibrated probabilities.
    """
    n_samples = check_count("n_samples", n_samples)
    n_features = check_count("n_features", n_features)
    separation = check_scale("separation", separation)
    generator = check_random_state(random_state)
    y = balanced_labels(n_samples, (-1, 1), generator)
    X = generator.standard_normal((n_samples, n_features))
    X[:, 0] += 0.5 * separation * y
    return X, y
