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

from .posterior import Posterior, SampleWeights

_BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True)
class Predictions:
    """Moments of new outputs, the noise included.

    Attributes
    ----------
    mean : ndarray of shape (n, L)
    covariance : ndarray of shape (n, L, L)
        Between the outputs of each row.
    """

    mean: np.ndarray
    covariance: np.ndarray

    @property
    def variance(self) -> np.ndarray:
        """Variances, shape (n, L)."""
        return np.einsum("noo->no", self.covariance)


def intermediate_moments(
    block: SampleWeights, kernels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return :math:`\bar g`, shape (P, n), and :math:`\Gamma`, shape (n, P, P)."""
    p = len(kernels)
    mean = np.matmul(block.mean, kernels)
    covariance = block.factor.covariances(kernels)
    covariance[:, np.arange(p), np.arange(p)] += float(block.intermediate_precision.mean_inverse)
    return mean, covariance


def predict(posterior: Posterior, kernels: np.ndarray) -> Predictions:
    """Return the moments of new outputs; ``kernels`` (P, D, n) are between vectors and new rows."""
    p, d, n = kernels.shape
    n_outputs = len(posterior.outputs)
    mean, covariance = np.empty((n, n_outputs)), np.zeros((n, n_outputs, n_outputs))
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
            covariance[rows, place, place] = value + np.einsum("mk,nmk->n", weights.second, gamma)
            for other in range(place):
                found = _between(posterior, place, other, moments)
                covariance[rows, place, other] = covariance[rows, other, place] = found
    return Predictions(mean, covariance)


def _between(
    posterior: Posterior, place: int, other: int, moments: list[tuple[np.ndarray, np.ndarray]]
) -> np.ndarray:
    """Return the covariance of two outputs at each row."""
    first, second = posterior.outputs[place], posterior.outputs[other]
    if first.samples == second.samples:  # shared sample weights: through the intermediate outputs
        _, gamma = moments[first.samples]
        left, right = (posterior.kernels[output.kernels].mean for output in (first, second))
        return np.einsum("m,nmk,k->n", left, gamma, right)
    weights = posterior.kernels[first.kernels]
    left, right = (moments[output.samples][0] for output in (first, second))
    biases = first.bias_cross @ np.linalg.solve(weights.covariance, second.bias_cross)
    found = biases + first.bias_cross @ right + second.bias_cross @ left
    return found + np.einsum("mn,mk,kn->n", left, weights.covariance, right)
