"""Doubly-sparse kernel classification."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassifierMixin
from sklearn.callback import with_callbacks

from ...likelihoods._contract import WORKING
from ...posteriors.names import row_labels
from ..shared.class_face import encode_classes
from ..shared.class_likelihoods import choose_likelihood
from ..shared.class_prediction import ClassPrediction
from ..shared.documentation import documented
from ..shared.one_vs_rest import OneVsRestEstimator
from ..shared.validation import validate_rows
from .family import DoublySparseEstimator


@documented
class DoublySparseClassifier(
    ClassPrediction, ClassifierMixin, OneVsRestEstimator, DoublySparseEstimator
):
    r"""Kernel classification that selects features inside the kernel, and a few training rows.

    .. math::
        P(y=1\mid x)=h(f(x)),\qquad f(x)=\beta_0+\sum_{j\in a}k_{\gamma,\eta}(x,x_j)\beta_j,
        \qquad k_{\gamma,\eta}(x,x')=\exp\Big(-\sum_{l\in\gamma}\eta_l(x_l-x'_l)^2\Big)

    with features :math:`\gamma` included independently, bandwidths :math:`\eta_l\sim Exp(1)`,
    active vectors a chosen independently, :math:`\beta_j\sim N(0,\nu_1)` and :math:`\nu_1\sim IG`.
    Features, bandwidths, vectors and the slab :math:`\nu_1` are sampled with the coefficients
    integrated out. :math:`h` is the logistic function or :math:`\Phi` (probit).

    More than two classes: with ``likelihood="probit"``, multinomial probit, a latent function for
    each class, with features and vectors in common; with ``"logit"``, one-vs-rest: a model of each
    class against all others, with features and vectors of its own, whose probabilities are
    normalised draw by draw. ``"hinge"`` is for two classes.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern32", "matern52"}, default="rbf"
        The Laplacian kernel has :math:`|x_l-x'_l|` in place of the square. A bandwidth is
        :math:`\eta_l=1/(2\ell_l^2)` for the length scale :math:`\ell_l` (Laplacian:
        :math:`1/\ell_l`).
    likelihood : {"logit", "probit", "hinge"}, default="logit"
        ``"hinge"`` is the Bayesian support vector machine, :math:`\exp(-2\max(1-yf,0))`. It is not
        a model of the labels; its probabilities, normalised over the two classes draw by draw, are
        a heuristic, and its chains mix badly.
    slab_prior : (float, float), default=(0.5, 50)
        Shape and rate of the gamma prior of :math:`1/\nu_1`.
    slab_variance : float or None, default=None
        :math:`\nu_1` if it is known; None: learned under ``slab_prior``.
    <<spike parameter>>
    intercept_variance : float, default=100.0
        Prior variance of :math:`\beta_0`.
    expected_features : float or None, default=None
        Prior mean of the number of included features (at most half of those that are screened).
        None: a tenth of them, but one at least and five at most. Among hundreds of features, where
        many tell the classes apart, one alone predicts worse; among ten, more would be
        selected even from noise.
    <<feature parameters>>
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

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        likelihood: str = "logit",
        slab_prior: tuple[float, float] = (0.5, 50),
        slab_variance: float | None = None,
        spike_variance: float | None = None,
        intercept_variance: float = 100.0,
        expected_features: float | None = None,
        expected_vectors: float = 8.0,
        max_features: int = 50,
        max_active: int = 100,
        candidates: Any = None,
        large_n: str = "dictionary",
        select_features: bool = True,
        select_vectors: bool = True,
        screen: int | None = None,
        screen_by: str = "correlation",
        threshold: float = 0.5,
        standardize: bool = True,
        feature_moves: int | None = None,
        feature_swaps: int = 2,
        feature_pairs: int = 4,
        bandwidth_moves: int = 4,
        active_set_moves: int = 20,
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
        self.slab_prior = slab_prior
        self.slab_variance = slab_variance
        self.spike_variance = spike_variance
        self.intercept_variance = intercept_variance
        self.expected_features = expected_features
        self.expected_vectors = expected_vectors
        self.max_features = max_features
        self.max_active = max_active
        self.candidates = candidates
        self.large_n = large_n
        self.select_features = select_features
        self.select_vectors = select_vectors
        self.screen = screen
        self.screen_by = screen_by
        self.threshold = threshold
        self.standardize = standardize
        self.feature_moves = feature_moves
        self.feature_swaps = feature_swaps
        self.feature_pairs = feature_pairs
        self.bandwidth_moves = bandwidth_moves
        self.active_set_moves = active_set_moves
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
    def fit(self, X: Any, y: Any) -> DoublySparseClassifier:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : DoublySparseClassifier
        """
        with self._all_or_nothing():
            self._fit(X, y)
        return self

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
