"""Hybrid-search Gaussian-process regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from ..._checks import check_choice
from ...inference.chains.plan import Plan
from ...inference.hybrid._contract import Backend
from ...inference.hybrid.backends import open_backend
from ...inference.hybrid.candidates import in_content_order
from ...inference.hybrid.laplace_backend import REQUIRES as LAPLACE
from ...inference.hybrid.laplace_backend import LaplaceBackend
from ...inference.hybrid.scoring import SearchSettings
from ...predictive.law import PredictiveLaw
from ...predictive.mixture import Mixture
from ...settings.hybrid_search import (
    HybridPrediction,
    HybridRegressionPriors,
    HybridRegressionSearch,
    HybridSelection,
)
from ..shared.documentation import documented
from ..shared.inputs import validate_rows
from ..shared.memory import check_plan
from ..shared.regressor_face import RegressorFace
from ..shared.target import Target, resolve_law
from .family import HybridSearchEstimator
from .fitting import fit_models, fit_sampled, search_settings, varies
from .models import warn_at_limit

REQUIRES = (frozenset({"law", "normal noise"}), *(need | {"law"} for need in LAPLACE))
_NOISE_PRIOR = (1.0, 0.1)
_NOISE_PRIOR_OF_HEAVY_TAILS = (0.1, 1e-6)  # nearly flat: heavy tails are for gross errors


@documented
class HybridSearchGPRegressor(RegressorFace, RegressorMixin, HybridSearchEstimator):
    r"""Gaussian-process regression averaged over the feature sets that a fast search finds.

    .. math::
        y\sim N(0,C),\quad C_{il}=\lambda k(E_{il})+\sigma^2\delta_{il},\quad
        E_{il}=\sum_{j\in\gamma}(x_{ij}-x_{lj})^2/2\ell_j^2 .

    The score of a feature set :math:`\gamma` is its evidence (by Laplace's method in the logarithms
    of the parameters) times :math:`\binom p{|\gamma|}^{-1}`. A search that climbs, wanders and
    closes (see :mod:`sparsekern.inference.hybrid.search`) collects the sets within a factor
    ``search.window`` of the best one; predictions are averaged over them.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern32", "matern52"}, default="rbf"
        The Laplacian kernel has absolute differences, divided by :math:`\ell_j`.
    <<noise parameter>>
    <<search parameters>>
    standardize : bool, default=True
        Centre y and scale it to unit variance, and scale inputs to mean 0 and standard deviation 1.
        The priors presume both. Counts are left as they are; the function has the logarithm of
        their mean as its prior mean, or 0 with False.
    selection : HybridSelection or None, default=None
        Which features; see :class:`sparsekern.settings.HybridSelection`.
    priors : HybridRegressionPriors or None, default=None
        Priors; see :class:`sparsekern.settings.HybridRegressionPriors`.
    search : HybridRegressionSearch or None, default=None
        How to search; see :class:`sparsekern.settings.HybridRegressionSearch`.
    prediction : HybridPrediction or None, default=None
        How to predict; see :class:`sparsekern.settings.HybridPrediction`.
    device : {"auto", "cpu", "cuda"}, default="auto"
        ``"cuda"`` needs torch; with torch 2.9 and a C compiler it is several times faster.
    <<search running parameters>>

    Attributes
    ----------
    <<search attributes>>

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

    _groups: ClassVar = {
        "selection": HybridSelection,
        "priors": HybridRegressionPriors,
        "search": HybridRegressionSearch,
        "prediction": HybridPrediction,
    }
    _offsets: np.ndarray | None = None  # log exposure of the training rows

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        noise: str = "gaussian",
        counts: str | None = None,
        offset: Any = None,
        learn_length_scale: str = "shared",
        standardize: bool = True,
        selection: HybridSelection | None = None,
        priors: HybridRegressionPriors | None = None,
        search: HybridRegressionSearch | None = None,
        prediction: HybridPrediction | None = None,
        device: str = "auto",
        progress: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.noise = noise
        self.counts = counts
        self.offset = offset
        self.learn_length_scale = learn_length_scale
        self.standardize = standardize
        self.selection = selection
        self.priors = priors
        self.search = search
        self.prediction = prediction
        self.device = device
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        settings, options = self._check_parameters(), self._group("search")
        X, y = self._training_rows(X, y, sample_weight, y_numeric=True, ensure_min_samples=2)
        X, y = in_content_order(X, y, options.rows, self._group("selection").screen)
        target, response = Target.of_law(self, X, y, self._law)
        if not self.standardize:
            target = replace(target, centre=np.zeros(1), spread=np.ones(1), log_rate=0.0)
            response = np.array(y, dtype=np.float64)
        self._target, self._unit = target, float(target.spread[0])
        self._offsets = None if target.exposure is None else target.log_exposure(X)
        columns = np.ascontiguousarray(self._prepare_training(X, target.exposure).T)
        with self._watch() as report:
            if options.method == "mcmc" and varies(columns):
                fit_sampled(self, columns, response, settings)
            else:
                fit_models(self, columns, response, settings, options.grid, report)
        warn_at_limit([self], settings.max_features)

    def _check_parameters(self) -> SearchSettings:
        """Return the settings of the search, and remember the law of the response."""
        priors, options = self._group("priors"), self._group("search")
        law = self._law = resolve_law(self, REQUIRES, priors.degrees_of_freedom)
        self._priors = priors  # predictions need them, whatever becomes of the parameter
        usual = _NOISE_PRIOR_OF_HEAVY_TAILS if "heavy tails" in law.provides else _NOISE_PRIOR
        settings = search_settings(self, usual if priors.noise is None else priors.noise)
        check_choice("device", self.device, ("auto", "cpu", "cuda"))
        draws = self._group("prediction").draws
        check_plan(type(self).__name__, Plan(options.tune, draws, 1), options.chains)
        one_length_scale = self.learn_length_scale == "shared"
        if options.method == "mcmc" and not (one_length_scale and "normal noise" in law.provides):
            raise ValueError(
                "method='mcmc' is for a shared length scale and Gaussian noise; use "
                "learn_length_scale='shared', noise='gaussian' and counts=None, or method='hybrid'."
            )
        return settings

    def _open_backend(self, rows: Any = slice(None)) -> Backend:
        if "normal noise" in self._law.provides:
            return open_backend(self.device, self.n_jobs, self._group("search").memory_limit)
        if self.device == "cuda":
            raise ValueError(
                "device='cuda' is for Gaussian noise; use device='auto' or device='cpu'."
            )
        priors = self._priors
        offsets = None if self._offsets is None else self._offsets[rows]
        return LaplaceBackend(
            self._law.name, float(priors.degrees_of_freedom), float(priors.intercept), self.n_jobs,
            self._target.log_rate, offsets,
        )  # fmt: skip

    def _predictive(self, X: Any) -> list[PredictiveLaw]:
        points, law, target = self._points(X), self._law, self._target
        offset = self._offset_at(X)

        def blocks() -> Iterator[tuple[slice, Mixture]]:
            for block, parts in self._components(points):
                means = parts.means + offset[block]
                scale = law.read_last(parts.last)
                yield block, Mixture(law, parts.weights, means, parts.variances, *scale)

        return [PredictiveLaw(blocks, len(points), target.centre[0], target.spread[0])]

    def _function_draws(self, X: Any, thin: int) -> np.ndarray:
        points = self._points(X)
        offset = self._offset_at(X)
        drawn = [
            self._law.mean(latent + offset[block])
            for block, latent, _ in self._latent_draws(points, self._count_draws(thin))
        ]
        return np.concatenate(drawn, axis=1)[..., None]

    def _offset_at(self, X: Any) -> np.ndarray:
        """Return the log exposure at new rows; the log rate is the prior mean of the function."""
        return self._target.log_exposure(validate_rows(self, X, reset=False))
