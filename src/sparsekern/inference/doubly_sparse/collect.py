"""From a run of the doubly-sparse model to its posterior."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...posteriors.feature_expansion import FeatureExpansionPosterior
from ...posteriors.names import Names
from ...posteriors.sampled import SampledPosterior
from ..chains.collected import expansion_parts, make_record, stacked
from ..chains.plan import Plan
from ..chains.runner import ChainRun
from .sampler import DoublySparseSampler
from .sweep import MOVES


class TrainingRows(NamedTuple):
    """All training rows, and which of them and of their features a sampler sees."""

    every: np.ndarray  # float64[n, p]
    used: np.ndarray  # int64[m], rows that are data
    screened: np.ndarray  # int64[q], features

    def seen_in_full(self) -> np.ndarray:
        """Return the rows that are data, with all features."""
        return self.every if len(self.used) == len(self.every) else self.every[self.used]


def collect(
    run: ChainRun, plan: Plan, sampler: DoublySparseSampler, names: Names, training: TrainingRows
) -> SampledPosterior:
    """Return the posterior that a run has sampled, in terms of all rows and all features.

    Parameters
    ----------
    run : ChainRun
    plan : Plan
    sampler : DoublySparseSampler
    names : Names
        Of the training data, with classes where the responses are classes.
    training : TrainingRows
    """
    shared = expansion_parts(run, training.used[stacked(run, "rows")])
    counts, slab = stacked(run, "n_features"), stacked(run, "slab")
    width = max(1, int(counts.max()))
    draws = FeatureExpansionPosterior(
        likelihood=sampler.model.likelihood,
        vectors=np.ascontiguousarray(training.every[shared["rows"]]),
        **shared,
        kind=sampler.model.kind,
        n_inputs=training.every.shape[1],
        slab_variances=stacked(run, "variances")[..., 1],
        n_features=counts,
        features=training.screened[stacked(run, "features")[..., :width]].astype(np.int32),
        bandwidths=stacked(run, "bandwidths")[..., :width],
        slab=slab if slab.shape[-1] else None,
    )
    return SampledPosterior(
        draws=draws,
        names=names,
        record=make_record(run, plan, MOVES, sampler.limits),
        features=training.seen_in_full(),
        response=sampler.response,
        used_rows=training.used,
        log_likelihood=stacked(run, "log_likelihood"),
        monitored_name="mean" if names.classes is None else "probability",
        monitored_rows=training.used[sampler.monitored_rows],
        monitored=stacked(run, "monitored"),
    )
