"""From a run of the kernel projection model to its posterior."""

from __future__ import annotations

import numpy as np

from ...posteriors.names import Names
from ...posteriors.projection import ProjectionPosterior
from ...posteriors.sampled import SampledPosterior
from ..chains.collected import make_record, stacked
from ..chains.plan import Plan
from ..chains.runner import ChainRun
from .projections import KernelRows, Projection
from .sampler import KernelProjectionSampler

MOVES = ("scale", "path")  # rows of the tallies


def collect(
    run: ChainRun,
    plan: Plan,
    sampler: KernelProjectionSampler,
    names: Names,
    *,
    sources: tuple[Projection | KernelRows, ...],
    factors: tuple[float, ...],
    used_rows: np.ndarray,
    power: float,
    geometric: bool,
    predictive_noise: bool,
) -> SampledPosterior:
    """Return the posterior that a run has sampled.

    Parameters
    ----------
    run : ChainRun
    plan : Plan
    sampler : KernelProjectionSampler
    names : Names
    sources, factors, power, geometric
        As in :class:`ProjectionPosterior`.
    used_rows : ndarray of int
        The training rows that are data.
    predictive_noise : bool
        Whether predictions have the noise of the latent functions.
    """
    priors = sampler.priors
    coefficients, variance = stacked(run, "coefficients"), stacked(run, "noise_variance")
    noise = None
    if predictive_noise:
        standard = np.random.default_rng(0).standard_normal(coefficients.shape[:3])
        noise = np.sqrt(variance)[..., None] * standard
    draws = ProjectionPosterior(
        sources,
        factors,
        coefficients,
        priors.intercept,
        priors.reference,
        noise,
        power,
        geometric,
        scales=None if priors.model == "latent_noise" else stacked(run, "scales"),
        noise_variances=None if priors.model == "polya_gamma" else variance,
        included=stacked(run, "included") if priors.average else None,
        used=stacked(run, "used") if priors.select_kernels else None,
    )
    return SampledPosterior(
        draws=draws,
        names=names,
        record=make_record(run, plan, MOVES, {}),
        features=None,  # the sources have them
        response=sampler.settings.labels,
        used_rows=used_rows,
        log_likelihood=stacked(run, "log_likelihood"),
        monitored_name="probability",
        monitored_rows=used_rows[sampler.monitored_rows],
        monitored=stacked(run, "monitored"),
    )
