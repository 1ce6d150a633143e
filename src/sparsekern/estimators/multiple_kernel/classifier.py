"""Bayesian multiple kernel learning for classes as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_array, column_or_1d

from ..._checks import check_choice, check_flag
from ...inference.multiple_kernel.additive.left_out import choose_temperature
from ...inference.multiple_kernel.latent import REQUIRES, Latent
from ...inference.multiple_kernel.output_probabilities import (
    MULTINOMIAL,
    PROBIT,
    REGRESSION,
    OutputProbabilities,
)
from ...likelihoods.table import TABLE, offered
from ...settings.multiple_kernel import MKLPriors
from ..shared.class_face import ClassFace, encode_classes, responses_one_vs_rest
from ..shared.documentation import documented
from .model import MultipleKernelModel


@documented
class BayesianMKLClassifier(ClassFace, ClassifierMixin, MultipleKernelModel):
    r"""Classification on several kernels at once: two classes, more, or several labels.

    The functions of the classes are those of :class:`BayesianMKLRegressor`; ``vectors`` says
    whether each kernel has its own function or all kernels share their sample weights.

    Parameters
    ----------
    <<several kernels parameters>>
    likelihood : {"regression", "probit", "multinomial_probit"}, default="regression"
        ``"regression"``: targets of -1 and +1, one for each class beyond two classes; a class is as
        probable as a predictive draw in which it has the largest value. ``"probit"``: latent
        values beyond the margin on the side of the label, each class against the rest.
        ``"multinomial_probit"``: the class with the largest latent value.
    margin : float or None, default=None
        Margin of ``likelihood="probit"``, at least 0; None: 0 for two classes and for several
        labels, 1 for more classes. Bounds with different margins cannot be compared.
    calibrate : bool or None, default=None
        Whether one factor for all predictive deviations is chosen by the log-loss of predictions
        that leave each row out (no other fits are needed). None: with ``likelihood="regression"``
        and ``vectors="per_kernel"``, the only ones that can.
    priors : MKLPriors or None, default=None
        Priors; see :class:`sparsekern.settings.MKLPriors`, whose defaults None stands for.
    <<variational parameters>>

    Attributes
    ----------
    temperature_ : float
        The factor of the predictive deviations; 1 unless calibrated.
    classes_ : ndarray of shape (n_classes,)
        With several labels: their numbers.
    <<several kernels attributes>>

    References
    ----------
    Gönen (2012). Bayesian efficient multiple kernel learning. ICML.
    Gönen. A Bayesian multiple kernel learning framework for single and multiple output regression.

    Examples
    --------
    >>> from sparsekern import BayesianMKLClassifier
    >>> from sparsekern.datasets import make_ripley
    >>> X, y = make_ripley(100, random_state=0)
    >>> BayesianMKLClassifier(random_state=0).fit(X, y).predict_proba(X).shape
    (100, 2)
    """

    _groups: ClassVar = {"priors": MKLPriors}

    def __init__(
        self,
        kernel: Any = None,
        *,
        length_scale: Any = "mean_distance",
        vectors: str = "per_kernel",
        share: str = "kernel_weights",
        candidates: Any = None,
        normalize: bool = True,
        standardize: bool = True,
        likelihood: str = REGRESSION,
        margin: float | None = None,
        calibrate: bool | None = None,
        priors: MKLPriors | None = None,
        n_init: int = 4,
        max_iter: int = 300,
        tol: float = 1e-3,
        progress: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.vectors = vectors
        self.share = share
        self.candidates = candidates
        self.normalize = normalize
        self.standardize = standardize
        self.likelihood = likelihood
        self.margin = margin
        self.calibrate = calibrate
        self.priors = priors
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.progress = progress
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Say that several labels can be learned, except by multinomial probit."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.likelihood != MULTINOMIAL
        tags.target_tags.multi_output = self.likelihood != MULTINOMIAL
        return tags

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        latent_laws = offered(("labels", "classes"), REQUIRES)
        check_choice("likelihood", self.likelihood, (REGRESSION, *latent_laws))
        self._check_margin()
        calibrate = self._check_calibrate()
        sparse = self.likelihood == REGRESSION and self.vectors == "shared"
        asked = replace(self._check_parameters(sparse=sparse), left_out=calibrate)
        X, y = self._validate_training(X, y, sample_weight, multi_output=True)
        signs, codes = self._encode(y)
        several = signs.shape[1] > 1 and not self._multi_label
        probabilities = OutputProbabilities(
            self.likelihood,
            self._multi_label,
            float(several) if self.margin is None else float(self.margin),
            signs.mean(axis=0),
            signs.std(axis=0),
        )
        features = self._prepare_training(X)
        targets: np.ndarray | Latent
        n_outputs = signs.shape[1]
        if self.likelihood == REGRESSION:
            targets = (signs - probabilities.centre) / probabilities.spread
        elif self.likelihood == PROBIT:
            targets = Latent(TABLE[PROBIT](), signs, probabilities.margin)
        else:
            n_outputs = len(self.classes_)
            targets = Latent(TABLE[MULTINOMIAL](n_outputs), codes)
        record = self._fit_functions(features, targets, asked, n_outputs)
        self.temperature_ = 1.0
        if record.left_out is not None:
            mean, variance = record.left_out
            mean = probabilities.centre + probabilities.spread * mean
            variance = probabilities.spread**2 * variance
            classes = None if self._multi_label or n_outputs == 1 else codes
            self.temperature_ = choose_temperature(mean, variance, signs, classes)
        self._probabilities = replace(probabilities, temperature=self.temperature_)

    def _check_calibrate(self) -> bool:
        able = self.likelihood == REGRESSION and self.vectors == "per_kernel"
        if self.calibrate is None:
            return able
        if check_flag("calibrate", self.calibrate) and not able:
            raise ValueError(
                "calibrate=True needs likelihood='regression' and vectors='per_kernel', got "
                f"likelihood={self.likelihood!r} and vectors={self.vectors!r}; leave it at None."
            )
        return bool(self.calibrate)

    def _check_margin(self) -> None:
        if self.margin is None:
            return
        if self.likelihood != PROBIT:
            raise ValueError(
                f"margin={self.margin!r} belongs to likelihood='probit', got likelihood="
                f"{self.likelihood!r}; leave margin at None."
            )
        if isinstance(self.margin, bool) or not isinstance(self.margin, Real):
            raise TypeError(f"margin must be None or a number of at least 0, got {self.margin!r}.")
        if not (np.isfinite(self.margin) and self.margin >= 0):
            raise ValueError(f"margin must be None or a number of at least 0, got {self.margin!r}.")

    def _encode(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return labels of -1 and +1, one column per output, and the codes of classes."""
        self._multi_label = type_of_target(y, input_name="y") == "multilabel-indicator"
        if not self._multi_label:
            if y.ndim > 1:
                y = column_or_1d(y, warn=True)
            self.classes_, codes = encode_classes(y)
            if len(self.classes_) == 2:
                return codes[:, None], (codes > 0).astype(np.intp)
            signs = np.column_stack(responses_one_vs_rest(codes, len(self.classes_)))
            return signs, codes.astype(np.intp)
        if self.likelihood == MULTINOMIAL:
            raise ValueError(
                "likelihood='multinomial_probit' is for classes that exclude each other, but y has "
                "several labels; use likelihood='probit' or 'regression'."
            )
        labels = check_array(y, dtype=np.float64, input_name="y")
        same = np.flatnonzero(np.ptp(labels, axis=0) == 0)
        if len(same):
            raise ValueError(
                f"label {same[0]} is the same in every row of y; there is nothing to learn there."
            )
        self.classes_ = np.arange(labels.shape[1])
        return 2.0 * labels - 1.0, np.zeros(len(labels), np.intp)

    # prediction

    def _link(self, probability: np.ndarray) -> np.ndarray:
        return ndtri(probability)

    def _mean_response(self, X: Any) -> np.ndarray:
        mean, covariance = self._moments(X)
        return self._probabilities.at(mean, mean, np.einsum("noo->no", covariance))

    def _response_draws(self, X: Any, thin: int) -> np.ndarray:
        functions, noise = self._draw_outputs(X, thin)
        mean = self._moments(X)[0]
        return np.stack(
            [
                self._probabilities.at(mean, values, np.broadcast_to(variance, values.shape))
                for values, variance in zip(functions, noise, strict=True)
            ]
        )
