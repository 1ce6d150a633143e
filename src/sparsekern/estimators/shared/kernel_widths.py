"""From the parameters ``kernel`` and ``length_scale`` to the kernels fitted side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._checks import check_choice, check_pair
from ...kernels.resolve import Kernel, resolve_kernel
from ...kernels.widths import distance_scale
from .counts import check_count

CHOICES = ("averaged", "cv", "loo", "evidence")


def check_widths(estimator: Any) -> None:
    """Refuse widths that cannot be."""
    low, high = check_pair("length_scale_range", estimator.length_scale_range, "(low, high)")
    if low > high:
        raise ValueError(
            f"length_scale_range must be (low, high) with low <= high, got {(low, high)}."
        )
    check_count("n_length_scales", estimator.n_length_scales)
    if isinstance(estimator.length_scale, str):
        check_choice(
            "length_scale", estimator.length_scale, (*CHOICES, "mean_distance", "median_distance")
        )


def make_kernels(estimator: Any, features: np.ndarray) -> list[Kernel]:
    """Return one kernel per width; a kernel that brings its own width comes alone.

    The estimator has ``length_scale="averaged" | "cv" | "loo" | "evidence"`` or a number.
    """
    named = isinstance(estimator.length_scale, str) and estimator.length_scale in CHOICES
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
    low, high = estimator.length_scale_range
    if estimator.n_length_scales == 1:
        low = high = (low * high) ** 0.5
    ones = np.ones(features.shape[1])
    return [
        first.with_length_scale(typical * factor * ones)
        for factor in np.geomspace(low, high, estimator.n_length_scales)
    ]
