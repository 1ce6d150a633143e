"""Fitted models of several kernels with one face, whichever engine made them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .additive.ascent import Schedule as AdditiveSchedule
from .additive.bound import AdditivePriors
from .additive.fit import fit_additive
from .additive.function_draws import AdditiveDraws
from .additive.left_out import left_out_moments
from .additive.posterior import AdditivePosterior
from .additive.whitening import Whitening
from .kernel_stack import KernelStack
from .latent import Latent
from .shared.fit import Schedule, fit_kernels, fitted_values
from .shared.function_draws import draw_functions
from .shared.posterior import Hyperpriors, Posterior
from .shared.prediction import predict
from .shared.pruning import Kept
from .shared.updates import Problem

PLAIN, SPARSE = (1.0, 1.0), (1e-10, 1e10)  # shape and scale of gamma priors of precisions
_BIAS_VARIANCE = 100.0
_SMALL_WEIGHT = 0.01  # of the largest, below which a vector is not called active


@dataclass(frozen=True)
class Asked:
    """What the user asked for, checked."""

    share: str
    kernel_sparsity: bool
    sample_sparsity: bool
    nonnegative: bool
    normalize: bool
    noise_prior: tuple[float, float]  # shape and scale
    n_init: int
    max_iter: int
    tolerance: float
    left_out: bool = False  # whether predictions of rows left out are wanted


@dataclass(frozen=True)
class FitRecord:
    """What every fit leaves for the estimator's attributes.

    ``weights`` and ``weights_std`` have the shape (blocks, P), ``shares`` (P,).
    """

    bound: float
    path: np.ndarray
    stages: tuple[int, ...]
    converged: bool
    fitted: np.ndarray
    weights: np.ndarray
    weights_std: np.ndarray
    shares: np.ndarray
    active_kernels: np.ndarray
    active_vectors: np.ndarray
    noise_variance: np.ndarray
    left_out: tuple[np.ndarray, np.ndarray] | None = None


@dataclass(frozen=True)
class AdditiveFunctions:
    """One weight vector per kernel."""

    posterior: AdditivePosterior

    def moments(self, stack: KernelStack, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return means (n, L) and covariances (n, L, L) of new outputs, noise included."""
        mean, variance = self.posterior.moments(
            lambda m: stack.cross(m, rows), lambda m: stack.diagonal(m, rows), len(rows)
        )
        assert variance is not None
        variance = variance + self.posterior.noise_variance
        return mean, variance[:, :, None] * np.eye(mean.shape[1])

    def draws(
        self, stack: KernelStack, rows: np.ndarray, draws: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return draws of the functions (T, n, L), and variances of new outputs given them."""
        cross, diagonal = (lambda m: stack.cross(m, rows)), (lambda m: stack.diagonal(m, rows))
        return AdditiveDraws(self.posterior).at(cross, diagonal, len(rows), draws)


@dataclass(frozen=True)
class SharedFunctions:
    """One weight vector for all kernels."""

    posterior: Posterior
    kept: Kept

    def moments(self, stack: KernelStack, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return means (n, L) and covariances (n, L, L) of new outputs, noise included."""
        found = predict(self.posterior, self._kernels(stack, rows))
        return found.mean, found.covariance

    def draws(
        self, stack: KernelStack, rows: np.ndarray, draws: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return draws of the functions (T, n, L), and variances of new outputs given them."""
        return draw_functions(self.posterior, self._kernels(stack, rows), draws)

    def _kernels(self, stack: KernelStack, rows: np.ndarray) -> np.ndarray:
        return np.stack(
            [stack.cross(int(m), rows)[:, self.kept.vectors].T for m in self.kept.kernels]
        )


Functions = AdditiveFunctions | SharedFunctions


def fit_per_kernel(
    stack: KernelStack,
    features: np.ndarray,
    targets: np.ndarray | Latent,
    asked: Asked,
    rng: np.random.Generator,
    report: Callable[[], None],
) -> tuple[AdditiveFunctions, FitRecord]:
    """Fit the additive model."""
    shape, scale = SPARSE if asked.kernel_sparsity else PLAIN
    if not asked.kernel_sparsity and isinstance(targets, np.ndarray):
        scale *= stack.count  # all kernels together are expected to have the variance of y
    # the engine wants kernels of size one; priors may belong to the kernels as they are
    scales = np.full(stack.count, scale) if asked.normalize else scale / stack.sizes
    found = fit_additive(
        lambda m: stack.cross(m, features),
        stack.count,
        stack.vectors,
        targets,
        AdditivePriors(kernel=(shape, scales), noise=asked.noise_prior),
        AdditiveSchedule(max_iter=asked.max_iter, tolerance=asked.tolerance),
        kernel_sparsity=asked.kernel_sparsity,
        sample_sparsity=asked.sample_sparsity,
        bias_variance=_BIAS_VARIANCE,
        n_init=asked.n_init,
        rng=rng,
        report=report,
    )
    posterior, left_out = found.posterior, None
    if asked.left_out:
        assert isinstance(targets, np.ndarray)
        left_out = left_out_moments(posterior, targets, found.fitted)
    mean, deviation = np.zeros(stack.count), np.zeros(stack.count)
    mean[posterior.kernels], deviation[posterior.kernels] = posterior.contributions()
    root = np.sqrt(mean)
    half = np.divide(deviation, 2.0 * root, out=np.zeros_like(root), where=root > 0)
    vectors = np.arange(len(features)) if stack.vectors is None else stack.vectors
    record = FitRecord(
        found.bound, found.path, found.stages, found.converged, found.fitted,
        weights=root[None],
        weights_std=half[None],
        shares=_shares(mean),
        active_kernels=posterior.kernels,
        active_vectors=vectors if posterior.rows is None else vectors[posterior.rows],
        noise_variance=posterior.noise_variance,
        left_out=left_out,
    )  # fmt: skip
    return AdditiveFunctions(posterior.for_prediction()), record


def fit_shared(
    stack: KernelStack,
    features: np.ndarray,
    targets: np.ndarray | Latent,
    asked: Asked,
    rng: np.random.Generator,
    report: Callable[[], None],
) -> tuple[SharedFunctions, FitRecord]:
    """Fit the model of one weight vector for all kernels."""
    kernels = np.stack([stack.cross(m, features).T for m in range(stack.count)])
    latent = None if isinstance(targets, np.ndarray) else targets
    values = targets if isinstance(targets, np.ndarray) else targets.start()
    found = fit_kernels(
        _make_problem(kernels, values),
        asked.share,
        Hyperpriors(
            sample=SPARSE if asked.sample_sparsity else PLAIN,
            kernel=SPARSE if asked.kernel_sparsity else PLAIN,
            noise=asked.noise_prior,
        ),
        Schedule(max_sweeps=asked.max_iter, tolerance=asked.tolerance),
        asked.n_init,
        rng,
        nonnegative=asked.nonnegative,
        latent=latent,
        report=report,
    )
    posterior, kept = found.posterior, found.kept
    weights = np.zeros((len(posterior.kernels), stack.count))
    deviations, size = np.zeros_like(weights), np.zeros(stack.count)
    for number, block in enumerate(posterior.kernels):
        weights[number, kept.kernels] = block.mean
        deviations[number, kept.kernels] = np.sqrt(np.diag(block.covariance))
    for output in posterior.outputs:
        spread = posterior.samples[output.samples].intermediate.var(axis=1)
        size[kept.kernels] += np.diag(posterior.kernels[output.kernels].second) * spread
    vectors = np.arange(len(features)) if stack.vectors is None else stack.vectors
    large = np.max([abs(b.mean) / max(abs(b.mean).max(), 1e-300) for b in posterior.samples], 0)
    record = FitRecord(
        found.bound, found.path, found.stages, found.converged, fitted_values(posterior),
        weights, deviations, _shares(size),
        active_kernels=kept.kernels,
        active_vectors=vectors[kept.vectors[large > _SMALL_WEIGHT]],
        noise_variance=np.array([float(o.noise_precision.mean_inverse) for o in posterior.outputs]),
    )  # fmt: skip
    return SharedFunctions(posterior, kept), record


def _shares(sizes: np.ndarray) -> np.ndarray:
    total = sizes.sum()
    return sizes / total if total > 0 else np.zeros_like(sizes)


def _make_problem(kernels: np.ndarray, targets: np.ndarray) -> Problem:
    """Return the problem, through few columns where symmetric kernels have a low rank."""
    _, d, n = kernels.shape
    if d < n:
        return Problem.of(kernels, targets)
    features: list[np.ndarray] = []
    total = 0
    for kernel in kernels:
        whitening = Whitening.of(kernel)
        total += len(whitening.pivots)
        if 2 * total > n or not len(whitening.pivots):
            return Problem.of(kernels, targets)
        z = whitening.features(kernel)
        if np.abs(z @ z.T - kernel).max() > 1e-8 * np.abs(kernel).max():  # no covariance
            return Problem.of(kernels, targets)
        features.append(z)
    return Problem.of_features(kernels, features, targets)
