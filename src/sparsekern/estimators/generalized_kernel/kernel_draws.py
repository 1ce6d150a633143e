"""Fitted attributes of the generalized kernel model."""

from __future__ import annotations

from typing import Any

from ...inference.chains.runner import ChainRun
from ...inference.generalized_kernel.collect import collect
from ...posteriors.names import Names
from ...posteriors.sampled import SampledPosterior
from ..shared.draws import ExpansionEstimator


class KernelDrawsEstimator(ExpansionEstimator):
    """Draws of expansions in kernels of fixed or learned width."""

    learn_length_scale: Any

    def _collect(self, run: ChainRun, sampler: Any, names: Names) -> SampledPosterior:
        return collect(run, self._plan, sampler, names)

    def _set_attributes(self) -> None:
        for name in ("kernel_weights_", "kernel_inclusion_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        self.length_scale_ = self._draws.mean_length_scale()
        if len(self._draws.kernels) > 1:
            amplitudes = self._draws.amplitudes()
            self.kernel_weights_ = amplitudes.mean(axis=(0, 1))
            self.kernel_inclusion_ = (amplitudes > 0).mean(axis=(0, 1))
