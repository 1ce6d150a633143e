"""The face of every classifier: probabilities and their draws, their link, the predicted class."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ...likelihoods._contract import Likelihood
from ...likelihoods.table import TABLE, Requires, find_law, offered, suits
from ...predictive.class_shares import by_class
from ...settings.limits import check_count
from .weights import Weigh, when_to_weigh

_TINY = np.finfo(np.float64).tiny
_CLOSE_TO_ONE = np.finfo(np.float64).epsneg
_COMPARABLE = frozenset({"probabilities"})


def encode_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes, sorted, and the labels: -1.0 and +1.0 for two, 0.0, 1.0, .. for more."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        only = classes.tolist()[0]
        raise ValueError(f"y holds one class only ({only!r}); a classifier needs two.")
    return classes, 2.0 * codes - 1.0 if len(classes) == 2 else codes.astype(np.float64)


def responses_one_vs_rest(codes: np.ndarray, n_classes: int) -> list[np.ndarray]:
    """Return for each class which rows belong to it, +1.0, and which do not, -1.0."""
    return [np.where(codes == code, 1.0, -1.0) for code in range(n_classes)]


def choose_likelihood(
    name: Any,
    n_classes: int,
    requires: Requires,
    engine: str,
    weights: np.ndarray | None = None,
) -> tuple[Likelihood, bool]:
    """Return the likelihood, and whether it stands for one-vs-rest models.

    ``requires`` is what the engine needs, ``engine`` the name of the estimator, ``weights`` say how
    often each row counts, where :func:`can_weigh` says that a law can weigh rows.
    """
    law = find_law("likelihood", name, ("labels",), requires, engine)
    if weights is not None:
        return law().weighted(weights), n_classes > 2
    if n_classes == 2:
        return law(), False
    several = TABLE.get(f"multinomial_{law.name}")
    if several is not None and suits(several, requires):
        return several(n_classes), False
    if not suits(law, (_COMPARABLE,)):
        comparable = tuple(need | _COMPARABLE for need in requires)
        others = " or ".join(repr(other) for other in offered(("labels",), comparable))
        raise ValueError(
            f"Only binary classification is supported with likelihood={law.name!r}. The type of "
            f"the target is multiclass, with {n_classes} classes; use likelihood={others}, "
            "or wrap the estimator in sklearn.multiclass.OneVsRestClassifier."
        )
    return law(), True


def can_weigh(name: Any) -> Weigh:
    """Return when a sampler of the law of this name is to weigh rows; never if there is none."""
    law = TABLE.get(name) if isinstance(name, str) else None
    return "never" if law is None else when_to_weigh(law)


class ClassFace:
    """Predictions from the probability of the second class, or from those of all classes.

    They are made here of posterior draws; estimators with other posteriors say how they make them.
    """

    classes_: np.ndarray
    _multi_label = False  # whether ``classes_`` are labels that do not exclude each other
    _posterior: Any
    _prepare: Any  # of the estimator: rows as kernels see them

    def _mean_response(self, X: Any) -> np.ndarray:
        """Return P(y = classes_[1]), shape (n,), or all probabilities, shape (n, classes).

        An estimator that is not fitted is refused.
        """
        features = self._prepare(X)
        return self._posterior.draws.mean_response(features)

    def _response_draws(self, X: Any, thin: int) -> np.ndarray:
        """Return draws of the same, shape (draws, n) or (draws, n, classes)."""
        features = self._prepare(X)
        return self._posterior.draws.thinned(thin).response_draws(features)

    def _link(self, probability: np.ndarray) -> np.ndarray:
        """Return the latent value of a probability, for two classes or a label."""
        return self._posterior.draws.likelihood.link(probability)

    def _by_class(self, response: np.ndarray) -> np.ndarray:
        return response if self._multi_label else by_class(response, len(self.classes_))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities, averaged over everything that is not known.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; with several labels the probability of each.
        """
        return self._by_class(self._mean_response(X))

    def sample_proba(self, X: Any, *, thin: int = 1) -> np.ndarray:
        """Return posterior draws of the class probabilities, for histograms of single cases.

        A draw is a function of each class, the same at every call.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        thin : int, default=1
            Return every ``thin``-th draw (of each chain) only.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_classes)
            With ``thin=1`` they are the ``chains * n_draws_`` draws of the posterior, chain after
            chain, and their mean is ``predict_proba(X)`` (unless it is sharpened). A fit without
            chains has 1,000. For two classes their mean is ``predict_proba(X)`` but for their
            number; for more about that, as every draw is normalised by itself.
        """
        return self._by_class(self._response_draws(X, check_count("thin", thin)))

    def decision_function(self, X: Any) -> np.ndarray:
        r"""Return the link of the predicted probability.

        For two classes, and for each of several labels, that is the latent value whose probability
        it is, such as :math:`\Phi^{-1}(P(y=1))`; for more classes, the logarithm of every class's
        probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive where ``predict`` gives ``classes_[1]``, or largest at the class that
            ``predict`` gives. A probability that is 0 or 1 to machine precision is clipped.
        """
        mean = self._mean_response(X)
        if mean.ndim > 1 and not self._multi_label:
            return np.log(np.maximum(mean, _TINY))
        return self._link(np.clip(mean, _CLOSE_TO_ONE, 1.0 - _CLOSE_TO_ONE))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class, or a one for every label more probable than not.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), with several labels (n_samples, n_labels)
        """
        mean = self._mean_response(X)
        if self._multi_label:
            return (mean > 0.5).astype(np.int64)
        best = mean.argmax(axis=1) if mean.ndim > 1 else (mean > 0.5).astype(np.intp)
        return self.classes_[best]
