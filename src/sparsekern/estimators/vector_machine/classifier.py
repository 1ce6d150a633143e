"""What PCVMClassifier and RVMClassifier share: models of the classes, averaged over widths."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_choice
from ...inference.vector_machine.classification import REQUIRES, TRUNCATED, Method, fit_classifier
from ...inference.vector_machine.columns import HELD_NUMBERS
from ...inference.vector_machine.multiclass import fit_multinomial
from ...inference.vector_machine.width_average import (
    WidthAverage,
    class_draws,
    class_probabilities,
    judge_left_out,
)
from ...kernels.resolve import Kernel
from ...likelihoods.table import TABLE, find_law, offered, suits
from ...likelihoods.terms import CODES
from ..shared.class_face import ClassFace, encode_classes, responses_one_vs_rest
from ..shared.estimator import Estimator
from .fits import average_widths, check_parameters, say_sample
from .kernel_widths import make_kernels


class VectorMachineClassifier(ClassFace, ClassifierMixin, Estimator):
    """Models of two classes, of each class against the rest, or of all classes at once."""

    multi_class: str
    likelihood: str
    inference: str
    _averages: list[WidthAverage]
    # candidates=None: at least the first number of them, at most the second in their columns; a
    # step of a classifier costs more than one of a regression
    _candidate_numbers = (200, HELD_NUMBERS // 4)

    def _make_method(self, max_active: int) -> Method:
        """Return how a model is fitted; refuses parameters that do not go together."""
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

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._fit_by_evidence(X, y, sample_weight)

    def _fit_by_evidence(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[list[Kernel], np.ndarray, list[np.ndarray], np.ndarray]:
        """Fit; return kernels, training rows as they see them, responses and y as an array."""
        check_parameters(self)
        check_choice("multi_class", self.multi_class, ("one_vs_rest", "multinomial"))
        signed = self._make_method(1).signed  # refuses before any data are looked at
        X, y = self._training_rows(X, y, sample_weight)
        self.classes_, codes = encode_classes(y)
        features = np.ascontiguousarray(self._prepare_training(X))
        say_sample(self, len(features))
        kernels = make_kernels(self, features)
        fit: Any = fit_classifier
        responses = [codes]
        if len(self.classes_) > 2 and self.multi_class == "multinomial":
            fit = fit_multinomial
        elif len(self.classes_) > 2:
            responses = responses_one_vs_rest(codes, len(self.classes_))
        self._averages = average_widths(
            self,
            lambda most: partial(fit, method=self._make_method(most)),
            kernels,
            features,
            responses,
            signed,
            callbacks=self.inference != "mcmc",
        )
        self._set_attributes(kernels, codes)
        return kernels, features, responses, y

    def _set_attributes(self, kernels: list[Kernel], codes: np.ndarray) -> None:
        averages = self._averages
        stationary = kernels[0].stationary
        self.length_scales_ = np.array([k.length_scale[0] for k in kernels]) if stationary else None
        weights = np.stack([average.weights for average in averages])
        self.length_scale_weights_ = weights[0] if len(averages) == 1 else weights
        active = np.unique(np.concatenate([average.rows for average in averages]))
        self.active_vectors_ = self._user_rows(active)
        best = [average.best for average in averages]
        self.log_evidence_ = float(sum(fit.evidence for fit in best))
        self.evidence_path_ = best[0].path if len(best) == 1 else [fit.path for fit in best]
        own, wrong = judge_left_out(averages, codes)
        self.loo_log_loss_ = float(-np.mean(np.log(np.maximum(own, np.finfo(float).tiny))))
        self.loo_error_ = float(np.mean(wrong))
        self.models_ = self._describe_models(kernels)

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
        features = self._prepare(X, "F")
        return class_probabilities(self._averages, features)

    def _response_draws(self, X: Any, thin: int) -> np.ndarray:
        features = self._prepare(X)
        return class_draws(self._averages, features, thin)

    def _link(self, probability: np.ndarray) -> np.ndarray:
        code = self._averages[0].best.likelihood
        return TABLE[next(name for name in CODES if CODES[name] == code)]().link(probability)

    # figures

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
        features, (numbers, count) = self._prepare(X), self._row_numbers()
        fits, y = self._averages[0].fits, np.asarray(y)
        signs = (y == self.classes_[1]).astype(np.float64) - (y == self.classes_[0])
        if len(features) != count or len(signs) != count:
            return False
        features, signs = features[numbers], signs[numbers]
        if np.any(signs == 0):
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
        check_is_fitted(self)
        return self._averages[0].row_weights(*self._row_numbers())

    def _row_numbers(self) -> tuple[np.ndarray, int]:
        """Return for every row of the model its number among the user's, and how many these are."""
        if self._row_map is not None:
            return self._row_map.taken, len(self._row_map.alike)
        n = len(self._averages[0].fits[0].log_left_out)
        return np.arange(n), n

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
        return self._averages[0].side_probability(features)
