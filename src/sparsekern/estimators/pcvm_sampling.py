"""Posterior draws of the probabilistic classification vector machine."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ..inference._contract import Plan
from ..inference.vector_machine.gibbs import GibbsSampler
from ..kernels.resolve import Kernel
from ..likelihoods import Probit
from ..posterior import KernelExpansionPosterior
from .draws import DrawsEstimator


class SampledPCVM(DrawsEstimator):
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

    def fit(
        self, kernel: Kernel, features: np.ndarray, rows: np.ndarray, sampler: GibbsSampler
    ) -> None:
        """Run the chains and keep them."""
        self._kernel, self._rows, self._features = kernel, rows, features
        self._keep(self._sample([sampler], self.check())[0], sampler, sampler.response)

    def _training_data(self, sampler: Any) -> tuple[np.ndarray, np.ndarray]:
        return self._features, sampler.response

    def _vectors(self, sampler: Any, rows: np.ndarray) -> np.ndarray:
        return self._features[rows] if not self._kernel.precomputed else np.empty((len(rows), 0))

    def _collect_draws(self, stack: Any, sampler: Any) -> KernelExpansionPosterior:
        known = SimpleNamespace(model=SimpleNamespace(likelihood=Probit()))
        shared = self._collect_expansion(stack, self._rows[stack("rows")], 1, known)
        return KernelExpansionPosterior(**shared, kernels=(self._kernel,), length_scales=None)

    def _collect_attributes(self, stack: Any) -> None:
        pass
