"""Fitted attributes of the kernel projection classifier."""

from __future__ import annotations

import numpy as np

from ...inference.kernel_projection.projections import Projection
from ...inference.kernel_projection.search import Decisions
from ..shared.draws import DrawsEstimator


class ProjectionDraws(DrawsEstimator):
    """Offer the draws of a run, and what was decided before it, as fitted attributes."""

    def _set_attributes(self) -> None:
        draws = self._draws
        for name in ("inclusion_probabilities_", "kernel_inclusion_", "kernel_scales_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        included = draws.included_components()
        if included is not None:
            self.inclusion_probabilities_ = included.mean(axis=(0, 1))
        if draws.scales is not None:
            self.kernel_scales_ = np.median(draws.scales, axis=(0, 1))
        if draws.used is not None:
            self.kernel_inclusion_ = draws.used.mean(axis=(0, 1))

    def _is_decisive(self, name: str) -> bool:
        """Scales count too where they say which kernels have a part."""
        selecting = self._draws.used is not None and name.startswith("scale")
        return selecting or super()._is_decisive(name)

    def _set_decided(self, decided: Decisions) -> None:
        sources = decided.sources
        self.inference_ = decided.priors.model
        self.sharpness_ = decided.power
        self.n_components_ = sum(source.training.shape[1] for source in sources)
        self._n_features_out = self.n_components_
        for name in ("eigenvalues_", "utility_", "widths_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        values = [source.eigenvalues for source in sources if isinstance(source, Projection)]
        if values:
            self.eigenvalues_ = np.concatenate(values)
        kernels = [source.kernel for source in sources]
        self.length_scale_ = None
        if any(kernel.stationary for kernel in kernels):
            scales = np.stack([kernel.length_scale for kernel in kernels])
            self.length_scale_ = scales if len(kernels) > 1 else scales[0]
        if decided.utility is not None:
            self.utility_ = decided.utility
        if decided.widths is not None:
            self.widths_ = decided.widths
