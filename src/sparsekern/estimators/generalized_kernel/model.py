"""From the parameters of an estimator to chains of the generalized kernel model, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_choice, check_flag
from ...inference.generalized_kernel.collect import collect
from ...inference.generalized_kernel.sampler import GeneralizedKernelSampler
from ...inference.moves.length_scale import FIXED, PER_FEATURE, SHARED
from ...kernels import Kernel, check_positive_definite, resolve_kernels
from ...likelihoods._contract import Likelihood
from ...model import generalized_kernel_model
from ...posteriors.names import Names
from ..shared.candidates import resolve_candidates
from ..shared.runner import Runner
from ..shared.sampled import fit_chains

_WIDTH_MODES = {False: FIXED, "shared": SHARED, "per_feature": PER_FEATURE}
MOST_DRAWS = 50_000  # of a chain, unless the user says otherwise: a sweep takes little time
_FEWEST_ACTIVE, _MOST_ACTIVE = 100, 400  # with max_active=None
_LARGEST_BASIS = 4_000_000  # numbers, of which a chain has two or three
# the sampler's names
_MOVES = {
    "active_set": "moves", "blocks": "blocks", "joint": "joint_moves", "latent_scans": "scans",
}  # fmt: skip


def check_parameters(estimator: Any) -> Runner:
    """Return what runs the chains; refuse parameters that cannot be."""
    runner = Runner(estimator)
    check_choice("learn_length_scale", estimator.learn_length_scale, tuple(_WIDTH_MODES))
    check_flag("standardize", estimator.standardize)
    if not estimator._group("priors").sparse and estimator.candidates is not None:
        raise ValueError(
            "candidates restricts which rows may become active, but priors with sparse=False make "
            "every row active; leave candidates=None, or use sparse=True."
        )
    return runner


def fit_model(
    estimator: Any,
    runner: Runner,
    features: np.ndarray,
    responses: list[np.ndarray],
    likelihood: Likelihood,
    names: Names,
    **options: Any,
) -> None:
    """Sample the posterior and keep it.

    Parameters
    ----------
    estimator : Estimator
        Has the parameters of the model.
    runner : Runner
    features : ndarray of shape (n, p)
        Training rows as kernels see them.
    responses : list of ndarray of shape (n,)
        One, or one for each class against the rest.
    likelihood : Likelihood
    names : Names
    **options
        ``noise_prior``, a pair; others are those of the sampler.
    """
    if "moves" in estimator._groups:
        moves = estimator._group("moves")
        moves.check_moves(len(features))
        options |= {_MOVES[name]: count for name, count in moves.get_params().items()}
    samplers = _make_samplers(estimator, features, responses, likelihood, **options)
    fit_chains(estimator, runner, samplers, collect, names)


def _make_samplers(
    estimator: Any,
    features: np.ndarray,
    responses: list[np.ndarray],
    likelihood: Likelihood,
    noise_prior: tuple[float, float] | None = None,
    **options: Any,
) -> list[GeneralizedKernelSampler]:
    """Return the same model of each response."""
    priors = estimator._group("priors")
    width_mode = _WIDTH_MODES[estimator.learn_length_scale]
    feature_names = getattr(estimator, "feature_names_in_", None)
    kernels = resolve_kernels(estimator.kernel, estimator.length_scale, features, feature_names)
    for kernel in kernels:
        features = check_positive_definite(kernel, features, priors.jitter)
    _check_learnable(estimator, kernels, width_mode)
    model = generalized_kernel_model(
        likelihood,
        kernels,
        scale_prior=priors.amplitude if len(kernels) > 1 else priors.scale,
        intercept_prior=priors.intercept,
        size_prior=priors.size,
        max_active=most_active(priors.max_active, len(features), len(kernels)),
        sparse=priors.sparse,
        jitter=float(priors.jitter),
        zero_probability=float(priors.zero_probability),
        noise_prior=None if noise_prior is None else noise_prior,
    )
    seed = estimator.random_state
    clustering = check_random_state(seed if isinstance(seed, (int, np.integer)) else 0)
    candidates = resolve_candidates(
        estimator.candidates,
        features,
        estimator._is_precomputed(),
        clustering,
        estimator._row_map,
    )
    return [
        GeneralizedKernelSampler(
            model,
            features,
            response,
            candidates=candidates,
            width_mode=width_mode,
            width_bounds=priors.length_scale_bounds,
            **options,
        )
        for response in responses
    ]


def most_active(given: int | None, n_rows: int, n_kernels: int = 1) -> int:
    """Return how many vectors may be active: as asked for, or as many as there is room for."""
    if given is not None:
        return given
    room = min(_LARGEST_BASIS // n_rows, _MOST_ACTIVE) // n_kernels  # each makes a column
    return max(room, _FEWEST_ACTIVE)


def _check_learnable(estimator: Any, kernels: tuple[Kernel, ...], width_mode: int) -> None:
    if width_mode == FIXED or any(kernel.stationary for kernel in kernels):
        return
    names = ", ".join(kernel.name for kernel in kernels)
    raise ValueError(
        f"learn_length_scale={estimator.learn_length_scale!r} needs a compiled kernel with a "
        f"length scale (rbf, laplacian, matern12, matern32, matern52); kernel={names} is not "
        "one. Set learn_length_scale=False or change the kernel."
    )
