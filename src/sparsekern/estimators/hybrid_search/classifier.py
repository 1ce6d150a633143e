"""Hybrid-search Gaussian-process classification."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_choice, check_flag
from ...inference.hybrid.laplace_backend import REQUIRES as LAPLACE
from ...inference.hybrid.rules import even_draws
from ...likelihoods.table import find_law
from ...predictive.class_shares import normalized_shares
from ..shared.class_face import ClassFace, encode_classes
from ..shared.counts import check_count
from ..shared.documentation import documented
from ..shared.validation import validate_rows
from .candidates import in_content_order
from .family import INTEGRATIONS, HybridSearchEstimator
from .memory import check_draws
from .one_vs_rest import fit_one_vs_rest
from .settings import check_search_parameters

REQUIRES = tuple(need | {"averaged mean"} for need in LAPLACE)


@documented
class HybridSearchGPClassifier(ClassFace, ClassifierMixin, HybridSearchEstimator):
    r"""Gaussian-process classification averaged over the feature sets that a fast search finds.

    .. math::
        P(y=1\mid f)=h(f),\quad f\sim N(0,\lambda k(E)+v_011^\top),\quad
        E_{il}=\sum_{j\in\gamma}(x_{ij}-x_{lj})^2/\tau_j

    for two classes; more have a model each, against the rest. The evidence of a feature set is an
    inner Laplace approximation over f and an outer one over the logarithms of the parameters;
    search and averaging are those of :class:`HybridSearchGPRegressor`.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern32", "matern52"}, default="rbf"
    bandwidth : {"shared", "per_feature"}, default="shared"
    likelihood : {"logit", "probit", "scaled_logit"}, default="logit"
    evidence : {"laplace", "bic"}, default="laplace"
    amplitude_prior, bandwidth_prior : (float, float), default=(1, 1), (1, 1)
        Shape and rate of the gamma priors of :math:`1/\lambda` and :math:`1/\tau`.
    intercept_variance : float, default=10.0
        :math:`v_0`, the prior variance of a constant in the function.
    <<search parameters>>
    search_rows : int, default=500
        With more rows than this the search works on so many, and every prediction has a model of
        its own, of ``local_neighbors`` rows. Classes keep their shares, but for a class of less
        than 5 %, which keeps up to 5 % of these rows. Which rows they are does not depend on the
        order of the data.
    local_neighbors : int, default=50
        Rows of a local model.
    integration : {"composite", "draws", "mode", "frozen"}, default="composite"
    draws : int, default=1000
        For ``integration="draws"`` and :meth:`sample_proba`.
    threshold : float, default=0.5
    scale : bool, default=True
        Scale features to unit variance.
    progress : {"auto", True, False}, default="auto"
    n_jobs : int or None, default=None
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    models_ : DataFrame
        Models of the window, best first: features, weight, log evidence, score, parameters. With
        more than two classes those of every class, one after the other, with a column "class".
    feature_inclusion_ : ndarray of shape (n_features_in_,)
        With more than two classes the probability that a feature is in the model of any.
    estimators_ : list of HybridSearchGPClassifier
        With more than two classes: the model of each against the rest.
    selected_features_ : ndarray of int
    search_path_ : list of (str, float, int)
        Kind of every step of the search, and score and number of features of the model it left;
        empty with ``search="mcmc"``.
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
    grid = "classes"
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
        window: Any = "auto",
        slack: float = 12.0,
        n_wander: int = 20,
        n_refine: int = 5,
        refit_drift: bool = False,
        n_starts: int = 1,
        swaps: Any = "auto",
        pairs: bool = True,
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
        self.refit_drift = refit_drift
        self.n_starts = n_starts
        self.swaps = swaps
        self.pairs = pairs
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

    def fit(self, X: Any, y: Any) -> HybridSearchGPClassifier:
        """Search for models.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of two or more classes.

        Returns
        -------
        self : HybridSearchGPClassifier
        """
        with self._all_or_nothing():
            self._fit(X, y)
        self._warn_at_limit()
        return self

    def _fit(self, X: Any, y: Any) -> None:
        settings = check_search_parameters(self)
        self._law()
        check_count("local_neighbors", self.local_neighbors, 2)
        check_draws(self)
        check_choice("integration", self.integration, INTEGRATIONS)
        rows, y = validate_rows(self, X, y)
        self.classes_, response = encode_classes(y)
        self.__dict__.pop("estimators_", None)  # of a fit to more classes than now
        if len(self.classes_) > 2:
            fit_one_vs_rest(self, X, y)
        else:
            rows, response = in_content_order(rows, response, self.search_rows, self.screen)
            self._fit_models(self._prepare_training(rows), response, settings)

    def _law(self) -> Any:
        """Return the likelihood."""
        law = find_law("likelihood", self.likelihood, ("labels",), REQUIRES, type(self).__name__)
        return law()

    @property
    def _last_parameter(self) -> None:
        return None

    def _open_backend(self, rows: Any = slice(None)) -> Any:
        return self._open_laplace(self.likelihood, rows)

    def _probability(self, X: Any) -> np.ndarray:
        """Return P(y = classes_[1]) for two classes."""
        law = self._law()
        found = [
            (parts.weights * law.averaged_mean(*parts[1:3])).sum(axis=0)
            for _, parts in self._components(self._points(X))
        ]
        return np.clip(np.concatenate(found), 0.0, 1.0)

    def _positive_draws(self, X: Any, count: int, joint: bool) -> np.ndarray:
        """Return draws of P(y = classes_[1]) for two classes."""
        link = self._law().mean
        if joint:
            drawn = self._latent_draws(self._points(X), count)
            return np.concatenate([link(latent) for _, latent, _ in drawn], axis=1)
        found = []
        for _, parts in self._components(self._points(X)):
            chosen, quantiles = even_draws(parts.weights[:, 0], count)
            deviations = np.sqrt(parts.variances[chosen])
            found.append(link(parts.means[chosen] + quantiles[:, None] * deviations))
        return np.concatenate(found, axis=1)

    def _mean_response(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "models_")
        if len(self.classes_) > 2:
            return normalized_shares([member._probability(X) for member in self.estimators_])
        return self._probability(X)

    def _response_draws(self, X: Any, thin: int, joint: bool = False) -> np.ndarray:
        check_is_fitted(self, "models_")
        count = self._count_draws(thin)
        if len(self.classes_) == 2:
            return self._positive_draws(X, count, joint)
        # models of the classes know nothing of each other: their draws come together at random
        return normalized_shares(
            [
                member._positive_draws(X, count, joint)[
                    np.random.default_rng(place).permutation(count)
                ]
                for place, member in enumerate(self.estimators_)
            ]
        )

    def _link(self, probability: np.ndarray) -> np.ndarray:
        return self._law().link(probability)

    def sample_proba(self, X: Any, *, thin: int = 1, joint: bool = False) -> np.ndarray:
        r"""Return draws of the class probabilities, for histograms of single cases.

        A draw has a model, its parameters, and a quantile: at every row it is :math:`h(\mu+zs)`,
        with mean :math:`\mu` and deviation s of the function there and one z for all rows. Each
        row has its own law, but of rows together the draws say less than a sampler's: they move up
        and down as one. With ``joint=True`` a draw is that of a function instead.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        thin : int, default=1
            Return so many times fewer draws.
        joint : bool, default=False
            Whether rows of one draw share a function, for statements about several rows, such as
            their mean. With local models (more than ``search_rows`` rows) there is none to share.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_classes)
            With ``thin=1`` there are ``draws`` of them, the same at every call. For two classes
            their mean is ``predict_proba(X)`` but for their number; for more, draws of the models
            of the classes are put together at random and normalised.
        """
        check_flag("joint", joint)
        return self._by_class(self._response_draws(X, check_count("thin", thin), joint))
