"""The probabilistic classification vector machine as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_consistent_length

from ..._checks import check_choice, check_positive, check_share
from ...inference.vector_machine.bound import half_normal_divergence, risk_bound
from ...inference.vector_machine.classification import Method
from ...inference.vector_machine.collect import KernelSampler, collect
from ...inference.vector_machine.gains import RULES
from ...inference.vector_machine.selection import INFERENCES
from ...posteriors.names import row_labels
from ...posteriors.sampled import SampledPosterior
from ...settings.until_converged import UntilConverged
from ...settings.vector_machine import PCVMPriors, PCVMSearch
from ..shared.class_face import ClassFace
from ..shared.documentation import documented
from ..shared.runner import Runner
from ..shared.sampled import fit_chains, name_data
from .classifier import VectorMachineClassifier
from .fits import choose_candidates, common_options

_LEAST_GAIN = {"gaussian": 0.3, "truncated": 0.01, "smoothed": 0.3}


@documented
class PCVMClassifier(VectorMachineClassifier):
    r"""Probabilistic classification vector machine.

    A function on a few training rows whose weights have the sign of the row's class,

    .. math:: P(y=1\mid x)=\Phi(f(x)),\quad f(x)=w_0+\sum_iw_i\,y_i\,k(x,x_i),\quad
              w_i\sim2N(0,\alpha_i^{-1})1[w_i\ge0].

    Rows enter, change their weight and leave one at a time, always by the move that raises the
    evidence most. The weights are kept non-negative exactly; the kernel's width needs no search
    outside: models at several widths are averaged.

    Parameters
    ----------
    <<machine kernel parameters>>
    inference : {"laplace", "ep", "em", "smoothed", "mcmc"}, default="laplace"
        ``"laplace"``: mode by projected Newton steps, the edges at zero by expectation propagation;
        ``"ep"``: expectation propagation throughout; ``"smoothed"``: the paper's
        :math:`\sigma(3w)` in place of the edge, which sets a scale on the weights: for comparison;
        ``"em"``: the original algorithm, all candidates at once; ``"mcmc"``: posterior draws of the
        weights of all candidates, at the width that ``"laplace"`` finds best (of each class).
    likelihood : {"probit", "logit", "scaled_logit"}, default="probit"
        ``"scaled_logit"`` is :math:`\sigma(\sqrt{8/\pi}f)`, the paper's for Laplace's method; the
        other methods need ``"probit"``.
    multi_class : {"one_vs_rest", "multinomial"}, default="one_vs_rest"
        More than two classes: a model of each class against the rest, or (``"laplace"``) one
        softmax model of all, where the column of a row is positive in its own class and negative
        in the others.
    <<machine row parameters>>
    priors : PCVMPriors or None, default=None
        Priors; see :class:`sparsekern.settings.PCVMPriors`, whose defaults None stands for.
    search : PCVMSearch or None, default=None
        Widths tried, and how a fit at one of them goes; see
        :class:`sparsekern.settings.PCVMSearch`.
    <<draws parameter>>
    tune, chains, thin : int, default=1000, 4, 1
        Of ``"mcmc"``, as ``draws``: sweeps before the first draw, chains, sweeps for each draw.
    warm_start : bool, default=False
        Of ``"mcmc"``: go on with the chains of the last fit (made with ``warm_start=True``,
        interrupted, or ended by the limits of ``draws="auto"``) until they have ``draws`` draws,
        or have converged.
    checkpoint : path-like or None, default=None
        Of ``"mcmc"``: folder in which chains are saved while they run.
    <<machine running parameters>>

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
    acceptance_rates_ : dict
        Only ``"mcmc"``: empty, as no move is ever refused.
    active_probabilities_ : ndarray of shape (n_samples,)
        Only ``"mcmc"``: one for the candidates, which are all active in every draw.
    length_scale_ : ndarray of shape (n_features,) or (n_classes, n_features), or None
        Only ``"mcmc"``: the width at which weights are sampled (one-vs-rest: of each class).

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

    _sampled = "rows"
    _groups: ClassVar = {"priors": PCVMPriors, "search": PCVMSearch}
    _posterior: SampledPosterior | None = None  # of a fit by chains

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        length_scale: Any = "averaged",
        inference: str = "laplace",
        likelihood: str = "probit",
        multi_class: str = "one_vs_rest",
        candidates: Any = None,
        standardize: bool = True,
        priors: PCVMPriors | None = None,
        search: PCVMSearch | None = None,
        draws: int | str | UntilConverged = "auto",
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
        self.inference = inference
        self.likelihood = likelihood
        self.multi_class = multi_class
        self.candidates = candidates
        self.standardize = standardize
        self.priors = priors
        self.search = search
        self.draws = draws
        self.tune = tune
        self.chains = chains
        self.thin = thin
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        runner, rows = Runner(self) if self.inference == "mcmc" else None, row_labels(X)
        self._posterior = None  # of an earlier fit
        kernels, features, responses, y = self._fit_by_evidence(X, y, sample_weight)
        if runner is None:
            self._kept_chains = None
            return
        priors = self._group("priors")
        samplers = [
            KernelSampler(
                kernels[int(np.argmax(average.weights))],
                features,
                choose_candidates(self, features, labels, True).rows,
                labels,
                priors.precision,
                1.0 / priors.intercept,
            )
            for average, labels in zip(self._averages, responses, strict=True)
        ]
        fit_chains(self, runner, samplers, collect, name_data(self, rows, y))
        self.__dict__.pop("estimators_", None)  # fits by evidence are those of all classes

    def _make_method(self, max_active: int) -> Method:
        inference = check_choice("inference", self.inference, (*INFERENCES, "em", "mcmc"))
        selection = self._group("search").selection
        likelihood = self._check_likelihood(inference not in ("laplace", "smoothed"))
        if selection == "truncated" and inference not in ("laplace", "ep"):
            raise ValueError(
                f"selection='truncated' cannot be combined with inference={inference!r}, which "
                "has another rule; use inference='laplace' or 'ep', or leave selection out."
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
            precision_prior=self._group("priors").precision,
            max_active=max_active,
            **common_options(self, _LEAST_GAIN[rule]),
        )

    # with or without draws

    def _refuse_without_chains(self) -> None:
        sampling = self.inference == "mcmc"
        if self._posterior is None and (not sampling or hasattr(self, "classes_")):
            made = "the last fit did" if sampling else f"inference={self.inference!r} does"
            raise AttributeError(
                f"This needs posterior draws, which {made} not make; fit with inference='mcmc'."
            )

    def _mean_response(self, X: Any) -> np.ndarray:
        if self._posterior is None:
            return super()._mean_response(X)
        return ClassFace._mean_response(self, X)

    def _response_draws(self, X: Any, thin: int) -> np.ndarray:
        if self._posterior is None:
            return super()._response_draws(X, thin)
        return ClassFace._response_draws(self, X, thin)

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
        if self._posterior is None:
            return super().is_fitted_to(X, y)
        return self._posterior.is_of(self._prepare(X), y)

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
        if len(self.classes_) != 2:
            raise ValueError("risk_bound is for two classes; fit each class against the rest.")
        check_consistent_length(features, y)
        labels = np.where(np.asarray(y) == self.classes_[1], 1.0, -1.0)
        expansion = self._averages[0].best.expansion
        mean, _ = expansion.moments(features)
        variance = np.einsum("ab,ab->b", expansion.inverse, expansion.inverse)[1:]
        parts = half_normal_divergence(expansion.mean[1:, 0], 1.0 / variance, prior)
        return risk_bound(labels * mean[:, 0], float(parts.sum()), scale, confidence=confidence)
