r"""Several classes at once: softmax of one sparse function per class, by Laplace's method.

Column a belongs to one class, :math:`f_{nc}=\sum_{a:c_a=c}w_a\phi_{an}`; the first C columns are
the biases. With :math:`p=\mathrm{softmax}(f)` the curvature couples the classes,
:math:`B_n=\mathrm{diag}(p_n)-p_np_n^\top`, so that :math:`G_{ab}=\sum_n\phi_{an}\phi_{bn}
B_{n,c_ac_b}`. Non-negative weights (column sign +1 in the row's own class, -1 elsewhere) are kept
by the Newton steps and the edges of the two-class model; gains are the same with

.. math:: s=\phi^\top\mathrm{diag}(B_{cc})\phi-|C^{-1}h|^2,\quad
          h_a=\sum_n\phi_{an}B_{n,c_ac}\phi_n,\quad q=\phi^\top e_c,\quad e=g+B(f^*-f_\mu).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import log_softmax

from .columns import CandidateColumns
from .edges import fit_edges
from .gains import best_precision, gain
from .laplace import ROUNDING
from .machine import Machine, empty_machine, enlarged, log_prior_constant, solve
from .orthant_quadratic import maximize_on_orthant
from .selection import ROUNDED

_MOST_NEWTON_STEPS = 200
_DECREMENT = 1e-12
_SMALL = 1e-6
_INDEPENDENT = 1e-10


@dataclass
class MulticlassMachine:
    """A machine whose columns each belong to a class, and what Laplace's method leaves there."""

    machine: Machine
    of_class: np.ndarray  # int64[m]
    target: np.ndarray  # float64[n, C], one in the column of the row's class
    signed: bool

    @property
    def size(self) -> int:
        """Active columns, the biases included."""
        return int(self.machine.size[0])

    def latent(self, weight: np.ndarray) -> np.ndarray:
        """Return all functions at the training rows, shape (n, C)."""
        out = np.zeros_like(self.target)
        for c in range(out.shape[1]):
            mine = np.flatnonzero(self.of_class[: self.size] == c)
            out[:, c] = weight[mine] @ self.machine.design[mine]
        return out

    def _value(self, weight: np.ndarray) -> tuple[float, np.ndarray]:
        log_p = log_softmax(self.latent(weight), axis=1)
        alpha = self.machine.alpha[: self.size]
        value = float((self.target * log_p).sum() - 0.5 * (alpha * weight * weight).sum())
        return value, np.exp(log_p)

    def _gram(self, p: np.ndarray) -> np.ndarray:
        design, of_class = self.machine.design[: self.size], self.of_class[: self.size]
        scaled = design * p.T[of_class]
        gram = -(scaled @ scaled.T)
        for c in range(p.shape[1]):
            mine = np.flatnonzero(of_class == c)
            gram[np.ix_(mine, mine)] += scaled[mine] @ design[mine].T
        return gram

    def _data_slope(self, p: np.ndarray) -> np.ndarray:
        away = (self.target - p).T[self.of_class[: self.size]]
        return np.einsum("an,an->a", self.machine.design[: self.size], away)

    def refresh(self) -> None:
        """Find the mode, the Gaussian and the evidence (NaN where a matrix has no factor)."""
        machine, size = self.machine, self.size
        free, alpha = int(machine.free[0]), machine.alpha[:size]
        weight = machine.weight[:size].copy()
        first_edge = free if self.signed else size
        weight[first_edge:] = np.maximum(weight[first_edge:], 0.0)
        value, p = self._value(weight)
        for _ in range(_MOST_NEWTON_STEPS):
            gram = self._gram(p)
            slope = self._data_slope(p) - alpha * weight
            curvature = gram + np.diag(alpha)
            best = weight.copy()
            if not maximize_on_orthant(curvature, slope + curvature @ weight, first_edge, best):
                machine.evidence[0] = np.nan
                self.probability = p
                return
            step = best - weight
            if slope @ step < _DECREMENT:
                break
            length = 1.0
            while length > 1e-12:
                trial = weight + length * step
                new, new_p = self._value(trial)
                if new >= value + 1e-4 * length * (slope @ step) - ROUNDING * abs(value):
                    break
                length *= 0.5
            else:  # rounding leaves nothing to gain
                break
            stalled = new - value <= ROUNDING * abs(value) and slope @ step < _SMALL
            weight, value, p = trial, new, new_p
            if stalled:
                gram = self._gram(p)
                break
        self.probability = p
        machine.weight[:size] = weight
        machine.gram[:size, :size] = gram
        data_slope = self._data_slope(p)
        product = data_slope + gram @ weight
        evidence = value + 0.5 * (alpha * weight * weight).sum()
        evidence -= data_slope @ weight + 0.5 * weight @ gram @ weight
        evidence += fit_edges(machine, product) if self.signed else solve(machine, product)
        machine.evidence[0] = evidence + log_prior_constant(machine, self.signed)

    def residual(self) -> np.ndarray:
        """Return e, shape (n, C)."""
        p = self.probability
        gap = self.latent(self.machine.weight) - self.latent(self.machine.mean)
        bent = p * (gap - (p * gap).sum(axis=1, keepdims=True))
        return self.target - p + bent

    def information(self, table: np.ndarray, c: int, residual: np.ndarray) -> tuple:
        """Return s and q (without sign) of the columns in the rows of ``table`` for class c."""
        machine, size, p = self.machine, self.size, self.probability
        of_class = self.of_class[:size]
        coupling = -p.T[of_class] * p[:, c]
        coupling[of_class == c] += p[:, c]
        shared = (machine.design[:size] * coupling) @ table.T
        shared = solve_triangular(machine.root[:size, :size], shared, lower=True)
        whole = (table * table) @ (p[:, c] * (1.0 - p[:, c]))
        s = whole - np.einsum("am,am->m", shared, shared)
        return np.where(s < _INDEPENDENT * whole, 0.0, s), table @ residual[:, c]

    def own_information(self, a: int) -> tuple[float, float]:
        """Return s and q of an active column, its own factors taken out."""
        machine = self.machine
        precision = 1.0 / machine.variance[a]
        own = machine.alpha[a] + machine.edge_precision[a]
        moment = machine.mean[a] * precision - machine.edge_shift[a]
        return max(precision - own, ROUNDED * precision), moment


