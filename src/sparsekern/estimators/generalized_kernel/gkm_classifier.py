"""The generalized kernel model for classes."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassifierMixin
from sklearn.callback import with_callbacks

from ...likelihoods._contract import WORKING
from ...posteriors.names import row_labels
from ..shared.class_face import encode_classes
from ..shared.class_likelihoods import choose_likelihood
from ..shared.class_prediction import ClassPrediction
from ..shared.counts import check_count
from ..shared.documentation import documented
from ..shared.one_vs_rest import OneVsRestEstimator
from ..shared.validation import validate_rows
from .family import GeneralizedKernelEstimator


@documented
class GKMClassifier(
    ClassPrediction, ClassifierMixin, OneVsRestEstimator, GeneralizedKernelEstimator
):
    r"""Sparse Bayesian kernel classifier: the generalized kernel model.

    A latent function that rests on a few *active* training rows,

    .. math::
        P(y=1\mid x)=h(f(x)),\qquad f(x)=u+\sum_{j\in\gamma}k(x,x_j)\beta_j,

    with :math:`\beta_\gamma\sim N(0,g^{-1}K_{\gamma\gamma}^{-1})`, :math:`u\sim N(0,\eta^{-1})`
    and a prior on the active set :math:`\gamma` whose size is uniform up to ``max_active``. Which
    rows are active, the scales and, if asked, the kernel's width are sampled; predictions average
    over them. :math:`h` is :math:`\Phi` (probit) or the logistic function.

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
    sparse : bool, default=True
        Whether to learn the active set. With False every row is active (BGKM).
    scale_prior : (float, float), default=(2, 0.05)
        Shape and rate of the gamma prior of g.
    <<prior parameters>>
    <<probit parameters>>
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

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        likelihood: str = "probit",
        length_scale: Any = "mean_distance",
        learn_length_scale: Any = False,
        length_scale_bounds: tuple[float, float] = (0.1, 10.0),
        max_active: int = 100,
        candidates: Any = None,
        sparse: bool = True,
        scale_prior: tuple[float, float] = (2, 0.05),
        intercept_prior: tuple[float, float] = (0.5, 0.05),
        size_prior: tuple[float, float] = (1, 1),
        amplitude_prior: tuple[float, float] = (2, 0.4),
        zero_probability: float = 0.5,
        standardize: bool = True,
        jitter: float = 1e-8,
        active_set_moves: int = 10,
        joint_moves: int = 30,
        latent_scans: int = 3,
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
        self.likelihood = likelihood
        self.length_scale = length_scale
        self.learn_length_scale = learn_length_scale
        self.length_scale_bounds = length_scale_bounds
        self.max_active = max_active
        self.candidates = candidates
        self.sparse = sparse
        self.scale_prior = scale_prior
        self.intercept_prior = intercept_prior
        self.size_prior = size_prior
        self.amplitude_prior = amplitude_prior
        self.zero_probability = zero_probability
        self.standardize = standardize
        self.jitter = jitter
        self.active_set_moves = active_set_moves
        self.joint_moves = joint_moves
        self.latent_scans = latent_scans
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

    @with_callbacks
    def fit(self, X: Any, y: Any) -> GKMClassifier:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, or the kernel matrix (n_samples, n_samples) if precomputed.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : GKMClassifier
        """
        with self._all_or_nothing():
            self._fit(X, y)
        return self

    def _sweep_options(self) -> dict[str, Any]:
        return super()._sweep_options() | {
            "joint_moves": check_count("joint_moves", self.joint_moves, lowest=0),
            "scans": check_count("latent_scans", self.latent_scans),
        }

    def _fit(self, X: Any, y: Any) -> None:
        plan = self._check_sampling_parameters()
        rows = row_labels(X)
        X, y = validate_rows(self, X, y)
        self.classes_, response = encode_classes(y)
        self._name_data(rows, y)
        self.__dict__.pop("estimators_", None)
        likelihood, one_vs_rest = choose_likelihood(
            self.likelihood, len(self.classes_), WORKING, type(self).__name__
        )
        if one_vs_rest:
            self._fit_one_vs_rest(X, response, likelihood, plan)
        else:
            self._fit_chains(X, response, likelihood, plan)
