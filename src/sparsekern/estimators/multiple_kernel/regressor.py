"""Bayesian multiple kernel learning for regression as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from ...likelihoods import Gaussian
from ...predictive.law import PredictiveLaw
from ...predictive.mixture import Mixture
from ...settings.multiple_kernel import MKLRegressionPriors
from ..shared.documentation import documented
from ..shared.regressor_face import RegressorFace
from ..shared.target import Target
from .model import MultipleKernelModel


@documented
class BayesianMKLRegressor(RegressorFace, MultiOutputMixin, RegressorMixin, MultipleKernelModel):
    r"""Regression on several kernels at once, with one or several outputs.

    With ``vectors="per_kernel"`` each kernel has its own function,

    .. math:: y=b+\sum_mf_m(x)+\varepsilon,\qquad f_m\sim GP(0,k_m/\lambda_m),

    and kernels that are not needed go. With ``vectors="shared"``, the published model, one vector
    of sample weights a serves all kernels, and kernel weights e combine the results,

    .. math:: y=b+\sum_me_mg_m+\varepsilon,\qquad g_m\sim N(a^\top k_m(x),\upsilon^{-1}):

    for kernels that are variants of one similarity. Both are fitted by variational inference,
    without chains; ``log_evidence_`` is the bound of the log evidence that the fit has raised.

    Parameters
    ----------
    <<several kernels parameters>>
    priors : MKLRegressionPriors or None, default=None
        Priors; see :class:`sparsekern.settings.MKLRegressionPriors`, whose defaults None stands
        for.
    <<variational parameters>>

    Attributes
    ----------
    <<several kernels attributes>>
    noise_variance_ : float or ndarray of shape (n_outputs,)

    References
    ----------
    Gönen. A Bayesian multiple kernel learning framework for single and multiple output regression.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsekern import BayesianMKLRegressor
    >>> X = np.random.default_rng(0).uniform(-2, 2, (80, 3))
    >>> y = np.sin(2 * X[:, 0]) + X[:, 1]
    >>> views = [("rbf", [0]), ("rbf", [1]), ("rbf", [2])]
    >>> model = BayesianMKLRegressor(views, random_state=0).fit(X, y)
    >>> model.active_kernels_
    array([0, 1])
    """

    _groups: ClassVar = {"priors": MKLRegressionPriors}

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
        priors: MKLRegressionPriors | None = None,
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
        self.priors = priors
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.progress = progress
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        asked = self._check_parameters(self._group("priors").noise)
        X, y = self._validate_training(
            X, y, sample_weight, multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        self._target, targets = Target.measured(y)
        features = self._prepare_training(X)
        record = self._fit_functions(features, targets, asked, targets.shape[1])
        noise = self._target.spread**2 * record.noise_variance
        self.noise_variance_ = float(noise[0]) if self._target.single else noise
        units = len(y) * self._target.log_unit  # densities are in the units of y
        self.log_evidence_ -= units
        self.evidence_path_ = self.evidence_path_ - units

    # prediction

    def _predictive(self, X: Any) -> list[PredictiveLaw]:
        mean, covariance = self._moments(X)
        variance = np.einsum("noo->no", covariance)
        one, none = np.ones((1, 1)), np.zeros((1, 1))  # one component; the noise is in the variance
        return self._target.laws(
            [
                Mixture(Gaussian(), one, mean[None, :, o], variance[None, :, o], none)
                for o in range(mean.shape[1])
            ]
        )

    def _function_draws(self, X: Any, thin: int) -> np.ndarray:
        return self._draw_outputs(X, thin)[0]

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Return the predictive mean and, if asked, standard deviation or covariance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, or their kernels with the training rows.
        return_std : bool, default=False
            Whether to return the standard deviation of a new response, noise included.
        return_cov : bool, default=False
            Whether to return the covariance between the outputs of each new response.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        std : ndarray of the same shape
            Only if ``return_std``.
        cov : ndarray of shape (n_samples, n_outputs, n_outputs)
            Only if ``return_cov``.
        """
        if not return_cov:
            return super().predict(X, return_std)
        if return_std:
            raise ValueError("ask for one of return_std and return_cov; the latter holds both.")
        mean, covariance = self._moments(X)
        unit = np.outer(self._target.spread, self._target.spread)
        return self._target.in_units(mean), covariance * unit
