"""Kernels as functions of weighted sums over features, in torch; see :mod:`...kernels`."""

from __future__ import annotations

from typing import Any

import torch

from ...kernels.evaluate import LAPLACIAN, MATERN32, MATERN52
from ...kernels.feature_sums import FAR, FARTHEST


def distances(here: Any, there: Any, kind: int) -> Any:
    """Return what a feature adds to the sums between points, up to its rate."""
    difference = here[..., :, None] - there[..., None, :]
    apart = difference.abs() if kind == LAPLACIAN else difference.square()
    return apart.clamp_(max=FARTHEST)


def kernel_of_sums(sums: Any, kind: int) -> Any:
    """Return k(E)."""
    if kind == MATERN32:
        t = torch.sqrt(6.0 * sums).clamp_(max=FAR)
        return (1.0 + t) * torch.exp(-t)
    if kind == MATERN52:
        t = torch.sqrt(10.0 * sums).clamp_(max=FAR)
        return (1.0 + t + t.square() / 3.0) * torch.exp(-t)
    return torch.exp(-sums)


def kernel_derivatives(sums: Any, kind: int) -> tuple[Any, Any, Any]:
    """Return k(E), k'(E) and k''(E)."""
    if kind == MATERN32:
        t = torch.sqrt(6.0 * sums).clamp_(max=FAR)
        e = torch.exp(-t)
        second = torch.where(t > 0, 9.0 * e / torch.where(t > 0, t, torch.ones_like(t)), 0.0)
        return (1.0 + t) * e, -3.0 * e, second
    if kind == MATERN52:
        t = torch.sqrt(10.0 * sums).clamp_(max=FAR)
        e = torch.exp(-t)
        return (1.0 + t + t.square() / 3.0) * e, -5.0 / 3.0 * (1.0 + t) * e, 25.0 / 3.0 * e
    e = torch.exp(-sums)
    return e, -e, e
