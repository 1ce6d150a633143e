"""Checks of the generators' arguments: each error names the argument, the value and the remedy."""

from __future__ import annotations

import math
from numbers import Integral, Real


def check_count(name: str, value: int, *, at_least: int = 1) -> int:
    """Return ``value`` as an int, or explain why it is not a usable count."""
    # bool is an Integral in Python, but n_samples=True is always a slip.
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(
            f"{name} must be an integer, got {value!r} of type {type(value).__name__}; "
            f"pass a whole number of at least {at_least}."
        )
    if value < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {value}; pass a larger integer.")
    return int(value)


def check_scale(name: str, value: float, *, positive: bool = False) -> float:
    """Return ``value`` as a finite float that is non-negative, or positive where asked."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(
            f"{name} must be a real number, got {value!r} of type {type(value).__name__}; "
            "pass a float."
        )
    required = "positive" if positive else "non-negative"
    too_small = value <= 0 if positive else value < 0
    if not math.isfinite(value) or too_small:
        raise ValueError(
            f"{name} must be a finite {required} number, got {value}; pass a {required} float."
        )
    return float(value)
