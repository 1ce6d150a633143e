"""The whole fit: several starts, sweeps until fitted values rest, sparsity by continuation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .bound import evidence_bound
from .posterior import Hyperpriors, Posterior
from .start import scale_step, set_hyperpriors, start_posterior
from .updates import Problem, sweep

_LOOK_EVERY = 5  # sweeps between looks at the fitted values


@dataclass(frozen=True)
class Schedule:
    """How long to sweep.

    Attributes
    ----------
    max_sweeps : int
        Of each stage.
    tolerance : float
        Change of the fitted values between looks, against the targets' deviation, at which a
        stage ends. (The bound still rises long after the predictions rest.)
    """

    max_sweeps: int = 300
    tolerance: float = 1e-3


@dataclass(frozen=True)
class FittedKernels:
    """The posterior of the best start.

    Attributes
    ----------
    posterior : Posterior
    bound : float
    path : ndarray
        Bound after every sweep, all stages.
    stages : tuple of int
        Sweeps done when each stage ended.
    converged : bool
    """

    posterior: Posterior
    bound: float
    path: np.ndarray
    stages: tuple[int, ...]
    converged: bool


def fitted_values(posterior: Posterior) -> np.ndarray:
    """Return the means at the training samples, shape (N, L)."""
    return np.column_stack(
        [
            output.bias
            + posterior.kernels[output.kernels].mean
            @ posterior.samples[output.samples].intermediate
            for output in posterior.outputs
        ]
    )


def run_stage(
    problem: Problem,
    posterior: Posterior,
    schedule: Schedule,
    rescale: bool,
    path: list[float],
    report: Callable[[], None] | None = None,
) -> bool:
    """Sweep until the fitted values rest; return whether they did."""
    unit = problem.targets.std(axis=0)
    before = fitted_values(posterior)
    for number in range(1, schedule.max_sweeps + 1):
        if report is not None:
            report()
        sweep(problem, posterior)
        if rescale:
            scale_step(posterior)
        path.append(evidence_bound(problem, posterior))
        if number % _LOOK_EVERY == 0:
            after = fitted_values(posterior)
            if np.max(np.abs(after - before) / unit) < schedule.tolerance:
                return True
            before = after
    return False


def fit_kernels(
    problem: Problem,
    share: str,
    hyperpriors: Hyperpriors,
    schedule: Schedule,
    n_init: int,
    rng: np.random.Generator,
    report: Callable[[], None] | None = None,
) -> FittedKernels:
    """Fit from several starts with plain priors, then switch to the priors asked for.

    Sparse priors of the sample and kernel weights empty the model from a cold start; they are
    reached from a fit with (1, 1) only. The change of scale belongs to the first stage: with
    sparse kernel weights it speeds that collapse.
    """
    plain = replace(hyperpriors, sample=(1.0, 1.0), kernel=(1.0, 1.0))
    best: FittedKernels | None = None
    for _ in range(n_init):
        posterior = start_posterior(problem, share, plain, rng)
        path: list[float] = []
        converged = run_stage(problem, posterior, schedule, True, path, report)
        found = FittedKernels(posterior, path[-1], np.array(path), (len(path),), converged)
        if best is None or found.bound > best.bound:
            best = found
    assert best is not None
    if plain == hyperpriors:
        return best
    path = best.path.tolist()
    set_hyperpriors(best.posterior, hyperpriors)
    converged = run_stage(problem, best.posterior, schedule, False, path, report)
    return FittedKernels(
        best.posterior, path[-1], np.array(path), (*best.stages, len(path)), converged
    )
