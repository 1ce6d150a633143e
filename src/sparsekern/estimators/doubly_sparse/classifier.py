"""Doubly-sparse kernel classification."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import ClassifierMixin

from ...likelihoods._contract import WORKING
from ...likelihoods.table import weighing
from ...posteriors.names import row_labels
from ...settings.doubly_sparse import DoublySparseMoves, DoublySparsePriors, DoublySparseSelection
from ...settings.until_converged import UntilConverged
from ..shared.class_face import (
    ClassFace,
    can_weigh,
    choose_likelihood,
    encode_classes,
    responses_one_vs_rest,
)
from ..shared.documentation import documented
from ..shared.sampled import name_data
from .model import check_parameters, fit_model
from .selector import FeatureSelector


@documented
class DoublySparseClassifier(ClassFace, ClassifierMixin, FeatureSelector):
    r"""Kernel classification that selects features inside the kernel, and a few training rows.

    .. math::
        P(y=1\mid x)=h(f(x)),\qquad f(x)=\beta_0+\sum_{j\in a}k_{\gamma,\eta}(x,x_j)\beta_j,
        \qquad k_{\gamma,\eta}(x,x')=\exp\Big(-\sum_{l\in\gamma}\eta_l(x_l-x'_l)^2\Big)

    with features :math:`\gamma` included independently, :math:`\eta_l=1/(2\ell_l^2)\sim Exp(1)` for
    length scales :math:`\ell_l`, active vectors a chosen independently, :math:`\beta_j\sim
    N(0,\nu_1)` and :math:`\nu_1\sim IG`. Features, length scales, vectors and the slab
    :math:`\nu_1` are sampled with the coefficients integrated out. :math:`h` is the logistic
    function or :math:`\Phi` (probit).

    More than two classes: with ``likelihood="probit"``, multinomial probit, a latent function for
    each class, with features and vectors in common; with ``"logit"``, one-vs-rest: a model of each
    class against all others, with its own features and vectors, whose probabilities are normalised
    draw by draw. ``"hinge"`` is for two classes.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern32", "matern52"}, default="rbf"
        The Laplacian kernel has :math:`|x_l-x'_l|` in place of the square. The length scale of a
        feature is :math:`\ell_l=1/\sqrt{2\eta_l}` (Laplacian: :math:`1/\eta_l`).
    likelihood : {"logit", "probit", "hinge"}, default="logit"
        ``"hinge"`` is the Bayesian support vector machine, :math:`\exp(-2\max(1-yf,0))`. It is not
        a model of the labels; its probabilities, normalised over the two classes draw by draw, are
        a heuristic, and its chains mix badly.
    <<feature parameters>>
    priors : DoublySparsePriors or None, default=None
        Priors; see :class:`sparsekern.settings.DoublySparsePriors`, whose defaults None stands for.
    moves : DoublySparseMoves or None, default=None
        What a sweep consists of, and what is done about many rows; see
        :class:`sparsekern.settings.DoublySparseMoves`.
    <<sampling parameters>>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    <<feature attributes>>
    <<sampling attributes>>
    estimators_ : list of DoublySparseClassifier
        One-vs-rest only: the fitted model of each class. In the attributes above a row or a feature
        then counts as included if it is in any of the models.

    References
    ----------
    Duan (2022). Sparse Bayesian kernel learning for high-dimensional regression and
    classification. Dissertation.

    Examples
    --------
    >>> from sparsekern import DoublySparseClassifier
    >>> from sparsekern.datasets import make_ring_and_blob
    >>> X, y = make_ring_and_blob(100, random_state=0)
    >>> model = DoublySparseClassifier(draws=200, tune=200, random_state=0).fit(X, y)
    >>> model.predict_proba(X[:2]).shape
    (2, 2)
    """

    _sampled = "rows"
    _groups: ClassVar = {
        "selection": DoublySparseSelection,
        "priors": DoublySparsePriors,
        "moves": DoublySparseMoves,
    }

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        likelihood: str = "logit",
        candidates: Any = None,
        standardize: bool = True,
        selection: DoublySparseSelection | None = None,
        priors: DoublySparsePriors | None = None,
        moves: DoublySparseMoves | None = None,
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
        self.candidates = candidates
        self.standardize = standardize
        self.selection = selection
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
        weigh = "never" if self._unweighing_option() else can_weigh(self.likelihood)
        X, y = self._training_rows(X, y, sample_weight, weigh)
        self.classes_, response = encode_classes(y)
        n_classes = len(self.classes_)
        likelihood, one_vs_rest = choose_likelihood(
            self.likelihood, n_classes, WORKING, type(self).__name__, self._row_weights
        )
        responses = responses_one_vs_rest(response, n_classes) if one_vs_rest else [response]
        fit_model(self, runner, X, responses, likelihood, name_data(self, rows, y))

    def _weighing_laws(self) -> str:
        return self._unweighing_option() or weighing(likelihood="labels")
