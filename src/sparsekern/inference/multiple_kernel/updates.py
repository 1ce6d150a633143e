r"""One sweep of coordinate ascent: each step maximises the bound over one factor.

:math:`S=\sum_mK_mK_m^\top` is formed once; in a sweep kernels are touched only by
:math:`F=[\mu_a^\top K_m]_m` and :math:`\sum_mK_mM_{m,:}^\top`. With
:math:`\rho=\langle\lambda\rangle^{-1/2}` the matrix :math:`B=I+\langle\upsilon\rangle\,
\mathrm{diag}(\rho)S\,\mathrm{diag}(\rho)=CC^\top` has eigenvalues of at least one however sparse
the weights are, :math:`\Sigma_a=\mathrm{diag}(\rho)B^{-1}\mathrm{diag}(\rho)` and
:math:`\mathrm{tr}(S\Sigma_a)=(D-\sum\langle\lambda_d\rangle\Sigma_{a,dd})/\langle\upsilon\rangle`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from .posterior import KernelWeights, Output, Posterior, SampleWeights


@dataclass(frozen=True)
class Problem:
    """Kernels and targets.

    Attributes
    ----------
    kernels : ndarray of shape (P, D, N)
    gram : ndarray of shape (D, D)
        Sum of K_m K_m'.
    targets : ndarray of shape (N, L)
    """

    kernels: np.ndarray
    gram: np.ndarray
    targets: np.ndarray

    @classmethod
    def of(cls, kernels: np.ndarray, targets: np.ndarray) -> Problem:
        """Return the problem with its Gram matrix, one product of the kernels side by side."""
        wide = np.concatenate(list(kernels), axis=1)
        return cls(kernels, wide @ wide.T, targets)


def project(problem: Problem, block: SampleWeights) -> np.ndarray:
    r"""Return :math:`F=[\mu_a^\top K_m]_m`, shape (P, N)."""
    return np.tensordot(problem.kernels, block.mean, axes=([1], [0]))


def intermediate_residual(problem: Problem, block: SampleWeights) -> float:
    r"""Return :math:`R=|M-F|^2+N\mathrm{tr}\Sigma_g+\mathrm{tr}(S\Sigma_a)`."""
    n = problem.targets.shape[0]
    gap = block.intermediate - project(problem, block)
    return float(np.sum(gap * gap) + n * np.trace(block.covariance) + block.trace)


def output_residual(
    output: Output, samples: SampleWeights, kernels: KernelWeights, target: np.ndarray
) -> float:
    r"""Return :math:`T=\sum_i\langle(t_i-b-e^\top g_i)^2\rangle`."""
    n, centre = len(target), samples.intermediate
    gap = target - output.bias - kernels.mean @ centre
    value = gap @ gap + n * output.bias_variance
    value += 2.0 * output.bias_cross @ centre.sum(axis=1)
    value += np.sum(kernels.covariance * (centre @ centre.T))
    return float(value + n * np.sum(kernels.second * samples.covariance))


def update_sample_weights(problem: Problem, block: SampleWeights, learn_noise: bool) -> None:
    """Update precisions of the weights, of the intermediate outputs, and the weights (1 to 3)."""
    block.precision = block.precision.updated(0.5, 0.5 * (block.mean**2 + block.variance))
    if learn_noise:
        p, _, n = problem.kernels.shape
        half = 0.5 * intermediate_residual(problem, block)
        block.intermediate_precision = block.intermediate_precision.updated(0.5 * p * n, half)
    solve_sample_weights(problem, block)


def solve_sample_weights(problem: Problem, block: SampleWeights) -> None:
    """Update the weights given their precisions (step 3)."""
    precision = block.precision.mean
    noise = float(block.intermediate_precision.mean)
    reach = precision**-0.5
    inner = noise * (reach[:, None] * problem.gram * reach)
    inner[np.diag_indices_from(inner)] += 1.0
    root = cholesky(inner, lower=True)
    spread = solve_triangular(root, np.diag(reach), lower=True)  # C^-1 diag(rho)
    product = np.einsum("mdn,mn->d", problem.kernels, block.intermediate, optimize=True)
    block.mean = noise * (spread.T @ (spread @ product))
    block.root, block.reach = root, reach
    block.variance = np.einsum("cd,cd->d", spread, spread)
    block.trace = float((len(reach) - precision @ block.variance) / noise)
    block.log_determinant = float(2.0 * np.log(reach).sum() - 2.0 * np.log(np.diag(root)).sum())


def update_intermediate(problem: Problem, posterior: Posterior, number: int) -> None:
    """Update the intermediate outputs of one block, given all outputs that use it (step 4)."""
    block = posterior.samples[number]
    noise = float(block.intermediate_precision.mean)
    precision = noise * np.eye(len(problem.kernels))
    pull = noise * project(problem, block)
    for place, output in enumerate(posterior.outputs):
        if output.samples != number:
            continue
        kernels = posterior.kernels[output.kernels]
        weight = float(output.noise_precision.mean)
        target = problem.targets[:, place]
        crossed = output.bias * kernels.mean + output.bias_cross  # E[b e]
        precision += weight * kernels.second
        pull += weight * (np.outer(kernels.mean, target) - crossed[:, None])
    block.covariance = np.linalg.inv(precision)
    block.covariance = 0.5 * (block.covariance + block.covariance.T)
    block.intermediate = block.covariance @ pull


def update_noise(problem: Problem, posterior: Posterior) -> None:
    """Update precisions of biases and kernel weights, and of the noise (5 and 6)."""
    for block in posterior.kernels:
        block.precision = block.precision.updated(0.5, 0.5 * np.diag(block.second))
    for place, output in enumerate(posterior.outputs):
        half = 0.5 * (output.bias**2 + output.bias_variance)
        output.bias_precision = output.bias_precision.updated(0.5, half)
        target = problem.targets[:, place]
        residual = output_residual(
            output, posterior.samples[output.samples], posterior.kernels[output.kernels], target
        )
        output.noise_precision = output.noise_precision.updated(0.5 * len(target), 0.5 * residual)


def update_kernel_weights(problem: Problem, posterior: Posterior, number: int) -> None:
    """Update bias and kernel weights together, the biases eliminated first (step 7)."""
    block = posterior.kernels[number]
    precision = np.diag(block.precision.mean)
    pull = np.zeros(len(precision))
    mine = [
        (problem.targets[:, place], output, posterior.samples[output.samples])
        for place, output in enumerate(posterior.outputs)
        if output.kernels == number
    ]
    sums = []
    for target, output, samples in mine:
        n, weight = len(target), float(output.noise_precision.mean)
        centre = samples.intermediate
        output.conditional_precision = float(output.bias_precision.mean) + n * weight
        total = weight * centre.sum(axis=1)
        sums.append(total)
        precision += weight * (centre @ centre.T + n * samples.covariance)
        precision -= np.outer(total, total) / output.conditional_precision
        pull += weight * (centre @ target)
        pull -= total * (weight * target.sum()) / output.conditional_precision
    block.covariance = np.linalg.inv(precision)
    block.covariance = 0.5 * (block.covariance + block.covariance.T)
    block.mean = block.covariance @ pull
    block.log_determinant = float(-np.linalg.slogdet(precision)[1])
    for (target, output, _), total in zip(mine, sums, strict=True):
        c = output.conditional_precision
        output.bias = (float(output.noise_precision.mean) * target.sum() - total @ block.mean) / c
        output.bias_cross = -block.covariance @ total / c
        output.bias_variance = 1.0 / c + total @ block.covariance @ total / c**2


def sweep(problem: Problem, posterior: Posterior, learn_noise: bool = True) -> None:
    """Carry out all steps once; ``learn_noise``: those of the intermediate outputs' noise, too."""
    for number, block in enumerate(posterior.samples):
        update_sample_weights(problem, block, learn_noise)
        update_intermediate(problem, posterior, number)
    update_noise(problem, posterior)
    for number in range(len(posterior.kernels)):
        update_kernel_weights(problem, posterior, number)
