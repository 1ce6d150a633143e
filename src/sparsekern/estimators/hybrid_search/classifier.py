"""Hybrid-search Gaussian-process classification."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_flag
from ...inference.hybrid.candidates import in_content_order
from ...inference.hybrid.laplace_backend import REQUIRES as LAPLACE
from ...inference.hybrid.laplace_backend import LaplaceBackend
from ...inference.hybrid.scoring import SearchSettings
from ...likelihoods.table import find_law
from ...predictive.class_shares import normalized_shares
from ...predictive.even_draws import even_draws
from ...settings.hybrid_search import (
    HybridPrediction,
    HybridPriors,
    HybridSearchOptions,
    HybridSelection,
)
from ...settings.limits import check_count
from ..shared.class_face import ClassFace, encode_classes, responses_one_vs_rest
from ..shared.documentation import documented
from .family import HybridSearchEstimator
from .fitting import Report, fit_models, search_settings
from .models import warn_at_limit

REQUIRES = tuple(need | {"averaged mean"} for need in LAPLACE)
_NOISE_PRIOR = (1.0, 1.0)  # of a parameter that these likelihoods do not have
_FREEDOM = 4.0  # nor have they degrees of freedom


@documented
class HybridSearchGPClassifier(ClassFace, ClassifierMixin, HybridSearchEstimator):
    r"""Gaussian-process classification averaged over the feature sets that a fast search finds.

    .. math::
        P(y=1\mid f)=h(f),\quad f\sim N(0,\lambda k(E)+v_011^\top),\quad
        E_{il}=\sum_{j\in\gamma}(x_{ij}-x_{lj})^2/2\ell_j^2

    for two classes; more have a model each, against the rest. The evidence of a feature set is an
    inner Laplace approximation over f and an outer one over the logarithms of the parameters;
    search and averaging are those of :class:`HybridSearchGPRegressor`.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern32", "matern52"}, default="rbf"
        The Laplacian kernel has absolute differences, divided by :math:`\ell_j`.
    likelihood : {"logit", "probit", "scaled_logit"}, default="logit"
    <<search parameters>>
    standardize : bool, default=True
        Scale inputs to mean 0 and standard deviation 1 inside the estimator. The priors presume
        inputs of about that size.
    selection : HybridSelection or None, default=None
        Which features; see :class:`sparsekern.settings.HybridSelection`.
    priors : HybridPriors or None, default=None
        Priors; see :class:`sparsekern.settings.HybridPriors`.
    search : HybridSearchOptions or None, default=None
        How to search; see :class:`sparsekern.settings.HybridSearchOptions`.
    prediction : HybridPrediction or None, default=None
        How to predict; see :class:`sparsekern.settings.HybridPrediction`.
    <<search running parameters>>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    <<search attributes>>
    estimators_ : list of HybridSearchGPClassifier
        With more than two classes: the model of each against the rest. ``models_`` then has those
        of every class, one after the other, with a column "class"; ``feature_inclusion_`` is the
        probability that a feature is in the model of any class.

    Examples
    --------
    >>> from sparsekern import HybridSearchGPClassifier
    >>> from sparsekern.datasets import make_ring_and_blob
    >>> X, y = make_ring_and_blob(100, random_state=0)
    >>> HybridSearchGPClassifier(random_state=0).fit(X, y).selected_features_
    array([0, 1])
    """

    _groups: ClassVar = {
        "selection": HybridSelection,
        "priors": HybridPriors,
        "search": HybridSearchOptions,
        "prediction": HybridPrediction,
    }

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        likelihood: str = "logit",
        learn_length_scale: str = "shared",
        standardize: bool = True,
        selection: HybridSelection | None = None,
        priors: HybridPriors | None = None,
        search: HybridSearchOptions | None = None,
        prediction: HybridPrediction | None = None,
        progress: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.likelihood = likelihood
        self.learn_length_scale = learn_length_scale
        self.standardize = standardize
        self.selection = selection
        self.priors = priors
        self.search = search
        self.prediction = prediction
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        settings = search_settings(self, _NOISE_PRIOR)
        name = type(self).__name__
        self._law = find_law("likelihood", self.likelihood, ("labels",), REQUIRES, name)()
        self._priors = self._group("priors")  # predictions need them, whatever becomes of these
        X, y = self._training_rows(X, y, sample_weight)
        self.classes_, response = encode_classes(y)
        with self._watch() as report:
            if len(self.classes_) == 2:
                self._fit_two_classes(X, response, settings, report)
            else:
                self._fit_one_vs_rest(X, response, settings, report)
        warn_at_limit(getattr(self, "estimators_", [self]), settings.max_features)

    def _fit_two_classes(
        self, X: np.ndarray, response: np.ndarray, settings: SearchSettings, report: Report
    ) -> None:
        rows, screen = self._group("search").rows, self._group("selection").screen
        X, response = in_content_order(X, response, rows, screen)
        columns = np.ascontiguousarray(self._prepare_training(X).T)
        fit_models(self, columns, response, settings, "classes", report)

    def _fit_one_vs_rest(
        self, X: np.ndarray, codes: np.ndarray, settings: SearchSettings, report: Report
    ) -> None:
        """Fit a copy for every class, and keep what they found side by side."""
        tables, members = [], []
        responses = responses_one_vs_rest(codes, len(self.classes_))
        known = ("_law", "_priors", "n_features_in_", "feature_names_in_")
        for label, response in zip(self.classes_, responses, strict=True):
            member: Any = clone(self).set_callbacks()  # which hear of the whole
            member.__dict__.update({name: vars(self)[name] for name in known if name in vars(self)})
            member.classes_ = np.array([False, True])
            member._fit_two_classes(X, response, settings, report)
            members.append(member)
            table = member.models_.copy()
            table.insert(0, "class", label)
            tables.append(table)
        self.estimators_ = members
        self.models_ = pd.concat(tables, ignore_index=True)
        # the searches know nothing of each other: a feature is in no model with the product
        absent = np.prod([1.0 - member.feature_inclusion_ for member in members], axis=0)
        self.feature_inclusion_ = 1.0 - absent
        self.n_fits_ = sum(member.n_fits_ for member in members)
        self.n_plug_ins_ = sum(member.n_plug_ins_ for member in members)
        self.search_path_ = [step for member in members for step in member.search_path_]

    def _open_backend(self, rows: Any = slice(None)) -> LaplaceBackend:
        return LaplaceBackend(self._law.name, _FREEDOM, self._priors.intercept, self.n_jobs)

    def _probability(self, X: Any) -> np.ndarray:
        """Return P(y = classes_[1]) for two classes."""
        found = [
            (parts.weights * self._law.averaged_mean(*parts[1:3])).sum(axis=0)
            for _, parts in self._components(self._points(X))
        ]
        return np.clip(np.concatenate(found), 0.0, 1.0)

    def _positive_draws(self, X: Any, count: int, joint: bool) -> np.ndarray:
        """Return draws of P(y = classes_[1]) for two classes."""
        link = self._law.mean
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
        check_is_fitted(self)
        if len(self.classes_) > 2:
            return normalized_shares([member._probability(X) for member in self.estimators_])
        return self._probability(X)

    def _response_draws(self, X: Any, thin: int, joint: bool = False) -> np.ndarray:
        check_is_fitted(self)
        count = self._count_draws(thin)
        if len(self.classes_) == 2:
            return self._positive_draws(X, count, joint)
        # models of the classes know nothing of each other: their draws come together at random
        return normalized_shares(
            [
                np.random.default_rng(place).permutation(member._positive_draws(X, count, joint))
                for place, member in enumerate(self.estimators_)
            ]
        )

    def _link(self, probability: np.ndarray) -> np.ndarray:
        return self._law.link(probability)

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
            Return this many times fewer draws.
        joint : bool, default=False
            Whether rows of one draw share a function, for statements about several rows, such as
            their mean. With local models (more rows than the search works on) there is none to
            share.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_classes)
            With ``thin=1`` their number is ``prediction.draws``; they are the same at every call.
            For two classes their mean is ``predict_proba(X)`` but for their number; for more, draws
            of the models of the classes are put together at random and normalised.
        """
        check_flag("joint", joint)
        return self._by_class(self._response_draws(X, check_count("thin", thin), joint))
