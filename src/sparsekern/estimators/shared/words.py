"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, pointing at the line outside of this package that called."""
    frame, level = sys._getframe(1), 2
    inside = ("sparsekern.", "sklearn.callback", "contextlib")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(inside):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
