"""The whole fit: several starts, sweeps until fitted values rest, sparsity by continuation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..latent import Latent
from .bound import evidence_bound
from .posterior import Hyperpriors, Posterior
from .pruning import Kept, prune
from .start import scale_step, set_hyperpriors, start_posterior
from .updates import Problem, sweep

_LOOK_EVERY = 5  # sweeps between looks at the fitted values
_PRUNE_EVERY = 20
Report = Callable[[], None]


@dataclass(frozen=True)
class Schedule:
    """How long to sweep.

    Attributes
    ----------
    max_sweeps : int
        Of each stage.
    tolerance : float
        Change of the fitted values between looks, against the targets' deviation, at which a
        stage ends... (The bound still rises long after the predictions rest.)
    bound_tolerance : float
        ...provided that the bound gains less than this share of its size a sweep.
    """

    max_sweeps: int = 300
    tolerance: float = 1e-3
    bound_tolerance: float = 1e-4


@dataclass(frozen=True)
class FittedKernels:
    """The posterior of the best start.

    Attributes
    ----------
    posterior : Posterior
    kept : Kept
        Kernels and vectors that it is about.
    bound : float
    path : ndarray
        Bound after every sweep, all stages.
    stages : tuple of int
        Sweeps done when priors changed or dead parts were dropped.
    converged : bool
    """

    posterior: Posterior
    kept: Kept
    bound: float
    path: np.ndarray
    stages: tuple[int, ...]
    converged: bool


@dataclass
class Fit:
    """A fit on its way."""

    problem: Problem
    posterior: Posterior
    kept: Kept
    latent: Latent | None
    path: list[float]
    stages: list[int]
    converged: bool = False

    def advance(self) -> float:
        """Sweep once, latent outputs included; return their part of the bound."""
        sweep(self.problem, self.posterior)
        if self.latent is None:
            return 0.0
        targets, part = self.latent.step(fitted_values(self.posterior))
        self.problem = replace(self.problem, targets=targets)
        return part

    def run(self, schedule: Schedule, rescale: bool, drop: bool, report: Report | None) -> None:
        """Sweep until the fitted values rest."""
        unit = np.maximum(self.problem.targets.std(axis=0), np.finfo(np.float64).tiny)
        before = fitted_values(self.posterior)
        self.converged = False
        for number in range(1, schedule.max_sweeps + 1):
            if report is not None:
                report()
            part = self.advance()
            if rescale:
                scale_step(self.posterior)
            bound = evidence_bound(self.problem, self.posterior) + part
            self.path.append(bound)
            if drop and number % _PRUNE_EVERY == 0:
                smaller = prune(self.problem, self.posterior, self.kept)
                if smaller is not None:
                    self.problem, self.posterior, self.kept = smaller
                    self.stages.append(len(self.path))
            if number % _LOOK_EVERY == 0:
                after = fitted_values(self.posterior)
                gain = bound - self.path[-2]
                rested = np.max(np.abs(after - before) / unit) < schedule.tolerance
                if rested and gain < schedule.bound_tolerance * abs(bound):
                    self.converged = True
                    return
                before = after


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


def fit_kernels(
    problem: Problem,
    share: str,
    hyperpriors: Hyperpriors,
    schedule: Schedule,
    n_init: int,
    rng: np.random.Generator,
    *,
    nonnegative: bool = False,
    latent: Latent | None = None,
    report: Report | None = None,
) -> FittedKernels:
    """Fit from several starts with plain priors, then switch to the priors asked for.

    Sparse priors of the sample and kernel weights empty the model from a cold start; they are
    reached from a fit with (1, 1) only. The change of scale belongs to the first stage: with
    sparse kernel weights it speeds that collapse. With latent outputs, whose scale is known, there
    is none.
    """
    plain = replace(hyperpriors, sample=(1.0, 1.0), kernel=(1.0, 1.0))
    p, d, _ = problem.kernels.shape
    best: Fit | None = None
    for _ in range(n_init):
        posterior = start_posterior(problem, share, plain, rng, nonnegative, latent is not None)
        found = Fit(problem, posterior, Kept(np.arange(p), np.arange(d)), latent, [], [])
        found.run(schedule, latent is None, False, report)
        if best is None or found.path[-1] > best.path[-1]:
            best = found
    assert best is not None
    if plain != hyperpriors:
        best.stages.append(len(best.path))
        set_hyperpriors(best.posterior, hyperpriors)
        best.run(schedule, False, True, report)
    return FittedKernels(
        best.posterior,
        best.kept,
        best.path[-1],
        np.array(best.path),
        tuple(best.stages),
        best.converged,
    )
