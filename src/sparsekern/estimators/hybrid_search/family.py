"""What the hybrid-search Gaussian processes share: from parameters to a set of models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..._checks import (
    check_choice,
    check_flag,
    check_pair,
    check_positive,
    check_share,
)
from ..._jit import mark_compiled
from ..._threads import single_blas_thread
from ...inference.hybrid._contract import Backend
from ...inference.hybrid.backends import open_backend
from ...inference.hybrid.cpu import CpuBackend
from ...inference.hybrid.evidence import ParameterPrior
from ...inference.hybrid.laplace_backend import LaplaceBackend
from ...inference.hybrid.posterior import (
    Components,
    GlobalPosterior,
    LocalPosterior,
    WeightedModel,
)
from ...inference.hybrid.rules import parameter_rule
from ...inference.hybrid.scoring import Features, SearchSettings
from ...inference.hybrid.search import HybridSearch
from ...kernels.feature_sums import FEATURE_KERNELS
from ..shared.all_or_nothing import AllOrNothing
from ..shared.counts import check_count, check_jobs
from ..shared.light_display import LightDisplay
from ..shared.progress import SearchProgress, announce_compilation, wants_text
from ..shared.sampling import warn_caller
from ..shared.standardizer import Standardizer
from ..shared.validation import validate_rows
from .candidates import (
    rows_to_search,
    screened_features,
    single_features,
    starts_for_counts,
    swap_graph,
    within_reach,
)
from .function_draws import FunctionDraws
from .memory import require_room
from .models import ModelTable, warn_unless_settled

_WINDOW = 20.0
_WINDOW_OF_TWINS = 500.0  # where features are exchanged: many models share what one would have
GLOBAL_ROWS = 2000  # beyond, prediction is local
INTEGRATIONS = ("composite", "draws", "mode", "frozen")


class HybridSearchEstimator(AllOrNothing, LightDisplay, ModelTable, FunctionDraws, BaseEstimator):
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
    _log_mean: float | None = None  # of counts: what their function is centred at
    _offsets: np.ndarray | None = None  # of counts: what is added to it at the training rows

    # parameters

    def _check_search_parameters(self) -> SearchSettings:
        """Return the settings; everything is checked before anything is changed."""
        check_choice("kernel", self.kernel, tuple(FEATURE_KERNELS))
        check_choice("device", self.device, ("auto", "cpu", "cuda"))
        check_positive("memory_limit", self.memory_limit)
        check_flag("scale", self.scale)
        check_choice("bandwidth", self.bandwidth, ("shared", "per_feature"))
        check_choice("progress", self.progress, ("auto", True, False))
        check_share("threshold", self.threshold)
        check_count("search_rows", self.search_rows, 2)
        check_count("n_starts", self.n_starts)
        check_choice("swaps", self.swaps, ("auto", True, False))
        if self.screen is not None:
            check_count("screen", self.screen)
        check_jobs(self.n_jobs)
        penalty = self.size_penalty
        if penalty != 0:
            check_positive("size_penalty", penalty)
        window = _WINDOW if self.window == "auto" else check_positive("window", self.window)
        if window < 1:
            raise ValueError(f"window must be at least 1, got {self.window!r}.")
        return SearchSettings(
            prior=ParameterPrior(
                *(
                    check_pair(name, self._prior_of(name), "(shape, rate)")
                    for name in ("amplitude_prior", "bandwidth_prior", "noise_prior")
                )
            ),
            evidence=check_choice("evidence", self.evidence, ("laplace", "bic")),
            max_features=check_count("max_features", self.max_features),
            size_penalty=float(penalty),
            window=window,
            slack=check_positive("slack", self.slack),
            n_wander=check_count("n_wander", self.n_wander, 0),
            n_refine=check_count("n_refine", self.n_refine),
            refit_drift=check_flag("refit_drift", self.refit_drift),
            pairs=check_flag("pairs", self.pairs),
            close=check_flag("close", self.close),
        )

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

    def _prepare(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "models_")
        X = validate_rows(self, X, reset=False)
        return X if self._standardizer is None else self._standardizer(X)

    def _points(self, X: Any) -> np.ndarray:
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
        weights = self._keep_models(search, models)
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
            averaged = clear & (weights * _WINDOW >= weights.max())
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

    def _components(self, X: Any) -> Iterator[tuple[slice, Components]]:
        """Yield slices of rows and the normal laws to be mixed there, in scaled units."""
        points, backend = self._points(X), self._open_backend()
        with single_blas_thread():
            yield from self._posterior.blocks(backend, points)
        if isinstance(self._posterior, LocalPosterior):  # with models of its own, new to us
            warn_unless_settled(backend)

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
