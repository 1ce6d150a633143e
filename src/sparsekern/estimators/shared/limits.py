"""A word where a limit that the user can raise has decided about the result."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

from .sampling import warn_caller

_SHARE = 0.05  # of the posterior that may lie at a limit before somebody is told


def warn_if_limited(parameter: str, most: int, share: float) -> None:
    """Warn if more than a twentieth of the posterior lies at a limit.

    Parameters
    ----------
    parameter : {"max_active", "max_features"}
        The limit.
    most : int
        Its value.
    share : float
        Share of the posterior that has so many vectors or features.
    """
    if share < _SHARE:
        return
    what = {"max_active": "active vectors", "max_features": "features"}[parameter]
    warn_caller(
        f"{share:.0%} of the posterior has {most} {what}, the most that {parameter}={most} allows: "
        f"the limit decides about the result, and what did not fit in counts as absent. Raise "
        f"{parameter}, for instance to {2 * most}.",
        ConvergenceWarning,
    )
