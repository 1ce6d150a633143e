"""Breiman's waveform problem, with two or three classes."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from .arguments import check_count
from .labels import balanced_labels

_POSITIONS = np.arange(1, 22)
# The two triangles mixed by waveform class 0, 1 and 2, given by the position of their peaks.
_PEAKS = np.array([(7, 15), (7, 11), (15, 11)])
# In the two-class benchmark of Raetsch, Onoda and Mueller the positive class is waveform class 1:
# its class means there peak over features 7 to 11, and it holds a third of the rows.
_POSITIVE_WAVEFORM = 1


def make_waveform(
    n_samples: int = 5000,
    *,
    n_classes: int = 2,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Generate Breiman's waveform problem: noisy mixtures of two out of three triangles.

    With the triangles :math:`h_c(j) = \max(6 - |j - c|, 0)`, :math:`j = 1, \dots, 21`, every row is

    .. math::

        x_j = u\, h_c(j) + (1 - u)\, h_d(j) + \varepsilon_j, \qquad
        u \sim U(0, 1), \quad \varepsilon_j \sim N(0, 1),

    where the peaks :math:`(c, d)` are (7, 15) for waveform 0, (7, 11) for waveform 1 and (15, 11)
    for waveform 2. The three waveforms are equally frequent.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of rows. The sizes of the three waveforms differ by at most one.
    n_classes : {2, 3}, default=2
        3 keeps the waveform numbers as labels. 2 is the version of the Raetsch benchmark: waveform
        1 against the other two, so that a third of the rows is positive.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw; pass an int for the same data in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, 21)
        The features, neither centred nor scaled.
    y : ndarray of shape (n_samples,)
        The labels: -1 or +1 for two classes, 0, 1 or 2 for three.

    Notes
    -----
    With :math:`\delta = h_c - h_d` and :math:`s = \delta^\top (x - h_d) / \|\delta\|` the mixing
    weight integrates out in closed form,

    .. math::

        p(x \mid c, d) \propto \frac{1}{\|\delta\|}
        \exp\left(\frac{s^2 - \|x - h_d\|^2}{2}\right)
        \left[\Phi(\|\delta\| - s) - \Phi(-s)\right].

    The Bayes error is 13.3 % for three classes (Breiman et al. quote 14 %) and 8.3 % for two.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen and C. Stone (1984). Classification and Regression Trees,
    section 2.6.2. Wadsworth.

    G. Raetsch, T. Onoda and K.-R. Mueller (2001). Soft margins for AdaBoost. Machine Learning 42,
    287-320.
    """
    n_samples = check_count("n_samples", n_samples)
    if isinstance(n_classes, bool) or n_classes not in (2, 3):
        raise ValueError(
            f"n_classes must be 2 or 3, got {n_classes!r}; pass 2 for labels -1/+1 or 3 for 0/1/2."
        )
    generator = check_random_state(random_state)
    waveform = balanced_labels(n_samples, (0, 1, 2), generator)
    first, second = _triangles(waveform)
    weight = generator.uniform(size=(n_samples, 1))
    noise = generator.standard_normal((n_samples, _POSITIONS.size))
    X = weight * first + (1.0 - weight) * second + noise
    if n_classes == 3:
        return X, waveform
    return X, np.where(waveform == _POSITIVE_WAVEFORM, 1, -1)


def _triangles(waveform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, for every row, the two triangles that its waveform mixes."""
    distance = np.abs(_POSITIONS - _PEAKS[..., np.newaxis])
    height = np.maximum(6.0 - distance, 0.0)
    return height[waveform, 0], height[waveform, 1]
