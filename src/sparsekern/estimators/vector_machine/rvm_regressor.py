"""The relevance vector machine for regression as a scikit-learn estimator."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.special import logsumexp
from sklearn.base import MultiOutputMixin, RegressorMixin

from ...inference.vector_machine.columns import HELD_NUMBERS
from ...inference.vector_machine.relevance import fit_relevance
from ...inference.vector_machine.weight_draws import expansion_draws
from ...inference.vector_machine.width_average import WidthAverage
from ...kernels.resolve import Kernel
from ...likelihoods import Gaussian
from ...predictive.law import PredictiveLaw
from ...predictive.mixture import Mixture
from ...settings.vector_machine import VectorMachinePriors, VectorMachineSearch
from ..shared.documentation import documented
from ..shared.estimator import Estimator
from ..shared.regressor_face import RegressorFace
from ..shared.target import Target
from .fits import average_widths, check_parameters, common_options, say_sample
from .kernel_widths import make_kernels

_LEAST_GAIN = 0.1


@documented
class RVMRegressor(RegressorFace, MultiOutputMixin, RegressorMixin, Estimator):
    r"""Relevance vector machine for regression, with one or several outputs.

    A function on a few training rows, with a separate precision for each weight,

    .. math:: y_o=w_{0o}+\sum_iw_{io}\,k(x,x_i)+\varepsilon_o,\quad
              w_{io}\sim N(0,\sigma_o^2/\alpha_i),\quad\varepsilon_o\sim N(0,\sigma_o^2).

    Rows enter, change their weight and leave one at a time, always by the move that raises the
    evidence most; the noise is at its best value all the time, so that every gain is exact. Several
    outputs share the rows; each has its own noise. The kernel's width needs no search outside:
    models at several widths are averaged.

    Far from all active rows the function falls back to the intercept and its standard deviation to
    the noise's: the model is sure of itself there without a reason.

    Parameters
    ----------
    <<machine kernel parameters>>
    <<machine row parameters>>
    priors : VectorMachinePriors or None, default=None
        Priors; see :class:`sparsekern.settings.VectorMachinePriors`, whose defaults None stands
        for.
    search : VectorMachineSearch or None, default=None
        Widths tried, and how a fit at one of them goes; see
        :class:`sparsekern.settings.VectorMachineSearch`.
    <<machine running parameters>>

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

    _groups: ClassVar = {"priors": VectorMachinePriors, "search": VectorMachineSearch}
    _average: WidthAverage
    # candidates=None: at least the first number of them, at most the second in their columns
    _candidate_numbers = (1000, HELD_NUMBERS)

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        length_scale: Any = "averaged",
        candidates: Any = None,
        standardize: bool = True,
        priors: VectorMachinePriors | None = None,
        search: VectorMachineSearch | None = None,
        progress: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.candidates = candidates
        self.standardize = standardize
        self.priors = priors
        self.search = search
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        check_parameters(self)
        X, y = self._training_rows(
            X, y, sample_weight, multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        self._target, targets = Target.measured(y)
        features = np.ascontiguousarray(self._prepare_training(X))
        kernels = make_kernels(self, features)
        say_sample(self, len(features))
        fit = partial(fit_relevance, **common_options(self, _LEAST_GAIN))
        self._average = average_widths(
            self, lambda most: partial(fit, max_active=most), kernels, features, [targets]
        )[0]
        self._set_attributes(kernels)

    def _set_attributes(self, kernels: list[Kernel]) -> None:
        fits, weights, best = self._average.fits, self._average.weights, self._average.best
        stationary = kernels[0].stationary
        self.length_scales_ = np.array([k.length_scale[0] for k in kernels]) if stationary else None
        self.length_scale_weights_ = weights
        self.active_vectors_ = self._user_rows(self._average.rows)
        units = self._target.log_unit  # densities are reported in the units of y
        n = len(best.log_left_out)
        self.log_evidence_ = best.evidence - n * units
        self.evidence_path_ = best.path - np.array([n * units, 0.0])
        variance = sum(weight * fit.noise_variance for weight, fit in self._average.kept)
        noise = self._target.spread**2 * variance
        self.noise_variance_ = float(noise[0]) if self._target.single else noise
        mixed = [np.log(weight) + fit.log_left_out for weight, fit in self._average.kept]
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
        features = self._prepare(X)
        return expansion_draws(self._average.kept, features, thin)

    def _predictive(self, X: Any) -> list[PredictiveLaw]:
        features = self._prepare(X)
        kept = self._average.kept
        moments = [fit.moments(features) for _, fit in kept]
        weights = np.array([[weight] for weight, _ in kept])
        outputs = [
            Mixture(
                Gaussian(),
                weights,
                np.stack([mean[:, o] for mean, _ in moments]),
                np.stack([variance[:, o] for _, variance in moments]),
                np.array([[fit.noise_variance[o]] for _, fit in kept]),
            )
            for o in range(len(self._target.centre))
        ]
        return self._target.laws(outputs)
