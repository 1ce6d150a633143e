"""One BLAS thread while chains run, however many fits overlap.

More threads would compete with the chains and change rounding with their number. The limit is a
setting of the whole process, so overlapping fits share it: the first one in sets it, the last one
out restores what was there before.
"""

from __future__ import annotations

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
