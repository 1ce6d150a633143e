"""Posterior draws beside the fit by evidence: what ``inference="mcmc"`` adds to PCVMClassifier."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_pair
from ...kernels.resolve import Kernel
from .classifier import VectorMachineClassifier
from .pcvm_sampling import KernelSampler, SampledPCVM

PRIOR_FORM = "(shape, rate)"


class SampledVectorMachine(VectorMachineClassifier):
    """Chains at the widths that the evidence finds best; predictions are means over their draws."""

    inference: str
    precision_prior: tuple[float, float]
    warm_start: bool
    _sampled: SampledPCVM | None

    def _bytes_of_a_fit(self, n: int, candidates: int) -> float:
        held = super()._bytes_of_a_fit(n, candidates)
        if self.inference in ("em", "mcmc"):  # all candidates at once: columns and Gram matrices
            held += 8.0 * (candidates + 1) * (2 * n + 3 * candidates)
        return held

    def _make_chains(self) -> SampledPCVM:
        names = (
            "draws", "tune", "chains", "thin", "warm_start", "checkpoint", "progress", "n_jobs",
            "random_state",
        )  # fmt: skip
        options = {name: getattr(self, name) for name in names}
        earlier = getattr(self, "_sampled", None) if self.warm_start else None
        sampled = SampledPCVM(**options) if earlier is None else copy(earlier).set_params(**options)
        sampled.check()
        return sampled

    def _sample_weights(
        self,
        sampled: SampledPCVM,
        kernels: list[Kernel],
        features: np.ndarray,
        responses: list[np.ndarray],
        codes: np.ndarray,
    ) -> None:
        prior = check_pair("precision_prior", self.precision_prior, PRIOR_FORM)
        samplers = [
            KernelSampler(
                kernels[int(np.argmax(average.weights))],
                features,
                self._find_candidates(features, labels, True).rows,
                labels,
                prior,
                self.bias_precision,
            )
            for average, labels in zip(self._averages, responses, strict=True)
        ]
        sampled.fit(samplers, self.classes_, codes)
        self.n_draws_ = sampled.n_draws_
        self.diagnostics_ = sampled.diagnostics_
        self.active_vectors_ = sampled.active_vectors_
        self.active_probabilities_ = sampled.active_probabilities_

    @property
    def posterior_(self) -> Any:
        """Draws as an xarray.DataTree for ArviZ, of ``inference="mcmc"``."""
        check_is_fitted(self, self._mark_of_a_fit)
        return self._chains_or_refuse("posterior_").posterior_

    def _chains_or_refuse(self, name: str) -> SampledPCVM:
        if self._sampled is None:
            raise AttributeError(
                f"{name} needs posterior draws, which inference={self.inference!r} does not make; "
                "fit with inference='mcmc'."
            )
        return self._sampled

    def _response_draws(self, X: Any, thin: int) -> np.ndarray:
        features = self._prepare(X)  # refuses an estimator that is not fitted
        if self._sampled is None:
            return super()._response_draws(X, thin)
        return self._sampled._draws.thinned(thin).response_draws(features)

    def _mean_response(self, X: Any) -> np.ndarray:
        sampled = getattr(self, "_sampled", None)
        if sampled is not None:
            return sampled._draws.mean_response(self._prepare(X))
        return super()._mean_response(X)
