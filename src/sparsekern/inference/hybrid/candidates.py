"""Which features a hybrid search looks at, starts from, and exchanges for each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..feature_search.graph import (
    MOST_FEATURES,
    FeatureGraph,
    correlation_graph,
    largest_correlation,
)
from ..feature_search.row_order import content_order
from ..feature_search.screening import marginal_scores
from ..feature_search.subsample import spread_over_classes, spread_over_response
from ._contract import Backend
from .cpu import CpuBackend
from .evidence import ParameterPrior
from .scoring import Features
from .screening import univariate_evidence
from .search import HybridSearch

_SWAP_CORRELATION = 0.9  # beyond which features are exchanged unless told otherwise
_SWAP_NEIGHBORS = 5
_SCREEN_ROWS = 200
_LEAST_SHARE = 0.05  # of the rows of a search, for a class that is rarer
_NOISE_OF_LOG_COUNTS = (1.0, 0.1)  # shape and rate, of the scaled logarithms


def in_content_order(
    features: np.ndarray, response: Any, search_rows: int, screen: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return data of which some rows will stand for all in the order of their contents.

    It does not depend on how the data were sorted: whatever takes the first of several equal rows
    below then takes one by chance, and the same. Data that are used as a whole stay as they are.
    """
    response = np.asarray(response)
    if len(response) <= (search_rows if screen is None else min(search_rows, _SCREEN_ROWS)):
        return features, response
    order = content_order(features, np.asarray(response, dtype=np.float64))
    return np.ascontiguousarray(features[order]), response[order]


def rows_to_search(
    response: np.ndarray, count: int, grid: str, rng: np.random.RandomState
) -> np.ndarray:
    """Return the rows that a search works on, sorted: ``count`` of them or all.

    ``grid`` says how they are spread: over classes, over the values of the response, or at random.
    """
    if len(response) <= count:
        return np.arange(len(response))
    if grid == "random":
        return np.sort(rng.permutation(len(response))[:count])
    if grid == "classes":
        return spread_over_classes(response, count, _LEAST_SHARE)
    return spread_over_response(response, count, 1, grid)


def within_reach(columns: np.ndarray) -> np.ndarray:
    """Return columns whose squares are numbers, each divided by its largest value."""
    largest = np.maximum(columns.max(axis=1), -columns.min(axis=1))[:, None]
    return columns / np.where(largest > 0, largest, 1.0)


def screened_features(
    backend: Backend, columns: np.ndarray, response: np.ndarray, kind: int, prior: ParameterPrior,
    keep: int | None,
) -> np.ndarray:  # fmt: skip
    """Return the features to search among: none that is constant, if there are others."""
    varying = np.flatnonzero(np.ptp(columns, axis=1) > 0)
    if len(varying) == 0:
        return np.arange(1)
    if keep is None or keep >= len(varying):
        return varying
    rows = spread_over_response(response, _SCREEN_ROWS, 1, "probability")
    part = np.ascontiguousarray(columns[np.ix_(varying, rows)])
    scores = univariate_evidence(backend, part, response[rows], kind, prior)
    return np.sort(varying[np.argsort(-scores, kind="stable")[:keep]])


def swap_graph(columns: np.ndarray, swaps: Any) -> FeatureGraph:
    """Return the graph of features that are exchanged; it is empty where there is no need."""
    if swaps is True:
        return correlation_graph(columns, _SWAP_NEIGHBORS)
    if swaps and len(columns) <= MOST_FEATURES:
        graph = correlation_graph(columns, _SWAP_NEIGHBORS)
        if largest_correlation(columns, graph) > _SWAP_CORRELATION:
            return graph
    return correlation_graph(columns, 0)


def single_features(
    columns: np.ndarray, response: np.ndarray, count: int, rng: np.random.Generator
) -> list[Features]:
    """Return single features to start from: by correlation, then by chance.

    The random numbers used are the same for any ``count``: more starts only add to a search.
    """
    plain = np.abs((columns - columns.mean(axis=1, keepdims=True)) @ response)
    spread = columns.std(axis=1)
    first = int(np.argmax(plain / np.where(spread > 0, spread, 1.0)))
    chance = rng.permutation(len(columns))
    if count == 1:
        return [(first,)]
    leader = int(np.argmax(marginal_scores(columns.T, response[:, None])))
    others = [leader] if leader != first else []
    others += [int(j) for j in chance if j not in (first, leader)]
    return [(first,), *((j,) for j in others[: count - 1])]


def starts_for_counts(search: HybridSearch, starts: list[Features]) -> list[Features]:
    """Return the best model of the logarithms of counts under Gaussian noise as the first start.

    A Poisson law has no noise to spare: where counts are large, a model without one of the features
    fits the effect of that by an absurd function, and what is added to it then tells nothing.
    """
    if starts == [()]:  # no feature may be in a model
        return starts
    logs = np.log(search.response + 0.5)
    prior = search.settings.prior._replace(noise=_NOISE_OF_LOG_COUNTS)
    simple = HybridSearch(
        CpuBackend(search.backend.workers), search.columns, (logs - logs.mean()) / logs.std(),
        search.kind, search.shared, replace(search.settings, prior=prior, n_wander=0, close=False),
        search.graph, search.rng,
    )  # fmt: skip
    simple.run(starts)
    found = simple.best.features
    return [found, *starts[1:]] if found else starts
