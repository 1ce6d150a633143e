"""Posterior draws of the probabilistic classification vector machine."""

from __future__ import annotations

from copy import copy
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from ...inference.chains.plan import Plan
from ...inference.vector_machine.classification import open_columns
from ...inference.vector_machine.gibbs import GibbsSampler
from ...kernels.resolve import Kernel
from ...likelihoods import Probit
from ...posteriors.kernel_expansion import KernelExpansionPosterior
from ..shared.one_vs_rest import OneVsRestEstimator


class KernelSampler(GibbsSampler):
    """A sampler that knows the kernel and the rows its columns are made of.

    Parameters
    ----------
    kernel : Kernel
    features : ndarray of shape (n, p)
        Training rows, or their kernel matrix.
    rows : ndarray of shape (m,)
        Candidates.
    labels : ndarray of shape (n,)
        -1.0 and +1.0.
    precision_prior : (float, float)
    bias_precision : float
    """

    limits: ClassVar[dict[str, int]] = {}  # any number of candidates may be active

    def __init__(
        self,
        kernel: Kernel,
        features: np.ndarray,
        rows: np.ndarray,
        labels: np.ndarray,
        precision_prior: tuple[float, float],
        bias_precision: float,
    ) -> None:
        self.kernel, self.features, self.rows = kernel, features, rows
        signs = labels[rows]
        columns = open_columns(kernel, features, rows, signs, single=False)
        design = np.ones((len(rows) + 1, len(labels)))
        for number in range(columns.n_blocks):
            chosen, table = columns.block(number)
            design[1:][chosen] = signs[chosen, None] * table
        super().__init__(design, signs, labels, precision_prior, bias_precision)


class SampledPCVM(OneVsRestEstimator):
    """Chains with all candidates at one width; made by PCVMClassifier, not by its users."""

    _move_names = ()
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

    def fit(self, samplers: list[KernelSampler], classes: np.ndarray, codes: np.ndarray) -> None:
        """Run the chains of one model, or of each class against the rest, and keep them."""
        self.classes_ = classes
        if len(samplers) > 1:
            self._run_one_vs_rest(samplers, codes, self.check())
        else:
            self._keep(self._sample(samplers, self.check())[0], samplers[0], codes)

    def _vectors(self, sampler: Any, rows: np.ndarray) -> np.ndarray:
        precomputed = sampler.kernel.precomputed
        return np.empty((len(rows), 0)) if precomputed else sampler.features[rows]

    def _collect_draws(self, stack: Any, sampler: KernelSampler) -> KernelExpansionPosterior:
        known = SimpleNamespace(
            model=SimpleNamespace(likelihood=Probit()),
            kernel=sampler.kernel,
            features=sampler.features,
        )
        shared = self._collect_expansion(stack, sampler.rows[stack("rows")], 1, known)
        return KernelExpansionPosterior(**shared, kernels=(sampler.kernel,), length_scales=None)

    def _collect_attributes(self, stack: Any) -> None:
        """Nothing besides the attributes of all models."""

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
