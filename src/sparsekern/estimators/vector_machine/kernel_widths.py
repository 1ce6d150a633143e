"""From the parameters ``kernel`` and ``length_scale`` to the kernels fitted side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._checks import check_choice
from ...kernels.resolve import Kernel, resolve_kernel
from ...kernels.widths import distance_scale

_RULES = ("averaged", "cv", "loo", "evidence")


def check_length_scale(value: Any) -> None:
    """Refuse words that stand for no width."""
    if isinstance(value, str):
        check_choice("length_scale", value, (*_RULES, "mean_distance", "median_distance"))


def make_kernels(estimator: Any, features: np.ndarray) -> list[Kernel]:
    """Return one kernel per width; a kernel that brings its own width comes alone.

    The estimator has ``length_scale="averaged" | "cv" | "loo" | "evidence"`` or a number.
    """
    named = isinstance(estimator.length_scale, str) and estimator.length_scale in _RULES
    # for kernels with a scale of their own the default counts as "not given"
    given = "mean_distance" if named else estimator.length_scale
    first = resolve_kernel(estimator.kernel, given, features)
    own = not isinstance(estimator.kernel, str) or not first.stationary
    if own and named and estimator.length_scale != "averaged":
        raise ValueError(
            f"length_scale={estimator.length_scale!r} cannot be combined with "
            f"kernel={estimator.kernel!r}, which brings its own scale or has none; leave "
            "length_scale at its default, or set the scale in the kernel."
        )
    if own or not named:
        return [first]
    metric = "cityblock" if estimator.kernel == "laplacian" else "euclidean"
    typical = distance_scale(features, "median_distance", metric)
    search = estimator._group("search")
    low, high = search.length_scale_range
    if search.n_length_scales == 1:
        low = high = (low * high) ** 0.5
    ones = np.ones(features.shape[1])
    return [
        first.with_length_scale(typical * factor * ones)
        for factor in np.geomspace(low, high, search.n_length_scales)
    ]
