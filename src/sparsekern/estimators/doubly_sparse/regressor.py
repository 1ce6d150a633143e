"""Doubly-sparse kernel regression."""

from __future__ import annotations

from typing import Any

from sklearn.base import RegressorMixin
from sklearn.callback import with_callbacks

from ..._checks import check_pair
from ...posteriors.names import row_labels
from ..shared.documentation import documented
from ..shared.predictive import PredictiveRegression, resolve_noise
from ..shared.validation import validate_rows
from .family import DoublySparseEstimator


@documented
class DoublySparseRegressor(PredictiveRegression, RegressorMixin, DoublySparseEstimator):
    r"""Kernel regression that selects features inside the kernel, and a few training rows.

    .. math::
        y=f(x)+\sigma\varepsilon,\qquad f(x)=\beta_0+\sum_{j\in a}k_{\gamma,\eta}(x,x_j)\beta_j,
        \qquad k_{\gamma,\eta}(x,x')=\exp\Big(-\sum_{l\in\gamma}\eta_l(x_l-x'_l)^2\Big)

    with features :math:`\gamma` included independently, bandwidths :math:`\eta_l\sim Exp(1)`,
    active vectors a chosen independently, :math:`\beta_j\sim N(0,\sigma^2\nu_1)` and
    :math:`\nu_1\sim IG`. Features, bandwidths, vectors and the slab :math:`\nu_1` are sampled with
    the coefficients (and :math:`\sigma^2`) integrated out. Responses are centred and scaled
    inside, and everything is reported in the units of y.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern32", "matern52"}, default="rbf"
        The Laplacian kernel has :math:`|x_l-x'_l|` in place of the square. A bandwidth is
        :math:`\eta_l=1/(2\ell_l^2)` for the length scale :math:`\ell_l` (Laplacian:
        :math:`1/\ell_l`).
    <<noise parameter>>
    degrees_of_freedom : float, array of float or "learned", default="learned"
        Of Student's law: known, or learned among the values given (``"learned"``: from 1 to 64).
        It has no part in Gaussian noise.
    noise_prior : (float, float), default=(0.001, 0.001)
        Shape and rate of the gamma prior of :math:`\sigma^{-2}`, for responses scaled to unit
        variance (heavy tails: unit median deviation, times that of a Gaussian); negative binomial:
        of the inverse of the dispersion.
    slab_prior : (float, float), default=(0.5, 50)
        Shape and rate of the gamma prior of :math:`1/\nu_1`.
    slab_variance : float or None, default=None
        :math:`\nu_1` if it is known; None: learned under ``slab_prior``.
    <<spike parameter>>
    intercept_variance : float, default=100.0
        Prior variance of :math:`\beta_0`, in units of :math:`\sigma^2`.
    expected_features : float or None, default=1.0
        Prior mean of the number of included features (at most half of those that are screened).
        None: a tenth of them, but one at least and five at most.
    <<feature parameters>>
    temperatures : sequence of float or None, default=None
        Parallel tempering, for Gaussian noise: every chain becomes a ladder of replicas, replica r
        with the likelihood to the power :math:`1/T_r`, which exchange their states. Give rising
        numbers from 1 on, such as ``(1, 1.5, 2.5, 5)``, where chains disagree about features. It
        costs as many times more; ``acceptance_rates_["temperature_swap"]`` should be .2 or more.
    <<sampling parameters>>

    Attributes
    ----------
    <<feature attributes>>
    <<sampling attributes>>

    References
    ----------
    Duan (2022). Sparse Bayesian kernel learning for high-dimensional regression and
    classification. Dissertation.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsekern import DoublySparseRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (80, 6))
    >>> y = 2 * np.cos(X[:, 0]) + 0.3 * rng.standard_normal(80)
    >>> model = DoublySparseRegressor(draws=300, tune=300, random_state=0).fit(X, y)
    >>> model.selected_features_
    array([0])
    """

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        noise: str = "gaussian",
        offset: Any = None,
        degrees_of_freedom: Any = "learned",
        noise_prior: tuple[float, float] = (0.001, 0.001),
        slab_prior: tuple[float, float] = (0.5, 50),
        slab_variance: float | None = None,
        spike_variance: float | None = None,
        intercept_variance: float = 100.0,
        expected_features: float | None = 1.0,
        expected_vectors: float = 8.0,
        max_features: int = 50,
        max_active: int = 100,
        candidates: Any = None,
        large_n: str = "dictionary",
        select_features: bool = True,
        select_vectors: bool = True,
        screen: int | None = None,
        screen_by: str = "correlation",
        threshold: float = 0.5,
        standardize: bool = True,
        feature_moves: int | None = None,
        feature_swaps: int = 2,
        feature_pairs: int = 4,
        bandwidth_moves: int = 4,
        active_set_moves: int = 20,
        latent_scans: int = 3,
        temperatures: Any = None,
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
        self.slab_prior = slab_prior
        self.slab_variance = slab_variance
        self.spike_variance = spike_variance
        self.intercept_variance = intercept_variance
        self.expected_features = expected_features
        self.expected_vectors = expected_vectors
        self.max_features = max_features
        self.max_active = max_active
        self.candidates = candidates
        self.large_n = large_n
        self.select_features = select_features
        self.select_vectors = select_vectors
        self.screen = screen
        self.screen_by = screen_by
        self.threshold = threshold
        self.standardize = standardize
        self.feature_moves = feature_moves
        self.feature_swaps = feature_swaps
        self.feature_pairs = feature_pairs
        self.bandwidth_moves = bandwidth_moves
        self.active_set_moves = active_set_moves
        self.latent_scans = latent_scans
        self.temperatures = temperatures
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
    def fit(self, X: Any, y: Any) -> DoublySparseRegressor:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : DoublySparseRegressor
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
