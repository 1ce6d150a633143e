"""Shared checks and the sentences they raise, argument, value, remedy; warnings."""

from __future__ import annotations

import math
import sys
import warnings
from numbers import Integral, Real
from typing import Any


def check_count(name: str, value: Any, lowest: int = 1) -> int:
    """Return ``value`` as an int if it is a whole number of at least ``lowest``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(
            f"{name} must be a whole number, got {value!r} of type {type(value).__name__}."
        )
    if value < lowest:
        raise ValueError(f"{name} must be at least {lowest}, got {value!r}.")
    return int(value)


def check_positive(name: str, value: Any) -> float:
    """Return ``value`` as a float if it is a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(
            f"{name} must be a positive number, got {value!r} of type {type(value).__name__}."
        )
    number = float(value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be positive and finite, got {value!r}.")
    return number


def check_share(name: str, value: Any) -> float:
    """Return ``value`` as a float if it lies strictly between 0 and 1."""
    number = check_positive(name, value)
    if number >= 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}.")
    return number


def check_pair(name: str, value: Any, meaning: str) -> tuple[float, float]:
    """Return two positive numbers such as (shape, rate)."""
    try:
        first, second = value
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair {meaning}, got {value!r}.") from None
    return check_positive(f"{name}[0]", first), check_positive(f"{name}[1]", second)


def check_flag(name: str, value: Any) -> bool:
    """Return ``value`` if it is a plain truth value."""
    if not isinstance(value, bool) and type(value).__name__ != "bool":
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> Any:
    """Return ``value`` if it is one of ``choices``."""
    if type(value).__name__ == "bool":  # numpy's truth values stand for Python's
        value = bool(value)
    for choice in choices:
        if isinstance(value, type(choice)) and value == choice:
            return choice
    options = ", ".join(repr(choice) for choice in choices)
    raise ValueError(f"{name} must be one of {options}; got {value!r}.")


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, pointing at the line outside of this package that called."""
    frame, level = sys._getframe(1), 2
    inside = ("sparsekern.", "sklearn.callback", "contextlib")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(inside):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
