r"""Predictive means and covariances at new samples.

With :math:`\bar g=[\mu_a^\top k_{m,*}]_m` and :math:`\Gamma_{mm'}=k_{m,*}^\top\Sigma_ak_{m',*}
+\delta_{mm'}\langle1/\upsilon\rangle` (the kernels share a, so off-diagonals are not zero) a new
output has the mean :math:`\mu_b+\mu_e^\top\bar g` and the variance

.. math:: \langle1/\epsilon\rangle+V_b+2C_{be}^\top\bar g+\bar g^\top V_e\bar g
          +\mathrm{tr}(\langle ee^\top\rangle\Gamma).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from .posterior import Posterior, SampleWeights

_BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True)
class Predictions:
    """Means and variances of new outputs, shape (n, L); ``variance`` holds the noise, too."""

    mean: np.ndarray
    variance: np.ndarray


def intermediate_moments(
    block: SampleWeights, kernels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return :math:`\bar g`, shape (P, n), and :math:`\Gamma`, shape (n, P, P)."""
    p, d, n = kernels.shape
    mean = np.tensordot(kernels, block.mean, axes=([1], [0]))
    side_by_side = np.concatenate(list(kernels), axis=1) * block.reach[:, None]
    spread = solve_triangular(block.root, side_by_side, lower=True).reshape(d, p, n)
    covariance = np.einsum("dmn,dkn->nmk", spread, spread, optimize=True)
    covariance[:, np.arange(p), np.arange(p)] += float(block.intermediate_precision.mean_inverse)
    return mean, covariance


def predict(posterior: Posterior, kernels: np.ndarray) -> Predictions:
    """Return the moments of new outputs; ``kernels`` (P, D, n) are between vectors and new rows."""
    p, d, n = kernels.shape
    shape = (n, len(posterior.outputs))
    mean, variance = np.empty(shape), np.empty(shape)
    step = max(1, _BLOCK_NUMBERS // (p * max(p, d)))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        moments = [intermediate_moments(block, kernels[:, :, rows]) for block in posterior.samples]
        for place, output in enumerate(posterior.outputs):
            centre, gamma = moments[output.samples]
            weights = posterior.kernels[output.kernels]
            mean[rows, place] = output.bias + weights.mean @ centre
            spread = output.bias_variance + float(output.noise_precision.mean_inverse)
            value = spread + 2.0 * output.bias_cross @ centre
            value = value + np.einsum("mn,mk,kn->n", centre, weights.covariance, centre)
            variance[rows, place] = value + np.einsum("mk,nmk->n", weights.second, gamma)
    return Predictions(mean, variance)
