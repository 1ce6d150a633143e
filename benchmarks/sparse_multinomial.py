r"""Sparse multinomial logistic regression (SMLR) on kernel columns, a comparator.

Krishnapuram, Carin, Figueiredo and Hartemink (2005). With class 0 as reference (its weights are
zero), columns :math:`\phi_k` and class indicators :math:`t_{nc}` it maximises

.. math:: \ell(b,w)-\gamma\sum_{c\ge1}\sum_k|w_{ck}|,\qquad
    \ell=\sum_n\Big[\sum_ct_{nc}f_{nc}-\log\sum_ce^{f_{nc}}\Big],\quad f_c=b_c1+\sum_kw_{ck}\phi_k.

The second derivative of :math:`\ell` in a weight is at least
:math:`B_k=-\frac12(1-\frac1C)\|\phi_k\|^2` (:math:`-\frac14\|\phi_k\|^2` for two classes), so that
with the gradient :math:`g_{ck}=\phi_k^T(t_c-p_c)` the update

.. math:: w_{ck}\leftarrow soft(w_{ck}-g_{ck}/B_k,\ \gamma/|B_k|)

never lowers the objective; intercepts are updated without the threshold. The maximum is where
:math:`g_{ck}=\gamma\,sign(w_{ck})` for the weights that are not zero, :math:`|g_{ck}|\le\gamma` for
the others, and the gradient in the intercepts is zero.

Kernel columns are nearly dependent, so that sweeps alone would take many thousands. Here they go
over the columns in use and a few that want to be, and each is followed by a Newton step of the
weights that are not zero, made only if the objective grows: tens to a few hundred rounds.
"""

from __future__ import annotations

import itertools
import math
import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

_GROWTH = 0.05  # new columns of a round, as a share of those in use
_MOST_HALVINGS = 40


class _Problem(NamedTuple):
    """Columns with the intercept first, class indicators, curvature bounds and penalties."""

    design: np.ndarray  # float64[columns + 1, rows]
    indicators: np.ndarray  # float64[classes - 1, rows]
    bounds: np.ndarray  # float64[columns + 1], |B_k|
    thresholds: np.ndarray  # float64[columns + 1], zero for the intercept


class SparseMultinomialFit(NamedTuple):
    """Weights at the maximum, and how it was reached."""

    intercepts: np.ndarray  # float64[classes - 1]
    weights: np.ndarray  # float64[classes - 1, columns]
    objective: np.ndarray  # float64[rounds + 1], never falling
    violation: float  # largest violation of the conditions of a maximum
    converged: bool


class SparseMultinomial(ClassifierMixin, BaseEstimator):
    """SMLR on the columns of a Gaussian kernel, with an intercept that is not penalised.

    Parameters
    ----------
    penalty : float, default=1.0
        The weight gamma of the sum of absolute weights.
    length_scale : float, default=1.0
        Of the kernel, as scikit-learn has it.
    tolerance : float, default=1e-6
        Largest violation of the conditions of a maximum, per row.
    max_rounds : int, default=500
        Rounds of a sweep and a Newton step.

    Attributes
    ----------
    fit_ : SparseMultinomialFit
    active_vectors_ : ndarray
        Rows whose kernel column has a weight in some class.
    """

    def __init__(
        self,
        penalty: float = 1.0,
        length_scale: float = 1.0,
        tolerance: float = 1e-6,
        max_rounds: int = 500,
    ) -> None:
        self.penalty = penalty
        self.length_scale = length_scale
        self.tolerance = tolerance
        self.max_rounds = max_rounds

    def fit(self, X, y) -> SparseMultinomial:
        """Fit to rows and labels."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self.fit_ = fit_sparse_multinomial(
            self._columns(X, X), labels, self.penalty, self.tolerance, self.max_rounds
        )
        if not self.fit_.converged:
            warnings.warn(
                f"SMLR has not converged in {self.max_rounds} rounds (violation "
                f"{self.fit_.violation:.2g}); increase max_rounds or penalty.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.active_vectors_ = np.flatnonzero(self.fit_.weights.any(axis=0))
        self._vectors = X[self.active_vectors_]
        return self

    def predict_proba(self, X) -> np.ndarray:
        """Return the probabilities of the classes."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        weights = self.fit_.weights[:, self.active_vectors_]
        latent = self.fit_.intercepts + self._columns(X, self._vectors) @ weights.T
        return softmax(np.column_stack([np.zeros(len(X)), latent]), axis=1)

    def predict(self, X) -> np.ndarray:
        """Return the most probable classes."""
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    def _columns(self, X: np.ndarray, centres: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * cdist(X, centres, "sqeuclidean") / self.length_scale**2)


