"""Vectors and kernels that have no part in the fit any more are left out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..gamma_factor import GammaFactor
from .posterior import Output, Posterior, SampleWeights
from .updates import Problem, solve_sample_weights

# Precisions of dead weights grow without end, but slowly. Both limits are one per cent in size.
_PRECISION_RATIO = 1e4  # of a vector's to the least
_NEGLIGIBLE = 1e-4  # of the largest E[e^2] Var(g)


@dataclass(frozen=True)
class Kept:
    """Places, among all, of the kernels and vectors that are left."""

    kernels: np.ndarray
    vectors: np.ndarray


def prune(
    problem: Problem, posterior: Posterior, kept: Kept
) -> tuple[Problem, Posterior, Kept] | None:
    """Return the smaller model, or None where nothing is dead; its bound begins anew.

    A vector goes where its weight is negligible in every block, a kernel where its
    contribution is negligible in every block.
    """
    ratios = [block.precision.mean / block.precision.mean.min() for block in posterior.samples]
    rows = np.min(ratios, axis=0) < _PRECISION_RATIO
    size = np.zeros(len(kept.kernels))
    for output in posterior.outputs:
        block = posterior.samples[output.samples]
        spread = block.intermediate.var(axis=1) + np.diag(block.covariance)
        size = np.maximum(size, np.diag(posterior.kernels[output.kernels].second) * spread)
    kernels = size > _NEGLIGIBLE * size.max()
    if kernels.all() and rows.all():
        return None
    smaller = problem.restricted(kernels, rows)
    samples = [_samples(block, kernels, rows) for block in posterior.samples]
    solve_sample_weights(smaller, samples)
    weights = [
        replace(
            block,
            precision=_some(block.precision, kernels),
            mean=block.mean[kernels],
            covariance=block.covariance[np.ix_(kernels, kernels)],
            log_determinant=float(np.linalg.slogdet(block.covariance[np.ix_(kernels, kernels)])[1]),
        )
        for block in posterior.kernels
    ]
    outputs: list[Output] = [
        replace(output, bias_cross=output.bias_cross[kernels]) for output in posterior.outputs
    ]
    left = Kept(kept.kernels[kernels], kept.vectors[rows])
    return smaller, Posterior(samples, weights, outputs), left


def _some(factor: GammaFactor, chosen: np.ndarray) -> GammaFactor:
    return replace(factor, shape=factor.shape[chosen], scale=factor.scale[chosen])


def _samples(block: SampleWeights, kernels: np.ndarray, rows: np.ndarray) -> SampleWeights:
    return replace(
        block,
        precision=_some(block.precision, rows),
        mean=block.mean[rows],
        variance=block.variance[rows],
        intermediate=block.intermediate[kernels],
        projection=block.projection[kernels],
        covariance=block.covariance[np.ix_(kernels, kernels)],
    )
