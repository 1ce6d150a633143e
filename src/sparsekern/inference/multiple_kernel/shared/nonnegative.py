r"""Kernel weights that are not negative: half-normal priors, truncated normal factors.

:math:`q(b)\prod_mq(e_m)`; given the others, :math:`e_m` has the precision
:math:`t_m=\langle\omega_m\rangle+\sum_o\langle\epsilon_o\rangle\langle GG^\top\rangle_{mm}` and the
location :math:`\ell_m/t_m`, cut at zero. The symmetry of signs is gone.
"""

from __future__ import annotations

import math

import numpy as np

from ....random.half_line_moments import half_line_moments, log_normal_cdf
from .posterior import Posterior


def update_nonnegative_weights(targets: np.ndarray, posterior: Posterior, number: int) -> None:
    """Update the biases of the outputs of a block, then each weight in turn."""
    block = posterior.kernels[number]
    p = len(block.mean)
    curvature, pull = np.zeros((p, p)), np.zeros(p)
    for place, output in enumerate(posterior.outputs):
        if output.kernels != number:
            continue
        samples, target = posterior.samples[output.samples], targets[:, place]
        centre, n = samples.intermediate, len(target)
        weight = float(output.noise_precision.mean)
        c = float(output.bias_precision.mean) + n * weight
        output.conditional_precision = c
        output.bias = weight * float(np.sum(target - block.mean @ centre)) / c
        output.bias_variance = 1.0 / c
        output.bias_cross = np.zeros(p)
        curvature += weight * (centre @ centre.T + n * samples.covariance)
        pull += weight * (centre @ (target - output.bias))
    mean, variance = block.mean.copy(), np.empty(p)
    block.entropy = 0.0
    for m in range(p):
        precision = float(block.precision.mean[m] + curvature[m, m])
        location = pull[m] - curvature[m] @ mean + curvature[m, m] * mean[m]
        z = float(location) / math.sqrt(precision)
        ratio, size, spread = half_line_moments(z)
        mean[m], variance[m] = size / math.sqrt(precision), spread / precision
        block.entropy += math.log(2.0) - 0.5 * math.log(precision) + log_normal_cdf(z)
        block.entropy += 0.5 * (spread + ratio * ratio)
    block.mean, block.covariance = mean, np.diag(variance)
