r"""Draws of the functions of a fitted model whose kernels share their sample weights.

:math:`f(x)=b+\sum_me_m\,a^\top k_m(x)`, with the sample weights a, the kernel weights e and the
bias b drawn from their factors (b with e). The intermediate outputs' noise is noise.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, solve_triangular

from .posterior import KernelWeights, Output, Posterior, SampleWeights
from .weight_factor import DenseFactor


def draw_functions(
    posterior: Posterior, kernels: np.ndarray, draws: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return draws of the functions, and the variance of a new output given each.

    Parameters
    ----------
    posterior : Posterior
    kernels : ndarray of shape (P, D, n)
        Between vectors and new rows.
    draws : ndarray of int, shape (T,)
        Which draws; a draw is the same at every call.

    Returns
    -------
    functions : ndarray of shape (T, n, L)
    noise : ndarray of shape (T, L)
    """
    samples = [_draw_samples(block, draws, place) for place, block in enumerate(posterior.samples)]
    weights = [_draw_kernels(block, draws, place) for place, block in enumerate(posterior.kernels)]
    n_outputs = len(posterior.outputs)
    functions = np.empty((len(draws), kernels.shape[2], n_outputs))
    noise = np.empty((len(draws), n_outputs))
    for place, output in enumerate(posterior.outputs):
        block, e = posterior.samples[output.samples], weights[output.kernels]
        bias = _draw_bias(output, posterior.kernels[output.kernels], e, draws, place)
        total = np.repeat(bias[:, None], kernels.shape[2], axis=1)
        for m, kernel in enumerate(kernels):
            total += e[:, [m]] * (samples[output.samples] @ kernel)
        functions[:, :, place] = total
        between = float(block.intermediate_precision.mean_inverse)
        noise[:, place] = float(output.noise_precision.mean_inverse) + between * np.sum(e**2, 1)
    return functions, noise


def _normal(draws: np.ndarray, kind: int, place: int, size: int) -> np.ndarray:
    return np.stack(
        [np.random.default_rng([int(d), kind, place]).standard_normal(size) for d in draws]
    )


def _draw_samples(block: SampleWeights, draws: np.ndarray, place: int) -> np.ndarray:
    normal, factor = _normal(draws, 0, place, len(block.mean)), block.factor
    if isinstance(factor, DenseFactor):
        turned = solve_triangular(factor.root, normal.T, lower=True, trans="T")
        return block.mean + factor.reach * turned.T
    covariance = np.diag(factor.prior) - factor.noise * (factor.half.T @ factor.half)
    return block.mean + normal @ _root(covariance).T


def _draw_kernels(block: KernelWeights, draws: np.ndarray, place: int) -> np.ndarray:
    normal = _normal(draws, 1, place, len(block.mean))
    return block.mean + normal @ _root(block.covariance).T


def _draw_bias(
    output: Output, block: KernelWeights, weights: np.ndarray, draws: np.ndarray, place: int
) -> np.ndarray:
    slope = np.linalg.solve(block.covariance, output.bias_cross)
    rest = max(output.bias_variance - float(slope @ output.bias_cross), 0.0)
    normal = _normal(draws, 2, place, 1)[:, 0]
    return output.bias + (weights - block.mean) @ slope + np.sqrt(rest) * normal


def _root(covariance: np.ndarray) -> np.ndarray:
    values, vectors = eigh(covariance, check_finite=False)
    return vectors * np.sqrt(np.maximum(values, 0.0))
