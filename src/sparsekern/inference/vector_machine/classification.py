"""One two-class model with one kernel: from training rows to a function and its left-out loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...kernels.resolve import Kernel
from .block_prediction import block_probabilities
from .columns import CandidateColumns
from .expansion import KernelExpansion, kernel_columns, refuse_overflow
from .expectation_maximization import fit_by_em
from .fit import FittedMachine, fit_machine
from .machine import Problem
from .prediction import class_probability, leave_one_out, log_class_probability

REQUIRES = (frozenset({"terms", "averaged argument"}),)
TRUNCATED = (frozenset({"truncated latents"}),)  # what ep, em and mcmc need beside these
BLOCK_SIZE = 512
_LARGEST = 1e100  # of a kernel's values


@dataclass(frozen=True)
class Candidates:
    """Training rows that may become active.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        The first of those that make the same column.
    repeated : ndarray of shape (m,)
        Whether another training row makes the same column, which stays when this row is left out.
    pool, group : ndarray of shape (k,)
        Every row that may become active, and the place of its column in ``rows``.
    """

    rows: np.ndarray
    repeated: np.ndarray
    pool: np.ndarray
    group: np.ndarray

    def reordered(self, order: np.ndarray) -> Candidates:
        """Return the same candidates in another order."""
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return replace(
            self, rows=self.rows[order], repeated=self.repeated[order], group=place[self.group]
        )


@dataclass(frozen=True)
class Method:
    """How a model is fitted; see :class:`sparsekern.PCVMClassifier`."""

    inference: int | str  # code of the sequential methods, or "em"
    likelihood: int
    signed: bool
    rule: int
    min_gain: float
    bias_precision: float
    precision_prior: tuple[float, float]
    max_active: int
    max_steps: int
    single: bool

    def problem(self, labels: np.ndarray) -> Problem:
        """Return what compiled code needs."""
        code = 0 if self.inference == "em" else int(self.inference)
        return Problem(labels, code, self.likelihood, self.signed, self.rule, self.min_gain)


@dataclass(frozen=True)
class FittedClassifier:
    """One model of labels -1 and +1."""

    expansion: KernelExpansion
    likelihood: int
    log_left_out: np.ndarray  # log probability of each row's own label, the row left out
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

    def probability(self, features: np.ndarray) -> np.ndarray:
        """Return the probability of +1."""
        kernel, expansion = self.expansion.kernel, self.expansion
        if kernel.precomputed or kernel.function is not None:
            mean, variance = expansion.moments(features)
            return class_probability(self.likelihood, mean[:, 0], variance)
        out = np.empty(len(features))
        signs = np.concatenate([[1.0], expansion.signs])
        if not block_probabilities(
            np.ascontiguousarray(features.T), expansion.vectors, 1.0 / kernel.length_scale,
            kernel.kind, kernel.amplitude,
            expansion.mean[:, 0] * signs, expansion.inverse * signs, self.likelihood, out,
        ):  # fmt: skip
            refuse_overflow(kernel)
        return out

    def log_density(self, features: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the log probability of the labels of new rows."""
        positive = self.probability(features)
        own = np.where(labels > 0, positive, 1.0 - positive)
        return np.log(np.maximum(own, np.finfo(np.float64).tiny))


def find_candidates(
    features: np.ndarray, labels: np.ndarray | None, rows: np.ndarray
) -> Candidates:
    """Merge rows that make the same column: the same features and, with signs, the same label."""
    table = features[rows] if labels is None else np.column_stack([features[rows], labels[rows]])
    _, first, group, counts = np.unique(
        table, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    return Candidates(rows[first], counts > 1, rows, group).reordered(np.argsort(first))


def open_columns(
    kernel: Kernel, features: np.ndarray, rows: np.ndarray, signs: np.ndarray, single: bool
) -> CandidateColumns:
    """Return the columns of these training rows."""

    def make(chosen: np.ndarray) -> np.ndarray:
        vectors = features if kernel.precomputed else features[rows[chosen]]
        values = kernel_columns(kernel, features, vectors, rows[chosen])
        largest = float(np.abs(values).max(initial=0.0))
        if not largest < _LARGEST:
            raise ValueError(
                f"kernel={kernel.name} is as large as {largest:.3g} between some rows of X, so "
                "that its squares overflow; rescale X, or leave standardize=True."
            )
        return values

    return CandidateColumns(make, signs, len(features), min(BLOCK_SIZE, len(rows)), single)


def fit_classifier(
    kernel: Kernel,
    features: np.ndarray,
    labels: np.ndarray,
    candidates: Candidates,
    method: Method,
    report: Callable[[], None] | None = None,
) -> FittedClassifier:
    """Fit one model; ``candidates`` are in the order in which blocks of them are looked at."""
    rows = candidates.rows
    signs = labels[rows] if method.signed else np.ones(len(rows))
    columns = open_columns(kernel, features, rows, signs, method.single)
    problem = method.problem(labels)
    common: dict[str, Any] = {
        "bias_precision": method.bias_precision,
        "max_steps": method.max_steps,
        "report": report,
    }
    if method.inference == "em":
        fitted = fit_by_em(columns, problem, precision_prior=method.precision_prior, **common)
    else:
        fitted = fit_machine(columns, problem, max_active=method.max_active, **common)
    return _describe(fitted, kernel, features, candidates, signs, method, labels)


def _describe(
    fitted: FittedMachine,
    kernel: Kernel,
    features: np.ndarray,
    candidates: Candidates,
    signs: np.ndarray,
    method: Method,
    labels: np.ndarray,
) -> FittedClassifier:
    machine, members = fitted.machine, fitted.members
    size = int(machine.size[0])
    rows = candidates.rows[members]
    owner = np.zeros(len(labels), np.int64)
    alone = ~candidates.repeated[members]
    owner[rows[alone]] = np.arange(1, size)[alone]
    mean, variance = leave_one_out(machine, owner)
    inverse = np.tril(machine.inverse[:size, :size])
    expansion = KernelExpansion(
        kernel=kernel,
        rows=rows,
        vectors=np.empty((len(rows), 0)) if kernel.precomputed else features[rows].copy(),
        signs=signs[members].copy(),
        mean=machine.mean[:size, None].copy(),
        inverse=inverse,
    )
    return FittedClassifier(
        expansion=expansion,
        likelihood=method.likelihood,
        log_left_out=log_class_probability(method.likelihood, labels * mean, variance),
        evidence=float(machine.evidence[0]),
        path=fitted.path,
        converged=fitted.converged,
    )


def without_rows(candidates: Candidates, kept: np.ndarray) -> Candidates:
    """Return the candidates among ``kept`` training rows, numbered as in the smaller set.

    A column whose row is not kept is made by another row that makes the same.
    """
    places = np.full(int(max(kept.max(), candidates.pool.max())) + 1, -1)
    places[kept] = np.arange(len(kept))
    pool = places[candidates.pool]
    inside = pool >= 0
    pool, group = pool[inside], candidates.group[inside]
    first = np.full(len(candidates.rows), -1)
    first[group[::-1]] = pool[::-1]
    count = np.bincount(group, minlength=len(first))
    present = first >= 0
    return Candidates(first[present], count[present] > 1, pool, (np.cumsum(present) - 1)[group])
