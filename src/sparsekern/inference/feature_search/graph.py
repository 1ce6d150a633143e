"""Which features resemble each other: a graph along which features are exchanged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

NEIGHBORS = 10  # nearest by squared correlation, for each feature
MOST_FEATURES = 5000  # beyond, all pairs of features cost more than chains or a search
_BLOCK = 512  # features whose correlations are held at a time


class FeatureGraph(NamedTuple):
    """An undirected graph; the neighbours of l are ``neighbors[starts[l] : starts[l + 1]]``."""

    starts: np.ndarray  # int64[p + 1]
    neighbors: np.ndarray  # int64[2 * edges]


def _unit(columns: np.ndarray) -> np.ndarray:
    """Return centred columns of length one (constant ones: zero)."""
    # scaled first: neither sums nor squares of huge numbers may overflow
    unit = columns / np.maximum(np.abs(columns).max(axis=1, keepdims=True), np.finfo(float).tiny)
    unit -= unit.mean(axis=1, keepdims=True)
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), np.finfo(float).tiny)
    return unit


def largest_correlation(columns: np.ndarray, graph: FeatureGraph) -> float:
    """Return the largest absolute correlation of two neighbours in the graph, zero for none."""
    unit, largest = _unit(columns), 0.0
    for feature in range(len(columns)):
        near = graph.neighbors[graph.starts[feature] : graph.starts[feature + 1]]
        if len(near):
            largest = max(largest, float(np.abs(unit[near] @ unit[feature]).max()))
    return largest


def correlation_graph(columns: np.ndarray, neighbors: int = NEIGHBORS) -> FeatureGraph:
    """Join every feature to those it is most correlated with, whatever the sign.

    Parameters
    ----------
    columns : ndarray of shape (p, n)
        The features, none constant.
    neighbors : int
        How many each feature chooses; one that is chosen by many has more; 0: no graph.

    Returns
    -------
    FeatureGraph
        O(np^2) operations, never p x p numbers at a time.
    """
    p = len(columns)
    chosen = min(neighbors, p - 1)
    if chosen < 1:
        return FeatureGraph(np.zeros(p + 1, np.int64), np.zeros(0, np.int64))
    unit = _unit(columns)
    targets = np.empty((p, chosen), np.int64)
    for first in range(0, p, _BLOCK):
        block = np.square(unit[first : first + _BLOCK] @ unit.T)
        block[np.arange(len(block)), np.arange(first, first + len(block))] = -1.0
        # rounded, so that copies of a feature count as equal whatever BLAS made of them
        order = np.argpartition(np.round(block, 9), p - chosen, axis=1)
        targets[first : first + _BLOCK] = order[:, p - chosen :]
    sources = np.repeat(np.arange(p), chosen)
    directed = csr_array((np.ones(p * chosen), (sources, targets.ravel())), shape=(p, p))
    graph = csr_array(directed + directed.T)
    graph.sort_indices()
    return FeatureGraph(graph.indptr.astype(np.int64), graph.indices.astype(np.int64))
