"""Threads: how many are asked for, and one BLAS thread while chains run.

More BLAS threads would compete with the chains and change rounding with their number. The limit is
a setting of the whole process, so overlapping fits share it: the first one in sets it, the last
one out restores what was there before.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_users = 0
_limit: Any = None


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    """Return the BLAS libraries of the process: looking for them takes as long as a small fit."""
    return ThreadpoolController()


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread inside the ``with`` block."""
    global _users, _limit
    with _lock:
        if _users == 0:
            _limit = _controller().limit(limits=1)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _limit.restore_original_limits()


def count_workers(n_jobs: int | None, n_chains: int) -> int:
    """Return the number of threads: None is one, -1 every core, -2 all but one, ..."""
    if n_jobs is None:
        return 1
    if n_jobs < 0:
        n_jobs = max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    return min(n_jobs, n_chains)
