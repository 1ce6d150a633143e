r"""Relevance vector regression with one or several outputs, the noise never held.

Prior precisions are relative to the noise: :math:`w_{ao}\sim N(0,\sigma_o^2/\alpha_a)`. For one
output that is the usual model in other units; for several, they share the columns, each with its
own noise, and one factor :math:`H=A+\Phi^\top\Phi=CC^\top` serves all. With
:math:`R_o=t_o^\top t_o-\mu_o^\top H\mu_o` the evidence is largest at :math:`\sigma_o^2=R_o/N`:

.. math:: L(\alpha)=-\tfrac N2\sum_o\log\frac{2\pi eR_o}N-\tfrac O2\big(\log|H|-\log|A|\big).

A column with :math:`s=|\phi|^2-|C^{-1}\Phi^\top\phi|^2`, :math:`q_o=\phi^\top(t_o-\Phi\mu_o)`,
:math:`\rho_o=q_o^2/(sR_o)` and :math:`x=s/(\alpha+s)` gains exactly

.. math:: -\tfrac N2\sum_o\log(1-\rho_ox)+\tfrac O2\log(1-x),

which has one maximum: :math:`x=(N\rho-1)/((N-1)\rho)` for one output if :math:`N\rho>1`. Nothing is
approximated, so every move raises the evidence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from .columns import CandidateColumns
from .starts import spread_columns

_INDEPENDENT = 1e-10  # of a column that the active ones do not explain
_LEAST_LEFT = 1e-14  # of an output's variance: the rest is rounding
_NEAR_ONE = 1.0 - 1e-12
_BISECTIONS = 50
_FEW_COLUMNS = 2  # with no more, a fit may be stuck


@dataclass(frozen=True)
class FittedRegression:
    r"""Active columns with the posterior of their weights.

    Attributes
    ----------
    members : ndarray of shape (M - 1,)
        Candidates in the model; column 0 is the bias.
    alpha : ndarray of shape (M,)
    mean : ndarray of shape (M, O)
    inverse : ndarray of shape (M, M)
        Inverse of C, lower triangular; :math:`\Sigma=C^{-\top}C^{-1}` times the noise variance.
    noise_variance : ndarray of shape (O,)
    design : ndarray of shape (M, n)
    evidence : float
    converged : bool
    path : ndarray of shape (steps, 2)
        Log evidence and number of columns after every step.
    """

    members: np.ndarray
    alpha: np.ndarray
    mean: np.ndarray
    inverse: np.ndarray
    noise_variance: np.ndarray
    design: np.ndarray
    evidence: float
    converged: bool
    path: np.ndarray


def best_share(rho: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the best x and its gain for every row of :math:`\rho` (shape (m, O)).

    x is zero where the column gains nothing: where :math:`N\sum_o\rho_o\le O`.
    """
    rho = np.minimum(rho, _NEAR_ONE)
    outputs = rho.shape[1]
    worth = n * rho.sum(axis=1) > outputs
    x = np.zeros(len(rho))
    if outputs == 1:
        only = rho[worth, 0]
        x[worth] = (n * only - 1.0) / ((n - 1.0) * only)
    else:
        chosen = rho[worth]
        low, high = np.zeros(len(chosen)), np.ones(len(chosen))
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            slope = n * (chosen * ((1.0 - middle) / (1.0 - chosen.T * middle)).T).sum(axis=1)
            above = slope > outputs
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        x[worth] = 0.5 * (low + high)
    x = np.minimum(x, _NEAR_ONE)
    return x, _gain(rho, x, n)


def _gain(rho: np.ndarray, x: np.ndarray, n: int) -> np.ndarray:
    outputs = rho.shape[1]
    return -0.5 * n * np.log1p(-rho * x[:, None]).sum(axis=1) + 0.5 * outputs * np.log1p(-x)


