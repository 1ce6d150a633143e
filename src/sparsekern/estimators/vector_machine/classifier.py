"""What PCVMClassifier and RVMClassifier share: models of the classes, averaged over widths."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logit, ndtr, ndtri, softmax
from sklearn.base import ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_choice
from ...inference.vector_machine.classification import (
    REQUIRES,
    TRUNCATED,
    Candidates,
    FittedClassifier,
    Method,
    fit_classifier,
    without_rows,
)
from ...inference.vector_machine.columns import HELD_NUMBERS
from ...inference.vector_machine.multiclass import FittedMultinomial, fit_multinomial
from ...inference.vector_machine.weights import width_weights
from ...kernels.resolve import Kernel
from ...likelihoods.table import TABLE, find_law, offered, suits
from ...likelihoods.terms import CODES, LOGIT, PROBIT
from ...predictive.class_shares import normalized_shares
from ..shared.class_face import ClassFace, encode_classes, responses_one_vs_rest
from ..shared.kernel_widths import make_kernels
from ..shared.validation import validate_rows
from .family import Task, VectorMachine
from .weight_draws import expansion_draws

_FOLDS = 5
Fit = FittedClassifier | FittedMultinomial


@dataclass(frozen=True)
class WidthAverage:
    """Models of one response, one per width, and their weights."""

    fits: list[Fit]
    weights: np.ndarray

    @property
    def kept(self) -> list[tuple[float, Fit]]:
        """Models with a weight."""
        return [(w, fit) for w, fit in zip(self.weights, self.fits, strict=True) if w > 0]

    @property
    def best(self) -> Fit:
        """The model with the largest weight."""
        return self.fits[int(np.argmax(self.weights))]

    @property
    def rows(self) -> np.ndarray:
        """Training rows active in any model with a weight."""
        return np.unique(np.concatenate([fit.rows for _, fit in self.kept]))

    @property
    def left_out(self) -> np.ndarray:
        """Probability of each training row's own label, the row left out."""
        own = np.sum([weight * np.exp(fit.log_left_out) for weight, fit in self.kept], axis=0)
        return np.minimum(own, 1.0)  # the weights' sum is one but for rounding

    def probability(self, features: np.ndarray) -> np.ndarray:
        """Return the probability of +1, or of every class."""
        kept = self.kept
        total = kept[0][0] * kept[0][1].probability(features)
        for weight, fit in kept[1:]:
            total += weight * fit.probability(features)
        return total


