"""Regression problems in which a few of many features matter."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from .arguments import check_count, check_scale

_EFFECTS = (
    lambda x: 2.0 * np.cos(x),
    lambda x: x**2 / 2.0,
    lambda x: np.exp(x) / 5.0,
    lambda x: x,
)


def make_bump(
    n_samples: int = 50,
    n_features: int = 20,
    *,
    shuffle: bool = True,
    return_features: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, ...]:
    r"""Generate a bump along one of many features, which no straight line sees.

    .. math::

        y = 10 \exp(-x_k^2) + \varepsilon, \qquad x_l \sim U(-5, 5), \quad
        \varepsilon \sim U(-2, 2).

    Parameters
    ----------
    n_samples : int, default=50
        Number of rows.
    n_features : int, default=20
        Number of features, of which one matters.
    shuffle : bool, default=True
        Whether k is a feature drawn at random; with False it is the first one.
    return_features : bool, default=False
        Whether to return k as well.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw; pass an int for the same data in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The features.
    y : ndarray of shape (n_samples,)
        The responses.
    features : ndarray of shape (1,)
        The feature that matters. Only if ``return_features``.

    Notes
    -----
    The variance of y is 10.72, of which 4/3 is noise: no prediction has a smaller mean squared
    error. By symmetry y and :math:`x_k` are uncorrelated. Case 1 of the reference.

    References
    ----------
    Duan (2022). Sparse Bayesian kernel learning for high-dimensional regression and
    classification. Dissertation.
    """
    n_samples = check_count("n_samples", n_samples)
    n_features = check_count("n_features", n_features)
    generator = check_random_state(random_state)
    features = _choose_features(1, n_features, shuffle, generator)
    X = generator.uniform(-5.0, 5.0, size=(n_samples, n_features))
    y = 10.0 * np.exp(-(X[:, features[0]] ** 2)) + generator.uniform(-2.0, 2.0, size=n_samples)
    return (X, y, features) if return_features else (X, y)


def make_additive(
    n_samples: int = 100,
    n_features: int = 20,
    *,
    n_effects: int = 3,
    noise: float = 1.0,
    shuffle: bool = True,
    return_features: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, ...]:
    r"""Generate a sum of smooth effects of three or four out of many features.

    .. math::

        y = 2 \cos x_{k_1} + \tfrac{1}{2} x_{k_2}^2 + \tfrac{1}{5} e^{x_{k_3}} \; (+\, x_{k_4})
        + \varepsilon, \qquad x_l \sim U(-\pi, \pi), \quad \varepsilon \sim N(0, s^2).

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    n_features : int, default=20
        Number of features, of which ``n_effects`` matter.
    n_effects : {3, 4}, default=3
        Whether the linear effect of a fourth feature is part of y.
    noise : float, default=1.0
        Standard deviation s of the noise.
    shuffle : bool, default=True
        Whether the k's are distinct features drawn at random; with False they are the first ones.
    return_features : bool, default=False
        Whether to return the k's as well.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw; pass an int for the same data in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The features.
    y : ndarray of shape (n_samples,)
        The responses.
    features : ndarray of shape (n_effects,)
        The features that matter, in the order of their effects. Only if ``return_features``.

    Notes
    -----
    The effects have the variances 2, 2.16, 1.16 and 3.29. With unit noise the variance of y is 6.33
    for three and 9.62 for four effects. Cases 2 (100 rows, three effects) and 3 (1,000 rows, four
    effects) of the reference.

    References
    ----------
    Duan (2022). Sparse Bayesian kernel learning for high-dimensional regression and
    classification. Dissertation.
    """
    n_samples = check_count("n_samples", n_samples)
    if isinstance(n_effects, bool) or n_effects not in (3, 4):
        raise ValueError(
            f"n_effects must be 3 or 4, got {n_effects!r}; pass 4 for the linear effect as well."
        )
    n_features = check_count("n_features", n_features, at_least=n_effects)
    noise = check_scale("noise", noise)
    generator = check_random_state(random_state)
    features = _choose_features(n_effects, n_features, shuffle, generator)
    X = generator.uniform(-np.pi, np.pi, size=(n_samples, n_features))
    y = noise * generator.standard_normal(n_samples)
    for feature, effect in zip(features, _EFFECTS, strict=False):
        y += effect(X[:, feature])
    return (X, y, features) if return_features else (X, y)


def _choose_features(
    count: int, n_features: int, shuffle: bool, generator: np.random.RandomState
) -> np.ndarray:
    """Return distinct features, at random or the first ones."""
    if shuffle:
        return generator.choice(n_features, count, replace=False)
    return np.arange(count)
