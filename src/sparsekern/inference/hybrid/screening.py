"""Marginal screening: the evidence of every feature on its own."""

from __future__ import annotations

import numpy as np

from ._contract import Backend, Batch
from .evidence import ParameterPrior, fit_batch

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
