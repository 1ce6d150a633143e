"""Hybrid-search Gaussian-process classification."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit, ndtri
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import validate_data

from .._checks import check_choice, check_count
from ..inference.hybrid.laws import class_probability
from .class_prediction import encode_classes
from .documentation import documented
from .hybrid_search import INTEGRATIONS, HybridSearchEstimator


@documented
class HybridSearchGPClassifier(ClassifierMixin, HybridSearchEstimator):
    r"""Gaussian-process classification averaged over the feature sets that a fast search finds.

    .. math::
        P(y=1\mid f)=h(f),\quad f\sim N(0,\lambda k(E)+v_011^\top),\quad
        E_{il}=\sum_{j\in\gamma}(x_{ij}-x_{lj})^2/\tau_j

    for two classes. The evidence of a feature set is an inner Laplace approximation over f and an
    outer one over the logarithms of the parameters; search and averaging are those of
    :class:`HybridSearchGPRegressor`. For more classes wrap it in
    :class:`sklearn.multiclass.OneVsRestClassifier`.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern32", "matern52"}, default="rbf"
    bandwidth : {"shared", "per_feature"}, default="shared"
    likelihood : {"logit", "probit"}, default="logit"
    evidence : {"laplace", "bic"}, default="laplace"
    amplitude_prior, bandwidth_prior : (float, float), default=(1, 1), (1, 1)
        Shape and rate of the gamma priors of :math:`1/\lambda` and :math:`1/\tau`.
    intercept_variance : float, default=10.0
        :math:`v_0`, the prior variance of a constant in the function.
    <<search parameters>>
    search_rows : int, default=500
        With more rows than this the search works on so many, the classes in equal parts, and every
        prediction has a model of its own, of ``local_neighbors`` rows.
    local_neighbors : int, default=50
        Rows of a local model.
    integration : {"composite", "draws", "mode", "frozen"}, default="composite"
    draws : int, default=1000
        For ``integration="draws"``.
    threshold : float, default=0.5
    scale : bool, default=True
        Scale features to unit variance.
    progress : {"auto", True, False}, default="auto"
    n_jobs : int or None, default=None
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    models_ : DataFrame
        Models of the window, best first: features, weight, log evidence, score, parameters.
    feature_inclusion_ : ndarray of shape (n_features_in_,)
    selected_features_ : ndarray of int
    n_fits_, n_plug_ins_ : int

    Examples
    --------
    >>> from sparsekern import HybridSearchGPClassifier
    >>> from sparsekern.datasets import make_ring_and_blob
    >>> X, y = make_ring_and_blob(100, random_state=0)
    >>> HybridSearchGPClassifier(random_state=0).fit(X, y).selected_features_
    array([0, 1])
    """

    device = "cpu"
    memory_limit = 4.0
    grid = "value"
    noise_prior = (1.0, 1.0)  # of a parameter that these likelihoods do not have

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        bandwidth: str = "shared",
        likelihood: str = "logit",
        evidence: str = "laplace",
        amplitude_prior: tuple[float, float] = (1, 1),
        bandwidth_prior: tuple[float, float] = (1, 1),
        intercept_variance: float = 10.0,
        max_features: int = 10,
        size_penalty: float = 1.0,
        window: float = 20.0,
        slack: float = 12.0,
        n_wander: int = 20,
        n_refine: int = 5,
        n_starts: int = 1,
        swaps: Any = "auto",
        close: bool = True,
        screen: int | None = None,
        search_rows: int = 500,
        local_neighbors: int = 50,
        integration: str = "composite",
        draws: int = 1000,
        threshold: float = 0.5,
        scale: bool = True,
        progress: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.likelihood = likelihood
        self.evidence = evidence
        self.amplitude_prior = amplitude_prior
        self.bandwidth_prior = bandwidth_prior
        self.intercept_variance = intercept_variance
        self.max_features = max_features
        self.size_penalty = size_penalty
        self.window = window
        self.slack = slack
        self.n_wander = n_wander
        self.n_refine = n_refine
        self.n_starts = n_starts
        self.swaps = swaps
        self.close = close
        self.screen = screen
        self.search_rows = search_rows
        self.local_neighbors = local_neighbors
        self.integration = integration
        self.draws = draws
        self.threshold = threshold
        self.scale = scale
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self):
        """Two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> HybridSearchGPClassifier:
        """Search for models.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of two classes.

        Returns
        -------
        self : HybridSearchGPClassifier
        """
        with self._all_or_nothing():
            self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> None:
        settings = self._check_search_parameters()
        check_choice("likelihood", self.likelihood, ("logit", "probit"))
        check_count("local_neighbors", self.local_neighbors, 2)
        check_count("draws", self.draws)
        check_choice("integration", self.integration, INTEGRATIONS)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        classes, response = encode_classes(y)
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass, "
                f"with {len(classes)} classes; wrap the estimator in "
                "sklearn.multiclass.OneVsRestClassifier, or use DoublySparseClassifier."
            )
        self.classes_ = classes
        self._fit_models(self._prepare_training(X), response, settings)

    @property
    def _last_parameter(self) -> None:
        return None

    def _open_backend(self) -> Any:
        return self._open_laplace(self.likelihood)

    def _probability(self, X: Any) -> np.ndarray:
        found = [
            (parts.weights * class_probability(self.likelihood, *parts[1:3])).sum(axis=0)
            for _, parts in self._components(X)
        ]
        return np.clip(np.concatenate(found), 0.0, 1.0)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities, averaged over models, parameters and the function.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns in the order of ``classes_``.
        """
        probability = self._probability(X)
        return np.column_stack([1.0 - probability, probability])

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the link of the predicted probability of ``classes_[1]``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        tiny = np.finfo(np.float64).epsneg
        probability = np.clip(self._probability(X), tiny, 1.0 - tiny)
        return ndtri(probability) if self.likelihood == "probit" else logit(probability)

    def predict(self, X: Any) -> np.ndarray:
        """Return the more probable class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        likely = self._probability(X) > 0.5  # refuses an estimator that is not fitted
        return self.classes_[likely.astype(np.intp)]
