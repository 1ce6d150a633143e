"""Posterior probabilities at the points of a grid, in blocks of bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..composites import Composite
from ..estimators import KernelProjectionClassifier
from .vector_machines import is_drawless

_MOST_NUMBERS = 4_000_000  # probabilities held at once


def probabilities_on_grid(
    parts: Composite, first: np.ndarray, second: np.ndarray, n_boundaries: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean probability, and that of some evenly spaced draws, at the grid points."""
    model, shape = parts.final, (len(second), len(first))
    points = parts.inputs(_grid_points(parts.whole, first, second))
    projected = isinstance(model, KernelProjectionClassifier)
    if is_drawless(model) or not (projected or hasattr(model, "active_vectors_")):
        # draws of a hybrid search are right for each point, not for a boundary as a whole
        return model.predict_proba(points)[:, 1].reshape(shape), np.empty((0, *shape))
    n_draws = len(model.sample_proba(points[:1]))
    chosen = np.linspace(0, n_draws - 1, min(n_boundaries, n_draws)).astype(np.intp)
    mean, boundaries = np.empty(len(points)), np.empty((len(chosen), len(points)))
    step = max(1, _MOST_NUMBERS // n_draws)
    for start in range(0, len(points), step):
        block = slice(start, start + step)
        positive = model.sample_proba(points[block])[:, :, 1]
        # a sharpened mean is not that of the draws
        mean[block] = model.predict_proba(points[block])[:, 1] if projected else positive.mean(0)
        boundaries[:, block] = positive[chosen]
    return mean.reshape(shape), boundaries.reshape(-1, *shape)


def sides_on_grid(parts: Composite, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return a machine's posterior probability that f is positive, at the grid points."""
    points = parts.inputs(_grid_points(parts.whole, first, second))
    return parts.final.side_probability(points).reshape(len(second), len(first))


def _grid_points(model: Any, first: np.ndarray, second: np.ndarray) -> Any:
    points = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
    if hasattr(model, "feature_names_in_"):
        return pd.DataFrame(points, columns=model.feature_names_in_)
    return points
