"""One sweep of multiple kernel regression as it is printed: explicit inverses, products re-formed.

For every output the sum of products of kernels is made anew, its inverse with the precisions is
stored and multiplied out for the trace, and bias and kernel weights have one dense inverse. The
state is the package's, so that both can be compared number by number.
"""

from __future__ import annotations

import numpy as np

from sparsekern.inference.multiple_kernel.posterior import Posterior
from sparsekern.inference.multiple_kernel.updates import Problem, update_noise


def literal_sweep(problem: Problem, posterior: Posterior) -> None:
    """Carry out all steps once; kernel weights are shared, sample weights are not."""
    kernels, targets = problem.kernels, problem.targets
    p, _, n = kernels.shape
    for block in posterior.samples:
        block.precision = block.precision.updated(0.5, 0.5 * (block.mean**2 + block.variance))
        gap = block.intermediate - np.stack([block.mean @ kernel for kernel in kernels])
        half = 0.5 * (np.sum(gap**2) + n * np.trace(block.covariance) + block.trace)
        block.intermediate_precision = block.intermediate_precision.updated(0.5 * p * n, half)
        noise = float(block.intermediate_precision.mean)
        total = sum(kernel @ kernel.T for kernel in kernels)
        covariance = np.linalg.inv(np.diag(block.precision.mean) + noise * total)
        pull = sum(k @ row for k, row in zip(kernels, block.intermediate, strict=True))
        block.mean = noise * (covariance @ pull)
        block.variance = np.diag(covariance).copy()
        block.trace = float(np.trace(total @ covariance))
    (weights,) = posterior.kernels
    for output, target in zip(posterior.outputs, targets.T, strict=True):
        block = posterior.samples[output.samples]
        noise = float(block.intermediate_precision.mean)
        outer = float(output.noise_precision.mean)
        block.covariance = np.linalg.inv(noise * np.eye(p) + outer * weights.second)
        fitted = np.stack([block.mean @ kernel for kernel in kernels])
        crossed = output.bias * weights.mean + output.bias_cross
        pull = noise * fitted + outer * (np.outer(weights.mean, target) - crossed[:, None])
        block.intermediate = block.covariance @ pull
    update_noise(problem, posterior)
    n_outputs = len(posterior.outputs)
    precision = np.zeros((n_outputs + p, n_outputs + p))
    pull = np.zeros(n_outputs + p)
    precision[n_outputs:, n_outputs:] = np.diag(weights.precision.mean)
    for o, (output, target) in enumerate(zip(posterior.outputs, targets.T, strict=True)):
        block, outer = posterior.samples[output.samples], float(output.noise_precision.mean)
        centre = block.intermediate
        precision[o, o] = float(output.bias_precision.mean) + n * outer
        precision[o, n_outputs:] = precision[n_outputs:, o] = outer * centre.sum(axis=1)
        second = centre @ centre.T + n * block.covariance
        precision[n_outputs:, n_outputs:] += outer * second
        pull[o] = outer * target.sum()
        pull[n_outputs:] += outer * (centre @ target)
    covariance = np.linalg.inv(precision)
    mean = covariance @ pull
    weights.mean, weights.covariance = mean[n_outputs:], covariance[n_outputs:, n_outputs:]
    for o, output in enumerate(posterior.outputs):
        output.bias, output.bias_variance = float(mean[o]), float(covariance[o, o])
        output.bias_cross = covariance[o, n_outputs:]
