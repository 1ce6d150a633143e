r"""Marginal screening of very many features.

The score of a feature is the larger one of :math:`|cor(x,t)|` and :math:`|cor(x^2,t)|`, x centred,
over the columns t of the response (one for each class, where there are several): squares see
effects that are even, which a plain correlation misses.
"""

from __future__ import annotations

import numpy as np

_BLOCK_NUMBERS = 4_000_000  # of squared features held at once


def marginal_scores(
    features: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return the score of every feature.

    Parameters
    ----------
    features : ndarray of shape (n, p)
    targets : ndarray of shape (n, t)
    weights : ndarray of shape (n,) or None
        How often each row counts; None: once.
    """
    root = 1.0 if weights is None else np.sqrt(weights)[:, None]

    def centred_by(columns: np.ndarray) -> np.ndarray:
        return columns - np.average(columns, axis=0, weights=weights)

    targets = root * centred_by(targets)
    targets /= np.maximum(np.linalg.norm(targets, axis=0), np.finfo(np.float64).tiny)
    scores = np.zeros(features.shape[1])
    step = max(1, _BLOCK_NUMBERS // len(features))
    for start in range(0, features.shape[1], step):
        block = slice(start, start + step)
        plain = features[:, block]
        plain = plain / np.maximum(np.abs(plain).max(axis=0), np.finfo(np.float64).tiny)
        plain = centred_by(plain)
        for columns in (plain, plain**2):
            centred = root * centred_by(columns)
            length = np.linalg.norm(centred, axis=0)
            usable = length > 1e-12 * np.maximum(np.linalg.norm(root * columns, axis=0), 1e-300)
            found = np.abs(centred.T @ targets).max(axis=1)
            found = np.where(usable, found / np.where(usable, length, 1.0), 0.0)
            scores[block] = np.maximum(scores[block], found)
    return scores


def screen_features(
    features: np.ndarray, targets: np.ndarray, count: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return the sorted indices of the ``count`` features of largest score."""
    if count >= features.shape[1]:
        return np.arange(features.shape[1])
    scores = marginal_scores(features, targets, weights)
    return np.sort(np.argsort(-scores, kind="stable")[:count])
