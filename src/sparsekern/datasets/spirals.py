"""Two interleaved spirals in the plane."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from .arguments import check_count, check_scale
from .labels import balanced_labels

# Arms that start at the origin would touch; from a quarter turn on they are a unit apart.
_FIRST_ANGLE = np.pi / 2


def make_spirals(
    n_samples: int = 200,
    *,
    noise: float = 0.1,
    n_turns: float = 1.5,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Generate two interleaved spirals.

    .. math::

        x = y\, \frac{\theta}{\pi}\, (\cos\theta, \sin\theta)^\top + \sigma\varepsilon, \qquad
        \varepsilon \sim N(0, I),

    where :math:`\theta^2` is uniform, :math:`\theta` running from :math:`\pi/2` over ``n_turns``
    full turns. The square makes the points about equally dense along the arm.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows. The class sizes differ by at most one.
    noise : float, default=0.1
        Standard deviation :math:`\sigma` of the noise. Neighbouring arms of the two classes are
        about one unit apart, so 0.5 mixes them thoroughly.
    n_turns : float, default=1.5
        Number of turns of each arm.
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
    Without noise the Bayes error is zero: the two arms never meet.
    """
    n_samples = check_count("n_samples", n_samples)
    noise = check_scale("noise", noise)
    last_angle = _FIRST_ANGLE + 2.0 * np.pi * check_scale("n_turns", n_turns, positive=True)
    generator = check_random_state(random_state)
    y = balanced_labels(n_samples, (-1, 1), generator)
    angle = np.sqrt(generator.uniform(_FIRST_ANGLE**2, last_angle**2, size=n_samples))
    arm = (y * angle / np.pi)[:, np.newaxis] * np.column_stack([np.cos(angle), np.sin(angle)])
    return arm + noise * generator.standard_normal((n_samples, 2)), y
