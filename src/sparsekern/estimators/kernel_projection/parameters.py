"""Parameters of the kernel projection classifier: checks, and which go together."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_choice, check_flag, check_pair, check_positive
from ...inference.feature_search.subsample import spread_rows
from ...inference.kernel_projection.responses import RESPONSE
from ...inference.kernel_projection.sampler import KernelProjectionSampler, Priors
from ..shared.counts import check_count
from ..shared.memory_guard import require_memory
from ..shared.sampling import warn_caller

SEARCHES = ("utility", "log_score")
_PAIR = "(shape, rate)"
_PROJECTION_COPIES = 3  # of a kernel matrix, while its eigenvectors are found
DEFAULT_SCALE = 2.0
MODELS = ("polya_gamma", "least_squares", "latent_noise")
_COMPARED = MODELS[:2]  # by inference="cv"
_OF_SOME_MODELS = {
    "select_kernels": (_COMPARED, False),
    "scale": (_COMPARED, None),
    "noise_prior": (("least_squares", "latent_noise"), None),
    "predictive_noise": (("latent_noise",), False),
}


def check_model_parameters(estimator: Any) -> tuple[Priors, ...]:
    """Return what is assumed, for each model that may be chosen."""
    check_choice("inference", estimator.inference, (*MODELS, "cv"))
    check_choice("classes", estimator.classes, ("symmetric", "reference"))
    for name in (
        "intercept", "projection", "select_kernels", "predictive_noise", "standardize",
    ):  # fmt: skip
        check_flag(name, getattr(estimator, name))
    _check_size(estimator)
    if isinstance(estimator.sharpness, str):
        check_choice("sharpness", estimator.sharpness, ("cv",))
    else:
        check_positive("sharpness", estimator.sharpness)
    if estimator.pooling is not None:
        check_choice("pooling", estimator.pooling, ("geometric", "arithmetic"))
    candidates = _candidates(estimator)
    for name, (models, unset) in _OF_SOME_MODELS.items():
        value = getattr(estimator, name)
        if value != unset and not set(models) & set(candidates):
            raise ValueError(
                f"{name}={value!r} belongs to inference={' or '.join(map(repr, models))}, but "
                f"inference={estimator.inference!r}; leave {name}={unset!r}."
            )
    if estimator.select_kernels and estimator.n_components == "average":
        raise ValueError(
            "select_kernels=True selects whole kernels, n_components='average' single "
            "components; leave one of them at its default."
        )
    return tuple(_check_priors(estimator, model) for model in candidates)


def _candidates(estimator: Any) -> tuple[str, ...]:
    """Return the models that may be chosen."""
    if estimator.inference != "cv":
        return (estimator.inference,)
    several = isinstance(estimator.kernel, list) and len(estimator.kernel) > 1
    if estimator.n_components in SEARCHES or (estimator.n_components == "average" and several):
        return ("polya_gamma",)
    return _COMPARED


def _check_priors(estimator: Any, model: str) -> Priors:
    precision = (1.0, 1.0) if model == "latent_noise" else None
    if estimator.precision_prior is not None:
        precision = check_pair("precision_prior", estimator.precision_prior, _PAIR)
    noise = (1.0, 1.0)
    if estimator.noise_prior is not None:
        noise = check_pair("noise_prior", estimator.noise_prior, _PAIR)
    heavy = isinstance(estimator.scale, tuple | list)
    if heavy and not (len(estimator.scale) == 2 and estimator.scale[0] == "half_cauchy"):
        raise ValueError(
            f"scale={estimator.scale!r} is no law: give the scale of the half-normal law as a "
            "number, or ('half_cauchy', number)."
        )
    scale = estimator.scale[1] if heavy else estimator.scale
    scale = DEFAULT_SCALE if estimator.scale is None else check_positive("scale", scale)
    return Priors(
        model=model,
        reference=estimator.classes == "reference",
        intercept=bool(estimator.intercept),
        average=estimator.n_components == "average",
        select_kernels=bool(estimator.select_kernels),
        scale=scale * (RESPONSE if model == "least_squares" else 1.0),
        half_cauchy=heavy,
        noise=noise,
        precision=precision,
        intercept_precision=check_pair("intercept_prior", estimator.intercept_prior, _PAIR),
    )


def pools_geometrically(estimator: Any, priors: Priors) -> bool:
    """Whether predictions are those of the mean function: so by default in our own models."""
    if estimator.pooling is None:
        return priors.model != "latent_noise"
    return estimator.pooling == "geometric"


def _check_size(estimator: Any) -> None:
    size = estimator.n_components
    if isinstance(size, str):
        check_choice("n_components", size, ("average", *SEARCHES))
    elif size is not None:
        check_count("n_components", size)
    if not estimator.projection and size is not None:
        sentence = (
            f"n_components={size!r} counts projections, but projection=False uses the kernel "
            "matrix itself; leave n_components=None, or set projection=True."
        )
        if isinstance(size, str):
            raise ValueError(sentence)
        # scikit-learn sets a number of components wherever there is such a parameter
        warn_caller(sentence, UserWarning)
    if estimator.max_components is not None:
        check_count("max_components", estimator.max_components)
    if estimator.n_splits is not None:
        check_count("n_splits", estimator.n_splits)
    if estimator.cost is not None and estimator.cost != 0:
        check_positive("cost", estimator.cost)
    if estimator.selection_rule is not None:
        check_choice("selection_rule", estimator.selection_rule, ("best", "one_standard_error"))
    if estimator.search_draws is not None:
        check_count("search_draws", estimator.search_draws)
    if estimator.max_rows is not None:
        check_count("max_rows", estimator.max_rows, 2)
    searching = isinstance(size, str) and size in SEARCHES
    for name in ("max_components", "n_splits", "selection_rule"):
        value = getattr(estimator, name)
        if value is not None and not searching:
            raise ValueError(
                f"{name}={value!r} is for a search of the number of components; leave "
                f"{name}=None, or set n_components to 'utility' or 'log_score'."
            )
    if estimator.cost is not None and size != "utility":
        raise ValueError(
            f"cost={estimator.cost!r} is a part of the expected utility; leave cost=None, or set "
            "n_components='utility'."
        )


def rows_to_learn(
    estimator: Any, features: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return training rows, or a sample of them with a word about it; refuse too many.

    Their features, their labels and their numbers.
    """
    rows = np.arange(len(features))
    n, most = len(features), estimator.max_rows
    precomputed = estimator._is_precomputed()
    if most is not None and n > most and not precomputed:
        warn_caller(
            f"{type(estimator).__name__} learns from max_rows={most} of the {n} rows, a random "
            "sample spread over the classes: the time of a fit grows with the cube of the "
            "rows. Set max_rows to change that; max_rows=None takes all."
        )
        seed = (
            estimator.random_state if isinstance(estimator.random_state, (int, np.integer)) else 0
        )
        chance = check_random_state(seed)
        rows = spread_rows(labels, most, chance)
        order = chance.permutation(n)
        first = order[np.unique(labels[order], return_index=True)[1]]  # one of every class
        rows = np.union1d(rows, first[~np.isin(labels[first], labels[rows])])
        features, labels = np.asfortranarray(features[rows]), labels[rows]
        n = len(rows)
    kernels = len(estimator.kernel) if isinstance(estimator.kernel, list) else 1
    copies = _PROJECTION_COPIES if estimator.projection else 2 * kernels + 1
    require_memory(
        8.0 * copies * float(n) ** 2,
        type(estimator).__name__,
        f"kernel matrices of {n} x {n} numbers",
        "use max_rows=2000, or a sample of the rows",
    )
    return features, labels, rows


def refuse_empty(estimator: Any, sources: tuple[Any, ...]) -> None:
    """Raise where there is nothing to learn from."""
    if not estimator.intercept and not any(source.training.shape[1] for source in sources):
        raise ValueError(
            "intercept=False leaves nothing to learn from: all training rows look the same to "
            "the kernel. Set intercept=True, or check X, kernel and length_scale."
        )


def refuse_selection(estimator: Any, sampler: KernelProjectionSampler) -> None:
    """Raise where components cannot be averaged over."""
    if estimator.n_components == "average" and np.size(sampler.settings.gram):
        raise ValueError(
            f"n_components='average' with inference={estimator.inference!r} needs orthogonal "
            "components, which several kernels do not give; use one kernel, or "
            "inference='polya_gamma'."
        )
