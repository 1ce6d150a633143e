"""Parameters of the kernel projection classifier: which go together, and the rows to learn from."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_choice, check_flag, warn_caller
from ..._memory import require_memory
from ...inference.feature_search.subsample import spread_rows
from ...inference.kernel_projection.responses import RESPONSE
from ...inference.kernel_projection.sampler import KernelProjectionSampler, Priors
from ...settings.kernel_projection import ProjectionPriors
from ...settings.limits import check_count

SEARCHES = ("utility", "log_score")
KERNEL = "kernel"  # in place of a number of components: the kernel matrix itself
_PROJECTION_COPIES = 3  # of a kernel matrix, while its eigenvectors are found
_DEFAULT_SCALE = 2.0
_MODELS = ("polya_gamma", "least_squares", "latent_noise")
_COMPARED = _MODELS[:2]  # by inference="cv"
_OF_SOME_MODELS: dict[tuple[str, str], tuple[str, ...]] = {
    ("priors", "select_kernels"): _COMPARED,
    ("priors", "scale"): _COMPARED,
    ("priors", "noise"): ("least_squares", "latent_noise"),
    ("prediction", "noise"): ("latent_noise",),
}


def check_parameters(estimator: Any) -> tuple[Priors, ...]:
    """Return what is assumed, for each model that may be chosen."""
    check_choice("inference", estimator.inference, (*_MODELS, "cv"))
    check_flag("standardize", estimator.standardize)
    if estimator.max_rows is not None:
        check_count("max_rows", estimator.max_rows, 2)
    size = estimator.n_components
    if isinstance(size, str):
        check_choice("n_components", size, (KERNEL, "average", *SEARCHES))
    elif size is not None:
        check_count("n_components", size)
    _check_search(estimator)
    candidates, kinds = _candidates(estimator), estimator._groups
    groups = {name: estimator._group(name) for name in kinds}
    for (group, name), models in _OF_SOME_MODELS.items():
        value, default = (getattr(one, name) for one in (groups[group], kinds[group]()))
        given = bool(value) if default is False else value is not None
        if given and not set(models) & set(candidates):
            raise ValueError(
                f"{group}.{name}={value!r} belongs to inference="
                f"{' or '.join(map(repr, models))}, but inference={estimator.inference!r}; leave "
                f"{group}.{name}={default!r}."
            )
    priors = groups["priors"]
    if priors.select_kernels and size == "average":
        raise ValueError(
            "priors.select_kernels=True selects whole kernels, n_components='average' single "
            "components; leave one of them at its default."
        )
    return tuple(_priors(priors, model, size == "average") for model in candidates)


def _check_search(estimator: Any) -> None:
    """Refuse parameters of a search of the number of components where there is none."""
    search, size = estimator._group("search"), estimator.n_components
    searching = isinstance(size, str) and size in SEARCHES
    for name in ("max_components", "n_splits", "rule"):
        value = getattr(search, name)
        if value is not None and not searching:
            raise ValueError(
                f"search.{name}={value!r} is for a search of the number of components; leave "
                f"search.{name}=None, or set n_components to 'utility' or 'log_score'."
            )
    if search.cost is not None and size != "utility":
        raise ValueError(
            f"search.cost={search.cost!r} is a part of the expected utility; leave "
            "search.cost=None, or set n_components='utility'."
        )


def _candidates(estimator: Any) -> tuple[str, ...]:
    """Return the models that may be chosen."""
    if estimator.inference != "cv":
        return (estimator.inference,)
    several = isinstance(estimator.kernel, list) and len(estimator.kernel) > 1
    if estimator.n_components in SEARCHES or (estimator.n_components == "average" and several):
        return ("polya_gamma",)
    return _COMPARED


def _priors(given: ProjectionPriors, model: str, average: bool) -> Priors:
    """Return the priors of one model, as its engine takes them."""
    scale = given.scale[1] if given.half_cauchy else given.scale
    scale = _DEFAULT_SCALE if scale is None else float(scale)
    precision = (1.0, 1.0) if model == "latent_noise" else None
    return Priors(
        model=model,
        reference=given.classes == "reference",
        intercept=given.intercept is not None,
        average=average,
        select_kernels=bool(given.select_kernels),
        scale=scale * (RESPONSE if model == "least_squares" else 1.0),
        half_cauchy=given.half_cauchy,
        noise=_pair(given.noise, (1.0, 1.0)),
        precision=_pair(given.precision, precision),
        intercept_precision=_pair(given.intercept, (1.0, 1.0)),
    )


def _pair(given: Any, default: Any) -> Any:
    return default if given is None else given


def pools_geometrically(estimator: Any, priors: Priors) -> bool:
    """Whether predictions are those of the mean function: so by default in our own models."""
    pooling = estimator._group("prediction").pooling
    return priors.model != "latent_noise" if pooling is None else pooling == "geometric"


def rows_to_learn(
    estimator: Any, features: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return training rows, or a sample of them with a word about it; refuse too many.

    Their features, their labels and their numbers.
    """
    rows = np.arange(len(features))
    n, most = len(features), estimator.max_rows
    if most is not None and n > most and not estimator._is_precomputed():
        warn_caller(
            f"{type(estimator).__name__} learns from max_rows={most} of the {n} rows, a random "
            "sample spread over the classes: the time of a fit grows with the cube of the "
            "rows. Set max_rows to change that; max_rows=None takes all."
        )
        seed = estimator.random_state
        chance = check_random_state(seed if isinstance(seed, (int, np.integer)) else 0)
        rows = spread_rows(labels, most, chance)
        order = chance.permutation(n)
        first = order[np.unique(labels[order], return_index=True)[1]]  # one of every class
        rows = np.union1d(rows, first[~np.isin(labels[first], labels[rows])])
        features, labels = np.asfortranarray(features[rows]), labels[rows]
        n = len(rows)
    kernels = len(estimator.kernel) if isinstance(estimator.kernel, list) else 1
    copies = 2 * kernels + 1 if estimator.n_components == KERNEL else _PROJECTION_COPIES
    require_memory(
        8.0 * copies * float(n) ** 2,
        type(estimator).__name__,
        f"kernel matrices of {n} x {n} numbers",
        "use max_rows=2000, or a sample of the rows",
    )
    return features, labels, rows


def refuse_empty(priors: Priors, sources: tuple[Any, ...]) -> None:
    """Raise where there is nothing to learn from."""
    if not priors.intercept and not any(source.training.shape[1] for source in sources):
        raise ValueError(
            "priors.intercept=None leaves nothing to learn from: all training rows look the same "
            "to the kernel. Set priors.intercept=(1.0, 1.0), or check X, kernel and length_scale."
        )


def refuse_selection(estimator: Any, sampler: KernelProjectionSampler) -> None:
    """Raise where components cannot be averaged over."""
    if estimator.n_components == "average" and np.size(sampler.settings.gram):
        raise ValueError(
            f"n_components='average' with inference={estimator.inference!r} needs orthogonal "
            "components, which several kernels do not give; use one kernel, or "
            "inference='polya_gamma'."
        )
