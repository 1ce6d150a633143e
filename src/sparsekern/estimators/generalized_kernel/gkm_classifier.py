"""The generalized kernel model for classes."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import ClassifierMixin

from ...likelihoods._contract import WORKING
from ...likelihoods.table import weighing
from ...posteriors.names import row_labels
from ...settings.generalized_kernel import GKMMoves, GKMPriors
from ...settings.until_converged import UntilConverged
from ..shared.class_face import (
    ClassFace,
    can_weigh,
    choose_likelihood,
    encode_classes,
    responses_one_vs_rest,
)
from ..shared.documentation import documented
from ..shared.estimator import Estimator
from ..shared.sampled import name_data
from .model import MOST_DRAWS, check_parameters, fit_model


@documented
class GKMClassifier(ClassFace, ClassifierMixin, Estimator):
    r"""Sparse Bayesian kernel classifier: the generalized kernel model.

    A latent function that rests on a few *active* training rows,

    .. math::
        P(y=1\mid x)=h(f(x)),\qquad f(x)=u+\sum_{j\in\gamma}k(x,x_j)\beta_j,

    with :math:`\beta_\gamma\sim N(0,g^{-1}K_{\gamma\gamma}^{-1})`, :math:`u\sim N(0,\eta^{-1})`
    and a prior on the active set :math:`\gamma` whose size is uniform up to ``priors.max_active``.
    Which rows are active, the scales and, if asked, the kernel's width are sampled; predictions
    average over them. :math:`h` is :math:`\Phi` (probit) or the logistic function.

    More than two classes: with ``likelihood="probit"``, multinomial probit, a latent function for
    each class, unit noise, and the largest wins. All share the active rows and the scales; the
    functions are reported as orthonormal contrasts. With ``"logit"``, one-vs-rest: a model of each
    class against all others, with active rows and scales of its own, whose probabilities are
    normalised draw by draw. ``"hinge"`` is for two classes.

    Several kernels share the active rows: :math:`f=u+\sum_lg_l\sum_{j\in\gamma}k_l(x,x_j)
    \beta_{lj}`, :math:`\beta_l\sim N(0,K_{l,\gamma\gamma}^{-1})`, with amplitudes :math:`g_l` that
    may be zero, so that kernels are selected too.

    Parameters
    ----------
    <<kernel parameter>>
    likelihood : {"probit", "logit", "hinge"}, default="probit"
        ``"hinge"`` is the Bayesian support vector machine, :math:`\exp(-2\max(1-yf,0))`. It is not
        a model of the labels; its probabilities, normalised over the two classes draw by draw, are
        a heuristic.
    <<length-scale parameters>>
    priors : GKMPriors or None, default=None
        Priors; see :class:`sparsekern.settings.GKMPriors`, whose defaults None stands for.
    moves : GKMMoves or None, default=None
        What a sweep consists of; see :class:`sparsekern.settings.GKMMoves`.
    <<sampling parameters>>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    <<sampling attributes>>
    <<width attributes>>
    estimators_ : list of GKMClassifier
        One-vs-rest only: the fitted model of each class. Attributes above then have the classes as
        last axis (``posterior_``), in their names (``diagnostics_``) or as first axis
        (``length_scale_``, ``kernel_weights_``, ``kernel_inclusion_``); a row counts as active if
        it is in any of the models.

    References
    ----------
    Zhang, Dai and Jordan (2011). Bayesian generalized kernel mixed models. JMLR 12.

    Examples
    --------
    >>> from sparsekern import GKMClassifier
    >>> from sparsekern.datasets import make_ripley
    >>> X, y = make_ripley(100, random_state=0)
    >>> model = GKMClassifier(draws=200, tune=200, random_state=0).fit(X, y)
    >>> model.predict_proba([[0.0, 0.5]]).shape
    (1, 2)
    """

    _sampled = "rows"
    _most_draws = MOST_DRAWS
    _groups: ClassVar = {"priors": GKMPriors, "moves": GKMMoves}

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        likelihood: str = "probit",
        length_scale: Any = "mean_distance",
        learn_length_scale: Any = False,
        candidates: Any = None,
        standardize: bool = True,
        priors: GKMPriors | None = None,
        moves: GKMMoves | None = None,
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
        self.likelihood = likelihood
        self.length_scale = length_scale
        self.learn_length_scale = learn_length_scale
        self.candidates = candidates
        self.standardize = standardize
        self.priors = priors
        self.moves = moves
        self.draws = draws
        self.tune = tune
        self.chains = chains
        self.thin = thin
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self):
        """More than two classes but for the hinge."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.likelihood != "hinge"
        return tags

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        runner, rows = check_parameters(self), row_labels(X)
        X, y = self._training_rows(X, y, sample_weight, can_weigh(self.likelihood))
        self.classes_, response = encode_classes(y)
        n_classes = len(self.classes_)
        likelihood, one_vs_rest = choose_likelihood(
            self.likelihood, n_classes, WORKING, type(self).__name__, self._row_weights
        )
        responses = responses_one_vs_rest(response, n_classes) if one_vs_rest else [response]
        features, names = self._prepare_training(X), name_data(self, rows, y)
        fit_model(self, runner, features, responses, likelihood, names)

    def _weighing_laws(self) -> str:
        return weighing(likelihood="labels")
