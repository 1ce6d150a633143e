"""One regression with one kernel: from training rows to a function and its left-out density."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from ...kernels.resolve import Kernel
from .classification import Candidates, open_columns
from .expansion import KernelExpansion
from .regression import fit_regression, leave_one_out


@dataclass(frozen=True)
class FittedRelevance:
    """One regression of all outputs."""

    expansion: KernelExpansion
    noise_variance: np.ndarray  # float64[O]
    log_left_out: np.ndarray  # float64[n], log density of each row's outputs, the row left out
    evidence: float
    path: np.ndarray
    converged: bool

    @property
    def rows(self) -> np.ndarray:
        """Training rows of the columns."""
        return self.expansion.rows

    @property
    def n_columns(self) -> int:
        """Columns whose precisions were chosen."""
        return len(self.expansion.rows)

    def moments(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of the functions, both of shape (n, O)."""
        mean, variance = self.expansion.moments(features)
        return mean, variance[:, None] * self.noise_variance

    def log_density(self, features: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the log density of new outputs, summed over them."""
        mean, variance = self.moments(features)
        deviation = np.sqrt(variance + self.noise_variance)
        return norm.logpdf(targets, mean, deviation).sum(axis=1)


def fit_relevance(
    kernel: Kernel,
    features: np.ndarray,
    targets: np.ndarray,
    candidates: Candidates,
    *,
    min_gain: float,
    bias_precision: float,
    max_active: int,
    max_steps: int,
    single: bool,
    report: Callable[[], None] | None = None,
) -> FittedRelevance:
    """Fit one regression; ``targets`` has the shape (n, O)."""
    rows = candidates.rows
    columns = open_columns(kernel, features, rows, np.ones(len(rows)), single)
    fitted = fit_regression(
        columns,
        targets,
        min_gain=min_gain,
        bias_precision=bias_precision,
        max_active=max_active,
        max_steps=max_steps,
        report=report,
    )
    used = rows[fitted.members]
    mean, variance = leave_one_out(fitted, targets)
    expansion = KernelExpansion(
        kernel=kernel,
        rows=used,
        vectors=np.empty((len(used), 0)) if kernel.precomputed else features[used].copy(),
        signs=np.ones(len(used)),
        mean=fitted.mean,
        inverse=fitted.inverse,
    )
    return FittedRelevance(
        expansion=expansion,
        noise_variance=fitted.noise_variance,
        log_left_out=norm.logpdf(targets, mean, np.sqrt(variance)).sum(axis=1),
        evidence=fitted.evidence,
        path=fitted.path,
        converged=fitted.converged,
    )