class _Fit:
    """Gram products of the active columns with all candidates; rows are touched only by a birth."""

    def __init__(self, columns: CandidateColumns, targets: np.ndarray, bias_precision: float):
        self.columns, self.targets = columns, targets
        self.n, self.outputs = targets.shape
        self.total = np.einsum("no,no->o", targets, targets)
        count = len(columns.signs)
        self.norms, self.products = np.empty(count), np.empty((count, self.outputs))
        for number in range(columns.n_blocks):
            chosen, table = columns.block(number)
            self.norms[chosen] = np.einsum("mn,mn->m", table, table)
            self.products[chosen] = table @ targets
        self.members: list[int] = []
        self.refused: list[int] = []  # since the last move kept
        self.design = np.empty((0, self.n))
        self.alpha = np.empty(0)
        self.cross = np.empty((0, count))
        self.gram = np.empty((0, 0))
        self._append(np.ones(self.n), bias_precision)
        self.solve()

    def _append(self, column: np.ndarray, alpha: float) -> None:
        self.design = np.vstack([self.design, column])
        self.alpha = np.append(self.alpha, alpha)
        row = np.empty(len(self.columns.signs))
        for number in range(self.columns.n_blocks):
            chosen, table = self.columns.block(number)
            row[chosen] = table @ column
        self.cross = np.vstack([self.cross, row])
        size = len(self.alpha)
        gram = np.empty((size, size))
        gram[:-1, :-1] = self.gram
        gram[-1] = gram[:, -1] = self.design @ column
        self.gram = gram

    def solve(self) -> None:
        """Bring factor, means and evidence up to date."""
        size = len(self.alpha)
        self.root = cholesky(self.gram + np.diag(self.alpha), lower=True)
        self.inverse = solve_triangular(self.root, np.eye(size), lower=True)
        projected = self.inverse @ (self.design @ self.targets)
        self.mean = self.inverse.T @ projected
        self.variance = np.einsum("ab,ab->b", self.inverse, self.inverse)
        left = self.total - np.einsum("ao,ao->o", projected, projected)
        self.left = np.maximum(left, _LEAST_LEFT * self.total)
        self.evidence = float(
            -0.5 * self.n * np.log(2.0 * np.pi * np.e * self.left / self.n).sum()
            - self.outputs * (np.log(np.diag(self.root)).sum() - 0.5 * np.log(self.alpha).sum())
        )

    def best_birth(self) -> tuple[float, int, float]:
        """Return gain, candidate and precision of the best column to add."""
        shared = solve_triangular(self.root, self.cross, lower=True)
        s = self.norms - np.einsum("am,am->m", shared, shared)
        usable = s > _INDEPENDENT * self.norms
        usable[self.members + self.refused] = False
        s = np.where(usable, s, 1.0)
        q = self.products - self.cross.T @ self.mean
        rho = np.where(usable[:, None], q**2 / (s[:, None] * self.left), 0.0)
        x, gain = best_share(rho, self.n)
        best = int(np.argmax(gain))
        share = x[best]
        return float(gain[best]), best, s[best] * (1.0 - share) / share if share > 0 else np.inf

    def best_change(self) -> tuple[float, int, float]:
        """Return gain, column and precision (infinite: delete) of the best change."""
        if len(self.alpha) == 1:
            return 0.0, 0, 0.0
        inner = slice(1, None)
        s = 1.0 / self.variance[inner] - self.alpha[inner]
        s = np.maximum(s, _INDEPENDENT / self.variance[inner])
        q = self.mean[inner] / self.variance[inner, None]
        now = s / (self.alpha[inner] + s)
        without = self.left + q**2 * (now / s)[:, None]
        rho = np.minimum(q**2 / (s[:, None] * without), _NEAR_ONE)
        x, gain = best_share(rho, self.n)
        gain = gain - _gain(rho, now, self.n)
        best = int(np.argmax(gain))
        share = x[best]
        alpha = s[best] * (1.0 - share) / share if share > 0 else np.inf
        return float(gain[best]), best + 1, alpha

    def add(self, candidate: int, alpha: float) -> None:
        self.members.append(candidate)
        self._append(self.columns.column(candidate), alpha)

    def change(self, place: int, alpha: float) -> None:
        if np.isfinite(alpha):
            self.alpha[place] = alpha
            return
        keep = np.arange(len(self.alpha)) != place
        del self.members[place - 1]
        self.alpha, self.design, self.cross = self.alpha[keep], self.design[keep], self.cross[keep]
        self.gram = self.gram[np.ix_(keep, keep)]


def fit_regression(
    columns: CandidateColumns,
    targets: np.ndarray,
    *,
    min_gain: float,
    bias_precision: float,
    max_active: int,
    max_steps: int,
    report: Callable[[], None] | None = None,
) -> FittedRegression:
    """Fit from the bias alone and, where that ends with next to nothing, from several columns.

    ``targets`` has the shape (n, outputs), no output constant. Whichever end has the larger
    evidence is kept.
    """
    fit = _Fit(columns, targets, bias_precision)
    limits = (min_gain, max_active, max_steps, report)
    found = _climb(fit, *limits)
    if len(found.members) > _FEW_COLUMNS:
        return found
    start, precisions = spread_columns(columns, max_active)
    if len(start) <= _FEW_COLUMNS:
        return found
    fit = _Fit(columns, targets, bias_precision)
    for candidate, precision in zip(start.tolist(), precisions.tolist(), strict=True):
        fit.add(candidate, precision)
    fit.solve()
    other = _climb(fit, *limits)
    return other if other.evidence > found.evidence else found


def _climb(
    fit: _Fit,
    min_gain: float,
    max_active: int,
    max_steps: int,
    report: Callable[[], None] | None,
) -> FittedRegression:
    """Take steps until nothing gains.

    A column that lowers the evidence, as rounding in single precision can let happen, is taken back
    and waits until another move is kept.
    """
    path = [(fit.evidence, len(fit.alpha))]
    converged = False
    while len(path) <= max_steps:
        if report is not None:
            report()
        gain, place, alpha = fit.best_change()
        if gain > min_gain:
            fit.change(place, alpha)
            fit.solve()
        else:
            if len(fit.members) >= min(max_active, len(fit.columns.signs)):
                converged = True
                break
            gain, candidate, alpha = fit.best_birth()
            if gain <= min_gain:
                converged = True
                break
            before = fit.evidence
            fit.add(candidate, alpha)
            fit.solve()
            if not fit.evidence > before:
                fit.change(len(fit.alpha) - 1, np.inf)
                fit.solve()
                fit.refused.append(candidate)
                continue
        fit.refused.clear()
        path.append((fit.evidence, len(fit.alpha)))
    return FittedRegression(
        members=np.array(fit.members, np.int64),
        alpha=fit.alpha,
        mean=fit.mean,
        inverse=fit.inverse,
        noise_variance=fit.left / fit.n,
        design=fit.design,
        evidence=fit.evidence,
        converged=converged,
        path=np.array(path),
    )


def leave_one_out(fitted: FittedRegression, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Return every row's predictive mean and variance, that row left out; shapes (n, O).

    With :math:`h_n=\phi_n^\top\Sigma\phi_n`: mean :math:`(\mu^\top\phi_n-h_nt_n)/(1-h_n)`, variance
    :math:`\sigma^2/(1-h_n)`; precisions and noise stay those of all rows.
    """
    projected = fitted.inverse @ fitted.design
    left = np.maximum(1.0 - np.einsum("an,an->n", projected, projected), np.finfo(float).eps)
    mean = targets - (targets - fitted.design.T @ fitted.mean) / left[:, None]
    return mean, fitted.noise_variance / left[:, None]
