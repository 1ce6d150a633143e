"""Fitted attributes of the generalized kernel model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...posteriors.kernel_expansion import KernelExpansionPosterior
from ..shared.draws import DrawsEstimator


class KernelDrawsEstimator(DrawsEstimator):
    """Draws of expansions in kernels of fixed or learned width."""

    learn_length_scale: Any
    _move_names = ("birth", "death", "swap", "length_scale", "joint", "amplitude")

    def _collect_draws(self, stack: Any, sampler: Any) -> KernelExpansionPosterior:
        kernels = sampler.model.kernels
        rows = sampler.layout.training_row[stack("rows")]
        shared = self._collect_expansion(stack, rows, len(kernels), sampler)
        if kernels[0].precomputed:
            shared["vectors"] = shared["vectors"][:, :0]
        learned = stack("length_scale")
        return KernelExpansionPosterior(
            **shared, kernels=kernels, length_scales=learned if learned.shape[-1] else None
        )

    def _collect_attributes(self, stack: Any) -> None:
        self.length_scale_ = self._mean_length_scale()
        for name in ("kernel_weights_", "kernel_inclusion_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if len(self._draws.kernels) > 1:
            amplitudes = np.sqrt(stack("variances")[..., 1:])
            self.kernel_weights_ = amplitudes.mean(axis=(0, 1))
            self.kernel_inclusion_ = (amplitudes > 0).mean(axis=(0, 1))

    def _mean_length_scale(self) -> np.ndarray | None:
        kernels, learned = self._draws.kernels, self._draws.length_scales
        if not any(kernel.stationary for kernel in kernels):
            return None
        scales = np.stack([kernel.length_scale for kernel in kernels])
        if learned is not None:
            scales = learned.mean(axis=(0, 1))
        return scales if len(kernels) > 1 else scales[0]

    def _collect_scalars(self, stack: Any) -> dict[str, np.ndarray]:
        scalars = super()._collect_scalars(stack)
        draws, variances = self._draws, stack("variances")
        if len(draws.kernels) == 1:
            scalars["scale"] = 1.0 / variances[..., 1]
        else:
            for number in range(len(draws.kernels)):
                scalars[f"amplitude[{number}]"] = np.sqrt(variances[..., number + 1])
        scalars["intercept_precision"] = 1.0 / variances[..., 0]
        if draws.length_scales is not None:
            scalars |= self._width_scalars(draws.length_scales)
        return scalars

    def _width_scalars(self, learned: np.ndarray) -> dict[str, np.ndarray]:
        """Return the learned widths by name; kernels are numbered where there are several."""
        shared = self.learn_length_scale == "shared"
        names = getattr(self, "feature_names_in_", range(learned.shape[-1]))
        scalars = {}
        for number, kernel in enumerate(self._draws.kernels):
            if not kernel.stationary:
                continue
            prefix = [str(number)] if len(self._draws.kernels) > 1 else []
            seen = np.flatnonzero(np.isfinite(kernel.length_scale))
            for j in seen[:1] if shared else seen:
                label = ", ".join(prefix + ([] if shared else [str(names[j])]))
                name = f"length_scale[{label}]" if label else "length_scale"
                scalars[name] = learned[..., number, j]
        return scalars

    def _tree_groups(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        groups, dims, coords = super()._tree_groups()
        draws, posterior = self._draws, groups["posterior"]
        several = len(draws.kernels) > 1
        if several:
            posterior["amplitude"] = np.stack(
                [self._scalars[f"amplitude[{number}]"] for number in range(len(draws.kernels))],
                axis=-1,
            )
            dims["amplitude"] = ["kernel"]
        if draws.length_scales is not None and "length_scale" not in posterior:
            posterior["length_scale"] = (
                draws.length_scales if several else draws.length_scales[:, :, 0]
            )
            dims["length_scale"] = ["kernel", "feature"] if several else ["feature"]
            names = getattr(self, "feature_names_in_", None)
            coords["feature"] = np.arange(draws.length_scales.shape[-1]) if names is None else names
        return groups, dims, coords
