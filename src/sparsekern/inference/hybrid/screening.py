"""Marginal screening: the evidence of every feature on its own."""

from __future__ import annotations

import numpy as np

from ..._threads import single_blas_thread
from ..feature_search.subsample import spread_over_response
from ._contract import Backend, Batch
from .cpu import CpuBackend
from .evidence import ParameterPrior, fit_batch

_EVIDENCE_ROWS = 200
_BLOCK = 512  # features whose fits start from the median of those before


def univariate_evidence(
    backend: Backend, columns: np.ndarray, response: np.ndarray, kind: int, prior: ParameterPrior
) -> np.ndarray:
    """Return the log evidence of the model of each feature alone.

    A constant feature has that of the empty model.
    """
    p, n = columns.shape
    rows, targets = np.arange(n)[None], response[None]
    empty = Batch(
        columns, kind, rows, targets, np.zeros((1, 1), np.int64), np.zeros(1, np.int64), True
    )
    out = np.full(p, fit_batch(backend, empty, np.zeros((1, 2)), prior).log_evidence[0])
    varying = np.flatnonzero(np.ptp(columns, axis=1) > 0)
    start = np.array([0.0, np.log(2.0), np.log(0.3)])
    for first in range(0, len(varying), _BLOCK):
        chosen = varying[first : first + _BLOCK]
        batch = Batch(
            columns, kind, rows, targets, chosen[:, None], np.ones(len(chosen), np.int64), True
        )
        fits = fit_batch(backend, batch, np.tile(start, (len(chosen), 1)), prior)
        out[chosen] = fits.log_evidence
        start = np.median(fits.parameters, axis=0)
    return out


def screen_by_evidence(
    features: np.ndarray, targets: np.ndarray, count: int, kind: int, n_jobs: int | None
) -> np.ndarray:
    """Return the sorted indices of the features whose models of one feature have most evidence.

    The evidence is that of a Gaussian process with Gaussian noise, of at most 200 rows spread over
    the first column of the response, and the largest over its columns (one for each class).
    """
    if count >= features.shape[1]:
        return np.arange(features.shape[1])
    rows = spread_over_response(targets[:, 0], _EVIDENCE_ROWS, 1, "probability")
    columns = np.ascontiguousarray(features[rows].T)
    prior = ParameterPrior((1.0, 1.0), (1.0, 1.0), (1.0, 0.1))
    scores = np.full(features.shape[1], -np.inf)
    with single_blas_thread():
        for target in targets[rows].T:
            spread = target.std()
            if spread > 0:
                scaled = (target - target.mean()) / spread
                found = univariate_evidence(CpuBackend(n_jobs), columns, scaled, kind, prior)
                scores = np.maximum(scores, found)
    return np.sort(np.argsort(-scores, kind="stable")[:count])
