"""Hybrid-search Gaussian-process regression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_choice, check_flag, check_positive
from ...inference.chains.plan import Plan
from ...inference.hybrid.comparator import sample_posterior
from ...inference.hybrid.laplace_backend import REQUIRES as LAPLACE
from ...inference.hybrid.posterior import GlobalPosterior
from ...inference.hybrid.search import HybridSearch
from ...likelihoods.table import find_law
from ...predictive.law import PredictiveLaw
from ...predictive.mixture import Mixture
from ..shared.counts import check_count
from ..shared.documentation import documented
from ..shared.exposure import check_counts, find_offset, log_exposure, without_exposure
from ..shared.regressor_face import RegressorFace
from ..shared.sampling_memory import check_plan
from ..shared.target import Target, measure_response
from ..shared.validation import validate_rows
from .candidates import (
    GRIDS,
    in_content_order,
    single_features,
    swap_graph,
    within_reach,
)
from .family import GLOBAL_ROWS, INTEGRATIONS, HybridSearchEstimator
from .memory import check_draws
from .settings import check_search_parameters

REQUIRES = (frozenset({"law", "normal noise"}), *(need | {"law"} for need in LAPLACE))
_NOISE_PRIOR = (1.0, 0.1)
_NOISE_PRIOR_OF_HEAVY_TAILS = (0.1, 1e-6)  # nearly flat: heavy tails are for gross errors


@documented
class HybridSearchGPRegressor(RegressorFace, RegressorMixin, HybridSearchEstimator):
    r"""Gaussian-process regression averaged over the feature sets that a fast search finds.

    .. math::
        y\sim N(0,C),\quad C_{il}=\lambda k(E_{il})+\sigma^2\delta_{il},\quad
        E_{il}=\sum_{j\in\gamma}(x_{ij}-x_{lj})^2/\tau_j .

    The score of a feature set :math:`\gamma` is its evidence (by Laplace's method in the logarithms
    of the parameters) times :math:`\binom p{|\gamma|}^{-1}`. A search that climbs, wanders and
    closes (see :mod:`sparsekern.inference.hybrid.search`) collects the sets within a factor
    ``window`` of the best one; predictions are averaged over them.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern32", "matern52"}, default="rbf"
        The Laplacian kernel has absolute differences. A length scale is :math:`\sqrt{\tau/2}`
        (Laplacian: :math:`\tau`).
    bandwidth : {"shared", "per_feature"}, default="shared"
        One :math:`\tau` for all features of a model, or one for each.
    <<search noise parameter>>
    degrees_of_freedom : float, default=4.0
        Of Student's law.
    intercept_variance : float, default=10.0
        Prior variance of a constant in the function, where the response is not Gaussian.
    evidence : {"laplace", "bic"}, default="laplace"
    search : {"hybrid", "mcmc"}, default="hybrid"
        ``"mcmc"`` samples features and parameters by Metropolis moves: exact and slow, for
        comparison; it has a shared bandwidth.
    amplitude_prior, bandwidth_prior : (float, float), default=(1, 1), (1, 1)
        Shape and rate of the gamma priors of :math:`1/\lambda` and :math:`1/\tau`.
    noise_prior : (float, float) or None, default=None
        The same of :math:`1/\sigma^2` (negative binomial: of the inverse of the dispersion
        :math:`\alpha`), for scaled data. None: (1, 0.1), which holds :math:`\sigma` above about
        :math:`\sqrt{.2/n}`; with Student's law (0.1, 1e-6), which lets it be as small as it is.
    <<search parameters>>
    search_rows : int, default=500
        With more rows than this the search works on so many, spread over the values of y. Which
        rows they are does not depend on the order of the data.
    grid : {"value", "winsorized", "probability", "random"}, default="value"
        How they are spread; by value finds more, winsorized (between the .1 and 99.9 % quantiles)
        bears a few outliers, by probability many; at random is for comparison.
    local_neighbors : int, default=50
        With more than 2,000 rows every prediction has a model of its own, of so many rows.
    integration : {"composite", "draws", "mode", "frozen"}, default="composite"
        Uncertainty of the parameters in predictions: by a rule of 15 points, by ``draws`` draws, or
        not at all; ``"frozen"``: local models share the median of their parameters.
    draws, tune, chains : int, default=1000, 500, 2
        For ``integration="draws"``, ``search="mcmc"`` and (the first) :meth:`sample_mean`.
    threshold : float, default=0.5
        Inclusion probability from which a feature counts as selected.
    center, scale : bool, default=True
        Centre y; scale features and y to unit variance. The priors presume both. Counts are left
        as they are; centred, the function has the logarithm of their mean as its prior mean.
    device : {"auto", "cpu", "cuda"}, default="auto"
        ``"cuda"`` needs torch; with torch 2.9 and a C compiler it is several times faster.
    memory_limit : float, default=4.0
        Gigabytes that a device may use.
    progress : {"auto", True, False}, default="auto"
    n_jobs : int or None, default=None
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    models_ : DataFrame
        Models of the window, best first: features, weight, log evidence, score, parameters.
    feature_inclusion_ : ndarray of shape (n_features_in_,)
        Posterior probability of each feature, over the models of the window.
    selected_features_ : ndarray of int
    search_path_ : list of (str, float, int)
        Kind of every step of the search, and score and number of features of the model it left;
        empty with ``search="mcmc"``.
    n_fits_, n_plug_ins_ : int
        Models fitted in full, and scored at the parameters of others.

    References
    ----------
    Duan (2022). Sparse Bayesian kernel learning for high-dimensional regression and
    classification. Dissertation, chapter 2.

    Examples
    --------
    >>> from sparsekern import HybridSearchGPRegressor
    >>> from sparsekern.datasets import make_additive
    >>> X, y = make_additive(100, 20, shuffle=False, random_state=0)
    >>> model = HybridSearchGPRegressor(random_state=0).fit(X, y)
    >>> model.selected_features_
    array([0, 1, 2])
    """

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        bandwidth: str = "shared",
        noise: str = "gaussian",
        offset: Any = None,
        degrees_of_freedom: float = 4.0,
        intercept_variance: float = 10.0,
        evidence: str = "laplace",
        search: str = "hybrid",
        amplitude_prior: tuple[float, float] = (1, 1),
        bandwidth_prior: tuple[float, float] = (1, 1),
        noise_prior: tuple[float, float] | None = None,
        max_features: int = 10,
        size_penalty: float = 1.0,
        window: Any = "auto",
        slack: float = 12.0,
        n_wander: int = 20,
        n_refine: int = 5,
        refit_drift: bool = False,
        n_starts: int = 1,
        swaps: Any = "auto",
        pairs: bool = True,
        close: bool = True,
        screen: int | None = None,
        search_rows: int = 500,
        grid: str = "value",
        local_neighbors: int = 50,
        integration: str = "composite",
        draws: int = 1000,
        tune: int = 500,
        chains: int = 2,
        threshold: float = 0.5,
        center: bool = True,
        scale: bool = True,
        device: str = "auto",
        memory_limit: float = 4.0,
        progress: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.noise = noise
        self.offset = offset
        self.degrees_of_freedom = degrees_of_freedom
        self.intercept_variance = intercept_variance
        self.evidence = evidence
        self.search = search
        self.amplitude_prior = amplitude_prior
        self.bandwidth_prior = bandwidth_prior
        self.noise_prior = noise_prior
        self.max_features = max_features
        self.size_penalty = size_penalty
        self.window = window
        self.slack = slack
        self.n_wander = n_wander
        self.n_refine = n_refine
        self.refit_drift = refit_drift
        self.n_starts = n_starts
        self.swaps = swaps
        self.pairs = pairs
        self.close = close
        self.screen = screen
        self.search_rows = search_rows
        self.grid = grid
        self.local_neighbors = local_neighbors
        self.integration = integration
        self.draws = draws
        self.tune = tune
        self.chains = chains
        self.threshold = threshold
        self.center = center
        self.scale = scale
        self.device = device
        self.memory_limit = memory_limit
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> HybridSearchGPRegressor:
        """Search for models.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : HybridSearchGPRegressor
        """
        with self._all_or_nothing():
            self._fit(X, y)
        self._warn_at_limit()
        return self

    def _fit(self, X: Any, y: Any) -> None:
        settings = check_search_parameters(self)
        law = self._law()
        check_choice("grid", self.grid, GRIDS)
        check_count("local_neighbors", self.local_neighbors, 2)
        draws = check_draws(self)
        tune = check_count("tune", self.tune, 0)
        chains = check_count("chains", self.chains)
        check_plan(type(self).__name__, Plan(tune, draws, 1), chains)
        check_choice("integration", self.integration, INTEGRATIONS)
        search = check_choice("search", self.search, ("hybrid", "mcmc"))
        if search == "mcmc" and not (self._shared and "normal noise" in law.provides):
            raise ValueError(
                "search='mcmc' is for a shared bandwidth and Gaussian noise; use "
                "bandwidth='shared' and noise='gaussian', or search='hybrid'."
            )
        self._offsets = None
        self._open_backend()  # raises where the device is missing, before anything is changed
        X, y = validate_rows(self, X, y, y_numeric=True, ensure_min_samples=2)
        X, y = in_content_order(X, y, self.search_rows, self.screen)
        column = self._offset_column = find_offset(self, law)
        exposure = log_exposure(X, column)
        response = self._scale_response(y, law, exposure)
        self._offsets = None if column is None else exposure
        columns = self._prepare_training(without_exposure(X, column))
        if search == "mcmc" and self._varies(columns):
            self._fit_mcmc(columns, response, settings)
        else:
            self._fit_models(columns, response, settings)

    def _scale_response(self, y: Any, law: Any, exposure: np.ndarray) -> np.ndarray:
        """Return y as the models see it, and remember how it was scaled."""
        y, centre, spread = measure_response(y, robust="heavy tails" in law.provides)
        counts = law.support == "counts"
        if counts:
            check_counts(y, law)
        rate = centre / float(np.exp(exposure).mean())
        self._log_mean = (float(np.log(rate)) if self.center else 0.0) if counts else None
        self._target = Target(
            np.array([centre if check_flag("center", self.center) and not counts else 0.0]),
            np.array([spread if check_flag("scale", self.scale) and not counts else 1.0]),
        )
        return self._target.scaled(y[:, None])[:, 0]

    def _prior_of(self, name: str) -> Any:
        if name == "noise_prior" and self.noise_prior is None:
            heavy = "heavy tails" in self._law().provides
            return _NOISE_PRIOR_OF_HEAVY_TAILS if heavy else _NOISE_PRIOR
        return super()._prior_of(name)

    def _open_backend(self, rows: Any = slice(None)) -> Any:
        if "normal noise" in self._law().provides:
            return super()._open_backend(rows)
        return self._open_laplace(self.noise, rows)

    @property
    def _unit(self) -> float:
        return float(self._target.spread[0])

    @property
    def _last_parameter(self) -> str | None:
        return self._law().last_parameter

    def _fit_mcmc(self, columns: np.ndarray, response: np.ndarray, settings: Any) -> None:
        """Sample features and parameters, and keep distinct models with their parameters."""
        if len(response) > GLOBAL_ROWS:
            raise ValueError(
                f"search='mcmc' takes at most {GLOBAL_ROWS} rows, got {len(response)}; use "
                "search='hybrid', or fewer rows."
            )
        backend = self._open_backend()
        self._screened = self._screen(backend, columns, response, settings)
        data = np.ascontiguousarray(columns[self._screened])
        alike = within_reach(data)
        search = HybridSearch(
            backend, data, response, self._kind, True, settings, swap_graph(alike, self.swaps),
            np.random.default_rng(check_random_state(self.random_state).randint(2**31)),
        )  # fmt: skip
        (start,) = search.fit(single_features(alike, response, 1, search.rng))
        sampled = sample_posterior(search, start, self.draws, self.tune, self.chains, self.n_jobs)
        fitted = search.fit([model.features for model in sampled], start)
        weights = np.array([model.weight for model in sampled])
        self._set_models(fitted, weights)
        self.n_fits_, self.n_plug_ins_, self.search_path_ = search.n_fits, 0, []
        self._posterior = GlobalPosterior(data, response, self._kind, True, sampled)

    def _predictive(self, X: Any) -> list[PredictiveLaw]:
        points, law, target = self._points(X), self._law(), self._target
        exposure = self._exposure(X)

        def blocks() -> Iterator[tuple[slice, Mixture]]:
            for block, parts in self._components(points):
                means = parts.means + exposure[block]
                scale = law.read_last(parts.last)
                yield block, Mixture(law, parts.weights, means, parts.variances, *scale)

        return [PredictiveLaw(blocks, len(points), target.centre[0], target.spread[0])]

    def _function_draws(self, X: Any, thin: int) -> np.ndarray:
        points, law, exposure = self._points(X), self._law(), self._exposure(X)
        found = self._latent_draws(points, self._count_draws(thin))
        drawn = [law.mean(latent + exposure[block]) for block, latent, _ in found]
        return np.concatenate(drawn, axis=1)[..., None]

    def _exposure(self, X: Any) -> np.ndarray:
        """Return the log exposure of new rows."""
        check_is_fitted(self, "models_")
        return log_exposure(validate_rows(self, X, reset=False), self._offset_column)

    def _law(self) -> Any:
        law = find_law("noise", self.noise, ("reals", "counts"), REQUIRES, type(self).__name__)
        if "degrees of freedom" in law.provides:
            return law([check_positive("degrees_of_freedom", self.degrees_of_freedom)])
        return law()
