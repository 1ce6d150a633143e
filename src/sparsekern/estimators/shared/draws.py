"""Fitted attributes of estimators whose posterior is a set of sparse kernel expansions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...inference.chains.runner import ChainRun
from ...inference.diagnostics import summarize_scalars
from .limits import warn_if_limited
from .sampling import SamplingEstimator

_TRACES = {"size_trace": "n_active", "features_trace": "n_features"}  # counts of every sweep
_LIMITED_BY = {"n_active": "max_active", "n_features": "max_features"}
_MOST_POINTWISE = 20_000_000  # numbers; beyond, the pointwise log-likelihood is made on demand


class DrawsEstimator(SamplingEstimator):
    """Keep the draws of a run and offer them as fitted attributes.

    Subclasses say how draws and scalars are collected and what stands in ``posterior_``.
    """

    _draws: Any  # ExpansionPosterior, or what answers like one
    _scalars: dict[str, np.ndarray]
    _training: tuple[np.ndarray, np.ndarray]
    _monitored_name = "probability"  # what is followed at a few training rows
    _move_names: tuple[str, ...]  # by row of the chains' tallies
    _limits: dict[str, int]  # the most that chains allow of a count, where there could be more

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
        for count, most in self._limits.items():
            draws = [
                values for name, values in self._scalars.items() if name.partition("[")[0] == count
            ]
            share = max(float(np.mean(values >= most)) for values in draws)
            warn_if_limited(_LIMITED_BY[count], most, share)

    def _record(self, run: ChainRun, sampler: Any, response: np.ndarray) -> None:
        """Turn a run into fitted attributes."""
        self.__dict__.pop("_posterior_tree", None)
        kept = run.kept
        draws = [chain.draws for chain in run.chains]

        def stack(name: str) -> np.ndarray:
            return np.stack([getattr(chain, name)[:kept] for chain in draws])

        self._limits = sampler.limits
        self._training = self._training_data(sampler)
        self._monitored_rows = self._row_numbers(sampler.monitored_rows)
        self._draws = self._collect_draws(stack, sampler)
        self._scalars = self._collect_scalars(stack)
        sweeps = [chain.sweep for chain in run.chains]
        self._traces = {
            name: [
                getattr(chain, part)[:done].copy()
                for chain, done in zip(draws, sweeps, strict=True)
            ]
            for part, name in _TRACES.items()
            if part in draws[0]._fields
        }
        self.n_draws_ = kept
        self.active_probabilities_ = self._draws.active_probabilities(len(response))
        self.active_vectors_ = np.flatnonzero(self.active_probabilities_)
        tallies = sum(chain.state.tallies for chain in run.chains)
        self.acceptance_rates_ = {
            name: float(accepted / tried)
            for name, (tried, accepted) in zip(self._move_names, tallies, strict=True)
            if tried
        }
        self._collect_attributes(stack)

    def _training_data(self, sampler: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows that made the likelihood, as predictions see them, and responses."""
        return sampler.features, sampler.response

    def _row_numbers(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers that rows of the sampler have in the training data."""
        return rows

    def _collect_draws(self, stack: Any, sampler: Any) -> Any:
        """Return the posterior made of stacked draws."""
        raise NotImplementedError

    def _collect_attributes(self, stack: Any) -> None:
        """Set the fitted attributes that belong to this kind of model."""
        raise NotImplementedError

    def _collect_expansion(
        self, stack: Any, training_rows: np.ndarray, n_kernels: int, sampler: Any
    ) -> dict[str, Any]:
        """Return what every expansion keeps; ``training_rows`` are those of the stacked draws."""
        counts = stack("n_active")
        width = max(1, int(counts.max()))
        training_rows = training_rows[..., :width]
        held = np.arange(width) < counts[..., None]
        rows, inverse = np.unique(training_rows[held], return_inverse=True)
        slots = np.zeros(training_rows.shape, np.int32)
        slots[held] = inverse
        coefficients = stack("coefficients")[..., : width * n_kernels]
        return {
            "likelihood": sampler.model.likelihood,
            "rows": rows.astype(np.int64),
            "vectors": self._vectors(sampler, rows),
            "counts": counts,
            "slots": slots,
            "coefficients": coefficients.reshape(*coefficients.shape[:3], width, n_kernels),
            "intercepts": stack("intercept"),
            "noise_variances": stack("noise_variance"),
            "parameters": stack("parameters"),
        }

    def _vectors(self, sampler: Any, rows: np.ndarray) -> np.ndarray:
        """Return training rows by number."""
        return sampler.features[rows]

    def _collect_scalars(self, stack: Any) -> dict[str, np.ndarray]:
        """Return the scalars that every model has, by name."""
        draws = self._draws
        scalars = {"log_likelihood": stack("log_likelihood")}
        monitored = stack("monitored")
        for q, row in enumerate(self._monitored_rows):
            scalars[f"{self._monitored_name}[{row}]"] = monitored[..., q]
        scalars["n_active"] = draws.counts.astype(np.float64)
        if draws.n_latents == 1:
            scalars["intercept"] = draws.intercepts[..., 0]
        if "learned noise" in draws.likelihood.provides:
            scalars["noise_variance"] = draws.noise_variances
        for number, name in enumerate(getattr(draws.likelihood, "parameter_names", ())):
            scalars[name] = draws.parameters[..., number]
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

        groups, dims, coords = self._tree_groups()
        if pointwise and self._pointwise_is_small():
            groups["log_likelihood"] = {"y": self.pointwise_log_likelihood()}
        return from_dict(groups, coords=coords, dims=dims)

    def _tree_groups(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Return groups, dimensions and coordinates of ``posterior_``."""
        draws, monitored = self._draws, self._monitored_name
        posterior = {name: values for name, values in self._scalars.items() if "[" not in name}
        posterior[monitored] = np.stack(
            [self._scalars[f"{monitored}[{row}]"] for row in self._monitored_rows], axis=-1
        )
        coords: dict[str, Any] = {"monitored_row": self._monitored_rows}
        dims = {monitored: ["monitored_row"]}
        if draws.n_latents > 1:
            posterior["intercept"] = draws.intercepts
            dims["intercept"] = ["contrast"]
        held = np.arange(draws.slots.shape[-1]) < draws.counts[..., None]
        coefficients = np.where(held[:, :, None, :, None], draws.coefficients, 0.0)
        axes = ["contrast", "slot", "kernel"]
        sizes = dict(zip(axes, coefficients.shape[2:], strict=True))
        kept = [axis for axis in axes if axis == "slot" or sizes[axis] > 1]
        groups = {
            "posterior": posterior,
            "sparse_coefficients": {
                "training_row": np.where(held, np.append(draws.rows, -1)[draws.slots], -1),
                "coefficient": coefficients.reshape(
                    *held.shape[:2], *(sizes[axis] for axis in kept)
                ),
            },
            "observed_data": {"y": self._training[1]},
        }
        dims |= {"training_row": ["slot"], "coefficient": kept, "y": ["row"]}
        return groups, dims, coords
