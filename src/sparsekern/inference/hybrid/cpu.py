"""The compiled backend: problems are shared out among threads, each worked on alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..._threads import count_workers, single_blas_thread
from ..feature_search.pairs import blocks_of_pairs
from . import compiled, compiled_derivatives
from ._contract import Batch, GaussianResponse

_SECONDS_AT_ONCE = 0.2


class CpuBackend(GaussianResponse):
    """Compute with numba and LAPACK.

    Parameters
    ----------
    n_jobs : int or None
        Threads; the numbers do not depend on it.
    """

    together = 4
    blocks_of_pairs = staticmethod(blocks_of_pairs)

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs
        self.workers = count_workers(n_jobs, 10**6)
        self._pace = 16  # problems that a call is given

    def _share(self, total: int, work: Callable[[int, int], None]) -> None:
        """Call ``work(first, last)`` for parts of the problems, each short enough for Ctrl-C.

        How they are divided touches no number: every problem is worked on alone.
        """
        workers = count_workers(self.n_jobs, max(1, total))
        with single_blas_thread():
            if workers == 1 or total < 2:
                first = 0
                while first < total:
                    first = self._timed(work, first, min(first + self._pace, total))
                return
            first = self._timed(work, 0, 1)  # tells how long the others will take
            parts = max(min(total - 1, 4 * workers), -(-(total - 1) // self._pace))
            edges = np.linspace(first, total, parts + 1).astype(int)
            with ThreadPoolExecutor(workers) as pool:
                try:
                    list(pool.map(work, edges[:-1], edges[1:]))
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise

    def _timed(self, work: Callable[[int, int], None], first: int, last: int) -> int:
        """Work on some problems and learn how many to give to the next call; return ``last``."""
        begin = time.perf_counter()
        work(first, last)
        rate = (last - first) / max(time.perf_counter() - begin, 1e-9)
        self._pace = max(1, min(4 * self._pace, int(rate * _SECONDS_AT_ONCE)))
        return last

    def log_likelihood(self, batch: Batch, parameters: np.ndarray) -> np.ndarray:
        """Return l(u) of every problem."""
        out = np.empty(batch.size)
        self._share(batch.size, lambda a, b: compiled.log_likelihoods(batch, parameters, a, b, out))
        return out

    def derivatives(
        self, batch: Batch, parameters: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return l(u), its gradient and its Hessian."""
        count, m = parameters.shape
        values, gradients = np.empty(count), np.empty((count, m))
        hessians = np.empty((count, m, m))
        self._share(
            count,
            lambda a, b: compiled_derivatives.differentiate(
                batch, parameters, a, b, values, gradients, hessians
            ),
        )
        return values, gradients, hessians

    def toggles(
        self, batch: Batch, parameters: np.ndarray, changes: np.ndarray, bandwidth: float
    ) -> np.ndarray:
        """Return l(u) of the first problem with features removed and added."""
        out = np.empty(len(changes))
        self._share(
            len(changes),
            lambda a, b: compiled.toggled(batch, parameters, changes, bandwidth, a, b, out),
        )
        return out

    def predict(
        self, batch: Batch, parameters: np.ndarray, points: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of f at new points."""
        shape = (batch.size, parameters.shape[1], points.shape[1])
        means, variances = np.empty(shape), np.empty(shape)
        self._share(
            batch.size,
            lambda a, b: compiled.predict_points(batch, parameters, points, a, b, means, variances),
        )
        return means, variances
