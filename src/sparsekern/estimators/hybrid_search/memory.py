"""What a hybrid search holds, told before it begins."""

from __future__ import annotations

from typing import Any

from ..._threads import count_workers
from ..shared.counts import check_count
from ..shared.memory_guard import require_memory

_COPIES = 6  # of a covariance matrix, in each thread


def check_draws(estimator: Any) -> int:
    """Return ``draws`` if so many points of the parameters of a model can be held."""
    count = check_count("draws", estimator.draws)
    require_memory(
        3 * 8.0 * count * (2 + estimator.max_features),
        type(estimator).__name__,
        f"draws={count} points of the parameters of a model",
        "use draws=1000",
    )
    return count


def require_room(estimator: Any, n_rows: int) -> None:
    """Raise MemoryError unless covariance matrices of the rows of the search can be held."""
    workers = count_workers(estimator.n_jobs, 10**6)
    require_memory(
        _COPIES * workers * 8.0 * float(n_rows) ** 2,
        type(estimator).__name__,
        f"covariance matrices of {n_rows} x {n_rows} numbers in {workers} threads",
        "use search_rows=500, or fewer n_jobs",
    )
