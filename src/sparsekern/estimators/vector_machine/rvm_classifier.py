"""The relevance vector machine for classes as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar

from ..._checks import check_choice
from ...inference.vector_machine.classification import Method
from ...inference.vector_machine.gains import GAUSSIAN
from ...inference.vector_machine.selection import INFERENCES
from ...likelihoods.terms import LOGIT
from ...settings.vector_machine import VectorMachinePriors, VectorMachineSearch
from ..shared.documentation import documented
from .classifier import VectorMachineClassifier
from .fits import common_options

_LEAST_GAIN = 0.3


@documented
class RVMClassifier(VectorMachineClassifier):
    r"""Relevance vector machine for classes: few vectors, and probabilities.

    A function on a few training rows, with a separate precision for each weight,

    .. math:: P(y=1\mid x)=\sigma(f(x)),\quad f(x)=w_0+\sum_iw_i\,k(x,x_i),\quad
              w_i\sim N(0,\alpha_i^{-1}).

    Rows enter, change their weight and leave one at a time, always by the move that raises the
    evidence most (Tipping and Faul); a precision that would be infinite means that its row is not
    in the model. The kernel's width needs no search outside: models at several widths are averaged.

    Parameters
    ----------
    <<machine kernel parameters>>
    inference : {"laplace", "ep"}, default="laplace"
        Laplace's method, or expectation propagation (``likelihood="probit"``).
    likelihood : {"logit", "probit", "scaled_logit"}, default="logit"
    multi_class : {"one_vs_rest", "multinomial"}, default="one_vs_rest"
        More than two classes: a model of each class against the rest, or one softmax model of all,
        where each class has its own rows (``likelihood="logit"``, ``inference="laplace"``).
    <<machine row parameters>>
    priors : VectorMachinePriors or None, default=None
        Priors; see :class:`sparsekern.settings.VectorMachinePriors`, whose defaults None stands
        for.
    search : VectorMachineSearch or None, default=None
        Widths tried, and how a fit at one of them goes; see
        :class:`sparsekern.settings.VectorMachineSearch`.
    <<machine running parameters>>

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

    _groups: ClassVar = {"priors": VectorMachinePriors, "search": VectorMachineSearch}

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        length_scale: Any = "averaged",
        inference: str = "laplace",
        likelihood: str = "logit",
        multi_class: str = "one_vs_rest",
        candidates: Any = None,
        standardize: bool = True,
        priors: VectorMachinePriors | None = None,
        search: VectorMachineSearch | None = None,
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
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _make_method(self, max_active: int) -> Method:
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
            precision_prior=(1.0, 1.0),  # of no consequence here
            max_active=max_active,
            **common_options(self, _LEAST_GAIN),
        )
