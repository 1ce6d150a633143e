"""The generalized kernel model for real responses."""

from __future__ import annotations

from typing import Any

from sklearn.base import RegressorMixin
from sklearn.callback import with_callbacks

from ..._checks import check_pair
from ...posteriors.names import row_labels
from ..shared.documentation import documented
from ..shared.predictive import PredictiveRegression, resolve_noise
from ..shared.validation import validate_rows
from .family import GeneralizedKernelEstimator


@documented
class GKMRegressor(PredictiveRegression, RegressorMixin, GeneralizedKernelEstimator):
    r"""Sparse Bayesian kernel regression: the generalized kernel model.

    A function that rests on a few *active* training rows, and noise,

    .. math::
        y=f(x)+\sigma\varepsilon,\qquad f(x)=u+\sum_{j\in\gamma}k(x,x_j)\beta_j,

    with :math:`\beta_\gamma\sim N(0,\sigma^2g^{-1}K_{\gamma\gamma}^{-1})`, :math:`u\sim
    N(0,\sigma^2\eta^{-1})`, :math:`\sigma^{-2}\sim Ga(a,b)` and a prior on the active set
    :math:`\gamma` whose size is uniform up to ``max_active``. Responses are centred and scaled
    inside, and everything is reported in the units of y. Where the noise is Gaussian,
    :math:`\sigma^2` is integrated out while the active set moves, and with fixed kernels and few
    ``candidates`` the cost of a sweep does not depend on the number of rows.

    Parameters
    ----------
    <<kernel parameter>>
    <<noise parameter>>
    degrees_of_freedom : float, array of float or "learned", default="learned"
        Of Student's law: known, or learned among the values given (``"learned"``: from 1 to 64).
        It has no part in Gaussian noise.
    noise_prior : (float, float), default=(1, 0.1)
        Shape and rate of the gamma prior of :math:`\sigma^{-2}`, for responses scaled to unit
        variance (heavy tails: unit median deviation, times that of a Gaussian); negative binomial:
        of the inverse of the dispersion.
    <<length-scale parameters>>
    sparse : bool, default=True
        Whether to learn the active set. With False every row is active.
    scale_prior : (float, float), default=(1, 0.01)
        Shape and rate of the gamma prior of g.
    <<prior parameters>>
    active_set_moves : int, default=20
        Birth, death and swap moves in a sweep.
    <<sampling parameters>>

    Attributes
    ----------
    <<sampling attributes>>
    <<width attributes>>

    References
    ----------
    Zhang, Dai and Jordan (2011). Bayesian generalized kernel mixed models. JMLR 12.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsekern import GKMRegressor
    >>> X = np.linspace(0, 6, 80)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(80)
    >>> model = GKMRegressor(draws=200, tune=200, random_state=0).fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        noise: str = "gaussian",
        offset: Any = None,
        degrees_of_freedom: Any = "learned",
        noise_prior: tuple[float, float] = (1, 0.1),
        length_scale: Any = "mean_distance",
        learn_length_scale: Any = False,
        length_scale_bounds: tuple[float, float] = (0.1, 10.0),
        max_active: int = 100,
        candidates: Any = None,
        sparse: bool = True,
        scale_prior: tuple[float, float] = (1, 0.01),
        intercept_prior: tuple[float, float] = (0.5, 0.05),
        size_prior: tuple[float, float] = (1, 1),
        amplitude_prior: tuple[float, float] = (2, 0.4),
        zero_probability: float = 0.5,
        standardize: bool = True,
        jitter: float = 1e-8,
        active_set_moves: int = 20,
        draws: int = 1000,
        tune: int = 1000,
        chains: int = 4,
        thin: int = 1,
        warm_start: bool = False,
        checkpoint: Any = None,
        progress: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.noise = noise
        self.offset = offset
        self.degrees_of_freedom = degrees_of_freedom
        self.noise_prior = noise_prior
        self.length_scale = length_scale
        self.learn_length_scale = learn_length_scale
        self.length_scale_bounds = length_scale_bounds
        self.max_active = max_active
        self.candidates = candidates
        self.sparse = sparse
        self.scale_prior = scale_prior
        self.intercept_prior = intercept_prior
        self.size_prior = size_prior
        self.amplitude_prior = amplitude_prior
        self.zero_probability = zero_probability
        self.standardize = standardize
        self.jitter = jitter
        self.active_set_moves = active_set_moves
        self.draws = draws
        self.tune = tune
        self.chains = chains
        self.thin = thin
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any) -> GKMRegressor:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, or the kernel matrix (n_samples, n_samples) if precomputed.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : GKMRegressor
        """
        with self._all_or_nothing():
            self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> None:
        plan = self._check_sampling_parameters()
        likelihood = resolve_noise(self.noise, self.degrees_of_freedom, type(self).__name__)
        prior = check_pair("noise_prior", self.noise_prior, "(shape, rate)")
        rows = row_labels(X)
        X, y = validate_rows(self, X, y, y_numeric=True, ensure_min_samples=2)
        X, response, likelihood, prior = self._fit_law(X, y, likelihood, prior)
        self._name_data(rows, y, self._target.centre[0], self._target.spread[0])
        self._fit_chains(X, response, likelihood, plan, prior)
