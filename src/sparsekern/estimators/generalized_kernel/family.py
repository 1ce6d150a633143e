"""What the estimators of the generalized kernel model share: from parameters to chains."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_choice, check_flag, check_pair, check_positive, check_share
from ...inference.chains.plan import Plan
from ...inference.generalized_kernel.sampler import GeneralizedKernelSampler
from ...inference.moves.length_scale import FIXED, PER_FEATURE, SHARED
from ...kernels import Kernel, check_positive_definite, resolve_kernels
from ...likelihoods._contract import Likelihood
from ...model import generalized_kernel_model
from ..shared.candidates import resolve_candidates
from ..shared.counts import check_count, check_moves
from .kernel_draws import KernelDrawsEstimator

_WIDTH_MODES = {False: FIXED, "shared": SHARED, "per_feature": PER_FEATURE}


class GeneralizedKernelEstimator(KernelDrawsEstimator):
    """Base of the estimators of the generalized kernel model; they differ in their likelihood."""

    length_scale: Any
    length_scale_bounds: tuple[float, float]
    max_active: int
    candidates: Any
    sparse: bool
    scale_prior: tuple[float, float]
    intercept_prior: tuple[float, float]
    size_prior: tuple[float, float]
    amplitude_prior: tuple[float, float]
    zero_probability: float
    jitter: float
    active_set_moves: int

    def _fit_chains(
        self,
        X: np.ndarray,
        response: np.ndarray,
        likelihood: Likelihood,
        plan: Plan,
        noise_prior: tuple[float, float] | None = None,
    ) -> None:
        """Sample the posterior and keep it."""
        (sampler,) = self._make_samplers(X, [response], likelihood, noise_prior)
        (run,) = self._sample([sampler], plan)
        self._keep(self._collect(run, sampler, self._names))

    def _make_samplers(
        self,
        X: np.ndarray,
        responses: list[np.ndarray],
        likelihood: Likelihood,
        noise_prior: tuple[float, float] | None = None,
    ) -> list[GeneralizedKernelSampler]:
        """Return the same model of each response."""
        width_mode = self._check_model_parameters()
        sweep_options = self._sweep_options()
        features = self._prepare_training(X)
        check_moves(self, len(features))
        names = getattr(self, "feature_names_in_", None)
        kernels = resolve_kernels(self.kernel, self.length_scale, features, names)
        jitter = check_positive("jitter", self.jitter)
        for kernel in kernels:
            features = check_positive_definite(kernel, features, jitter)
        self._check_learnable(kernels, width_mode)
        several = len(kernels) > 1
        prior = ("amplitude_prior", self.amplitude_prior)
        if not several:
            prior = ("scale_prior", self.scale_prior)
        model = generalized_kernel_model(
            likelihood,
            kernels,
            scale_prior=check_pair(*prior, "(shape, rate)"),
            intercept_prior=check_pair("intercept_prior", self.intercept_prior, "(shape, rate)"),
            size_prior=check_pair("size_prior", self.size_prior, "of beta shapes"),
            max_active=check_count("max_active", self.max_active),
            sparse=self.sparse,
            jitter=jitter,
            zero_probability=check_share("zero_probability", self.zero_probability),
            noise_prior=noise_prior,
        )
        clustering = check_random_state(
            self.random_state if isinstance(self.random_state, (int, np.integer)) else 0
        )
        candidates = resolve_candidates(
            self.candidates, features, self._is_precomputed(), clustering
        )
        return [
            GeneralizedKernelSampler(
                model,
                features,
                response,
                candidates=candidates,
                width_mode=width_mode,
                width_bounds=self.length_scale_bounds,
                **sweep_options,
            )
            for response in responses
        ]

    def _combine_attributes(self, members: list[Any]) -> None:
        """Stack, over one-vs-rest models, what each of them has."""
        for name in ("length_scale_", "kernel_weights_", "kernel_inclusion_"):
            self.__dict__.pop(name, None)  # of an earlier fit
            if getattr(members[0], name, None) is not None:
                setattr(self, name, np.stack([getattr(member, name) for member in members]))
        if members[0].length_scale_ is None:
            self.length_scale_ = None

    def _sweep_options(self) -> dict[str, Any]:
        """Return what a sweep consists of, checked."""
        return {"moves": check_count("active_set_moves", self.active_set_moves)}

    def _check_model_parameters(self) -> int:
        learn = check_choice("learn_length_scale", self.learn_length_scale, tuple(_WIDTH_MODES))
        low, high = check_pair("length_scale_bounds", self.length_scale_bounds, "(low, high)")
        if not low < high:
            raise ValueError(
                f"length_scale_bounds must be (low, high) with low < high, got {(low, high)!r}."
            )
        check_flag("sparse", self.sparse)
        check_flag("standardize", self.standardize)
        if not self.sparse and self.candidates is not None:
            raise ValueError(
                "candidates restricts which rows may become active, but sparse=False makes every "
                "row active; leave candidates=None, or set sparse=True."
            )
        return _WIDTH_MODES[learn]

    def _check_learnable(self, kernels: tuple[Kernel, ...], width_mode: int) -> None:
        if width_mode == FIXED or any(kernel.stationary for kernel in kernels):
            return
        names = ", ".join(kernel.name for kernel in kernels)
        raise ValueError(
            f"learn_length_scale={self.learn_length_scale!r} needs a compiled kernel with a "
            f"length scale (rbf, laplacian, matern12, matern32, matern52); kernel={names} is not "
            "one. Set learn_length_scale=False or change the kernel."
        )
