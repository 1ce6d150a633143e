"""Whole-number parameters: the most that makes sense of each; and a word where a limit decides.

The bounds are far beyond use. They are there so that a slip of the keyboard ends with a sentence
and not with a fit that never does. What is cut to the size of the data anyway (``max_active``,
``n_components``, ``candidates``) or ends by itself (``max_steps``) has none. Kept draws are bounded
by memory. Moves of a sweep have theirs in the groups of parameters
(:mod:`.group`).
"""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import ConvergenceWarning

from .. import _checks

IN_A_SWEEP = "a sweep must not take minutes; raise thin for more moves between draws"
_STARTS = "each start takes as long as a fit; a few find what many would"
_WEEKS = "so many sweeps would take weeks"
_MOST: dict[str, tuple[int, str]] = {
    "chains": (10_000, "every chain has its own state and draws; make more draws in fewer chains"),
    "tune": (10**9, f"{_WEEKS}; a chain that needs more has another problem"),
    "thin": (10**9, f"{_WEEKS}; make fewer draws"),
    "n_init": (1_000, _STARTS),
    "n_starts": (1_000, _STARTS),
    "n_wander": (100_000, "the search ends after so many steps without an improvement"),
    "n_refine": (10_000, "so many neighbours would be fitted at every step"),
    "max_iter": (10**6, "a fit that has not settled by then never will"),
    "n_length_scales": (1_000, "a model is fitted at every width"),
    "n_splits": (1_000, "every split has a chain for every number of components"),
    "max_components": (1_000, "every number of components has a chain in every split"),
}
MOST_SWEEPS = 10**9  # of one chain, tuning included
_SHARE = 0.05  # of the posterior that may lie at a limit before somebody is told
_LIMITED = {"max_active": "active vectors", "max_features": "features"}


def check_count(
    name: str, value: Any, lowest: int = 1, most: int | None = None, why: str = ""
) -> int:
    """Return ``value`` as an int if it is a whole number between ``lowest`` and the most.

    Without ``most`` it is the table's, found by the last part of ``name``.
    """
    count = _checks.check_count(name, value, lowest)
    if most is None:
        most, why = _MOST.get(name.rpartition(".")[2], (count, ""))
    if count > most:
        raise ValueError(f"{name} must be at most {most}, got {value!r}: {why}.")
    return count


def check_jobs(value: Any) -> None:
    """Refuse what is no number of threads."""
    if value is not None and _checks.check_count("n_jobs", value, -(10**6)) == 0:
        raise ValueError("n_jobs must not be 0; use None or 1 for one thread, -1 for all.")


def warn_if_limited(parameter: str, most: int, share: float) -> None:
    """Warn if more than a twentieth of the posterior lies at a limit.

    Parameters
    ----------
    parameter : str
        The limit as ``set_params`` knows it, such as ``"priors__max_active"``.
    most : int
        Its value.
    share : float
        Share of the posterior that has so many vectors or features.
    """
    if share < _SHARE:
        return
    name = parameter.rpartition("__")[2]
    _checks.warn_caller(
        f"{share:.0%} of the posterior has {most} {_LIMITED[name]}, the most that {name}={most} "
        "allows: the limit decides about the result, and what did not fit in counts as absent. "
        f"Raise {name}, for instance by set_params({parameter}={2 * most}).",
        ConvergenceWarning,
    )
