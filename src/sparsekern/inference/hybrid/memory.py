"""What a hybrid search holds, told before it begins."""

from __future__ import annotations

from ..._memory import require_memory
from ..._threads import count_workers

_COPIES = 6  # of a covariance matrix, in each thread


def require_points(who: str, draws: int, max_features: int) -> None:
    """Raise MemoryError unless draws of the parameters of a model can be held."""
    require_memory(
        3 * 8.0 * draws * (2 + max_features),
        who,
        f"draws={draws} points of the parameters of a model",
        "use draws=1000",
    )


def require_matrices(who: str, n_rows: int, n_jobs: int | None) -> None:
    """Raise MemoryError unless covariance matrices of the rows of the search can be held."""
    workers = count_workers(n_jobs, 10**6)
    require_memory(
        _COPIES * workers * 8.0 * float(n_rows) ** 2,
        who,
        f"covariance matrices of {n_rows} x {n_rows} numbers in {workers} threads",
        "use search__rows=500, or fewer n_jobs",
    )
