"""Where a fit starts, and the change of scale that the model leaves open."""

from __future__ import annotations

import math

import numpy as np

from ..gamma_factor import GammaFactor
from .posterior import Hyperpriors, KernelWeights, Output, Posterior, SampleWeights
from .updates import Problem, solve_sample_weights
from .weight_factor import DenseFactor

KERNEL_WEIGHTS, SAMPLE_WEIGHTS = "kernel_weights", "sample_weights"


LATENT_DEVIATION = 0.1  # of intermediate outputs, where outputs are latent


def start_posterior(
    problem: Problem,
    share: str,
    hyperpriors: Hyperpriors,
    rng: np.random.Generator,
    nonnegative: bool = False,
    latent: bool = False,
) -> Posterior:
    """Return intermediate outputs near the targets, all kernels alike, every factor proper.

    With latent outputs the precisions of intermediate outputs and of the noise are known.
    """
    p, d, n = problem.kernels.shape
    n_outputs = problem.targets.shape[1]
    several = share == KERNEL_WEIGHTS
    samples = []
    for number in range(n_outputs if several else 1):
        centre = problem.targets[:, number] if several else problem.targets.mean(axis=1)
        block = SampleWeights(
            precision=GammaFactor.start(d, (1.0, 1.0)),
            mean=np.zeros(d),
            projection=np.zeros((p, n)),
            factor=DenseFactor(np.empty((0, 0)), np.empty(0)),  # solved for below
            variance=np.ones(d),
            trace=0.0,
            log_determinant=0.0,
            intermediate=centre / p + rng.standard_normal((p, n)),
            covariance=np.eye(p),
            intermediate_precision=(
                GammaFactor.known(LATENT_DEVIATION**-2)
                if latent
                else GammaFactor.start((), (1.0, 1.0))
            ),
        )
        samples.append(block)
    solve_sample_weights(problem, samples)
    kernels = [
        KernelWeights(GammaFactor.start(p, (1.0, 1.0)), np.ones(p), np.eye(p), 0.0, nonnegative)
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
            noise_precision=(
                GammaFactor.known(1.0) if latent else GammaFactor.start((), hyperpriors.noise)
            ),
        )
        for number in range(n_outputs)
    ]
    posterior = Posterior(samples, kernels, outputs)
    set_hyperpriors(posterior, hyperpriors)
    return posterior


def set_hyperpriors(posterior: Posterior, hyperpriors: Hyperpriors) -> None:
    """Give all factors these priors and leave the factors as they are."""
    for block in posterior.samples:
        block.precision = block.precision.with_prior(hyperpriors.sample)
        noise = block.intermediate_precision
        block.intermediate_precision = noise.with_prior(hyperpriors.intermediate)
    for kernels in posterior.kernels:
        kernels.precision = kernels.precision.with_prior(hyperpriors.kernel)


def scale_step(posterior: Posterior) -> float:
    r"""Choose the scale that the likelihood leaves open; never lowers the bound.

    Maps :math:`(a,G)\to c(a,G)`, :math:`e\to e/c` with their precisions; predictions stay.
    """
    samples, kernels = posterior.samples, posterior.kernels
    up = down = kappa = 0.0
    for block in samples:
        for factor in (block.precision, block.intermediate_precision):
            assert factor.prior is not None  # what is known has no scale to choose
            up += float(np.sum(factor.mean / factor.prior[1]))
            kappa -= factor.prior[0] * factor.mean.size
    for weights in kernels:
        assert weights.precision.prior is not None
        down += float(np.sum(weights.precision.mean / weights.precision.prior[1]))
        kappa += weights.precision.prior[0] * len(weights.mean)
    root = math.sqrt(kappa * kappa + 4.0 * up * down)
    square = (kappa + root) / (2.0 * down) if kappa >= 0 else 2.0 * up / (root - kappa)
    c = math.sqrt(square)
    for block in samples:
        block.mean = c * block.mean
        block.projection = c * block.projection
        block.factor = block.factor.rescaled(c)
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
        weights.entropy -= len(weights.mean) * math.log(c)
        weights.precision = weights.precision.rescaled(square)
    for output in posterior.outputs:
        output.bias_cross = output.bias_cross / c
    return c
