"""From the parameters of an estimator to chains of the doubly-sparse model, and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..._checks import check_choice, check_flag, warn_caller
from ...inference.doubly_sparse.active_subset import ActiveSubsetSampler
from ...inference.doubly_sparse.collect import TrainingRows, collect
from ...inference.doubly_sparse.sampler import DoublySparseSampler
from ...inference.doubly_sparse.tempering import TemperedSampler
from ...inference.feature_search.row_order import content_order
from ...inference.feature_search.screening import screen_features
from ...inference.feature_search.subsample import spread_rows
from ...inference.hybrid.screening import screen_by_evidence
from ...kernels.feature_sums import FEATURE_KERNELS
from ...likelihoods._contract import Likelihood
from ...model import DoublySparseModel
from ...posteriors.names import Names
from ...settings.doubly_sparse import DoublySparseMoves, DoublySparsePriors
from ..shared.candidates import resolve_candidates
from ..shared.runner import Runner
from ..shared.sampled import fit_chains
from .selector import FeatureSelector

LARGE = 2000  # rows, beyond which ``large_n`` has a say
DICTIONARY = 300  # candidates then, or
FIXED_ROWS = 1000  # rows
_SHARE_EXPECTED, _MOST_EXPECTED = 0.1, 5.0  # features, with expected_features=None
_VECTORS_PER_ROOT, _FEWEST_VECTORS, _MOST_VECTORS = 1.3, 8.0, 60.0  # expected_vectors=None
_MOST_SWAPS = 20  # with swaps=None
_SUBSET_SPIKE = 1e-3
_DISAGREEMENT = 0.3  # between chains, in the inclusion probability of a feature
_LEAST_DRAWS = 100  # of each chain, below which chains differ by chance


def check_parameters(estimator: FeatureSelector) -> Runner:
    """Return what runs the chains; refuse parameters that cannot be."""
    check_choice("kernel", estimator.kernel, tuple(FEATURE_KERNELS))
    check_flag("standardize", estimator.standardize)
    for name in estimator._groups:
        estimator._group(name)
    return Runner(estimator)


def fit_model(
    estimator: Any,
    runner: Runner,
    X: np.ndarray,
    responses: list[np.ndarray],
    likelihood: Any,
    names: Names,
    **options: Any,
) -> None:
    """Sample the posterior and keep it.

    Parameters
    ----------
    estimator : FeatureSelector
        Has the parameters of the model.
    runner : Runner
    X : ndarray of shape (n, p)
        Training rows, validated.
    responses : list of ndarray of shape (n,)
        One, or one for each class against the rest.
    likelihood : Likelihood
    names : Names
    **options
        ``noise_prior``, a pair, and ``exposure``, the column of X with the exposure of counts.
    """
    samplers, rows = make_samplers(estimator, X, responses, likelihood, **options)
    fit_chains(estimator, runner, samplers, partial(collect, training=rows), names)
    _warn_if_chains_disagree(estimator)


def make_samplers(
    estimator: Any,
    X: np.ndarray,
    responses: list[np.ndarray],
    likelihood: Any,
    noise_prior: tuple[float, float] | None = None,
    exposure: int | None = None,
) -> tuple[list[DoublySparseSampler], TrainingRows]:
    """Return the same model of each response, and which rows and features it looks at."""
    moves = estimator._group("moves")
    seed = estimator.random_state if isinstance(estimator.random_state, (int, np.integer)) else 0
    chance = check_random_state(seed)
    every = estimator._prepare_training(X, exposure)
    moves.check_moves(len(every))
    used = np.arange(len(every))
    if moves.large_n == "fixed_rows" and len(every) > LARGE:
        several = len(responses) > 1  # one-vs-rest: spread over all classes
        spread = np.argmax(responses, axis=0) if several else responses[0]
        used = spread_rows(spread, FIXED_ROWS, chance)
        responses = [response[used] for response in responses]
        if "row weights" in likelihood.provides:
            likelihood = likelihood.at_rows(used)
    screened = _screen(estimator, X, every, used, responses)
    rows = TrainingRows(every, used, screened)
    return _samplers_of_rows(estimator, rows, responses, likelihood, noise_prior, chance), rows


def _screen(
    estimator: Any,
    X: np.ndarray,
    every: np.ndarray,
    used: np.ndarray,
    responses: list[np.ndarray],
) -> np.ndarray:
    """Return the features that the model looks at: those that vary, or the best of them."""
    selection = estimator._group("selection")
    varying = np.flatnonzero(np.ptp(every[used], axis=0) > 0)
    screened = varying if len(varying) else np.arange(every.shape[1])
    if selection.screen is None:
        return screened
    targets = np.column_stack([_columns(response) for response in responses])
    seen = every[np.ix_(used, screened)]
    if selection.screen_by == "correlation":
        weights = estimator._row_weights
        weights = None if weights is None else weights[used]
        return screened[screen_features(seen, targets, selection.screen, weights)]
    # of equal responses the first rows are taken: which these are is left to chance
    order = content_order(estimator._inputs.without_exposure(X[used]), targets[:, 0])
    chosen = screen_by_evidence(
        seen[order],
        targets[order],
        selection.screen,
        FEATURE_KERNELS[estimator.kernel],
        estimator.n_jobs,
    )
    return screened[chosen]


def _columns(response: np.ndarray) -> np.ndarray:
    """Return real responses and two classes as they are, more classes as indicators."""
    labels = np.unique(response)
    if len(labels) > 2 and np.array_equal(labels, np.arange(len(labels))):
        return (response[:, None] == labels).astype(np.float64)
    return response


def _samplers_of_rows(
    estimator: Any,
    rows: TrainingRows,
    responses: list[np.ndarray],
    likelihood: Likelihood,
    noise_prior: tuple[float, float] | None,
    chance: np.random.RandomState,
) -> list[DoublySparseSampler]:
    priors, moves = estimator._group("priors"), estimator._group("moves")
    subset = moves.large_n == "active_subset" and len(rows.every) > LARGE
    make_sampler = _choose_sampler(likelihood, priors, moves, subset)
    features = np.asfortranarray(rows.every[np.ix_(rows.used, rows.screened)])
    some = len(rows.used) < len(rows.every)
    candidates = _choose_candidates(estimator, features, chance, some, subset)
    p = features.shape[1]
    expected = priors.expected_features
    if expected is None:
        expected = min(max(1.0, _SHARE_EXPECTED * p), _MOST_EXPECTED)
    known = isinstance(priors.slab, Real)
    toggles = _count_toggles(p) if moves.features is None else moves.features
    model = DoublySparseModel(
        likelihood=likelihood,
        kind=FEATURE_KERNELS[estimator.kernel],
        feature_probability=_share(expected, p),
        vector_probability=_share(
            _expected_vectors(priors.expected_vectors, len(features)),
            len(features) if candidates is None else len(candidates),
        ),
        slab_prior=None if known else priors.slab,
        slab_variance=float(priors.slab) if known else 1.0,
        intercept_variance=float(priors.intercept),
        max_features=estimator._group("selection").max_features,
        max_active=priors.max_active,
        select_features=priors.select_features,
        select_vectors=priors.select_vectors,
        noise_prior=noise_prior,
        spike_variance=None if priors.spike is None or subset else float(priors.spike),
    )
    return [
        make_sampler(
            model,
            features,
            response,
            candidates=candidates,
            toggles=toggles,
            swaps=min(toggles, _MOST_SWAPS) if moves.swaps is None else moves.swaps,
            pair_toggles=moves.pairs,
            walks=moves.length_scales,
            moves=moves.active_set,
            blocks=moves.blocks,
            leaps=moves.leaps,
            scans=moves.latent_scans,
        )
        for response in responses
    ]


def _expected_vectors(asked: float | None, n: int) -> float:
    """Return the prior mean of the number of active vectors, of n rows where none is asked for."""
    if asked is not None:
        return asked
    return min(max(_VECTORS_PER_ROOT * n**0.5, _FEWEST_VECTORS), _MOST_VECTORS)


def _count_toggles(p: int) -> int:
    """Return how many features a sweep tries to toggle: few of few, where most tries are wasted."""
    return max(4, min(p // 2, 20), p // 50)


def _share(expected: float, total: int) -> float:
    """Return the prior probability that makes the expected number what it is asked to be."""
    return min(float(expected) / total, 0.5)


def _choose_sampler(
    likelihood: Likelihood, priors: DoublySparsePriors, moves: DoublySparseMoves, subset: bool
) -> Callable[..., DoublySparseSampler]:
    """Return what makes the sampler: the plain one, a tempered one, or the active subset."""
    temperatures = getattr(moves, "temperatures", None)
    if temperatures is not None:
        _check_plain(f"temperatures={temperatures!r}", likelihood, priors)
        if priors.spike is not None or subset:
            raise ValueError(
                f"temperatures={temperatures!r} cannot be combined with a spike or with "
                "large_n='active_subset'; leave one of them out."
            )
        ladder = tuple(float(temperature) for temperature in temperatures)
        return partial(TemperedSampler, temperatures=ladder)
    if subset:
        _check_plain("large_n='active_subset'", likelihood, priors)
        spike = _SUBSET_SPIKE if priors.spike is None else float(priors.spike)
        return partial(ActiveSubsetSampler, spike=spike)
    return DoublySparseSampler


def _check_plain(what: str, likelihood: Likelihood, priors: DoublySparsePriors) -> None:
    """Refuse all but Gaussian noise and selected vectors."""
    if "inner products suffice" not in likelihood.provides:
        raise ValueError(
            f"{what} is for Gaussian noise, not for the {likelihood.name} likelihood; use "
            "DoublySparseRegressor with noise='gaussian' and counts=None, or leave it at its "
            "default."
        )
    if not priors.select_vectors:
        raise ValueError(f"{what} needs priors with select_vectors=True.")


def _choose_candidates(
    estimator: Any, features: np.ndarray, chance: np.random.RandomState, some: bool, subset: bool
) -> np.ndarray | None:
    """Return the rows that may become active; ``some``: not all rows are looked at."""
    wanted = estimator.candidates
    if wanted is None and len(features) > LARGE and not subset:
        wanted = DICTIONARY
    if some and not isinstance(wanted, (int, np.integer)):
        if wanted is not None:
            raise ValueError(
                "candidates names rows, but large_n='fixed_rows' uses some of them only; give a "
                "number of candidates, or large_n='dictionary'."
            )
        return None
    return resolve_candidates(wanted, features, False, chance, estimator._row_map)


def _warn_if_chains_disagree(estimator: Any) -> None:
    """Warn if the inclusion probability of a feature differs much between chains."""
    shares = estimator.feature_inclusion_by_chain_
    apart = shares.max(axis=0) - shares.min(axis=0)
    if estimator.n_draws_ < _LEAST_DRAWS or not (apart > _DISAGREEMENT).any():
        return
    worst = np.argsort(-apart)[:3]
    names = estimator._posterior.names
    named = "; ".join(
        f"{names.feature(j)}: {', '.join(f'{share:.2f}' for share in shares[:, j])}"
        for j in worst[apart[worst] > _DISAGREEMENT]
    )
    more = int((apart > _DISAGREEMENT).sum()) - len(worst)
    warn_caller(
        f"The chains disagree about features (inclusion probability chain by chain: {named}"
        f"{f', and {more} features more' if more > 0 else ''}). The average over chains is "
        "not to be trusted there: increase tune and draws, or chains; correlated features "
        "that stand in for each other are a common cause (see joint_inclusion).",
        ConvergenceWarning,
    )
