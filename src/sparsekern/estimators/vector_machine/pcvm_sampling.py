"""Posterior draws of the probabilistic classification vector machine."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from ...inference.chains.plan import Plan
from ...inference.chains.runner import ChainRun
from ...inference.vector_machine.collect import KernelSampler, collect
from ...posteriors.names import Names
from ...posteriors.sampled import SampledPosterior
from ..shared.one_vs_rest import OneVsRestEstimator


class SampledPCVM(OneVsRestEstimator):
    """Chains with all candidates at one width; made by PCVMClassifier, not by its users."""

    _spoken_name = "PCVMClassifier"

    def __init__(
        self, draws, tune, chains, thin, warm_start, checkpoint, progress, n_jobs, random_state
    ) -> None:
        self.draws = draws
        self.tune = tune
        self.chains = chains
        self.thin = thin
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def check(self) -> Plan:
        """Return the plan; refuses parameters that make none."""
        return self._check_sampling_parameters()

    def fit(
        self,
        samplers: list[KernelSampler],
        classes: np.ndarray,
        codes: np.ndarray,
        rows: np.ndarray | None,
        features: np.ndarray | None,
    ) -> None:
        """Run the chains of one model, or of each class against the rest, and keep them.

        ``rows`` and ``features`` are the names of rows and features, where they have some.
        """
        self.classes_ = classes
        numbers = codes if len(samplers) > 1 else codes > 0
        self._names = Names(classes[numbers.astype(np.intp)], rows, features, classes)
        if len(samplers) > 1:
            self._run_one_vs_rest(samplers, self.check())
        else:
            run = self._sample(samplers, self.check())[0]
            self._keep(self._collect(run, samplers[0], self._names))

    def _collect(self, run: ChainRun, sampler: Any, names: Names) -> SampledPosterior:
        return collect(run, self._plan, sampler, names)

    def _combine_attributes(self, members: list[Any]) -> None:
        """Nothing besides the attributes of all models."""


def open_chains(estimator: Any) -> SampledPCVM:
    """Return the chains that a PCVMClassifier asks for, or those to go on with; not yet run."""
    names = (
        "draws", "tune", "chains", "thin", "warm_start", "checkpoint", "progress", "n_jobs",
        "random_state",
    )  # fmt: skip
    options = {name: getattr(estimator, name) for name in names}
    earlier = getattr(estimator, "_sampled", None) if estimator.warm_start else None
    sampled = SampledPCVM(**options) if earlier is None else copy(earlier).set_params(**options)
    sampled.check()
    return sampled
