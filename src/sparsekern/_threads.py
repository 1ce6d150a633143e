"""Threads: how many are asked for, and one BLAS thread while chains run.

More BLAS threads would compete with the chains and change rounding with their number. The limit is
a setting of the whole process, so overlapping fits share it: the first one in sets it, the last
one out restores what was there before.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from joblib.parallel import get_active_backend
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


def count_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def count_workers(n_jobs: int | None, n_tasks: int) -> int:
    """Return the number of threads: None is one, -1 every core, -2 all but one, ..."""
    if n_jobs is None:
        return 1
    if n_jobs < 0:
        n_jobs = max(1, count_cores() + 1 + n_jobs)
    return min(n_jobs, n_tasks)


def count_chain_workers(n_jobs: int | None, n_chains: int) -> int:
    """Return the number of threads for chains; None: every core, unless something else is parallel.

    Something else is a pool of joblib around us (a cross-validation, a forest of fits), a child of
    a process pool, a thread of the caller's, or another fit that is under way.
    """
    return count_workers(-1 if n_jobs is None and _is_alone() else n_jobs, n_chains)


def _is_alone() -> bool:
    backend, n_jobs = get_active_backend()
    return (
        not backend.nesting_level
        and n_jobs in (None, 1)
        and multiprocessing.parent_process() is None
        and threading.current_thread() is threading.main_thread()
        and _users == 0
    )
