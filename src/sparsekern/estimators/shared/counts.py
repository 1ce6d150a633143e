"""Whole-number parameters: the most that makes sense of each, in one table.

The bounds are far beyond use. They are there so that a slip of the keyboard ends with a sentence
and not with a fit that never does. What is cut to the size of the data anyway (``max_active``,
``n_components``, ``candidates``) or ends by itself (``max_steps``) has none. Kept draws are bounded
by memory (:mod:`.sampling_memory`).
"""

from __future__ import annotations

from typing import Any

from ... import _checks

_IN_A_SWEEP = "a sweep must not take minutes; raise thin for more moves between draws"
_CHAINS = "every chain has its own state and draws; make more draws in fewer chains"
_STARTS = "each start takes as long as a fit; a few find what many would"
_MOST: dict[str, tuple[int, str]] = {
    "chains": (10_000, _CHAINS),
    "tune": (10**9, "so many sweeps would take weeks; a chain that needs more has another problem"),
    "thin": (10**9, "so many sweeps would take weeks; make fewer draws"),
    "active_set_moves": (10_000, _IN_A_SWEEP),
    "joint_moves": (10_000, _IN_A_SWEEP),
    "latent_scans": (1_000, _IN_A_SWEEP),
    "feature_moves": (10_000, _IN_A_SWEEP),
    "feature_swaps": (10_000, _IN_A_SWEEP),
    "feature_pairs": (10_000, _IN_A_SWEEP),
    "bandwidth_moves": (1_000, _IN_A_SWEEP),
    "n_init": (1_000, _STARTS),
    "n_starts": (1_000, _STARTS),
    "n_wander": (100_000, "the search ends after so many steps without an improvement"),
    "n_refine": (10_000, "so many neighbours would be fitted at every step"),
    "max_iter": (10**6, "a fit that has not settled by then never will"),
    "n_length_scales": (1_000, "a model is fitted at every width"),
    "n_splits": (1_000, "every split has a chain for every number of components"),
    "max_components": (1_000, "every number of components has a chain in every split"),
    "search_draws": (10**6, "the chains of the search are to be short"),
}
MOST_SWEEPS = 10**9  # of one chain, tuning included
_MOVES_TIMES_ROWS = 2 * 10**7  # in one sweep; a rough guard, not a promise of seconds


def check_count(name: str, value: Any, lowest: int = 1) -> int:
    """Return ``value`` as an int if it is a whole number between ``lowest`` and the table's."""
    count = _checks.check_count(name, value, lowest)
    most, why = _MOST.get(name, (count, ""))
    if count > most:
        raise ValueError(f"{name} must be at most {most}, got {value!r}: {why}.")
    return count


def check_jobs(value: Any) -> None:
    """Refuse what is no number of threads."""
    if value is not None and _checks.check_count("n_jobs", value, -(10**6)) == 0:
        raise ValueError("n_jobs must not be 0; use None or 1 for one thread, -1 for all.")


def check_moves(estimator: Any, n_rows: int) -> None:
    """Refuse a sweep of very many moves; each looks at every row.

    Ctrl-C does not wait for a sweep, but draws, checkpoints and the end of the process do.
    """
    most = max(100, _MOVES_TIMES_ROWS // max(1, n_rows))
    for name, (_, why) in _MOST.items():
        value = getattr(estimator, name, None)
        if why is _IN_A_SWEEP and value is not None and value > most:
            raise ValueError(
                f"{name} must be at most {most} with {n_rows} rows, got {value!r}: {why}."
            )
