"""Draws of functions from models whose weights have normal laws, one model for each kernel width.

Draw t has the same width and the same weights at every call, so that rows asked for in several
calls belong to the same functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...predictive.even_draws import N_DRAWS, even_draws
from .expansion import KernelExpansion
from .multinomial_expansion import MultinomialExpansion

_BLOCK_NUMBERS = 4_000_000


def expansion_draws(
    models: list[tuple[float, Any]], features: np.ndarray, thin: int, stream: int = 0
) -> np.ndarray:
    """Return draws of the functions of weighted models, shape (draws, n, outputs).

    Parameters
    ----------
    models : list of (weight, model)
        A model has an ``expansion`` and, if its weights are relative to the noise of each output,
        ``noise_variance``.
    features : ndarray of shape (n, p)
    thin : int
    stream : int
        Which of several sets of draws: models of one class each draw apart.
    """
    chosen, _ = even_draws(np.array([weight for weight, _ in models]), N_DRAWS)
    draws = np.arange(0, N_DRAWS, thin)
    chosen = chosen[draws]
    out: np.ndarray | None = None
    for place, (_, model) in enumerate(models):
        mine = np.flatnonzero(chosen == place)
        if len(mine):
            weights = _draw_weights(model, draws[mine], stream)  # (draws, columns, outputs)
            found = _evaluate(model.expansion, weights, features)
            if out is None:
                out = np.empty((len(draws), *found.shape[1:]))
            out[mine] = found
    assert out is not None
    return out


def _draw_weights(model: Any, draws: np.ndarray, stream: int) -> np.ndarray:
    expansion = model.expansion
    mean = expansion.mean.reshape(len(expansion.mean), -1)
    noise = np.sqrt(np.broadcast_to(getattr(model, "noise_variance", 1.0), mean.shape[1:]))
    normal = np.stack(
        [np.random.default_rng([int(draw), stream]).standard_normal(mean.shape) for draw in draws]
    )
    # the covariance is C^-T C^-1, and ``inverse`` is C^-1
    return mean + np.einsum("ba,tbo->tao", expansion.inverse, normal) * noise


def _evaluate(
    expansion: KernelExpansion | MultinomialExpansion, weights: np.ndarray, features: np.ndarray
) -> np.ndarray:
    """Return the functions of weights (draws, columns, outputs), shape (draws, n, outputs)."""
    if isinstance(expansion, MultinomialExpansion):  # a column belongs to one class
        owners = [expansion.of_class == c for c in range(int(expansion.of_class.max()) + 1)]
        parts: list[tuple[Any, np.ndarray]] = [(own, weights[:, own, 0]) for own in owners]
    else:
        parts = [(slice(None), weights[:, :, output]) for output in range(weights.shape[2])]
    out = np.empty((len(weights), len(features), len(parts)))
    step = max(1, _BLOCK_NUMBERS // weights.shape[1])
    for start in range(0, len(features), step):
        block = slice(start, start + step)
        design = expansion.columns(features[block])
        for output, (own, mine) in enumerate(parts):
            out[:, block, output] = mine @ design[own]
    return out