class VectorMachineClassifier(ClassFace, ClassifierMixin, VectorMachine):
    """Models of two classes, of each class against the rest, or of all classes at once."""

    multi_class: str
    likelihood: str
    inference: str
    classes_: np.ndarray
    # a step of a classifier costs more than one of a regression
    _candidate_numbers = (200, HELD_NUMBERS // 4)

    def _make_method(self, n_candidates: int) -> Method:
        """Return how a model is fitted."""
        raise NotImplementedError

    def _check_likelihood(self, truncated: bool) -> int:
        """Return the code of the likelihood; ``truncated``: the method needs truncated latents."""
        law = find_law("likelihood", self.likelihood, ("labels",), REQUIRES, type(self).__name__)
        if truncated and not suits(law, TRUNCATED):
            names = " or ".join(f"likelihood={name!r}" for name in offered(("labels",), TRUNCATED))
            raise ValueError(
                f"inference={self.inference!r} needs {names}, got likelihood={law.name!r}; set "
                f"{names}, or inference='laplace'."
            )
        return CODES[law.name]

    def _fit_by_evidence(
        self, X: Any, y: Any
    ) -> tuple[list[Kernel], np.ndarray, list[np.ndarray], np.ndarray]:
        """Fit; return kernels, training rows as they see them, responses and coded classes."""
        check_choice("multi_class", self.multi_class, ("one_vs_rest", "multinomial"))
        signed = self._make_method(1).signed  # refuses illegal combinations
        X, y = validate_rows(self, X, y)
        self.classes_, codes = encode_classes(y)
        features = np.ascontiguousarray(self._prepare_training(X))
        self._say_sample(len(features))
        kernels = make_kernels(self, features)
        together = len(self.classes_) == 2 or self.multi_class == "multinomial"
        responses = [codes]
        if not together:
            responses = responses_one_vs_rest(codes, len(self.classes_))
        fit = fit_classifier if len(self.classes_) == 2 or not together else fit_multinomial
        self._averages = self._average_widths(fit, kernels, features, responses, signed)
        self._set_attributes(kernels, codes)
        return kernels, features, responses, codes

    def is_fitted_to(self, X: Any, y: Any) -> bool:
        """Tell whether these look like the rows and classes of the fit, in their order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        bool
            A machine knows its active rows only: these are compared, with their labels where
            columns carry labels. For two classes.
        """
        features, fits = self._prepare(X), self._averages[0].fits
        y = np.asarray(y)
        signs = (y == self.classes_[1]).astype(np.float64) - (y == self.classes_[0])
        if len(features) != len(fits[0].log_left_out) or np.any(signs == 0):
            return False
        same = [np.allclose(features[fit.rows], fit.expansion.vectors) for fit in fits]
        if fits[0].expansion.signs.min(initial=1.0) < 0:  # columns carry labels
            same += [np.array_equal(signs[fit.rows], fit.expansion.signs) for fit in fits]
        return all(same)

    def active_weights(self) -> np.ndarray:
        """Return for each training row the weight of the widths at which it is active.

        Returns
        -------
        ndarray of shape (n_samples,)
            Of the first model, where each class has one.
        """
        check_is_fitted(self, self._mark_of_a_fit)
        average = self._averages[0]
        total = np.zeros(len(average.fits[0].log_left_out))
        for weight, fit in average.kept:
            total[fit.rows] += weight
        return np.minimum(total, 1.0)  # weights add up to one but for rounding

    def side_probability(self, X: Any) -> np.ndarray:
        r"""Return the posterior probability that f is positive: :math:`\sum_kw_k\Phi(m_k/s_k)`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            For two classes; how sure the side of the boundary is, not how probable the class.
        """
        features = self._prepare(X)
        total = np.zeros(len(features))
        for weight, fit in self._averages[0].kept:
            mean, variance = fit.expansion.moments(features)
            total += weight * ndtr(mean[:, 0] / np.sqrt(variance))
        return total

    def _average_widths(
        self,
        fit: Any,
        kernels: list[Kernel],
        features: np.ndarray,
        responses: list[np.ndarray],
        signed: bool,
    ) -> list[WidthAverage]:
        tasks: list[Task] = []
        ends = [0]  # a rare class has fewer folds, and so fewer tasks
        for labels in responses:
            candidates = self._find_candidates(features, labels, signed)
            self._require_room(len(features), len(candidates.rows))
            method = self._make_method(len(candidates.rows))
            tasks += [
                partial(fit, kernel, features, labels, candidates, method) for kernel in kernels
            ]
            if len(kernels) > 1 and self.length_scale == "cv":  # one width leaves nothing to choose
                tasks += [
                    partial(_fit_fold, fit, kernel, features, labels, candidates, method, fold)
                    for fold in self._folds(labels)
                    for kernel in kernels
                ]
            ends.append(len(tasks))
        found = self._run(tasks)
        averages = []
        for start, end in pairwise(ends):
            fits = found[start : start + len(kernels)]
            held_out = found[start + len(kernels) : end]
            averages.append(WidthAverage(fits, width_weights(self.length_scale, fits, held_out)))
        self._warn_unless_finished(
            [fit.converged for average in averages for _, fit in average.kept]
        )
        return averages

    def _folds(self, labels: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        smallest = int(np.unique(labels, return_counts=True)[1].min())
        if smallest < 2:
            raise ValueError(
                "length_scale='cv' needs at least two rows of every class; use 'averaged'."
            )
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        folds = StratifiedKFold(min(_FOLDS, smallest), shuffle=True, random_state=seed)
        return list(folds.split(labels, labels))

    def _set_attributes(self, kernels: list[Kernel], codes: np.ndarray) -> None:
        averages = self._averages
        stationary = kernels[0].stationary
        self.length_scales_ = np.array([k.length_scale[0] for k in kernels]) if stationary else None
        weights = np.stack([average.weights for average in averages])
        self.length_scale_weights_ = weights[0] if len(averages) == 1 else weights
        self.active_vectors_ = np.unique(np.concatenate([average.rows for average in averages]))
        best = [average.best for average in averages]
        self.log_evidence_ = float(sum(fit.evidence for fit in best))
        self.evidence_path_ = best[0].path if len(best) == 1 else [fit.path for fit in best]
        own, wrong = self._judge_left_out(codes)
        self.loo_log_loss_ = float(-np.mean(np.log(np.maximum(own, np.finfo(float).tiny))))
        self.loo_error_ = float(np.mean(wrong))
        self.models_ = self._describe_models(kernels)

    def _judge_left_out(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return each row's left-out probability of its class, and whether it is taken wrong."""
        own = [average.left_out for average in self._averages]
        if len(self.classes_) == 2:
            return own[0], own[0] < 0.5
        true = codes.astype(np.intp)
        if len(own) == 1:
            kept = self._averages[0].kept
            several = [(w, fit) for w, fit in kept if isinstance(fit, FittedMultinomial)]
            each = np.sum([w * fit.left_out for w, fit in several], axis=0)
        else:
            classes = np.arange(len(own))[:, None]
            each = normalized_shares(list(np.where(classes == true, own, 1.0 - np.array(own))))
        return each[np.arange(len(each)), true], each.argmax(axis=1) != true

    def _describe_models(self, kernels: list[Kernel]) -> pd.DataFrame:
        rows = []
        for number, average in enumerate(self._averages):
            for kernel, weight, fit in zip(kernels, average.weights, average.fits, strict=True):
                row = {"class": self.classes_[number]} if len(self._averages) > 1 else {}
                row |= {
                    "length_scale": kernel.length_scale[0] if kernel.stationary else np.nan,
                    "weight": weight,
                    "n_vectors": len(fit.rows),
                    "log_evidence": fit.evidence,
                    "loo_log_loss": -float(fit.log_left_out.mean()),
                }
                rows.append(row)
        return pd.DataFrame(rows)

    # prediction

    def _mean_response(self, X: Any) -> np.ndarray:
        # by feature, as compiled kernels read rows: turned round once for all widths
        return self._mixed_probabilities(self._prepare(X, "F"))

    def _mixed_probabilities(self, features: np.ndarray) -> np.ndarray:
        found = [average.probability(features) for average in self._averages]
        return found[0] if len(found) == 1 else normalized_shares(found)

    def _response_draws(self, X: Any, thin: int) -> np.ndarray:
        features = self._prepare(X)
        draws = [
            expansion_draws(average.kept, features, thin, stream)
            for stream, average in enumerate(self._averages)
        ]
        if draws[0].shape[2] > 1:
            return softmax(draws[0], axis=2)
        positive = [self._positive(latent[:, :, 0]) for latent in draws]
        return positive[0] if len(positive) == 1 else normalized_shares(positive)

    def _positive(self, latent: np.ndarray) -> np.ndarray:
        """Return the probability of +1 at latent values."""
        name = next(name for name, code in CODES.items() if code == self._likelihood())
        return TABLE[name]().mean(latent)

    def _likelihood(self) -> int:
        best = self._averages[0].best
        return best.likelihood if isinstance(best, FittedClassifier) else LOGIT

    def _link(self, probability: np.ndarray) -> np.ndarray:
        return ndtri(probability) if self._likelihood() == PROBIT else logit(probability)


def _fit_fold(
    fit: Any,
    kernel: Kernel,
    features: np.ndarray,
    labels: np.ndarray,
    candidates: Candidates,
    method: Method,
    fold: tuple[np.ndarray, np.ndarray],
    report: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a fold and the log probability of their labels, fitted without them."""
    kept, held = fold
    inner = features[np.ix_(kept, kept)] if kernel.precomputed else features[kept]
    outer = features[np.ix_(held, kept)] if kernel.precomputed else features[held]
    fitted = fit(kernel, inner, labels[kept], without_rows(candidates, kept), method, report)
    found = fitted.probability(outer)
    if found.ndim > 1:
        own = found[np.arange(len(held)), labels[held].astype(np.intp)]
    else:
        own = np.where(labels[held] > 0, found, 1.0 - found)
    return held, np.log(np.maximum(own, np.finfo(np.float64).tiny))
