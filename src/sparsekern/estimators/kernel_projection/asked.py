"""What the search of model, width, size and sharpness is asked for, and how it is watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..._jit import mark_compiled
from ...inference.kernel_projection.search import Asked
from ...kernels import Kernel, resolve_kernels
from ..shared.progress import TextProgress, announce_compilation, wants_text
from .parameters import pools_geometrically

_LARGEST, _SPLITS, _COST = 15, 10, 1.0  # of a search of the number of components


def asked_of(estimator: Any, features: np.ndarray) -> Asked:
    """Return what the parameters of an estimator, which are checked, ask for."""

    def kernels(rows: np.ndarray, factor: float) -> tuple[Kernel, ...]:
        return _kernels(estimator, rows, factor)

    given = estimator.cost
    cost = (_COST if given is None else float(given)) if _is(estimator, "utility") else None
    return Asked(
        kernels=kernels,
        searches_width=_searches_width(estimator, kernels(features, 1.0)),
        precomputed=estimator._is_precomputed(),
        projection=bool(estimator.projection),
        n_components=estimator.n_components,
        sharpness=estimator.sharpness,
        max_components=_or(estimator.max_components, _LARGEST),
        n_splits=_or(estimator.n_splits, _SPLITS),
        cost=cost,
        one_standard_error=estimator.selection_rule == "one_standard_error",
        search_draws=None if estimator.search_draws is None else int(estimator.search_draws),
        n_jobs=estimator.n_jobs,
        pools_geometrically=lambda priors: pools_geometrically(estimator, priors),
    )


def _is(estimator: Any, rule: str) -> bool:
    return isinstance(estimator.n_components, str) and estimator.n_components == rule


def _or(value: int | None, default: int) -> int:
    return default if value is None else int(value)


def _names_width(estimator: Any) -> bool:
    return isinstance(estimator.length_scale, str) and estimator.length_scale == "cv"


def _kernels(estimator: Any, features: np.ndarray, factor: float) -> tuple[Kernel, ...]:
    """Return the kernels at ``factor`` times their widths."""
    width = "mean_distance" if _names_width(estimator) else estimator.length_scale
    names = getattr(estimator, "feature_names_in_", None)
    return tuple(
        kernel.with_length_scale(factor * kernel.length_scale) if kernel.stationary else kernel
        for kernel in resolve_kernels(estimator.kernel, width, features, names)
    )


def _searches_width(estimator: Any, kernels: tuple[Kernel, ...]) -> bool:
    """Whether there is a width to be found: a kernel given by name, with a length scale."""
    listed = estimator.kernel if isinstance(estimator.kernel, list) else [estimator.kernel]
    parts = [part[0] if isinstance(part, tuple) else part for part in listed]
    return _names_width(estimator) and any(
        kernel.stationary and isinstance(part, str)
        for kernel, part in zip(kernels, parts, strict=True)
    )


def watch_of(
    estimator: Any,
) -> Callable[[str, int, str], Any]:
    """Return what shows how far the short chains of a search are."""

    @contextmanager
    def watch(what: str, count: int, engine: str) -> Iterator[Callable[[int, float], bool]]:
        name, text = type(estimator).__name__, None
        if wants_text(estimator.progress, bool(getattr(estimator, "_skl_callbacks", None))):
            text = TextProgress(f"{name}: {count} {what}", count)
        if estimator.progress is not False:
            announce_compilation(name, [engine])

        def report(number: int, fraction: float) -> bool:
            if text is not None:
                text.update(number, fraction)
            return False

        try:
            yield report
        finally:
            if text is not None:
                text.close()
        mark_compiled(engine)

    return watch
