"""The probabilistic classification vector machine as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ..._checks import check_choice, check_pair, check_positive, check_share
from ...inference.vector_machine.bound import half_normal_divergence, risk_bound
from ...inference.vector_machine.classification import FittedClassifier, Method
from ...inference.vector_machine.collect import KernelSampler
from ...inference.vector_machine.gains import RULES
from ...inference.vector_machine.selection import INFERENCES
from ...kernels.resolve import Kernel
from ...posteriors.names import row_labels
from ..shared.documentation import documented
from .classifier import VectorMachineClassifier
from .pcvm_sampling import SampledPCVM, open_chains

_PRIOR_FORM = "(shape, rate)"
_LEAST_GAIN = {"gaussian": 0.3, "truncated": 0.01, "smoothed": 0.3}


@documented
class PCVMClassifier(VectorMachineClassifier):
    r"""Probabilistic classification vector machine.

    A function on a few training rows whose weights have the sign of the row's class,

    .. math:: P(y=1\mid x)=\Phi(f(x)),\quad f(x)=w_0+\sum_iw_i\,y_i\,k(x,x_i),\quad
              w_i\sim2N(0,\alpha_i^{-1})1[w_i\ge0].

    Rows enter, are weighed anew and leave one at a time, always the move that raises the evidence
    most. The weights are kept non-negative exactly; the kernel's width needs no search outside:
    models at several widths are averaged.

    Parameters
    ----------
    <<machine kernel parameters>>
    inference : {"laplace", "ep", "em", "smoothed", "mcmc"}, default="laplace"
        ``"laplace"``: mode by projected Newton steps, the edges at zero by expectation propagation;
        ``"ep"``: expectation propagation throughout; ``"smoothed"``: the paper's
        :math:`\sigma(3w)` in place of the edge, which sets a scale on the weights: for comparison;
        ``"em"``: the original algorithm, all candidates at once; ``"mcmc"``: posterior draws of the
        weights of all candidates, at the width that ``"laplace"`` finds best (of each class).
    selection : {"gaussian", "truncated"}, default="gaussian"
        Which one-dimensional evidence decides about a row: that of a normal or of a half-normal
        weight. The second takes many more rows and predicts no better. For ``"laplace"`` and
        ``"ep"``; ``"smoothed"`` has its own.
    likelihood : {"probit", "logit", "scaled_logit"}, default="probit"
        ``"scaled_logit"`` is :math:`\sigma(\sqrt{8/\pi}f)`, the paper's for Laplace's method; the
        other methods need ``"probit"``.
    multi_class : {"one_vs_rest", "multinomial"}, default="one_vs_rest"
        More than two classes: a model of each class against the rest, or (``"laplace"``) one
        softmax model of all, where the column of a row is positive in its own class and negative
        in the others.
    min_gain : float or None, default=None
        Gain of the log evidence below which no step is worth while; None: 0.3, and 0.01 for
        ``selection="truncated"``. Less gives more vectors.
    precision_prior : (float, float), default=(1.0, 0.5)
        Shape and rate of the gamma prior of each precision, for ``"em"`` and ``"mcmc"``.
    <<machine parameters>>
    draws, tune, chains, thin : int, default=1000, 1000, 4, 1
        Of ``"mcmc"``: kept draws of each chain, sweeps before the first, chains, sweeps for each
        kept draw.
    warm_start : bool, default=False
        Of ``"mcmc"``: go on with the chains of the last fit (made with ``warm_start=True``, or
        interrupted) until they have ``draws`` draws.
    checkpoint : path-like or None, default=None
        Of ``"mcmc"``: folder in which chains are saved while they run.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    <<machine attributes>>
    loo_error_, loo_log_loss_ : float
        Error and log-loss of leave-one-out predictions, the row's own column, whose sign is its
        label, left out, too. A little optimistic: precisions and weights of widths were chosen on
        all rows.
        With ``inference="mcmc"`` these, ``models_`` and ``evidence_path_`` are those of the fit
        before sampling; with ``"em"`` the path is that of the algorithm's objective.
    posterior_ : xarray.DataTree
        Only ``"mcmc"``: draws for ArviZ.
    diagnostics_ : pandas.DataFrame
        Only ``"mcmc"``: Mean, sd, Monte-Carlo error, bulk and tail ESS and R-hat of every scalar.
    n_draws_ : int
        Only ``"mcmc"``: kept draws of each chain.
    traces_ : dict of list of ndarray
        Only ``"mcmc"``: numbers of active vectors after every sweep, chain by chain.
    active_probabilities_ : ndarray of shape (n_samples,)
        Only ``"mcmc"``: one for the candidates, which are all active in every draw.

    References
    ----------
    Chen, Tino and Yao (2014). Efficient probabilistic classification vector machine with
    incremental basis function selection. IEEE Trans. Neural Netw. Learn. Syst. 25.

    Examples
    --------
    >>> from sparsekern import PCVMClassifier
    >>> from sparsekern.datasets import make_ripley
    >>> X, y = make_ripley(100, random_state=0)
    >>> model = PCVMClassifier().fit(X, y)
    >>> model.predict_proba([[0.0, 0.5]]).shape
    (1, 2)
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        length_scale: Any = "averaged",
        length_scale_range: tuple[float, float] = (0.2, 3.0),
        n_length_scales: int = 7,
        inference: str = "laplace",
        selection: str = "gaussian",
        likelihood: str = "probit",
        multi_class: str = "one_vs_rest",
        min_gain: float | None = None,
        bias_precision: float = 0.01,
        precision_prior: tuple[float, float] = (1.0, 0.5),
        candidates: Any = None,
        max_active: int | None = None,
        max_steps: int = 1000,
        kernel_precision: str = "double",
        standardize: bool = True,
        draws: int = 1000,
        tune: int = 1000,
        chains: int = 4,
        thin: int = 1,
        warm_start: bool = False,
        checkpoint: Any = None,
        progress: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.length_scale_range = length_scale_range
        self.n_length_scales = n_length_scales
        self.inference = inference
        self.selection = selection
        self.likelihood = likelihood
        self.multi_class = multi_class
        self.min_gain = min_gain
        self.bias_precision = bias_precision
        self.precision_prior = precision_prior
        self.candidates = candidates
        self.max_active = max_active
        self.max_steps = max_steps
        self.kernel_precision = kernel_precision
        self.standardize = standardize
        self.draws = draws
        self.tune = tune
        self.chains = chains
        self.thin = thin
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> PCVMClassifier:
        """Fit the models of all widths and weigh them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, or their kernel matrix with ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : PCVMClassifier
        """
        with self._all_or_nothing():
            self._check_machine_parameters()
            sampled = open_chains(self) if self.inference == "mcmc" else None
            for name in ("n_draws_", "diagnostics_", "active_probabilities_", "traces_"):  # earlier
                self.__dict__.pop(name, None)
            fitted = self._fit_by_evidence(X, y)
            if sampled is not None:
                self._sample_weights(sampled, *fitted, row_labels(X))
            self._sampled: SampledPCVM | None = sampled
        return self

    def _sample_weights(
        self,
        sampled: SampledPCVM,
        kernels: list[Kernel],
        features: np.ndarray,
        responses: list[np.ndarray],
        codes: np.ndarray,
        rows: np.ndarray | None,
    ) -> None:
        """Run chains at the widths that the evidence finds best; ``rows`` are their names."""
        prior = check_pair("precision_prior", self.precision_prior, _PRIOR_FORM)
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

    def _bytes_of_a_fit(self, n: int, candidates: int) -> float:
        held = super()._bytes_of_a_fit(n, candidates)
        if self.inference in ("em", "mcmc"):  # all candidates at once: columns and Gram matrices
            held += 8.0 * (candidates + 1) * (2 * n + 3 * candidates)
        return held

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

    def _mean_response(self, X: Any) -> np.ndarray:
        sampled = getattr(self, "_sampled", None)
        if sampled is None:
            return super()._mean_response(X)
        return sampled._draws.mean_response(self._prepare(X))

    def _response_draws(self, X: Any, thin: int) -> np.ndarray:
        sampled = getattr(self, "_sampled", None)
        if sampled is None:
            return super()._response_draws(X, thin)
        return sampled._draws.thinned(thin).response_draws(self._prepare(X))

    def risk_bound(
        self, X: Any, y: Any, *, scale: float = 1.0, prior: float = 1.0, confidence: float = 0.95
    ) -> float:
        r"""Return the paper's bound on the error, corrected: a diagnostic.

        Its premise, a class of functions fixed beforehand, does not hold, as the columns carry
        training labels: compare models by it, do not quote it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Their classes (two).
        scale : float, default=1.0
            Margin below which the loss begins.
        prior : float, default=1.0
            Precision of the half-normal prior against which the weights are held.
        confidence : float, default=0.95

        Returns
        -------
        float
            At the width with the largest weight.
        """
        features = self._prepare(X)
        check_positive("scale", scale)
        check_positive("prior", prior)
        check_share("confidence", confidence)
        best = self._averages[0].best
        if len(self.classes_) != 2 or not isinstance(best, FittedClassifier):
            raise ValueError("risk_bound is for two classes; fit each class against the rest.")
        check_consistent_length(features, y)
        labels = np.where(np.asarray(y) == self.classes_[1], 1.0, -1.0)
        expansion = best.expansion
        mean, _ = expansion.moments(features)
        variance = np.einsum("ab,ab->b", expansion.inverse, expansion.inverse)[1:]
        parts = half_normal_divergence(expansion.mean[1:, 0], 1.0 / variance, prior)
        return risk_bound(labels * mean[:, 0], float(parts.sum()), scale, confidence=confidence)

    def _make_method(self, n_candidates: int) -> Method:
        inference = check_choice("inference", self.inference, (*INFERENCES, "em", "mcmc"))
        selection = check_choice("selection", self.selection, ("gaussian", "truncated"))
        likelihood = self._check_likelihood(inference not in ("laplace", "smoothed"))
        if selection == "truncated" and inference not in ("laplace", "ep"):
            raise ValueError(
                f"selection='truncated' cannot be combined with inference={inference!r}, which "
                "has a rule of its own; use inference='laplace' or 'ep', or leave selection out."
            )
        if self.multi_class == "multinomial" and inference != "laplace":
            raise ValueError(
                f"multi_class='multinomial' needs inference='laplace', got {inference!r}; use "
                "multi_class='one_vs_rest' with it."
            )
        rule = "smoothed" if inference == "smoothed" else selection
        return Method(
            inference="em" if inference == "em" else INFERENCES.get(inference, 0),
            likelihood=likelihood,
            signed=True,
            rule=RULES[rule],
            min_gain=_LEAST_GAIN[rule] if self.min_gain is None else self.min_gain,
            bias_precision=self.bias_precision,
            precision_prior=check_pair("precision_prior", self.precision_prior, _PRIOR_FORM),
            max_active=self._largest_model(n_candidates),
            max_steps=self.max_steps,
            single=self.kernel_precision == "single",
        )
