"""What the hybrid-search Gaussian processes share: from parameters to a set of models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_choice, check_flag, check_positive, check_share
from ..._jit import mark_compiled
from ..._threads import single_blas_thread
from ...inference.hybrid._contract import Backend
from ...inference.hybrid.backends import open_backend
from ...inference.hybrid.cpu import CpuBackend
from ...inference.hybrid.function_draws import draw_functions
from ...inference.hybrid.laplace_backend import LaplaceBackend
from ...inference.hybrid.posterior import (
    Components,
    GlobalPosterior,
    LocalPosterior,
    WeightedModel,
)
from ...inference.hybrid.rules import parameter_rule
from ...inference.hybrid.scoring import Features, FittedModel, SearchSettings
from ...inference.hybrid.search import HybridSearch
from ...kernels.feature_sums import FEATURE_KERNELS
from ..shared.counts import check_count
from ..shared.estimator import Estimator
from ..shared.limits import warn_if_limited
from ..shared.progress import SearchProgress, announce_compilation, wants_text
from ..shared.sampling import warn_caller
from ..shared.standardizer import Standardizer
from .candidates import (
    rows_to_search,
    screened_features,
    single_features,
    starts_for_counts,
    swap_graph,
    within_reach,
)
from .memory import require_room
from .models import describe_models, warn_unless_settled, weigh_models
from .settings import WINDOW

_WINDOW_OF_TWINS = 500.0  # where features are exchanged: many models share what one would have
GLOBAL_ROWS = 2000  # beyond, prediction is local
INTEGRATIONS = ("composite", "draws", "mode", "frozen")


class HybridSearchEstimator(SelectorMixin, Estimator):
    """Search, models and selection; subclasses predict."""

    kernel: str
    bandwidth: str
    evidence: str
    amplitude_prior: tuple[float, float]
    bandwidth_prior: tuple[float, float]
    noise_prior: tuple[float, float] | None
    max_features: int
    size_penalty: float
    window: Any
    slack: float
    n_wander: int
    n_refine: int
    refit_drift: bool
    n_starts: int
    swaps: Any
    pairs: bool
    close: bool
    screen: int | None
    search_rows: int
    grid: str
    threshold: float
    scale: bool
    device: str
    memory_limit: float
    progress: Any
    n_jobs: int | None
    random_state: Any
    intercept_variance: float
    integration: str
    draws: int
    local_neighbors: int
    n_features_in_: int
    feature_inclusion_: np.ndarray
    _mark_of_a_fit = "models_"
    _log_mean: float | None = None  # of counts: what their function is centred at
    _offsets: np.ndarray | None = None  # of counts: what is added to it at the training rows

    # parameters

    def _prior_of(self, name: str) -> Any:
        """Return a pair (shape, rate) as the user gave it, or what stands for None."""
        return getattr(self, name)

    @property
    def _kind(self) -> int:
        return FEATURE_KERNELS[check_choice("kernel", self.kernel, tuple(FEATURE_KERNELS))]

    @property
    def _shared(self) -> bool:
        return self.bandwidth == "shared"

    def _open_backend(self, rows: Any = slice(None)) -> Backend:
        """Return the backend for some of the training rows."""
        limit = check_positive("memory_limit", self.memory_limit)
        device = check_choice("device", self.device, ("auto", "cpu", "cuda"))
        return open_backend(device, self.n_jobs, limit)

    # data

    def _prepare_training(self, X: np.ndarray) -> np.ndarray:
        """Return the data by feature, scaled if that is asked for."""
        self._standardizer = Standardizer(X) if check_flag("scale", self.scale) else None
        if self._standardizer is not None:
            X = self._standardizer(X)
        return np.ascontiguousarray(X.T)

    def _points(self, X: Any) -> np.ndarray:
        """Return new rows as the models see them."""
        return np.ascontiguousarray(self._prepare(X)[:, self._screened])

    # search

    def _search(
        self, backend: Backend, columns: np.ndarray, response: np.ndarray, settings: SearchSettings,
        whole: bool,
    ) -> HybridSearch:  # fmt: skip
        """Search among the features, numbered as the columns are; ``whole``: on all rows.

        Models found on some rows only are fitted again to all, or to the neighbours of each new
        point, so that a wide window would be dear.
        """
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        if not self._varies(columns):  # one constant column stands in, and is in no model
            settings = replace(settings, max_features=0)
        text = None
        if wants_text(self.progress, False):
            text = SearchProgress(type(self).__name__)
        with single_blas_thread():
            self._screened = self._screen(backend, columns, response, settings)
            chosen = np.ascontiguousarray(columns[self._screened])
            alike = within_reach(chosen)
            graph = swap_graph(alike, self.swaps)
            if self.window == "auto" and whole and len(graph.neighbors):
                settings = replace(settings, window=_WINDOW_OF_TWINS)
            search = HybridSearch(
                backend, chosen, response, self._kind, self._shared, settings, graph, rng,
                None if text is None else text.update,
            )  # fmt: skip
            starts: list[Features] = [()]
            if settings.max_features:
                starts = single_features(alike, response, self.n_starts, rng)
            try:
                search.run(starts if self._log_mean is None else starts_for_counts(search, starts))
            except KeyboardInterrupt:
                if not search.fitted:
                    raise
                warn_caller(
                    f"The search was interrupted after {search.n_fits} fits; the models found so "
                    "far are kept."
                )
            finally:
                if text is not None:
                    text.close()
        return search

    @staticmethod
    def _varies(columns: np.ndarray) -> bool:
        return bool((np.ptp(columns, axis=1) > 0).any())

    def _screen(
        self, backend: Backend, columns: np.ndarray, response: np.ndarray, settings: SearchSettings
    ) -> np.ndarray:
        return screened_features(
            backend, columns, response, self._kind, settings.prior, self.screen
        )

    def _fit_models(
        self, columns: np.ndarray, response: np.ndarray, settings: SearchSettings
    ) -> None:
        """Search on all rows, or on some; keep what predicts from all of them."""
        backend = self._open_backend()
        engine = type(backend).__name__
        if self.progress is not False and isinstance(backend, CpuBackend):
            announce_compilation(type(self).__name__, [engine])
        rows = rows_to_search(response, self.search_rows, self.grid, self.random_state)
        require_room(self, len(rows))
        whole = len(rows) == len(response)
        part = columns if whole else np.ascontiguousarray(columns[:, rows])
        searching = backend if whole else self._open_backend(rows)
        search = self._search(searching, part, response[rows], settings, whole)
        models = search.window()
        gaussian = not isinstance(backend, LaplaceBackend)
        local = not whole and (len(response) > GLOBAL_ROWS or not gaussian)
        data = np.ascontiguousarray(columns[self._screened])
        if not whole and not local:  # parameters of rows chosen by their response are biased
            again = HybridSearch(
                backend, data, response, self._kind, self._shared, settings, search.graph,
                search.rng,
            )  # fmt: skip
            with single_blas_thread():
                refitted = [again.fit([model.features], model)[0] for model in models]
            lowest = max(model.score for model in refitted) - np.log(settings.window)
            models = sorted(
                (model for model in refitted if model.score >= lowest), key=lambda m: -m.score
            )
        weights = weigh_models(models)
        self._set_models(models, weights)
        self.n_fits_, self.n_plug_ins_ = search.n_fits, search.n_plug_ins
        self.search_path_ = [
            (step, model.score, len(model.features)) for step, model in search.path
        ]
        mark_compiled(engine)
        shared = (data, response, self._kind, self._shared)
        if local:
            kept = [(model.features, w) for model, w in zip(models, weights, strict=True)]
            self._posterior: Any = LocalPosterior(
                *shared, kept, settings.prior, self.local_neighbors,
                gaussian and bool(getattr(self, "center", True)),
                self.integration in ("composite", "draws"), self.integration == "frozen",
            ).with_starts(backend)  # fmt: skip
        else:
            # A model of little weight has its parameters at their mode: hundreds of these in a
            # wide window differ from each other by more than each does from itself. So has one
            # whose curvature is a guess: points as far away as that says are absurd.
            clear = np.array([not model.doubtful for model in models])
            averaged = clear & (weights * WINDOW >= weights.max())
            ways = np.where(averaged, self.integration, "mode")
            rules = [
                parameter_rule(way, model.parameters, model.hessian, self.draws, search.rng)
                for way, model in zip(ways, models, strict=True)
            ]
            self._posterior = GlobalPosterior(
                *shared,
                [
                    WeightedModel(model.features, weight, *rule)
                    for model, weight, rule in zip(models, weights, rules, strict=True)
                ],
            )
            if not gaussian:  # all that predictions will be made from, at one row
                list(self._posterior.blocks(backend, np.ascontiguousarray(data[:, :1].T)))
        warn_unless_settled(backend)

    # models

    @property
    def _last_parameter(self) -> str | None:
        """Name of the last parameter; None where the response has none."""
        return "noise_variance"

    @property
    def _unit(self) -> float:
        """What one of the models' response is in the units of the user."""
        return 1.0

    def _set_models(self, models: list[FittedModel], weights: np.ndarray) -> None:
        names = getattr(self, "feature_names_in_", None)
        self.models_ = describe_models(
            models,
            weights,
            [int(j) if names is None else str(names[j]) for j in self._screened],
            self.kernel,
            self._shared,
            self._last_parameter,
            self._unit**2,
        )
        inclusion = np.zeros(self.n_features_in_)
        for model, weight in zip(models, weights, strict=True):
            inclusion[self._screened[list(model.features)]] += weight
        self.feature_inclusion_ = np.minimum(inclusion, 1.0)

    def _warn_at_limit(self) -> None:
        """Warn if models of the most features have weight, and there are more features."""
        searches = getattr(self, "estimators_", [self])
        most = min(search.max_features for search in searches)
        if most < max(len(search._screened) for search in searches):
            shares = [
                search.models_.loc[search.models_["features"].map(len) >= most, "weight"].sum()
                for search in searches
            ]
            warn_if_limited("max_features", most, max(shares))

    @property
    def selected_features_(self) -> np.ndarray:
        """Sorted indices of the features whose inclusion probability is at least ``threshold``."""
        return np.flatnonzero(self._get_support_mask())

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "models_")
        return self.feature_inclusion_ >= check_share("threshold", self.threshold)

    # prediction

    def _components(self, points: np.ndarray) -> Iterator[tuple[slice, Components]]:
        """Yield slices of points and the normal laws to be mixed there, in scaled units."""
        backend = self._open_backend()
        with single_blas_thread():
            yield from self._posterior.blocks(backend, points)
        if isinstance(self._posterior, LocalPosterior):  # with models of its own, new to us
            warn_unless_settled(backend)

    def _latent_draws(
        self, points: np.ndarray, count: int
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield slices of points, draws of the function there, and their last parameter."""
        with single_blas_thread():
            yield from draw_functions(self._posterior, self._open_backend(), points, count)

    def _count_draws(self, thin: int) -> int:
        """Return how many draws of the function ``thin`` leaves."""
        return -(-check_count("draws", self.draws) // thin)

    def _open_laplace(self, response: str, rows: Any) -> LaplaceBackend:
        """Return the backend of a response that is not Gaussian."""
        if self.device == "cuda":
            raise ValueError(
                "device='cuda' is for Gaussian noise; use device='auto' or device='cpu'."
            )
        freedom = check_positive("degrees_of_freedom", getattr(self, "degrees_of_freedom", 4.0))
        intercept = check_positive("intercept_variance", self.intercept_variance)
        offsets = None if self._offsets is None else self._offsets[rows]
        return LaplaceBackend(
            response, freedom, intercept, self.n_jobs, self._log_mean or 0.0, offsets
        )
