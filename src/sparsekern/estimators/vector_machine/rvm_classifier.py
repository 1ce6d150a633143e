"""The relevance vector machine for classes as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

from ..._checks import check_choice
from ...inference.vector_machine.classification import Method
from ...inference.vector_machine.gains import GAUSSIAN
from ...inference.vector_machine.selection import INFERENCES
from ...likelihoods.terms import LOGIT
from ..shared.documentation import documented
from .classifier import VectorMachineClassifier

_LEAST_GAIN = 0.3


@documented
class RVMClassifier(VectorMachineClassifier):
    r"""Relevance vector machine for classes: few vectors, probabilities of its own.

    A function on a few training rows, each weight with a precision of its own,

    .. math:: P(y=1\mid x)=\sigma(f(x)),\quad f(x)=w_0+\sum_iw_i\,k(x,x_i),\quad
              w_i\sim N(0,\alpha_i^{-1}).

    Rows enter, are weighed anew and leave one at a time, always the move that raises the evidence
    most (Tipping and Faul); a precision that would be infinite means that its row is not in the
    model. The kernel's width needs no search outside: models at several widths are averaged.

    Parameters
    ----------
    <<machine kernel parameters>>
    inference : {"laplace", "ep"}, default="laplace"
        Laplace's method, or expectation propagation (``likelihood="probit"``).
    likelihood : {"logit", "probit", "scaled_logit"}, default="logit"
    multi_class : {"one_vs_rest", "multinomial"}, default="one_vs_rest"
        More than two classes: a model of each class against the rest, or one softmax model of all,
        each class with rows of its own (``likelihood="logit"``, ``inference="laplace"``).
    min_gain : float or None, default=None
        Gain of the log evidence below which no step is worth while; None: 0.3. Less gives more
        vectors.
    <<machine parameters>>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    <<machine attributes>>
    loo_error_, loo_log_loss_ : float
        Error and log-loss of leave-one-out predictions, the row's own column left out, too. A
        little optimistic: precisions and weights of widths were chosen on all rows.

    References
    ----------
    Tipping (2001). Sparse Bayesian learning and the relevance vector machine. JMLR 1.
    Tipping and Faul (2003). Fast marginal likelihood maximisation for sparse Bayesian models.

    Examples
    --------
    >>> from sparsekern import RVMClassifier
    >>> from sparsekern.datasets import make_ripley
    >>> X, y = make_ripley(100, random_state=0)
    >>> model = RVMClassifier().fit(X, y)
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
        likelihood: str = "logit",
        multi_class: str = "one_vs_rest",
        min_gain: float | None = None,
        bias_precision: float = 0.01,
        candidates: Any = None,
        max_active: int | None = None,
        max_steps: int = 1000,
        kernel_precision: str = "double",
        standardize: bool = True,
        progress: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.length_scale_range = length_scale_range
        self.n_length_scales = n_length_scales
        self.inference = inference
        self.likelihood = likelihood
        self.multi_class = multi_class
        self.min_gain = min_gain
        self.bias_precision = bias_precision
        self.candidates = candidates
        self.max_active = max_active
        self.max_steps = max_steps
        self.kernel_precision = kernel_precision
        self.standardize = standardize
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> RVMClassifier:
        """Fit the models of all widths and weigh them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, or their kernel matrix with ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : RVMClassifier
        """
        with self._all_or_nothing():
            self._check_machine_parameters()
            self._fit_by_evidence(X, y)
        return self

    def _make_method(self, n_candidates: int) -> Method:
        inference = check_choice("inference", self.inference, ("laplace", "ep"))
        likelihood = self._check_likelihood(inference == "ep")
        if self.multi_class == "multinomial" and (inference, likelihood) != ("laplace", LOGIT):
            raise ValueError(
                "multi_class='multinomial' needs inference='laplace' and likelihood='logit', got "
                f"inference={inference!r}, likelihood={self.likelihood!r}; use "
                "multi_class='one_vs_rest' with these."
            )
        return Method(
            inference=INFERENCES[inference],
            likelihood=likelihood,
            signed=False,
            rule=GAUSSIAN,
            min_gain=_LEAST_GAIN if self.min_gain is None else self.min_gain,
            bias_precision=self.bias_precision,
            precision_prior=(1.0, 1.0),  # of no consequence here
            max_active=self._largest_model(n_candidates),
            max_steps=self.max_steps,
            single=self.kernel_precision == "single",
        )
