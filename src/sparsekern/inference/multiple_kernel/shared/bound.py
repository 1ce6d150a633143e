r"""The lower bound of the log evidence that every step of a sweep raises."""

from __future__ import annotations

import math

import numpy as np

from .posterior import Posterior
from .updates import Problem, intermediate_residual, output_residual

_LOG_TWO_PI = math.log(2.0 * math.pi)


def evidence_bound(problem: Problem, posterior: Posterior) -> float:
    """Return E[log p - log q]; latent outputs add their part (:mod:`.latent`)."""
    p, d, n = problem.kernels.shape
    total = 0.0
    for block in posterior.samples:
        second = block.mean**2 + block.variance
        total += 0.5 * float(np.sum(block.precision.mean_log - block.precision.mean * second))
        total += 0.5 * (block.log_determinant + d)
        noise = block.intermediate_precision
        total += 0.5 * p * n * (float(noise.mean_log) - _LOG_TWO_PI)
        total -= 0.5 * float(noise.mean) * intermediate_residual(problem, block)
        log_spread = float(np.linalg.slogdet(block.covariance)[1])
        total += 0.5 * n * (p * (1.0 + _LOG_TWO_PI) + log_spread)
        total -= block.precision.divergence() + noise.divergence()
    for kernels in posterior.kernels:
        second = np.diag(kernels.second)
        total += 0.5 * float(np.sum(kernels.precision.mean_log - kernels.precision.mean * second))
        spread = 0.5 * (p + kernels.log_determinant)
        total += kernels.entropy if kernels.nonnegative else spread
        total -= kernels.precision.divergence()
    for place, output in enumerate(posterior.outputs):
        bias, noise = output.bias_precision, output.noise_precision
        second_bias = output.bias**2 + output.bias_variance
        total += 0.5 * (float(bias.mean_log) - float(bias.mean) * second_bias)
        total += 0.5 * n * (float(noise.mean_log) - _LOG_TWO_PI)
        total -= (
            0.5
            * float(noise.mean)
            * output_residual(
                output,
                posterior.samples[output.samples],
                posterior.kernels[output.kernels],
                problem.targets[:, place],
            )
        )
        total += 0.5 * (1.0 - math.log(output.conditional_precision))
        total -= bias.divergence() + noise.divergence()
    return total