@dataclass(frozen=True)
class FittedMulticlass:
    """A machine whose columns gain nothing more."""

    state: MulticlassMachine
    converged: bool
    path: np.ndarray


def fit_multiclass(
    columns: CandidateColumns,
    codes: np.ndarray,
    candidate_codes: np.ndarray,
    n_classes: int,
    *,
    signed: bool,
    rule: int,
    min_gain: float,
    bias_precision: float,
    max_active: int,
    max_steps: int,
    report: Callable[[], None] | None = None,
) -> FittedMulticlass:
    """Fit from the biases alone; ``candidate_codes`` are the classes of the candidates' rows."""
    n = len(codes)
    machine = empty_machine(n, max(32, 2 * n_classes), bias_precision)
    machine.size[0] = machine.free[0] = n_classes
    machine.alpha[:n_classes] = bias_precision
    machine.design[:n_classes] = 1.0
    target = np.eye(n_classes)[codes]
    of_class = np.arange(len(machine.alpha)) % n_classes
    state = MulticlassMachine(machine, of_class, target, signed)
    state.refresh()
    n_candidates = len(columns.signs)
    refused = np.zeros((n_candidates, n_classes), bool)
    path = [(float(machine.evidence[0]), n_classes)]
    idle, number, converged = 0, 0, False

    def note(kept: bool) -> None:
        if kept:
            refused[:] = False
            path.append((float(state.machine.evidence[0]), state.size))

    while len(path) <= max_steps:
        if report is not None:
            report()
        place, alpha = _best_change(state, rule, min_gain, refused)
        if place:
            member, c = state.machine.members[place], state.of_class[place]
            kept = _try(state, _change, place, alpha)
            note(kept)
            refused[member, c] |= not kept
            idle = 0 if kept else idle
            continue
        if state.size - n_classes == n_classes * n_candidates:
            converged = True
            break
        if state.size - n_classes >= max_active:
            converged = True
            break
        chosen, table = columns.block(number)
        found = _best_birth(state, table, chosen, candidate_codes, rule, min_gain, refused)
        if found is None:
            idle += 1
            number = (number + 1) % columns.n_blocks
            if idle >= columns.n_blocks:
                converged = True
                break
            continue
        candidate, c, alpha = found
        sign = 1.0 if not signed or candidate_codes[candidate] == c else -1.0
        column = sign * columns.column(candidate)
        kept = _try(state, _add, candidate, c, alpha, column)
        note(kept)
        refused[candidate, c] |= not kept
        if kept:
            idle, number = 0, (number + 1) % columns.n_blocks
    return FittedMulticlass(state, converged, np.array(path))


