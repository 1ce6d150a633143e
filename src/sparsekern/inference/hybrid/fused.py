"""Whether plug-in scores can be computed by one kernel."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from ...kernels.evaluate import RBF

_MOST_ROWS = 800  # beyond these a factor for each program takes much memory, and gains little


def open_fused_toggles(device: str, n: int) -> Callable[..., Any] | None:
    """Return the function that computes plug-in scores of n rows at once, if there is one."""
    return _open(device) if n <= _MOST_ROWS else None


@cache
def _open(device: str) -> Callable[..., Any] | None:
    # Triton runs on processors only where it is interpreted, which is for tests
    if device == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        return None
    one = torch.ones(1, dtype=torch.float64, device=device)
    none = torch.zeros(2, dtype=torch.int64, device=device)
    try:
        from .triton_toggles import toggled_densities

        toggled_densities(
            one[:, None], one[:, None], one, none[None], one.expand(1, 3), one.expand(2), RBF, 1.0
        )
    except ImportError:  # torch comes without Triton on some systems
        return None
    except Exception as error:  # a missing compiler, a driver that is too old, and more
        warnings.warn(
            f"Triton cannot compile for device={device!r} ({error}); plug-in scores are computed "
            "by torch, several times slower. It takes Triton 3.5 (torch 2.9) or later and a C "
            "compiler: upgrade torch, install gcc, or set the environment variable CC to one.",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return toggled_densities
