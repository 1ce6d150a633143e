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


class ProjectionParameters:
    """Base of the estimator that knows what its parameters may be."""

    n_components: Any
    inference: str
    classes: str
    intercept: bool
    projection: bool
    kernel: Any
    select_kernels: bool
    sharpness: Any
    pooling: str | None
    scale: Any
    noise_prior: tuple[float, float] | None
    precision_prior: tuple[float, float] | None
    intercept_prior: tuple[float, float]
    max_components: int | None
    n_splits: int | None
    cost: float | None
    selection_rule: str | None
    search_draws: int | None
    max_rows: int | None
    predictive_noise: bool
    standardize: bool
    draws: int
    tune: int
    random_state: Any

    def __sklearn_tags__(self) -> Any:
        """Pairwise input for a precomputed kernel."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def _check_model_parameters(self) -> tuple[Priors, ...]:
        """Return what is assumed, for each model that may be chosen."""
        check_choice("inference", self.inference, (*MODELS, "cv"))
        check_choice("classes", self.classes, ("symmetric", "reference"))
        for name in (
            "intercept", "projection", "select_kernels", "predictive_noise", "standardize",
        ):  # fmt: skip
            check_flag(name, getattr(self, name))
        self._check_size()
        if isinstance(self.sharpness, str):
            check_choice("sharpness", self.sharpness, ("cv",))
        else:
            check_positive("sharpness", self.sharpness)
        if self.pooling is not None:
            check_choice("pooling", self.pooling, ("geometric", "arithmetic"))
        candidates = self._candidates()
        for name, (models, unset) in _OF_SOME_MODELS.items():
            value = getattr(self, name)
            if value != unset and not set(models) & set(candidates):
                raise ValueError(
                    f"{name}={value!r} belongs to inference={' or '.join(map(repr, models))}, but "
                    f"inference={self.inference!r}; leave {name}={unset!r}."
                )
        if self.select_kernels and self.n_components == "average":
            raise ValueError(
                "select_kernels=True selects whole kernels, n_components='average' single "
                "components; leave one of them at its default."
            )
        return tuple(self._check_priors(model) for model in candidates)

    def _candidates(self) -> tuple[str, ...]:
        """Return the models that may be chosen."""
        if self.inference != "cv":
            return (self.inference,)
        several = isinstance(self.kernel, list) and len(self.kernel) > 1
        if self.n_components in SEARCHES or (self.n_components == "average" and several):
            return ("polya_gamma",)
        return _COMPARED

    def _check_priors(self, model: str) -> Priors:
        precision = (1.0, 1.0) if model == "latent_noise" else None
        if self.precision_prior is not None:
            precision = check_pair("precision_prior", self.precision_prior, _PAIR)
        noise = (1.0, 1.0)
        if self.noise_prior is not None:
            noise = check_pair("noise_prior", self.noise_prior, _PAIR)
        heavy = isinstance(self.scale, tuple | list)
        if heavy and not (len(self.scale) == 2 and self.scale[0] == "half_cauchy"):
            raise ValueError(
                f"scale={self.scale!r} is no law: give the scale of the half-normal law as a "
                "number, or ('half_cauchy', number)."
            )
        scale = self.scale[1] if heavy else self.scale
        scale = DEFAULT_SCALE if self.scale is None else check_positive("scale", scale)
        return Priors(
            model=model,
            reference=self.classes == "reference",
            intercept=bool(self.intercept),
            average=self.n_components == "average",
            select_kernels=bool(self.select_kernels),
            scale=scale * (RESPONSE if model == "least_squares" else 1.0),
            half_cauchy=heavy,
            noise=noise,
            precision=precision,
            intercept_precision=check_pair("intercept_prior", self.intercept_prior, _PAIR),
        )

    def _pools_geometrically(self, priors: Priors) -> bool:
        """Whether predictions are those of the mean function: so by default in our own models."""
        if self.pooling is None:
            return priors.model != "latent_noise"
        return self.pooling == "geometric"

    def _check_size(self) -> None:
        size = self.n_components
        if isinstance(size, str):
            check_choice("n_components", size, ("average", *SEARCHES))
        elif size is not None:
            check_count("n_components", size)
        if not self.projection and size is not None:
            sentence = (
                f"n_components={size!r} counts projections, but projection=False uses the kernel "
                "matrix itself; leave n_components=None, or set projection=True."
            )
            if isinstance(size, str):
                raise ValueError(sentence)
            # scikit-learn sets a number of components wherever there is such a parameter
            warn_caller(sentence, UserWarning)
        if self.max_components is not None:
            check_count("max_components", self.max_components)
        if self.n_splits is not None:
            check_count("n_splits", self.n_splits)
        if self.cost is not None and self.cost != 0:
            check_positive("cost", self.cost)
        if self.selection_rule is not None:
            check_choice("selection_rule", self.selection_rule, ("best", "one_standard_error"))
        if self.search_draws is not None:
            check_count("search_draws", self.search_draws)
        if self.max_rows is not None:
            check_count("max_rows", self.max_rows, 2)
        searching = isinstance(size, str) and size in SEARCHES
        for name in ("max_components", "n_splits", "selection_rule"):
            value = getattr(self, name)
            if value is not None and not searching:
                raise ValueError(
                    f"{name}={value!r} is for a search of the number of components; leave "
                    f"{name}=None, or set n_components to 'utility' or 'log_score'."
                )
        if self.cost is not None and size != "utility":
            raise ValueError(
                f"cost={self.cost!r} is a part of the expected utility; leave cost=None, or set "
                "n_components='utility'."
            )

    def _rows_to_learn(
        self, features: np.ndarray, labels: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return training rows, or a sample of them with a word about it; refuse too many.

        Their features, their labels and their numbers.
        """
        rows = np.arange(len(features))
        n, most = len(features), self.max_rows
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        if most is not None and n > most and not precomputed:
            warn_caller(
                f"{type(self).__name__} learns from max_rows={most} of the {n} rows, a random "
                "sample spread over the classes: the time of a fit grows with the cube of the "
                "rows. Set max_rows to change that; max_rows=None takes all."
            )
            seed = self.random_state if isinstance(self.random_state, (int, np.integer)) else 0
            chance = check_random_state(seed)
            rows = spread_rows(labels, most, chance)
            order = chance.permutation(n)
            first = order[np.unique(labels[order], return_index=True)[1]]  # one of every class
            rows = np.union1d(rows, first[~np.isin(labels[first], labels[rows])])
            features, labels = np.asfortranarray(features[rows]), labels[rows]
            n = len(rows)
        kernels = len(self.kernel) if isinstance(self.kernel, list) else 1
        copies = _PROJECTION_COPIES if self.projection else 2 * kernels + 1
        require_memory(
            8.0 * copies * float(n) ** 2,
            type(self).__name__,
            f"kernel matrices of {n} x {n} numbers",
            "use max_rows=2000, or a sample of the rows",
        )
        return features, labels, rows

    def _refuse_empty(self, sources: tuple[Any, ...]) -> None:
        if not self.intercept and not any(source.training.shape[1] for source in sources):
            raise ValueError(
                "intercept=False leaves nothing to learn from: all training rows look the same to "
                "the kernel. Set intercept=True, or check X, kernel and length_scale."
            )

    def _refuse_selection(self, sampler: KernelProjectionSampler) -> None:
        if self.n_components == "average" and np.size(sampler.settings.gram):
            raise ValueError(
                f"n_components='average' with inference={self.inference!r} needs orthogonal "
                "components, which several kernels do not give; use one kernel, or "
                "inference='polya_gamma'."
            )
