"""The relevance vector machine for regression as a scikit-learn estimator."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state

from ...inference.vector_machine.classification import Candidates, without_rows
from ...inference.vector_machine.relevance import FittedRelevance, fit_relevance
from ...inference.vector_machine.weights import width_weights
from ...kernels.resolve import Kernel
from ...likelihoods import Gaussian
from ...predictive.law import PredictiveLaw
from ...predictive.mixture import Mixture
from ..shared.documentation import documented
from ..shared.kernel_widths import make_kernels
from ..shared.regressor_face import RegressorFace
from ..shared.target import Target
from ..shared.validation import validate_rows
from .family import Task, VectorMachine
from .weight_draws import expansion_draws

_FOLDS = 5
_LEAST_GAIN = 0.1


@documented
class RVMRegressor(RegressorFace, MultiOutputMixin, RegressorMixin, VectorMachine):
    r"""Relevance vector machine for regression, with one or several outputs.

    A function on a few training rows, each weight with a precision of its own,

    .. math:: y_o=w_{0o}+\sum_iw_{io}\,k(x,x_i)+\varepsilon_o,\quad
              w_{io}\sim N(0,\sigma_o^2/\alpha_i),\quad\varepsilon_o\sim N(0,\sigma_o^2).

    Rows enter, are weighed anew and leave one at a time, always the move that raises the evidence
    most; the noise is at its best value all the time, so that every gain is exact. Several outputs
    share the rows; each has its own noise. The kernel's width needs no search outside: models at
    several widths are averaged.

    Far from all active rows the function falls back to the bias and its standard deviation to the
    noise's: the model is sure of itself there without a reason.

    Parameters
    ----------
    <<machine kernel parameters>>
    min_gain : float or None, default=None
        Gain of the log evidence below which no step is worth while; None: 0.1. Less gives more
        vectors.
    <<machine parameters>>

    Attributes
    ----------
    <<machine attributes>>
    noise_variance_ : float or ndarray of shape (n_outputs,)
    loo_log_density_ : float
        Mean log density of leave-one-out predictions (summed over outputs). A little optimistic:
        precisions, noise and weights of widths were chosen on all rows.

    References
    ----------
    Tipping (2001). Sparse Bayesian learning and the relevance vector machine. JMLR 1.
    Tipping and Faul (2003). Fast marginal likelihood maximisation for sparse Bayesian models.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsekern import RVMRegressor
    >>> X = np.linspace(-10, 10, 80)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi)
    >>> y = y + 0.1 * np.random.default_rng(0).standard_normal(80)
    >>> mean, std = RVMRegressor().fit(X, y).predict(X, return_std=True)
    >>> mean.shape
    (80,)
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        length_scale: Any = "averaged",
        length_scale_range: tuple[float, float] = (0.2, 3.0),
        n_length_scales: int = 7,
        min_gain: float | None = None,
        bias_precision: float = 0.01,
        candidates: Any = None,
        max_active: int | None = None,
        max_steps: int = 1000,
        kernel_precision: str = "double",
        standardize: bool = True,
        progress: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.length_scale_range = length_scale_range
        self.n_length_scales = n_length_scales
        self.min_gain = min_gain
        self.bias_precision = bias_precision
        self.candidates = candidates
        self.max_active = max_active
        self.max_steps = max_steps
        self.kernel_precision = kernel_precision
        self.standardize = standardize
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> RVMRegressor:
        """Fit the models of all widths and weigh them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, or their kernel matrix with ``kernel="precomputed"``.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)

        Returns
        -------
        self : RVMRegressor
        """
        with self._all_or_nothing():
            self._check_machine_parameters()
            X, y = validate_rows(
                self, X, y, multi_output=True, y_numeric=True, ensure_min_samples=2
            )
            self._fit(X, y)
        return self

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self._target, targets = Target.measured(y)
        features = np.ascontiguousarray(self._prepare_training(X))
        kernels = make_kernels(self, features)
        self._say_sample(len(features))
        candidates = self._find_candidates(features, targets[:, 0], False)
        self._require_room(len(features), len(candidates.rows))
        fit = partial(
            fit_relevance,
            min_gain=_LEAST_GAIN if self.min_gain is None else self.min_gain,
            bias_precision=self.bias_precision,
            max_active=self._largest_model(len(candidates.rows)),
            max_steps=self.max_steps,
            single=self.kernel_precision == "single",
        )
        tasks: list[Task] = [
            partial(_fit_all, fit, kernel, features, targets, candidates) for kernel in kernels
        ]
        if len(kernels) > 1 and self.length_scale == "cv":  # one width leaves nothing to choose
            tasks += [
                partial(_fit_fold, fit, kernel, features, targets, candidates, fold)
                for fold in self._folds(len(targets))
                for kernel in kernels
            ]
        found = self._run(tasks)
        fits, held_out = found[: len(kernels)], found[len(kernels) :]
        weights = width_weights(self.length_scale, fits, held_out)
        self._models = [(w, fit) for w, fit in zip(weights, fits, strict=True) if w > 0]
        self._warn_unless_finished([fit.converged for _, fit in self._models])
        self._set_attributes(kernels, fits, weights)

    def _folds(self, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        return list(KFold(min(_FOLDS, n), shuffle=True, random_state=seed).split(np.empty(n)))

    def _set_attributes(
        self, kernels: list[Kernel], fits: list[FittedRelevance], weights: np.ndarray
    ) -> None:
        stationary = kernels[0].stationary
        self.length_scales_ = np.array([k.length_scale[0] for k in kernels]) if stationary else None
        self.length_scale_weights_ = weights
        self.active_vectors_ = np.unique(np.concatenate([fit.rows for _, fit in self._models]))
        best = fits[int(np.argmax(weights))]
        units = self._target.log_unit  # densities are reported in the units of y
        n = len(best.log_left_out)
        self.log_evidence_ = best.evidence - n * units
        self.evidence_path_ = best.path - np.array([n * units, 0.0])
        variance = sum(weight * fit.noise_variance for weight, fit in self._models)
        noise = self._target.spread**2 * variance
        self.noise_variance_ = float(noise[0]) if self._target.single else noise
        mixed = [np.log(weight) + fit.log_left_out for weight, fit in self._models]
        self.loo_log_density_ = float(logsumexp(mixed, axis=0).mean()) - units
        self.models_ = pd.DataFrame(
            {
                "length_scale": self.length_scales_ if stationary else np.nan,
                "weight": weights,
                "n_vectors": [len(fit.rows) for fit in fits],
                "log_evidence": [fit.evidence - n * units for fit in fits],
                "loo_log_density": [float(fit.log_left_out.mean()) - units for fit in fits],
            }
        )

    # prediction

    def _function_draws(self, X: Any, thin: int) -> np.ndarray:
        return expansion_draws(self._models, self._prepare(X), thin)

    def _predictive(self, X: Any) -> list[PredictiveLaw]:
        features = self._prepare(X)
        moments = [fit.moments(features) for _, fit in self._models]
        weights = np.array([[weight] for weight, _ in self._models])
        outputs = [
            Mixture(
                Gaussian(),
                weights,
                np.stack([mean[:, o] for mean, _ in moments]),
                np.stack([variance[:, o] for _, variance in moments]),
                np.array([[fit.noise_variance[o]] for _, fit in self._models]),
            )
            for o in range(len(self._target.centre))
        ]
        return self._target.laws(outputs)


def _fit_all(fit: Any, kernel: Kernel, features, targets, candidates, report) -> FittedRelevance:
    return fit(kernel, features, targets, candidates, report=report)


def _fit_fold(
    fit: Any,
    kernel: Kernel,
    features: np.ndarray,
    targets: np.ndarray,
    candidates: Candidates,
    fold: tuple[np.ndarray, np.ndarray],
    report: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a fold and the log density of their outputs, fitted without them."""
    kept, held = fold
    inner = features[np.ix_(kept, kept)] if kernel.precomputed else features[kept]
    outer = features[np.ix_(held, kept)] if kernel.precomputed else features[held]
    fitted = fit(kernel, inner, targets[kept], without_rows(candidates, kept), report=report)
    return held, fitted.log_density(outer, targets[held])
