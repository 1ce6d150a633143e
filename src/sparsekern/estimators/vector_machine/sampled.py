"""Posterior draws beside the fit by evidence: what ``inference="mcmc"`` adds to PCVMClassifier."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_pair
from ...inference.vector_machine.collect import KernelSampler
from ...kernels.resolve import Kernel
from ...posteriors.names import row_labels
from ..shared.class_face import by_class
from ..shared.counts import check_count
from .classifier import VectorMachineClassifier
from .pcvm_sampling import SampledPCVM

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
        rows: np.ndarray | None,
    ) -> None:
        """Sample at the best width of each model; ``rows`` are the user's names of the rows."""
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
        names = getattr(self, "feature_names_in_", None)
        sampled.fit(samplers, self.classes_, codes, rows, names)
        self.n_draws_ = sampled.n_draws_
        self.traces_ = sampled.traces_
        self.diagnostics_ = sampled.diagnostics_
        self.active_vectors_ = sampled.active_vectors_
        self.active_probabilities_ = sampled.active_probabilities_

    @property
    def posterior_(self) -> Any:
        """Draws as an xarray.DataTree for ArviZ, of ``inference="mcmc"``."""
        check_is_fitted(self, self._mark_of_a_fit)
        return self._chains_or_refuse("posterior_").posterior_

    def is_fitted_to(self, X: Any, y: Any) -> bool:
        """Tell whether these are the rows and classes of the fit, in their order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        bool
            Without posterior draws active rows only are compared.
        """
        sampled = getattr(self, "_sampled", None)
        if sampled is None:
            return super().is_fitted_to(X, y)
        return sampled._posterior_is_of(self._prepare(X), y)

    def pointwise_log_likelihood(self) -> np.ndarray:
        """Return the log-likelihood of every training row under every draw of ``"mcmc"``.

        Returns
        -------
        ndarray of shape (chains, draws, n_samples)
            Part of ``posterior_`` unless it holds over 2e7 numbers; then it is made only here.
        """
        check_is_fitted(self, self._mark_of_a_fit)
        return self._chains_or_refuse("pointwise_log_likelihood").pointwise_log_likelihood()

    def add_posterior_predictive(self, X: Any = None, *, random_state: Any = None) -> Any:
        """Draw new classes and add them to ``posterior_``, where ArviZ looks for them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), optional
            None: the training rows, in the group ``posterior_predictive``, to be compared with
            ``observed_data``. Otherwise the group is ``predictions``.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        xarray.DataTree
            ``posterior_`` with the group: ``y`` by (chain, draw, row), one class of every draw.
        """
        check_is_fitted(self, self._mark_of_a_fit)
        chains = self._chains_or_refuse("add_posterior_predictive")
        features = None if X is None else self._prepare(X)
        return chains._add_predictive(features, row_labels(X), random_state)

    def _chains_or_refuse(self, name: str) -> SampledPCVM:
        if self._sampled is None:
            raise AttributeError(
                f"{name} needs posterior draws, which inference={self.inference!r} does not make; "
                "fit with inference='mcmc'."
            )
        return self._sampled

    def sample_proba(self, X: Any, *, thin: int = 1) -> np.ndarray:
        """Return draws of the class probabilities, for histograms of single cases.

        They are the chains' draws with ``inference="mcmc"``. Otherwise a draw has a width and
        weights from their normal laws; it is the same function at every call.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        thin : int, default=1
            Return every ``thin``-th draw (of each chain) only.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_classes)
            Chain after chain; without chains there are 1,000 with ``thin=1``.
        """
        features = self._prepare(X)
        if self._sampled is None:
            return super().sample_proba(X, thin=thin)
        found = self._sampled._draws.thinned(check_count("thin", thin)).response_draws(features)
        return by_class(found, len(self.classes_))

    def _mean_response(self, X: Any) -> np.ndarray:
        sampled = getattr(self, "_sampled", None)
        if sampled is not None:
            return sampled._draws.mean_response(self._prepare(X))
        return super()._mean_response(X)