def _try(state: MulticlassMachine, move: Callable[..., None], *details: Any) -> bool:
    """Carry out a move and take it back unless the evidence rises."""
    before = Machine(*(values.copy() for values in state.machine))
    of_class, probability = state.of_class.copy(), state.probability
    move(state, *details)
    state.refresh()
    if before.evidence[0] < state.machine.evidence[0] < np.inf:
        return True
    state.machine, state.of_class, state.probability = before, of_class, probability
    return False


def _add(state: MulticlassMachine, member: int, c: int, alpha: float, column: np.ndarray) -> None:
    if state.size == len(state.machine.alpha):
        state.machine = enlarged(state.machine)
        state.of_class = np.concatenate([state.of_class, state.of_class])
    machine, at = state.machine, state.size
    machine.design[at] = column
    machine.members[at], state.of_class[at] = member, c
    machine.alpha[at] = alpha
    machine.weight[at] = machine.edge_precision[at] = machine.edge_shift[at] = 0.0
    machine.size[0] = at + 1


def _change(state: MulticlassMachine, a: int, alpha: float) -> None:
    machine, last = state.machine, state.size - 1
    if np.isfinite(alpha):
        machine.alpha[a] = alpha
        return
    for values in (
        machine.design, machine.alpha, machine.weight, machine.edge_precision, machine.edge_shift,
        machine.members, state.of_class,
    ):  # fmt: skip
        values[a] = values[last]
    machine.size[0] = last


def _best_change(
    state: MulticlassMachine, rule: int, min_gain: float, refused: np.ndarray
) -> tuple[int, float]:
    machine, best = state.machine, (0, 0.0)
    for a in range(int(machine.free[0]), state.size):
        if refused[machine.members[a], state.of_class[a]]:
            continue
        s, q = state.own_information(a)
        alpha = best_precision(rule, state.signed, s, q)
        value = gain(rule, alpha, s, q) - gain(rule, machine.alpha[a], s, q)
        if value > min_gain:
            min_gain, best = value, (a, alpha)
    return best


def _best_birth(
    state: MulticlassMachine,
    table: np.ndarray,
    chosen: slice,
    candidate_codes: np.ndarray,
    rule: int,
    min_gain: float,
    refused: np.ndarray,
) -> tuple[int, int, float] | None:
    residual = state.residual()
    inside = state.machine.members[int(state.machine.free[0]) : state.size]
    classes = state.of_class[int(state.machine.free[0]) : state.size]
    found = None
    for c in range(residual.shape[1]):
        s, q = state.information(table, c, residual)
        if state.signed:
            q = np.where(candidate_codes[chosen] == c, q, -q)
        closed = refused[chosen, c].copy()
        mine = inside[classes == c] - chosen.start
        closed[mine[(mine >= 0) & (mine < len(closed))]] = True
        # only columns that can gain are looked at one by one
        for m in np.flatnonzero(~closed & (s > 0) & ((q > 0) if state.signed else True)):
            alpha = best_precision(rule, state.signed, s[m], q[m])
            value = gain(rule, alpha, s[m], q[m])
            if value > min_gain:
                min_gain, found = value, (chosen.start + int(m), c, alpha)
    return found
