"""Compiled work before the first sweep, in a thread of its own: Ctrl-C is heard meanwhile.

Python looks for Ctrl-C between two steps of its own: one call of compiled code, however long, is
one step. What another thread does without the GIL need not be waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Any, TypeVar

_BEAT_SECONDS = 1.0  # not every system wakes a thread that waits without end
_Result = TypeVar("_Result")


def aside(work: Callable[..., _Result], *arguments: Any) -> _Result:
    """Return ``work(*arguments)``, done by another thread.

    After Ctrl-C the work goes on to its end, and what it returns is read by nobody.
    """
    pool = ThreadPoolExecutor(1)
    try:
        # numpy keeps its handling of errors in the context
        future = pool.submit(copy_context().run, work, *arguments)
        while not wait([future], _BEAT_SECONDS).done:
            pass
        return future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
