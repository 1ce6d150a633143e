"""Fitted attributes of estimators whose posterior is a sparse kernel expansion."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..inference.diagnostics import summarize_scalars
from ..inference.mcmc.chains import ChainRun
from ..posterior import KernelExpansionPosterior
from .sampling import SamplingEstimator

_MOST_POINTWISE = 20_000_000  # numbers; beyond, the pointwise log-likelihood is made on demand
_MOVE_NAMES = ("birth", "death", "swap", "length_scale", "joint", "amplitude")


class KernelDrawsEstimator(SamplingEstimator):
    """Keep the draws of a run and offer them as fitted attributes."""

    learn_length_scale: Any
    _draws: Any  # KernelExpansionPosterior, or what answers like one
    _monitored_name = "probability"  # what is followed at a few training rows

    def _keep(self, run: ChainRun, sampler: Any, response: np.ndarray) -> None:
        """Turn a run into fitted attributes and judge its convergence."""
        self._record(run, sampler, response)
        self.diagnostics_ = summarize_scalars(self._scalars)
        self._warn_about_convergence()

    def _warn_about_convergence(self) -> None:
        """Judge by the log-likelihood and by what is followed at a few training rows."""
        deciding = ("log_likelihood", self._monitored_name)
        judged = [name for name in self._scalars if name.partition("[")[0] in deciding]
        self._warn_unless_converged(self.diagnostics_, judged, self.n_draws_)

    def _record(self, run: ChainRun, sampler: Any, response: np.ndarray) -> None:
        """Turn a run into fitted attributes."""
        self.__dict__.pop("_posterior_tree", None)
        kept = run.kept
        draws = [chain.draws for chain in run.chains]

        def stack(name: str) -> np.ndarray:
            return np.stack([getattr(chain, name)[:kept] for chain in draws])

        self._draws = self._collect_draws(stack, sampler)
        self._training = (sampler.features, response)
        self._monitored_rows = sampler.monitored_rows
        self._scalars = self._collect_scalars(stack)
        sweeps = [chain.sweep for chain in run.chains]
        self._size_traces = [
            chain.size_trace[:done].copy() for chain, done in zip(draws, sweeps, strict=True)
        ]
        self.n_draws_ = kept
        self.active_vectors_ = self._draws.rows
        self.active_probabilities_ = self._draws.active_probabilities(len(response))
        self.length_scale_ = self._mean_length_scale()
        if len(self._draws.kernels) > 1:
            amplitudes = np.sqrt(stack("variances")[..., 1:])
            self.kernel_weights_ = amplitudes.mean(axis=(0, 1))
            self.kernel_inclusion_ = (amplitudes > 0).mean(axis=(0, 1))
        tallies = sum(chain.state.tallies for chain in run.chains)
        self.acceptance_rates_ = {
            name: float(accepted / tried)
            for name, (tried, accepted) in zip(_MOVE_NAMES, tallies, strict=True)
            if tried
        }

    def _collect_draws(self, stack: Any, sampler: Any) -> KernelExpansionPosterior:
        kernels = sampler.model.kernels
        counts = stack("n_active")
        width = max(1, int(counts.max()))
        training_rows = sampler.layout.training_row[stack("rows")[..., :width]]
        held = np.arange(width) < counts[..., None]
        rows, inverse = np.unique(training_rows[held], return_inverse=True)
        slots = np.zeros(training_rows.shape, np.int32)
        slots[held] = inverse
        coefficients = stack("coefficients")[..., : width * len(kernels)]
        learned = stack("length_scale")
        precomputed = kernels[0].precomputed
        return KernelExpansionPosterior(
            kernels=kernels,
            likelihood=sampler.model.likelihood,
            rows=rows.astype(np.int64),
            vectors=sampler.features[rows, :0] if precomputed else sampler.features[rows],
            counts=counts,
            slots=slots,
            coefficients=coefficients.reshape(*coefficients.shape[:3], width, len(kernels)),
            intercepts=stack("intercept"),
            length_scales=learned if learned.shape[-1] else None,
            noise_variances=stack("noise_variance"),
            parameters=stack("parameters"),
        )

    def _mean_length_scale(self) -> np.ndarray | None:
        kernels, learned = self._draws.kernels, self._draws.length_scales
        if not any(kernel.stationary for kernel in kernels):
            return None
        scales = np.stack([kernel.length_scale for kernel in kernels])
        if learned is not None:
            scales = learned.mean(axis=(0, 1))
        return scales if len(kernels) > 1 else scales[0]

    def _collect_scalars(self, stack: Any) -> dict[str, np.ndarray]:
        draws = self._draws
        scalars = {"log_likelihood": stack("log_likelihood")}
        monitored = stack("monitored")
        for q, row in enumerate(self._monitored_rows):
            scalars[f"{self._monitored_name}[{row}]"] = monitored[..., q]
        scalars["n_active"] = draws.counts.astype(np.float64)
        variances = stack("variances")
        if len(draws.kernels) == 1:
            scalars["scale"] = 1.0 / variances[..., 1]
        else:
            for number in range(len(draws.kernels)):
                scalars[f"amplitude[{number}]"] = np.sqrt(variances[..., number + 1])
        if draws.n_latents == 1:
            scalars["intercept"] = draws.intercepts[..., 0]
        scalars["intercept_precision"] = 1.0 / variances[..., 0]
        if "learned noise" in draws.likelihood.provides:
            scalars["noise_variance"] = draws.noise_variances
        for number, name in enumerate(getattr(draws.likelihood, "parameter_names", ())):
            scalars[name] = draws.parameters[..., number]
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

    def pointwise_log_likelihood(self) -> np.ndarray:
        """Return the log-likelihood of every training row under every draw.

        Returns
        -------
        ndarray of shape (chains, draws, n_samples)
            Part of ``posterior_`` unless it holds over 2e7 numbers; then it is made only here.
        """
        check_is_fitted(self, "n_draws_")
        return self._draws.pointwise_log_likelihood(*self._training)

    @property
    def posterior_(self) -> Any:
        """Draws as an xarray.DataTree for ArviZ; built when first asked for."""
        check_is_fitted(self, "n_draws_")
        if "_posterior_tree" not in self.__dict__:
            self._posterior_tree = self._make_tree()
        return self._posterior_tree

    def _pointwise_is_small(self) -> bool:
        return self._draws.n_draws * len(self._training[1]) <= _MOST_POINTWISE

    def _make_tree(self, pointwise: bool = True) -> Any:
        from arviz_base import from_dict  # heavy: only when asked for

        draws, monitored = self._draws, self._monitored_name
        posterior = {name: values for name, values in self._scalars.items() if "[" not in name}
        posterior[monitored] = np.stack(
            [self._scalars[f"{monitored}[{row}]"] for row in self._monitored_rows], axis=-1
        )
        coords: dict[str, Any] = {"monitored_row": self._monitored_rows}
        dims = {monitored: ["monitored_row"]}
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
        if draws.n_latents > 1:
            posterior["intercept"] = draws.intercepts
            dims["intercept"] = ["contrast"]
        held = np.arange(draws.slots.shape[-1]) < draws.counts[..., None]
        coefficients = np.where(held[:, :, None, :, None], draws.coefficients, 0.0)
        axes = ["contrast", "slot", "kernel"]
        kept = [axis for axis, size in zip(axes, coefficients.shape[2:], strict=True)
                if axis == "slot" or size > 1]  # fmt: skip
        groups = {
            "posterior": posterior,
            "sparse_coefficients": {
                "training_row": np.where(held, np.append(draws.rows, -1)[draws.slots], -1),
                "coefficient": coefficients.reshape(
                    *held.shape[:2],
                    *(
                        size
                        for axis, size in zip(axes, coefficients.shape[2:], strict=True)
                        if axis in kept
                    ),
                ),
            },
            "observed_data": {"y": self._training[1]},
        }
        dims |= {"training_row": ["slot"], "coefficient": kept, "y": ["row"]}
        if pointwise and self._pointwise_is_small():
            groups["log_likelihood"] = {"y": self.pointwise_log_likelihood()}
        return from_dict(groups, coords=coords, dims=dims)
