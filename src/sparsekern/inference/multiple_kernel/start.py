"""Where a fit starts, and the change of scale that the model leaves open."""

from __future__ import annotations

import math

import numpy as np

from .gamma_factor import GammaFactor
from .posterior import Hyperpriors, KernelWeights, Output, Posterior, SampleWeights
from .updates import Problem, solve_sample_weights

KERNEL_WEIGHTS, SAMPLE_WEIGHTS = "kernel_weights", "sample_weights"


def start_posterior(
    problem: Problem, share: str, hyperpriors: Hyperpriors, rng: np.random.Generator
) -> Posterior:
    """Return intermediate outputs near the targets, all kernels alike, every factor proper."""
    p, d, n = problem.kernels.shape
    n_outputs = problem.targets.shape[1]
    several = share == KERNEL_WEIGHTS
    samples = []
    for number in range(n_outputs if several else 1):
        centre = problem.targets[:, number] if several else problem.targets.mean(axis=1)
        block = SampleWeights(
            precision=GammaFactor.start(d, (1.0, 1.0)),
            mean=np.zeros(d),
            root=np.eye(d),
            reach=np.ones(d),
            variance=np.ones(d),
            trace=float(np.trace(problem.gram)),
            log_determinant=0.0,
            intermediate=centre / p + rng.standard_normal((p, n)),
            covariance=np.eye(p),
            intermediate_precision=GammaFactor.start((), (1.0, 1.0)),
        )
        solve_sample_weights(problem, block)
        samples.append(block)
    kernels = [
        KernelWeights(GammaFactor.start(p, (1.0, 1.0)), np.ones(p), np.eye(p), 0.0)
        for _ in range(1 if several else n_outputs)
    ]
    outputs = [
        Output(
            samples=number if several else 0,
            kernels=0 if several else number,
            bias=0.0,
            bias_variance=1.0,
            bias_cross=np.zeros(p),
            bias_precision=GammaFactor.start((), hyperpriors.bias),
            noise_precision=GammaFactor.start((), hyperpriors.noise),
        )
        for number in range(n_outputs)
    ]
    posterior = Posterior(samples, kernels, outputs)
    set_hyperpriors(posterior, hyperpriors)
    return posterior


def set_hyperpriors(posterior: Posterior, hyperpriors: Hyperpriors) -> None:
    """Give all factors these priors and leave the factors as they are."""
    for block in posterior.samples:
        factor = block.precision
        block.precision = GammaFactor(factor.shape, factor.scale, hyperpriors.sample)
        noise = block.intermediate_precision
        block.intermediate_precision = GammaFactor(
            noise.shape, noise.scale, hyperpriors.intermediate
        )
    for kernels in posterior.kernels:
        factor = kernels.precision
        kernels.precision = GammaFactor(factor.shape, factor.scale, hyperpriors.kernel)


def scale_step(posterior: Posterior) -> float:
    r"""Choose the scale that the likelihood leaves open; never lowers the bound.

    Maps :math:`(a,G)\to c(a,G)`, :math:`e\to e/c` with their precisions; predictions stay.
    """
    samples, kernels = posterior.samples, posterior.kernels
    up = sum(
        float(block.precision.mean.sum()) / block.precision.prior[1]
        + float(block.intermediate_precision.mean) / block.intermediate_precision.prior[1]
        for block in samples
    )
    down = sum(float(block.precision.mean.sum()) / block.precision.prior[1] for block in kernels)
    kappa = sum(block.precision.prior[0] * len(block.mean) for block in kernels)
    kappa -= sum(
        block.precision.prior[0] * len(block.mean) + block.intermediate_precision.prior[0]
        for block in samples
    )
    root = math.sqrt(kappa * kappa + 4.0 * up * down)
    square = (kappa + root) / (2.0 * down) if kappa >= 0 else 2.0 * up / (root - kappa)
    c = math.sqrt(square)
    for block in samples:
        block.mean = c * block.mean
        block.reach = c * block.reach
        block.variance = square * block.variance
        block.trace *= square
        block.log_determinant += 2.0 * len(block.mean) * math.log(c)
        block.intermediate = c * block.intermediate
        block.covariance = square * block.covariance
        block.precision = block.precision.rescaled(1.0 / square)
        block.intermediate_precision = block.intermediate_precision.rescaled(1.0 / square)
    for weights in kernels:
        weights.mean = weights.mean / c
        weights.covariance = weights.covariance / square
        weights.log_determinant -= 2.0 * len(weights.mean) * math.log(c)
        weights.precision = weights.precision.rescaled(square)
    for output in posterior.outputs:
        output.bias_cross = output.bias_cross / c
    return c
