"""One sweep of multiple kernel regression as it is printed: explicit inverses, products re-formed.

For every output the sum of products of kernels is made anew, its inverse with the precisions is
stored and multiplied out for the trace, and bias and kernel weights have one dense inverse. The
state is the package's, so that both can be compared number by number.
"""

from __future__ import annotations

import numpy as np

from sparsekern.inference.multiple_kernel.shared.posterior import Posterior
from sparsekern.inference.multiple_kernel.shared.updates import Problem, update_noise


def literal_sweep(problem: Problem, posterior: Posterior) -> None:
    """Carry out all steps once, whichever weights the outputs share."""
    kernels, targets = problem.kernels, problem.targets
    p, _, n = kernels.shape
    for number, block in enumerate(posterior.samples):
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
        _intermediate(problem, posterior, number)
    update_noise(problem, posterior)
    for number in range(len(posterior.kernels)):
        _kernel_weights(targets, posterior, number)


def _intermediate(problem: Problem, posterior: Posterior, number: int) -> None:
    """Update the intermediate outputs of one block of sample weights."""
    block = posterior.samples[number]
    noise = float(block.intermediate_precision.mean)
    precision = noise * np.eye(len(problem.kernels))
    pull = noise * np.stack([block.mean @ kernel for kernel in problem.kernels])
    for output, target in zip(posterior.outputs, problem.targets.T, strict=True):
        if output.samples == number:
            weights, outer = posterior.kernels[output.kernels], float(output.noise_precision.mean)
            precision += outer * weights.second
            crossed = output.bias * weights.mean + output.bias_cross
            pull += outer * (np.outer(weights.mean, target) - crossed[:, None])
    block.covariance = np.linalg.inv(precision)
    block.intermediate = block.covariance @ pull


def _kernel_weights(targets: np.ndarray, posterior: Posterior, number: int) -> None:
    """Update one block of kernel weights with the biases of its outputs."""
    weights = posterior.kernels[number]
    n, p = len(targets), len(weights.mean)
    mine = [o for o, output in enumerate(posterior.outputs) if output.kernels == number]
    precision = np.zeros((len(mine) + p, len(mine) + p))
    pull = np.zeros(len(mine) + p)
    precision[len(mine) :, len(mine) :] = np.diag(weights.precision.mean)
    for place, o in enumerate(mine):
        output, target = posterior.outputs[o], targets[:, o]
        block, outer = posterior.samples[output.samples], float(output.noise_precision.mean)
        centre = block.intermediate
        precision[place, place] = float(output.bias_precision.mean) + n * outer
        crossed = outer * centre.sum(axis=1)
        precision[place, len(mine) :] = precision[len(mine) :, place] = crossed
        precision[len(mine) :, len(mine) :] += outer * (centre @ centre.T + n * block.covariance)
        pull[place] = outer * target.sum()
        pull[len(mine) :] += outer * (centre @ target)
    covariance = np.linalg.inv(precision)
    mean = covariance @ pull
    weights.mean = mean[len(mine) :]
    weights.covariance = covariance[len(mine) :, len(mine) :]
    for place, o in enumerate(mine):
        output = posterior.outputs[o]
        output.bias, output.bias_variance = float(mean[place]), float(covariance[place, place])
        output.bias_cross = covariance[place, len(mine) :]
