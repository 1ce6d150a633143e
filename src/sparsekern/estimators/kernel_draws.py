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
_MOVE_NAMES = ("birth", "death", "swap", "length_scale", "joint")


class KernelDrawsEstimator(SamplingEstimator):
    """Keep the draws of a run and offer them as fitted attributes."""

    learn_length_scale: Any

    def _keep(self, run: ChainRun, sampler: Any, response: np.ndarray) -> None:
        """Turn a run into fitted attributes and judge its convergence."""
        self.__dict__.pop("_posterior_tree", None)
        kept = run.kept
        draws = [chain.draws for chain in run.chains]

        def stack(name: str) -> np.ndarray:
            return np.stack([getattr(chain, name)[:kept] for chain in draws])

        counts = stack("n_active")
        width = max(1, int(counts.max()))
        training_rows = stack("rows")[..., :width]
        held = np.arange(width) < counts[..., None]
        rows, inverse = np.unique(training_rows[held], return_inverse=True)
        slots = np.zeros(training_rows.shape, np.int32)
        slots[held] = inverse
        learned = stack("length_scale") if draws[0].length_scale.shape[1] else None
        precomputed = sampler.kernel.precomputed
        self._draws = KernelExpansionPosterior(
            kernel=sampler.kernel,
            likelihood=sampler.model.likelihood,
            rows=rows.astype(np.int64),
            vectors=sampler.features[rows, :0] if precomputed else sampler.features[rows],
            counts=counts,
            slots=slots,
            coefficients=stack("coefficients")[..., :width],
            intercepts=stack("intercept"),
            length_scales=learned,
        )
        self._training = (sampler.features, response)
        self._monitored_rows = sampler.settings.monitored_rows
        self._scalars = self._collect_scalars(stack, counts, learned, sampler)
        sweeps = [chain.sweep for chain in run.chains]
        self._size_traces = [
            chain.size_trace[:done].copy() for chain, done in zip(draws, sweeps, strict=True)
        ]
        self.n_draws_ = kept
        self.active_vectors_ = self._draws.rows
        self.active_probabilities_ = self._draws.active_probabilities(len(response))
        self.length_scale_ = None
        if sampler.kernel.stationary:
            self.length_scale_ = (
                sampler.kernel.length_scale if learned is None else learned.mean(axis=(0, 1))
            )
        tallies = sum(chain.state.tallies for chain in run.chains)
        self.acceptance_rates_ = {
            name: float(accepted / tried)
            for name, (tried, accepted) in zip(_MOVE_NAMES, tallies, strict=True)
            if tried
        }
        self.diagnostics_ = summarize_scalars(self._scalars)
        judged = ["log_likelihood", *(f"probability[{row}]" for row in self._monitored_rows)]
        self._warn_unless_converged(self.diagnostics_, judged, kept)

    def _collect_scalars(
        self, stack: Any, counts: np.ndarray, learned: np.ndarray | None, sampler: Any
    ) -> dict[str, np.ndarray]:
        scalars = {"log_likelihood": stack("log_likelihood")}
        monitored = stack("monitored")
        for q, row in enumerate(sampler.settings.monitored_rows):
            scalars[f"probability[{row}]"] = monitored[..., q]
        scalars["n_active"] = counts.astype(np.float64)
        scalars["scale"] = stack("scale")
        scalars["intercept"] = stack("intercept")
        scalars["intercept_precision"] = stack("intercept_precision")
        if learned is not None:
            if self.learn_length_scale == "shared":
                scalars["length_scale"] = learned[..., 0]
            else:
                names = getattr(self, "feature_names_in_", range(learned.shape[-1]))
                for j, name in enumerate(names):
                    scalars[f"length_scale[{name}]"] = learned[..., j]
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

    def _make_tree(self) -> Any:
        from arviz_base import from_dict  # heavy: only when asked for

        draws = self._draws
        posterior = {name: values for name, values in self._scalars.items() if "[" not in name}
        posterior["probability"] = np.stack(
            [self._scalars[f"probability[{row}]"] for row in self._monitored_rows], axis=-1
        )
        coords: dict[str, Any] = {"monitored_row": self._monitored_rows}
        dims = {"probability": ["monitored_row"]}
        if draws.length_scales is not None and "length_scale" not in posterior:
            posterior["length_scale"] = draws.length_scales
            dims["length_scale"] = ["feature"]
            names = getattr(self, "feature_names_in_", None)
            coords["feature"] = np.arange(draws.length_scales.shape[-1]) if names is None else names
        held = np.arange(draws.slots.shape[-1]) < draws.counts[..., None]
        groups = {
            "posterior": posterior,
            "sparse_coefficients": {
                "training_row": np.where(held, np.append(draws.rows, -1)[draws.slots], -1),
                "coefficient": np.where(held, draws.coefficients, 0.0),
            },
            "observed_data": {"y": self._training[1]},
        }
        dims |= {"training_row": ["slot"], "coefficient": ["slot"], "y": ["row"]}
        if draws.n_draws * len(self._training[1]) <= _MOST_POINTWISE:
            groups["log_likelihood"] = {"y": self.pointwise_log_likelihood()}
        return from_dict(groups, coords=coords, dims=dims)
