r"""Which of several independent normal variables is the largest.

Given that variable y is the largest of :math:`s_j\sim N(f_j,1)`,

.. math:: Z=\int\varphi(u)\prod_{j\ne y}\Phi(u+f_y-f_j)\,du,\qquad E[s]=f+\nabla\log Z(f).

Integrals are by Gauss and Hermite's rule, in logarithms: nothing underflows.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr, roots_hermitenorm

from ..random.half_line_moments import inverse_mills

_NODES, _WEIGHTS = roots_hermitenorm(60)
_LOG_WEIGHTS = np.log(_WEIGHTS) - 0.5 * math.log(2.0 * math.pi)


def shift_of_largest(labels: np.ndarray, latent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return E[s] - f, shape (n, classes), and log Z of every row; ``labels`` are the largest."""
    rows = np.arange(len(latent))
    gap = latent[rows, labels][:, None] - latent
    z = gap[:, :, None] + _NODES
    logs = log_ndtr(z)
    logs[rows, labels] = 0.0
    log_terms = logs.sum(axis=1) + _LOG_WEIGHTS
    top = log_terms.max(axis=1, keepdims=True)
    terms = np.exp(log_terms - top)
    total = terms.sum(axis=1)
    shift = -np.einsum("ncq,nq->nc", inverse_mills(z), terms / total[:, None])
    shift[rows, labels] = 0.0
    shift[rows, labels] = -shift.sum(axis=1)
    return shift, np.log(total) + top[:, 0]


def winning_probabilities(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    r"""Return the probability that each of several independent normal variables is the largest.

    :math:`\int\varphi(u)\prod_{j\ne c}\Phi((m_c+s_cu-m_j)/s_j)\,du` by quadrature, made to add up
    to one.
    """
    deviation = np.sqrt(variance)
    found = np.empty_like(mean)
    for c in range(mean.shape[1]):
        value = mean[:, [c]] + deviation[:, [c]] * _NODES  # (n, Q)
        logs = np.zeros_like(value)
        for j in range(mean.shape[1]):
            if j != c:
                logs += log_ndtr((value - mean[:, [j]]) / deviation[:, [j]])
        found[:, c] = np.exp(logs + _LOG_WEIGHTS).sum(axis=1)
    found = np.maximum(found, np.finfo(np.float64).tiny)
    return found / found.sum(axis=1, keepdims=True)
