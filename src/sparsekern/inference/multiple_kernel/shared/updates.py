r"""One sweep of coordinate ascent: each step maximises the bound over one factor.

:math:`S=\sum_mK_mK_m^\top` is formed once; in a sweep kernels are touched only by
:math:`F=[\mu_a^\top K_m]_m` and :math:`\sum_mK_mM_{m,:}^\top`, and
:math:`\mathrm{tr}(S\Sigma_a)=(D-\sum\langle\lambda_d\rangle\Sigma_{a,dd})/\langle\upsilon\rangle`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky

from .nonnegative import update_nonnegative_weights
from .posterior import KernelWeights, Output, Posterior, SampleWeights
from .weight_factor import DenseFactor, LowRankFactor


@dataclass(frozen=True)
class Problem:
    """Kernels and targets.

    Attributes
    ----------
    kernels : ndarray of shape (P, D, N)
    gram : ndarray of shape (D, D) or (D, R)
        Sum of K_m K_m', or, ``low_rank``, a matrix U with U U' that sum.
    targets : ndarray of shape (N, L)
    low_rank : bool
    """

    kernels: np.ndarray
    gram: np.ndarray
    targets: np.ndarray
    low_rank: bool = False

    @classmethod
    def of(cls, kernels: np.ndarray, targets: np.ndarray) -> Problem:
        """Return the problem with its Gram matrix; kernels are not copied."""
        gram = np.zeros((kernels.shape[1],) * 2)
        for kernel in kernels:
            gram += kernel @ kernel.T
        return cls(kernels, gram, targets)

    @classmethod
    def of_features(
        cls, kernels: np.ndarray, features: list[np.ndarray], targets: np.ndarray
    ) -> Problem:
        r"""Return the problem of kernels :math:`K_m=Z_mZ_m^\top` of low rank.

        :math:`U=[Z_mL_m]` with :math:`L_mL_m^\top=Z_m^\top Z_m`.
        """
        columns = [z @ cholesky(z.T @ z, lower=True) for z in features]
        return cls(kernels, np.hstack(columns), targets, True)

    def restricted(self, kernels: np.ndarray, rows: np.ndarray) -> Problem:
        """Return the problem of some kernels and vectors."""
        return Problem.of(np.ascontiguousarray(self.kernels[kernels][:, rows]), self.targets)


def project(problem: Problem, means: np.ndarray) -> np.ndarray:
    r"""Return :math:`[\mu_a^\top K_m]_m` of weights side by side (D, B), shape (P, B, N)."""
    return np.matmul(means.T, problem.kernels)


def intermediate_residual(problem: Problem, block: SampleWeights) -> float:
    r"""Return :math:`R=|M-F|^2+N\mathrm{tr}\Sigma_g+\mathrm{tr}(S\Sigma_a)`."""
    n = problem.targets.shape[0]
    gap = block.intermediate - block.projection
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


def update_sample_weights(problem: Problem, blocks: list[SampleWeights]) -> None:
    """Update precisions of the weights, of the intermediate outputs, and the weights (1 to 3)."""
    p, _, n = problem.kernels.shape
    for block in blocks:
        block.precision = block.precision.updated(0.5, 0.5 * (block.mean**2 + block.variance))
        half = 0.5 * intermediate_residual(problem, block)
        block.intermediate_precision = block.intermediate_precision.updated(0.5 * p * n, half)
    solve_sample_weights(problem, blocks)


def solve_sample_weights(problem: Problem, blocks: list[SampleWeights]) -> None:
    """Update the weights given their precisions (step 3); blocks go side by side."""
    together = np.stack([block.intermediate for block in blocks], axis=2)  # (P, N, B)
    products = np.matmul(problem.kernels, together).sum(axis=0)  # (D, B)
    for number, block in enumerate(blocks):
        precision = block.precision.mean
        noise = float(block.intermediate_precision.mean)
        make = LowRankFactor.of if problem.low_rank else DenseFactor.of
        block.factor = make(problem.gram, precision, noise)
        block.mean = noise * block.factor.solve(products[:, number])
        block.variance = block.factor.variances()
        block.trace = float((len(precision) - precision @ block.variance) / noise)
        block.log_determinant = block.factor.log_determinant()
    projections = project(problem, np.column_stack([block.mean for block in blocks]))
    for number, block in enumerate(blocks):
        block.projection = np.ascontiguousarray(projections[:, number])


def update_intermediate(problem: Problem, posterior: Posterior) -> None:
    """Update the intermediate outputs given all outputs that use them (step 4).

    Blocks of one output, which share kernel weights, share one eigendecomposition of E[e e'].
    """
    bases: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for number, block in enumerate(posterior.samples):
        mine = [
            (output, problem.targets[:, place])
            for place, output in enumerate(posterior.outputs)
            if output.samples == number
        ]
        noise = float(block.intermediate_precision.mean)
        pull = noise * block.projection
        for output, target in mine:
            kernels = posterior.kernels[output.kernels]
            weight = float(output.noise_precision.mean)
            crossed = output.bias * kernels.mean + output.bias_cross  # E[b e]
            pull = pull + weight * (np.outer(kernels.mean, target) - crossed[:, None])
        if len(mine) == 1:
            output = mine[0][0]
            if output.kernels not in bases:
                bases[output.kernels] = np.linalg.eigh(posterior.kernels[output.kernels].second)
            values, vectors = bases[output.kernels]
            weight = float(output.noise_precision.mean)
            inverse = 1.0 / (noise + weight * np.maximum(values, 0.0))
            block.covariance = (vectors * inverse) @ vectors.T
        else:
            precision = noise * np.eye(len(problem.kernels))
            for output, _ in mine:
                second = posterior.kernels[output.kernels].second
                precision += float(output.noise_precision.mean) * second
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
    if block.nonnegative:
        update_nonnegative_weights(problem.targets, posterior, number)
        return
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


def sweep(problem: Problem, posterior: Posterior) -> None:
    """Carry out all steps once."""
    update_sample_weights(problem, posterior.samples)
    update_intermediate(problem, posterior)
    update_noise(problem, posterior)
    for number in range(len(posterior.kernels)):
        update_kernel_weights(problem, posterior, number)
