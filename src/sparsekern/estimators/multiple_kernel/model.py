"""What BayesianMKLRegressor and BayesianMKLClassifier share: kernels, checks, the fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_choice, check_flag, check_positive, warn_caller
from ..._memory import require_memory
from ...inference.multiple_kernel.fits import (
    Asked,
    FitRecord,
    Functions,
    fit_per_kernel,
    fit_shared,
)
from ...inference.multiple_kernel.kernel_stack import KernelStack, make_kernels
from ...inference.multiple_kernel.latent import Latent
from ...predictive.even_draws import N_DRAWS
from ...settings.limits import check_count
from ..shared.candidates import resolve_candidates
from ..shared.estimator import Estimator
from ..shared.inputs import validate_rows
from ..shared.progress import watch

_NUMBERS_AT_A_TIME = 4_000_000
_WHOLE_COPIES, _COLUMN_COPIES = 3, 3  # of a kernel matrix, or of the columns, besides kernels
_SHORT_STARTS = 15
_LEAST_FITTED_VARIANCE = 0.01
_NOISE_PRIORS = {"per_kernel": (0.2, 0.2), "shared": (1.0, 1.0)}  # shape and rate
LARGE = 2000  # rows, beyond which candidates=None means this many of them:
CANDIDATES = 200


class MultipleKernelModel(Estimator):
    """Base of the estimators; subclasses say what the targets are and how to read predictions."""

    length_scale: Any
    vectors: str
    share: str
    candidates: Any
    normalize: bool
    n_init: int
    max_iter: int
    tol: float
    progress: Any
    random_state: Any

    def __sklearn_tags__(self) -> Any:
        """Precomputed kernels may be several."""
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = self._is_precomputed()
        return tags

    def _check_parameters(
        self, noise_prior: tuple[float, float] | None = None, sparse: bool = True
    ) -> Asked:
        """Return what is asked for; refuse what cannot be.

        Parameters
        ----------
        noise_prior : (float, float) or None
            Shape and rate; None: those of ``vectors``.
        sparse : bool
            Whether kernels may leave the model if the user does not say.
        """
        check_choice("vectors", self.vectors, ("per_kernel", "shared"))
        check_choice("share", self.share, ("kernel_weights", "sample_weights"))
        check_choice("progress", self.progress, ("auto", True, False))
        for name in ("normalize", "standardize"):
            check_flag(name, getattr(self, name))
        priors = self._group("priors")
        if self.vectors == "per_kernel" and self.share == "sample_weights":
            raise ValueError(
                "share='sample_weights' cannot be combined with vectors='per_kernel', where every "
                "kernel and output has its own sample weights; use share='kernel_weights', or "
                "vectors='shared'."
            )
        if self.vectors == "per_kernel" and priors.nonnegative:
            raise ValueError(
                "priors with nonnegative=True cannot be combined with vectors='per_kernel', whose "
                "kernels are weighted by variances, which are never negative; leave it False, or "
                "use vectors='shared'."
            )
        shape, rate = _NOISE_PRIORS[self.vectors] if noise_prior is None else noise_prior
        return Asked(
            share=self.share,
            kernel_sparsity=sparse if priors.kernel_sparsity is None else priors.kernel_sparsity,
            sample_sparsity=priors.sample_sparsity,
            nonnegative=priors.nonnegative,
            normalize=bool(self.normalize),
            noise_prior=(shape, 1.0 / rate),
            n_init=check_count("n_init", self.n_init),
            max_iter=check_count("max_iter", self.max_iter),
            tolerance=check_positive("tol", self.tol),
        )

    # inputs

    def _validate_training(
        self, X: Any, y: Any, sample_weight: Any, **options: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return validated rows, or kernels of shape (n, n, P), and the response."""
        precomputed = self._is_precomputed()
        X, y = self._training_rows(X, y, sample_weight, allow_nd=precomputed, **options)
        if precomputed and (X.ndim > 3 or X.shape[0] != X.shape[1]):
            raise ValueError(
                "kernel='precomputed' needs kernels of the training rows as X, of the shape (n, n, "
                f"P), or (n, n) for one; got the shape {X.shape}."
            )
        return X, y

    def _prepare_training(self, X: np.ndarray, exposure: int | None = None) -> np.ndarray:
        """Return the rows as kernels see them; precomputed kernels, only read, are not copied."""
        if self._is_precomputed():
            return X.reshape(*X.shape[:2], -1)
        return np.ascontiguousarray(super()._prepare_training(X, exposure))

    def _prepare(self, X: Any, order: Literal["C", "F"] = "C") -> np.ndarray:
        if not self._is_precomputed():
            return super()._prepare(X, order)
        check_is_fitted(self)
        X = validate_rows(self, X, reset=False, allow_nd=True)
        if X.ndim > 3 or X.size != X.shape[0] * X.shape[1] * self._stack.count:
            raise ValueError(
                f"X has the shape {X.shape}, but fit saw {self._stack.count} kernels; give kernels "
                f"between new and training rows, of the shape (n, {self.n_features_in_}, "
                f"{self._stack.count})."
            )
        if self._row_map is not None:
            X = X[:, self._row_map.taken]
        return X.reshape(*X.shape[:2], -1)

    def _make_stack(self, features: np.ndarray, rng: np.random.RandomState) -> KernelStack:
        precomputed = self._is_precomputed()
        kernels = None
        if not precomputed:
            names = getattr(self, "feature_names_in_", None)
            kernels = make_kernels(self.kernel, self.length_scale, features, names)
        elif not (isinstance(self.length_scale, str) and self.length_scale == "mean_distance"):
            raise ValueError(
                f"length_scale={self.length_scale!r} cannot be combined with kernel='precomputed'; "
                "leave it at its default."
            )
        n, count = len(features), features.shape[2] if kernels is None else len(kernels)
        wanted = self.candidates
        if wanted is None and n > LARGE and not precomputed:
            wanted = CANDIDATES
            warn_caller(
                f"{type(self).__name__} compares the {n} rows with {CANDIDATES} candidates among "
                "them: with all rows the time of a fit grows with their cube. Set candidates, for "
                f"example candidates={2 * CANDIDATES} to be slower and better; candidates={n} "
                "takes all."
            )
        chosen = resolve_candidates(wanted, features, precomputed, rng, self._row_map)
        if chosen is not None and len(chosen) == n:
            chosen = None
        self._require_room(n, count, None if chosen is None else len(chosen))
        per_kernel = self.vectors == "per_kernel"
        stack = KernelStack(kernels, features, chosen, per_kernel or self.normalize)
        if per_kernel:
            stack.check_definite(features)
        return stack

    def _require_room(self, n: int, count: int, candidates: int | None) -> None:
        """Refuse kernels that cannot be held."""
        if candidates is None:
            numbers = (2 * count + _WHOLE_COPIES) * float(n) ** 2
            what = f"{count} kernels of {n} x {n} numbers"
            remedy = f"use candidates={CANDIDATES}, or a sample of the rows"
        else:
            numbers = _COLUMN_COPIES * float(n) * count * candidates
            what = f"the columns of {count} kernels at {n} rows and {candidates} candidates"
            remedy = f"use candidates={max(1, candidates // 4)}, or a sample of the rows"
        require_memory(8.0 * numbers, type(self).__name__, what, remedy)

    # the fit

    def _fit_functions(
        self, features: np.ndarray, targets: np.ndarray | Latent, asked: Asked, n_outputs: int
    ) -> FitRecord:
        """Fit, and set what is set alike in all estimators."""
        state = check_random_state(self.random_state)
        stack = self._make_stack(features, state)
        if asked.share == "sample_weights" and n_outputs > stack.count:
            warn_caller(
                f"{n_outputs} outputs share the sample weights of {stack.count} kernels: they are "
                "mixtures of as many functions as there are kernels, which is rarely enough; use "
                "share='kernel_weights', or more kernels."
            )
        rng = np.random.default_rng(state.randint(2**31 - 1))
        fit = fit_per_kernel if self.vectors == "per_kernel" else fit_shared
        functions: Functions
        with self._iterations(asked) as report:
            functions, record = fit(stack, features, targets, asked, rng, report)
        self._stack, self._functions = stack, functions
        self._set_attributes(record)
        self._warn_about(record, asked, isinstance(targets, np.ndarray))
        return record

    @contextmanager
    def _iterations(self, asked: Asked) -> Iterator[Callable[[], None]]:
        """Yield what is to be called after every iteration."""
        if self.vectors == "per_kernel":
            total = _SHORT_STARTS * asked.n_init + asked.max_iter
        else:
            total = asked.max_iter * (asked.n_init + 1)
        done = 0
        with watch(self, "fits", 1, []) as tell:

            def report() -> None:
                nonlocal done
                done += 1
                # at the end of the count there is no telling whether the fit is over
                if tell(0, min(done / total, 0.99)):
                    raise RuntimeError(
                        f"A callback ended {type(self).__name__} before the fit was done, and "
                        "there is nothing to keep; let it run longer."
                    )

            yield report
            tell(0, 1.0)

    def _set_attributes(self, record: FitRecord) -> None:
        single = len(record.weights) == 1
        self.kernel_weights_ = record.weights[0] if single else record.weights
        self.kernel_weights_std_ = record.weights_std[0] if single else record.weights_std
        self.kernel_shares_ = record.shares
        self.active_kernels_ = record.active_kernels
        self.active_vectors_ = self._user_rows(record.active_vectors)
        self.converged_ = record.converged
        self.n_iter_ = len(record.path)
        self.evidence_path_ = record.path
        self.evidence_stages_ = np.array(record.stages, dtype=np.int64)
        self.log_evidence_ = record.bound

    def _warn_about(self, record: FitRecord, asked: Asked, of_unit_variance: bool) -> None:
        if not record.converged:
            warn_caller(
                f"the fit ended after max_iter={self.max_iter} iterations of a stage before its "
                f"fitted values had settled; raise max_iter, or tol={self.tol}.",
                ConvergenceWarning,
            )
        if of_unit_variance and float(record.fitted.var(axis=0).max()) < _LEAST_FITTED_VARIANCE:
            sparse = asked.kernel_sparsity or asked.sample_sparsity
            remedy = (
                "the sparse priors may have emptied the model: try priors with "
                "kernel_sparsity=False and sample_sparsity=False, or vectors='per_kernel'"
                if self.vectors == "shared" and sparse
                else "no kernel seems to be related to y"
            )
            warn_caller(f"the fitted function has less than 1 % of the variance of y; {remedy}.")

    def _moments(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return means (n, L) and covariances (n, L, L) of outputs, in scaled units."""
        parts = [self._functions.moments(self._stack, rows) for rows in self._blocks(X)]
        means, covariances = zip(*parts, strict=True)
        return np.concatenate(means), np.concatenate(covariances)

    def _draw_outputs(self, X: Any, thin: int) -> tuple[np.ndarray, np.ndarray]:
        """Return draws of the functions (T, n, L), and variances (T, L) given them."""
        draws = np.arange(0, N_DRAWS, check_count("thin", thin))
        parts = [self._functions.draws(self._stack, rows, draws) for rows in self._blocks(X)]
        return np.concatenate([functions for functions, _ in parts], axis=1), parts[0][1]

    def _blocks(self, X: Any) -> list[np.ndarray]:
        """Return the rows of X as kernels see them, in parts whose kernels can be held."""
        rows = self._prepare(X)
        width = self.n_features_in_ if self._stack.vectors is None else len(self._stack.vectors)
        width = max(width, rows.shape[1], len(self.active_vectors_))
        step = max(1, _NUMBERS_AT_A_TIME // (width * (1 + self._stack.count)))
        return [rows[start : start + step] for start in range(0, len(rows), step)]
