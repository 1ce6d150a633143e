r"""How sharp predicted class probabilities should be.

Pooled probabilities are raised to a power, :math:`q_k\propto\bar p_k^{\,t}`, with t the mode of a
posterior of its own: :math:`\log t\sim N(0,\frac14)`, and as likelihood predictions of training
rows by chains that have not seen them. (Leave-one-out predictions by importance sampling would come
for nothing; with as many coefficients as rows they are far too good.)
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

_LARGEST_LOG_POWER = 3.0
_LOG_POWER_SD = 0.5
_TINY = np.finfo(np.float64).tiny


def log_scores(probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the log probability of every label, rows and classes being the last two axes."""
    own = probabilities[..., np.arange(len(labels)), labels]
    return np.log(np.maximum(own, _TINY))


def best_power(probabilities: np.ndarray, labels: np.ndarray) -> float:
    r"""Return the exponent t of the largest :math:`\sum_i\log q_i(y_i)-2\log^2t`.

    Rows and classes are the last two axes; over others, predictions of the same rows, the log
    scores are averaged.
    """
    logs = np.log(np.maximum(probabilities, _TINY))
    own = logs[..., np.arange(len(labels)), labels]
    repeats = own.size / len(labels)

    def loss(log_power: float) -> float:
        power = np.exp(log_power)
        score = np.sum(power * own - logsumexp(power * logs, axis=-1)) / repeats
        return float(0.5 * (log_power / _LOG_POWER_SD) ** 2 - score)

    bounds = (-_LARGEST_LOG_POWER, _LARGEST_LOG_POWER)
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))
