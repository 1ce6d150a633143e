r"""Weights of models by how well they predict rows left out.

With :math:`l_{nk}` the log probability (density) that model k gives to row n left out, weights
proportional to :math:`\exp\sum_nl_{nk}` take the sums for known. They are estimates from N rows:
the weights here are averaged over their Bayesian bootstrap (pseudo-BMA+, Yao, Vehtari, Simpson and
Gelman 2018),

.. math:: w=E\,\mathrm{softmax}\Big(N\sum_na_nl_n-m\Big),\quad a\sim\mathrm{Dirichlet}(1,\dots,1).

:math:`m_k` is Akaike's correction: one for each precision of model k that was chosen on all rows,
which leaving a row out does not undo.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import softmax

_DRAWS = 1000
_BLOCK_NUMBERS = 2_000_000  # bootstrap weights held at once
_NEGLIGIBLE = 1e-2  # a model of less weight is left out


def model_weights(log_left_out: np.ndarray, n_chosen: np.ndarray) -> np.ndarray:
    """Return one weight per model.

    Parameters
    ----------
    log_left_out : ndarray of shape (models, rows)
    n_chosen : ndarray of shape (models,)
        Parameters chosen on all rows, the ones left out included.
    """
    models = len(log_left_out)
    if models == 1:
        return np.ones(1)
    rows = log_left_out.shape[1]
    rng = np.random.default_rng(0)
    weights = np.zeros(models)
    step = max(1, min(_DRAWS, _BLOCK_NUMBERS // rows))
    for start in range(0, _DRAWS, step):
        shares = rng.standard_exponential((min(step, _DRAWS - start), rows))
        shares *= rows / shares.sum(axis=1, keepdims=True)
        weights += softmax(shares @ log_left_out.T - n_chosen, axis=1).sum(axis=0)
    weights /= _DRAWS
    weights = np.where(weights < min(_NEGLIGIBLE, 0.5 / models), 0.0, weights)
    return weights / weights.sum()


def width_weights(
    rule: str, fits: Sequence[Any], held_out: Sequence[tuple[np.ndarray, np.ndarray]]
) -> np.ndarray:
    """Return the weight of each width of a kernel.

    Parameters
    ----------
    rule : {"averaged", "cv", "loo", "evidence"}
        By averages of predictions of rows left out, of those of rows held out, or all weight to
        the width that predicts rows left out best or has the largest evidence.
    fits : sequence of fitted machines
        One for each width: ``evidence``, ``log_left_out``, ``n_columns``.
    held_out : sequence of (rows, log density)
        What fits without those rows say of them, width after width, fold after fold.
    """
    if len(fits) == 1:
        return np.ones(1)
    if rule == "evidence":
        return np.eye(len(fits))[int(np.argmax([fit.evidence for fit in fits]))]
    left_out = np.stack([fit.log_left_out for fit in fits])
    if rule == "loo":
        return np.eye(len(fits))[int(np.argmax(left_out.mean(axis=1)))]
    if rule == "cv":  # every choice was made without the rows held out
        for number, (held, log_density) in enumerate(held_out):
            left_out[number % len(fits), held] = log_density
        return model_weights(left_out, np.zeros(len(fits)))
    return model_weights(left_out, np.array([fit.n_columns for fit in fits]))
