"""What is decided before sampling: what the search is asked for, how it is watched, its results."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ...inference.chains.checkpoint import fingerprint
from ...inference.kernel_projection.projections import Projection
from ...inference.kernel_projection.sampler import Priors
from ...inference.kernel_projection.search import Asked, Decisions, ProjectionSearch
from ...kernels import Kernel, resolve_kernels
from ..shared.progress import Reporter, watch
from ..shared.runner import described_parameters
from .parameters import KERNEL, pools_geometrically

_LARGEST, _SPLITS, _COST = 15, 10, 1.0  # of a search of the number of components


def decide(
    estimator: Any,
    features: np.ndarray,
    labels: np.ndarray,
    candidates: tuple[Priors, ...],
    going_on: bool,
) -> Decisions:
    """Return model, width, size and sharpness, and keep them.

    Those of the last fit, if it was the same, are kept where its chains are ``going_on``.
    """
    described = {
        name: value
        for name, value in described_parameters(estimator).items()
        if name.partition("__")[0] not in ("draws", "chains", "thin")
    }
    data = fingerprint([features, labels, described])
    if not going_on or getattr(estimator, "_decided_on", None) != data:

        def watch_part(what: str, count: int, engine: str) -> AbstractContextManager[Reporter]:
            return watch(estimator, what, count, [engine], callbacks=False)

        search = ProjectionSearch(
            _asked_of(estimator, features), features, labels, len(estimator.classes_), candidates,
            watch_part,
        )  # fmt: skip
        estimator._decided, estimator._decided_on = search.decide(), data
    return estimator._decided


def decided_attributes(decided: Decisions) -> dict[str, Any]:
    """Return the fitted attributes that were decided on."""
    sources = decided.sources
    found: dict[str, Any] = {
        "inference_": decided.priors.model,
        "sharpness_": decided.power,
        "n_components_": sum(source.training.shape[1] for source in sources),
        "length_scale_": None,
    }
    values = [source.eigenvalues for source in sources if isinstance(source, Projection)]
    if values:
        found["eigenvalues_"] = np.concatenate(values)
    kernels = [source.kernel for source in sources]
    if any(kernel.stationary for kernel in kernels):
        scales = np.stack([kernel.length_scale for kernel in kernels])
        found["length_scale_"] = scales if len(kernels) > 1 else scales[0]
    tables = {"utility_": decided.utility, "widths_": decided.widths}
    return found | {name: table for name, table in tables.items() if table is not None}


def _asked_of(estimator: Any, features: np.ndarray) -> Asked:
    """Return what the parameters of an estimator, which are checked, ask for."""

    def kernels(rows: np.ndarray, factor: float) -> tuple[Kernel, ...]:
        return _kernels(estimator, rows, factor)

    search, size = estimator._group("search"), estimator.n_components
    cost = _COST if search.cost is None else float(search.cost)
    return Asked(
        kernels=kernels,
        searches_width=_searches_width(estimator, kernels(features, 1.0)),
        precomputed=estimator._is_precomputed(),
        projection=size != KERNEL,
        n_components=size,
        sharpness=estimator._group("prediction").sharpness,
        max_components=_or(search.max_components, _LARGEST),
        n_splits=_or(search.n_splits, _SPLITS),
        cost=cost if size == "utility" else None,
        one_standard_error=search.rule == "one_standard_error",
        search_draws=None if search.draws is None else int(search.draws),
        n_jobs=estimator.n_jobs,
        pools_geometrically=lambda priors: pools_geometrically(estimator, priors),
    )


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
