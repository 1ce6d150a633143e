"""A ring around a blob in the plane."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from .arguments import check_count, check_scale
from .labels import balanced_labels


def make_ring_and_blob(
    n_samples: int = 200,
    *,
    radius: float = 2.0,
    noise: float = 0.3,
    blob_std: float = 0.5,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Generate a ring (class +1) around a Gaussian blob (class -1).

    .. math::

        x \mid y = -1 \sim N(0,\, \tau^2 I), \qquad
        x \mid y = +1 \sim N\left(R\, (\cos\theta, \sin\theta)^\top,\, \sigma^2 I\right), \quad
        \theta \sim U(0, 2\pi).

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows. The class sizes differ by at most one.
    radius : float, default=2.0
        Radius :math:`R` of the ring.
    noise : float, default=0.3
        Standard deviation :math:`\sigma` of the points around the ring.
    blob_std : float, default=0.5
        Standard deviation :math:`\tau` of the blob.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw; pass an int for the same data in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The features.
    y : ndarray of shape (n_samples,)
        The labels, -1 or +1.

    Notes
    -----
    The distance :math:`r` from the origin is sufficient. It has a Rayleigh density in the blob and
    a Rice density in the ring, and the Bayes error is half the integral of their minimum: 1.88 %
    by default. The best linear rule still errs on 34 %.
    """
    n_samples = check_count("n_samples", n_samples)
    radius = check_scale("radius", radius, positive=True)
    noise = check_scale("noise", noise)
    blob_std = check_scale("blob_std", blob_std, positive=True)
    generator = check_random_state(random_state)
    y = balanced_labels(n_samples, (-1, 1), generator)
    angle = generator.uniform(0.0, 2.0 * np.pi, size=n_samples)
    on_ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    spread = generator.standard_normal((n_samples, 2))
    return np.where((y == 1)[:, np.newaxis], on_ring + noise * spread, blob_std * spread), y