def fit_sparse_multinomial(
    columns: np.ndarray,
    labels: np.ndarray,
    penalty: float,
    tolerance: float = 1e-6,
    max_rounds: int = 500,
) -> SparseMultinomialFit:
    """Maximise the penalised log-likelihood of labels 0, 1, ..., C - 1 given columns (n, K)."""
    n_rows, n_columns = columns.shape
    n_classes = int(labels.max()) + 1
    if n_classes < 2 or not penalty > 0:
        raise ValueError(f"needs two classes and a positive penalty: {n_classes}, {penalty!r}.")
    design = np.empty((n_columns + 1, n_rows))
    design[0] = 1.0  # the intercept
    design[1:] = columns.T
    thresholds = np.full(n_columns + 1, float(penalty))
    thresholds[0] = 0.0
    problem = _Problem(
        design,
        (labels == np.arange(1, n_classes)[:, None]).astype(np.float64),
        0.5 * (1 - 1 / n_classes) * np.einsum("kn,kn->k", design, design),
        thresholds,
    )
    weights = np.zeros((n_classes - 1, n_columns + 1))
    objective: list[float] = []
    while True:
        latent = weights @ design  # afresh, so that rounding errors do not add up
        objective.append(_objective(problem, weights, latent))
        violations = _violations(problem, weights, latent)
        violation = float(violations.max())
        if violation <= tolerance * n_rows or len(objective) > max_rounds:
            break
        _sweep(_working_set(problem, weights, violations), problem, weights, latent)
        weights = _newton_step(problem, weights, latent)
    return SparseMultinomialFit(
        weights[:, 0], weights[:, 1:], np.array(objective), violation,
        violation <= tolerance * n_rows,
    )  # fmt: skip


def _objective(problem: _Problem, weights: np.ndarray, latent: np.ndarray) -> float:
    every_class = np.vstack([np.zeros(latent.shape[1]), latent])
    likelihood = np.sum(problem.indicators * latent) - np.sum(logsumexp(every_class, axis=0))
    return float(likelihood - np.abs(weights).sum(axis=0) @ problem.thresholds)


def _probabilities(latent: np.ndarray) -> np.ndarray:
    """Return the probabilities of all classes but the reference."""
    largest = np.maximum(latent.max(axis=0), 0.0)
    powers = np.exp(latent - largest)
    return powers / (powers.sum(axis=0) + np.exp(-largest))


def _violations(problem: _Problem, weights: np.ndarray, latent: np.ndarray) -> np.ndarray:
    """Return how far the gradient is from where it is at a maximum, for each weight."""
    gradient = (problem.indicators - _probabilities(latent)) @ problem.design.T
    at_zero = np.maximum(np.abs(gradient) - problem.thresholds, 0.0)
    elsewhere = np.abs(gradient - np.sign(weights) * problem.thresholds)
    return np.where(weights == 0.0, at_zero, elsewhere)


def _working_set(problem: _Problem, weights: np.ndarray, violations: np.ndarray) -> np.ndarray:
    """Return the columns in use, and a few that want to be where the others have settled.

    A few only: the neighbours of a column that is missing want to be in use just as much.
    """
    used = weights.any(axis=0) | (problem.thresholds == 0.0)
    wanted = np.where(used, 0.0, violations.max(axis=0))
    first = np.argsort(-wanted)[: 1 + int(_GROWTH * used.sum())]
    return np.append(np.flatnonzero(used), first[wanted[first] > violations[:, used].max()])


def _sweep(chosen: np.ndarray, problem: _Problem, weights: np.ndarray, latent: np.ndarray) -> None:
    """Update the chosen weights of every class in turn, and ``latent`` with them."""
    for k, c in itertools.product(chosen, range(len(weights))):
        column, bound = problem.design[k], problem.bounds[k]
        gradient = column @ (problem.indicators[c] - _probabilities(latent)[c])
        target = weights[c, k] + gradient / bound
        shrunk = max(abs(target) - problem.thresholds[k] / bound, 0.0)
        updated = math.copysign(shrunk, target)
        latent[c] += (updated - weights[c, k]) * column
        weights[c, k] = updated


def _newton_step(problem: _Problem, weights: np.ndarray, latent: np.ndarray) -> np.ndarray:
    """Return weights after a Newton step of those that are not zero, if the objective grows.

    A weight that would change its sign stops at zero, and steps are halved until they help.
    """
    before = _objective(problem, weights, latent)
    probabilities = _probabilities(latent)
    classes, places = np.nonzero((weights != 0.0) | (problem.thresholds == 0.0))
    columns, penalties = problem.design[places], problem.thresholds[places]
    weighted = columns * probabilities[classes]
    curvature = (weighted @ columns.T) * (classes[:, None] == classes) - weighted @ weighted.T
    diagonal = np.einsum("kk->k", curvature)
    diagonal += 1e-10 * diagonal + 1e-12  # columns may be dependent, probabilities 0 or 1
    old = weights[classes, places]
    residual = (problem.indicators - probabilities)[classes]
    gradient = np.einsum("kn,kn->k", columns, residual) - np.sign(old) * penalties
    step = cho_solve(cho_factor(curvature), gradient)
    for _ in range(_MOST_HALVINGS):
        new = old + step
        new[(penalties > 0.0) & (new * old < 0.0)] = 0.0
        trial = weights.copy()
        trial[classes, places] = new
        if _objective(problem, trial, trial @ problem.design) > before:
            return trial
        step *= 0.5
    return weights
