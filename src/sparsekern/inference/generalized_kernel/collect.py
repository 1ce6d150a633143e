"""From a run of the generalized kernel model to its posterior."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from ...posteriors.integrated_states import KernelStatePosterior
from ...posteriors.kernel_expansion import KernelExpansionPosterior
from ...posteriors.names import Names
from ...posteriors.sampled import SampledPosterior
from ..chains.collected import expansion_parts, make_record, stacked
from ..chains.plan import Plan
from ..chains.runner import ChainRun
from ..moves.length_scale import SHARED
from .sampler import GeneralizedKernelSampler

# rows of the tallies
MOVES = ("birth", "death", "swap", "length_scale", "joint", "amplitude", "block")


def collect(
    run: ChainRun, plan: Plan, sampler: GeneralizedKernelSampler, names: Names
) -> SampledPosterior:
    """Return the posterior that a run has sampled.

    Parameters
    ----------
    run : ChainRun
    plan : Plan
    sampler : GeneralizedKernelSampler
    names : Names
        Of the training data, with classes where the responses are classes.
    """
    draws = _expansion(run, sampler)
    return SampledPosterior(
        draws=_with_states(run, sampler, draws) if sampler.keep_states else draws,
        names=names,
        record=make_record(run, plan, MOVES, sampler.limits),
        features=sampler.features,
        response=sampler.response,
        used_rows=np.arange(len(sampler.response)),
        log_likelihood=stacked(run, "log_likelihood"),
        monitored_name="mean" if names.classes is None else "probability",
        monitored_rows=sampler.monitored_rows,
        monitored=stacked(run, "monitored"),
    )


def _expansion(run: ChainRun, sampler: GeneralizedKernelSampler) -> KernelExpansionPosterior:
    kernels = sampler.model.kernels
    rows = sampler.layout.training_row[stacked(run, "rows")]
    shared = expansion_parts(run, rows, len(kernels))
    vectors = sampler.features[shared["rows"]]
    learned = stacked(run, "length_scale")
    return KernelExpansionPosterior(
        likelihood=sampler.model.likelihood,
        vectors=vectors[:, :0] if kernels[0].precomputed else vectors,
        **shared,
        kernels=kernels,
        length_scales=learned if learned.shape[-1] else None,
        shared_width=sampler.settings.width_mode == SHARED,
        prior_variances=stacked(run, "variances"),
    )


def _with_states(
    run: ChainRun, sampler: GeneralizedKernelSampler, draws: KernelExpansionPosterior
) -> KernelStatePosterior:
    """Return the draws with the law of the functions of every state."""
    sizes = draws.counts.ravel() * len(draws.kernels) + 1
    packed = stacked(run, "packed").reshape(draws.n_draws, -1)
    shared = {field.name: getattr(draws, field.name) for field in fields(draws)}
    return KernelStatePosterior(
        **shared,
        means=stacked(run, "means")[..., : int(sizes.max())],
        packed=tuple(
            row[: size * (size + 1) // 2].copy() for row, size in zip(packed, sizes, strict=True)
        ),
        jitter=sampler.basis.jitter,
    )
