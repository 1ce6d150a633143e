r"""Class probabilities from normal latent values, and leave-one-out predictions.

Leaving row n out takes away its likelihood factor (the cavity) and, in a model whose column n
carries the label :math:`y_n`, the column itself: the cavity's moments :math:`m^{(n)},C^{(n)}` are
conditioned on :math:`w_n=0`,

.. math:: \tilde m=m^{(n)}-C^{(n)}_{:n}m^{(n)}_n/C^{(n)}_{nn},\qquad
          \tilde C=C^{(n)}-C^{(n)}_{:n}C^{(n)}_{n:}/C^{(n)}_{nn}.

The precisions stay those chosen on all rows, so that a little optimism remains.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit, log_ndtr, ndtr

from ...likelihoods.scaled_logit import PROBIT_SLOPE
from ...likelihoods.terms import PROBIT, SCALED_LOGIT
from .machine import Machine


def latent_argument(likelihood: int, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return the argument of the response function whose value is the averaged probability."""
    if likelihood in (PROBIT, SCALED_LOGIT):
        slope = 1.0 if likelihood == PROBIT else PROBIT_SLOPE
        return slope * mean / np.sqrt(1.0 + variance)
    return mean / np.sqrt(1.0 + np.pi * variance / 8.0)


def class_probability(likelihood: int, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return the probability of +1, averaged over a normal latent value."""
    argument = latent_argument(likelihood, mean, variance)
    return ndtr(argument) if likelihood == PROBIT else expit(argument)


def log_class_probability(likelihood: int, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return the logarithm of :func:`class_probability`, without underflow."""
    argument = latent_argument(likelihood, mean, variance)
    return log_ndtr(argument) if likelihood == PROBIT else log_expit(argument)


def leave_one_out(machine: Machine, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of every row's latent value, that row left out.

    Parameters
    ----------
    machine : Machine
    owner : ndarray of shape (n,)
        Active column that goes with each row, 0 (the bias, which stays) for most.
    """
    size = int(machine.size[0])
    inverse = np.tril(machine.inverse[:size, :size])
    design, mean = machine.design[:size], machine.mean[:size]
    projected = inverse @ design
    variance = np.einsum("an,an->n", projected, projected)
    fitted = mean @ design
    left = 1.0 / np.maximum(1.0 - machine.tau * variance, np.finfo(np.float64).eps)
    score, spread = (fitted - machine.nu * variance) * left, variance * left
    for n in np.flatnonzero(owner):
        a = owner[n]
        along = inverse.T @ projected[:, n]  # Sigma phi_n
        cross = inverse.T @ inverse[:, a]  # column a of Sigma
        cross = cross + machine.tau[n] * left[n] * along * along[a]
        here = mean[a] + along[a] * (machine.tau[n] * fitted[n] - machine.nu[n]) * left[n]
        towards = design[:, n] @ cross
        score[n] -= towards * here / cross[a]
        spread[n] -= towards * towards / cross[a]
    return score, np.maximum(spread, 0.0)
