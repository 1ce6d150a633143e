"""Fitted attributes of the kernel projection classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...inference.chains.runner import ChainRun
from ...inference.diagnostics import summarize_scalars
from ...inference.kernel_projection.posterior import ProjectionPosterior
from ...inference.kernel_projection.projections import Projection
from ...inference.kernel_projection.sampler import KernelProjectionSampler
from ...inference.kernel_projection.search import Decisions
from ..shared.sampling import SamplingEstimator

_MOST_POINTWISE = 20_000_000  # numbers; beyond, the pointwise log-likelihood is made on demand


class ProjectionDraws(SamplingEstimator):
    """Keep the draws of a run and offer them as fitted attributes."""

    classes_: np.ndarray
    _posterior: ProjectionPosterior
    _scalars: dict[str, np.ndarray]
    _labels: np.ndarray

    def _keep(
        self, run: ChainRun, sampler: KernelProjectionSampler, posterior: ProjectionPosterior
    ) -> None:
        """Turn a run into fitted attributes and judge its convergence."""
        self.__dict__.pop("_posterior_tree", None)
        kept = run.kept

        def stack(name: str) -> np.ndarray:
            return np.stack([getattr(chain.draws, name)[:kept] for chain in run.chains])

        self._posterior, self._labels = posterior, sampler.settings.labels
        self._scale_draws, self._noise_draws = stack("scales"), stack("noise_variance")
        self._included = stack("included") if sampler.priors.average else None
        self._monitored_rows = sampler.monitored_rows
        self._monitored = stack("monitored")
        self.n_draws_ = kept
        self._scalars = {"log_likelihood": stack("log_likelihood")}
        for place, row in enumerate(self._monitored_rows):
            self._scalars[f"probability[{row}]"] = self._monitored[..., place]
        model = sampler.priors.model
        if model != "polya_gamma":
            self._scalars["noise_variance"] = self._noise_draws
        if model != "latent_noise":
            several = self._scale_draws.shape[-1] > 1
            for number in range(self._scale_draws.shape[-1]):
                name = f"scale[{number}]" if several else "scale"
                self._scalars[name] = self._scale_draws[..., number]
        for name in (
            "inclusion_probabilities_", "kernel_inclusion_", "kernel_scales_", "utility_",
            "widths_",
        ):  # fmt: skip
            self.__dict__.pop(name, None)  # of an earlier fit
        if self._included is not None:
            components = sampler.settings.block >= 0
            inside = self._included[..., components]
            self._scalars["n_included"] = inside.sum(axis=(2, 3)).astype(np.float64)
            self.inclusion_probabilities_ = inside.mean(axis=(0, 1))
        if model != "latent_noise":
            self.kernel_scales_ = np.median(self._scale_draws, axis=(0, 1))
        if sampler.priors.select_kernels:
            self._used = stack("used")
            self.kernel_inclusion_ = self._used.mean(axis=(0, 1))
        tallies = sum(chain.state.tallies for chain in run.chains)
        self.acceptance_rates_ = {
            name: float(accepted / tried)
            for name, (tried, accepted) in zip(("scale", "path"), tallies, strict=True)
            if tried
        }
        self.diagnostics_ = summarize_scalars(self._scalars)
        judged = [
            name
            for name in self._scalars
            if name.partition("[")[0] in ("log_likelihood", "probability")
            or (sampler.priors.select_kernels and name.startswith("scale"))
        ]
        self._warn_unless_converged(self.diagnostics_, judged, kept)

    def _set_attributes(self, decided: Decisions) -> None:
        sources = decided.sources
        self.inference_ = decided.priors.model
        self.sharpness_ = decided.power
        self.n_components_ = sum(source.training.shape[1] for source in sources)
        self._n_features_out = self.n_components_
        self.__dict__.pop("eigenvalues_", None)
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

    def pointwise_log_likelihood(self) -> np.ndarray:
        """Return the log-likelihood of every training row under every draw.

        Returns
        -------
        ndarray of shape (chains, draws, n_samples)
            Part of ``posterior_`` unless it holds over 2e7 numbers; then it is made only here.
        """
        check_is_fitted(self, "n_draws_")
        return self._posterior.pointwise_log_likelihood(self._labels)

    @property
    def posterior_(self) -> Any:
        """Draws as an xarray.DataTree for ArviZ; built when first asked for."""
        check_is_fitted(self, "n_draws_")
        if "_posterior_tree" not in self.__dict__:
            self._posterior_tree = self._make_tree()
        return self._posterior_tree

    def _make_tree(self) -> Any:
        from arviz_base import from_dict  # heavy: only when asked for

        posterior = {name: values for name, values in self._scalars.items() if "[" not in name}
        posterior["probability"] = self._monitored
        dims = {"probability": ["monitored_row"], "y": ["row"]}
        coords: dict[str, Any] = {"monitored_row": self._monitored_rows}
        if "scale[0]" in self._scalars:
            posterior["scale"], dims["scale"] = self._scale_draws, ["kernel"]
        coefficients = self._posterior.coefficients
        if not self._posterior.reference:
            # softmax does not see what all classes share: reported free of it
            coefficients = coefficients - coefficients.mean(axis=2, keepdims=True)
        coords["class"] = self.classes_[: coefficients.shape[2]]
        if self._posterior.intercept:
            posterior["intercept"], dims["intercept"] = coefficients[..., -1], ["class"]
            coefficients = coefficients[..., :-1]
        posterior["coefficient"], dims["coefficient"] = coefficients, ["class", "component"]
        if self._included is not None:
            posterior["included"] = self._included[..., : coefficients.shape[-1]]
            dims["included"] = ["class", "component"]
        if "kernel_inclusion_" in self.__dict__:
            posterior["used"], dims["used"] = self._used, ["class", "kernel"]
        groups = {"posterior": posterior, "observed_data": {"y": self._labels}}
        if self._posterior.n_draws * len(self._labels) <= _MOST_POINTWISE:
            groups["log_likelihood"] = {"y": self.pointwise_log_likelihood()}
        return from_dict(groups, coords=coords, dims=dims)
