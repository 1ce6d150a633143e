"""From parameters to a search, and from a search to the models that predictions are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_choice, check_flag, warn_caller
from ..._threads import single_blas_thread
from ...inference.hybrid._contract import Backend
from ...inference.hybrid.candidates import (
    rows_to_search,
    screened_features,
    single_features,
    starts_for_counts,
    swap_graph,
    within_reach,
)
from ...inference.hybrid.comparator import sample_posterior
from ...inference.hybrid.evidence import ParameterPrior
from ...inference.hybrid.laplace_backend import LaplaceBackend
from ...inference.hybrid.memory import require_matrices, require_points
from ...inference.hybrid.posterior import GlobalPosterior, LocalPosterior, WeightedModel
from ...inference.hybrid.rules import parameter_rule
from ...inference.hybrid.scoring import Features, FittedModel, SearchSettings
from ...inference.hybrid.search import HybridSearch
from ...kernels.feature_sums import FEATURE_KERNELS
from ...settings.limits import check_jobs
from .models import keep_models, warn_unless_settled, weigh_models

WINDOW = 20.0
_WINDOW_OF_TWINS = 500.0  # where features are exchanged: many models share what one would have
_GLOBAL_ROWS = 2000  # beyond, prediction is local
_NAMES = ("evidence", "slack", "n_wander", "n_refine", "refit_drift", "pairs", "close")
Report = Callable[[FittedModel], bool]


def search_settings(estimator: Any, noise_prior: tuple[float, float]) -> SearchSettings:
    """Return the settings of a search; refuse parameters that cannot be."""
    check_choice("kernel", estimator.kernel, tuple(FEATURE_KERNELS))
    check_choice("learn_length_scale", estimator.learn_length_scale, ("shared", "per_feature"))
    check_flag("standardize", estimator.standardize)
    check_choice("progress", estimator.progress, ("auto", True, False))
    check_jobs(estimator.n_jobs)
    priors, options = estimator._group("priors"), estimator._group("search")
    most = estimator._group("selection").max_features
    require_points(type(estimator).__name__, estimator._group("prediction").draws, most)
    return SearchSettings(
        prior=ParameterPrior(priors.amplitude, priors.length_scale, noise_prior),
        max_features=most,
        size_penalty=float(priors.size_penalty),
        window=WINDOW if options.window == "auto" else float(options.window),
        **{name: getattr(options, name) for name in _NAMES},
    )


def fit_models(
    estimator: Any,
    columns: np.ndarray,
    response: np.ndarray,
    settings: SearchSettings,
    grid: str,
    report: Report,
) -> None:
    """Search on all rows, or on some; keep what predicts from all of them.

    Parameters
    ----------
    estimator : HybridSearchEstimator
    columns, response : ndarray of shape (p, n), (n,)
        As the models see them.
    settings : SearchSettings
    grid : str
        How the rows of a search on some are chosen.
    report : callable
        Told the best model after every step; a true value ends the search.
    """
    options = estimator._group("search")
    rows = rows_to_search(response, options.rows, grid, check_random_state(estimator.random_state))
    require_matrices(type(estimator).__name__, len(rows), estimator.n_jobs)
    whole = len(rows) == len(response)
    part = columns if whole else np.ascontiguousarray(columns[:, rows])
    backend = estimator._open_backend()
    searching = backend if whole else estimator._open_backend(rows)
    search = _open_search(estimator, searching, part, response[rows], settings, report)
    if options.window == "auto" and whole and len(search.graph.neighbors):
        # Models found on some rows only are fitted again to all, or to the neighbours of each new
        # point, so that a wide window would be dear.
        search.settings = replace(search.settings, window=_WINDOW_OF_TWINS)
    _run(estimator, search)
    models = search.window()
    gaussian = not isinstance(backend, LaplaceBackend)
    local = not whole and (len(response) > _GLOBAL_ROWS or not gaussian)
    data = np.ascontiguousarray(columns[estimator._screened])
    if not whole and not local:  # parameters of rows chosen by their response are biased
        models = _fit_again(search, backend, data, response)
    weights = weigh_models(models)
    keep_models(estimator, models, weights, search)
    estimator._posterior = _make_posterior(
        estimator, search, backend, (data, response), models, weights, local
    )
    if not local and not gaussian:  # all that predictions will be made from, at one row
        list(estimator._posterior.blocks(backend, np.ascontiguousarray(data[:, :1].T)))
    warn_unless_settled(backend)


def fit_sampled(
    estimator: Any, columns: np.ndarray, response: np.ndarray, settings: SearchSettings
) -> None:
    """Sample features and parameters, and keep distinct models with their parameters."""
    if len(response) > _GLOBAL_ROWS:
        raise ValueError(
            f"method='mcmc' takes at most {_GLOBAL_ROWS} rows, got {len(response)}; use "
            "method='hybrid', or fewer rows."
        )
    search = _open_search(estimator, estimator._open_backend(), columns, response, settings)
    alike = within_reach(search.columns)
    (start,) = search.fit(single_features(alike, response, 1, search.rng))
    options, draws = estimator._group("search"), estimator._group("prediction").draws
    sampled = sample_posterior(search, start, draws, options.tune, options.chains, estimator.n_jobs)
    fitted = search.fit([model.features for model in sampled], start)
    weights = np.array([model.weight for model in sampled])
    keep_models(estimator, fitted, weights, search)
    estimator._posterior = GlobalPosterior(
        search.columns, response, search.kind, search.shared, sampled
    )


def varies(columns: np.ndarray) -> bool:
    """Tell whether any feature is not constant."""
    return bool((np.ptp(columns, axis=1) > 0).any())


def _open_search(
    estimator: Any,
    backend: Backend,
    columns: np.ndarray,
    response: np.ndarray,
    settings: SearchSettings,
    report: Report | None = None,
) -> HybridSearch:
    """Return a search among the features that screening leaves, numbered in their order."""
    rng = np.random.default_rng(check_random_state(estimator.random_state).randint(2**31))
    kind, keep = FEATURE_KERNELS[estimator.kernel], estimator._group("selection").screen
    if not varies(columns):  # one constant column stands in, and is in no model
        settings = replace(settings, max_features=0)
    with single_blas_thread():
        estimator._screened = screened_features(
            backend, columns, response, kind, settings.prior, keep
        )
        chosen = np.ascontiguousarray(columns[estimator._screened])
        graph = swap_graph(within_reach(chosen), estimator._group("search").swaps)
    shared = estimator.learn_length_scale == "shared"
    return HybridSearch(backend, chosen, response, kind, shared, settings, graph, rng, report)


def _run(estimator: Any, search: HybridSearch) -> None:
    """Run a search; Ctrl-C keeps the models found so far."""
    with single_blas_thread():
        starts: list[Features] = [()]
        if search.settings.max_features:
            alike, count = within_reach(search.columns), estimator._group("search").n_starts
            starts = single_features(alike, search.response, count, search.rng)
        try:
            if estimator._law.support == "counts":
                starts = starts_for_counts(search, starts)
            search.run(starts)
        except KeyboardInterrupt:
            if not search.fitted:
                raise
            warn_caller(
                f"The search was interrupted after {search.n_fits} fits; the models found so far "
                "are kept."
            )


def _fit_again(
    search: HybridSearch, backend: Backend, columns: np.ndarray, response: np.ndarray
) -> list[FittedModel]:
    """Return the models of a window, fitted to all rows."""
    again = HybridSearch(
        backend, columns, response, search.kind, search.shared, search.settings, search.graph,
        search.rng,
    )  # fmt: skip
    with single_blas_thread():
        refitted = [again.fit([model.features], model)[0] for model in search.window()]
    lowest = max(model.score for model in refitted) - np.log(search.settings.window)
    return sorted((model for model in refitted if model.score >= lowest), key=lambda m: -m.score)


def _make_posterior(
    estimator: Any,
    search: HybridSearch,
    backend: Backend,
    data: tuple[np.ndarray, np.ndarray],
    models: list[FittedModel],
    weights: np.ndarray,
    local: bool,
) -> GlobalPosterior | LocalPosterior:
    """Return what predictions are made of: models of all rows, or one for every prediction.

    A model of little weight has its parameters at their mode: hundreds of these in a wide window
    differ from each other by more than each does from itself. So has one whose curvature is a
    guess: points as far away as that says are absurd.
    """
    prediction = estimator._group("prediction")
    way = prediction.integration
    described = (*data, search.kind, search.shared)
    if local:
        centred = estimator.standardize and not isinstance(backend, LaplaceBackend)
        return LocalPosterior(
            *described,
            [(model.features, weight) for model, weight in zip(models, weights, strict=True)],
            search.settings.prior, prediction.local_neighbors, centred,
            way in ("composite", "draws"), way == "frozen",
        ).with_starts(backend)  # fmt: skip
    clear = np.array([not model.doubtful for model in models])
    averaged = clear & (weights * WINDOW >= weights.max())
    kept = []
    for model, weight, full in zip(models, weights, averaged, strict=True):
        rule = parameter_rule(
            way if full else "mode", model.parameters, model.hessian, prediction.draws, search.rng
        )
        kept.append(WeightedModel(model.features, weight, *rule))
    return GlobalPosterior(*described, kept)
