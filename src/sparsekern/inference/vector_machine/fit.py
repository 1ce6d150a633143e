"""The sequential fit: add, weigh anew, delete, until nothing gains any more."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .columns import CandidateColumns
from .machine import Machine, Problem, empty_machine, enlarged
from .moves import add_column, settle
from .selection import refresh, scan
from .starts import spread_columns

_FIRST_CAPACITY = 32
_MOVES_AT_ONCE = 50  # at most, between looks at the keyboard...
_SECONDS_AT_ONCE = 0.2  # ...which take this long


@dataclass(frozen=True)
class FittedMachine:
    """A machine whose columns gain nothing more.

    Attributes
    ----------
    machine : Machine
    converged : bool
        False when the largest number of steps ended the fit.
    path : ndarray of shape (steps, 2)
        Log evidence and number of columns (bias included) at the start, after every addition and
        after every run of changes and deletions.
    """

    machine: Machine
    converged: bool
    path: np.ndarray

    @property
    def members(self) -> np.ndarray:
        """Candidates in the model, in the order of the columns."""
        return self.machine.members[1 : self.machine.size[0]]


def fit_machine(
    columns: CandidateColumns,
    problem: Problem,
    *,
    bias_precision: float,
    max_active: int,
    max_steps: int,
    report: Callable[[], None] | None = None,
) -> FittedMachine:
    """Fit from the bias alone and from a few columns that say different things.

    The evidence has many maxima. With a wide kernel no column may gain alone, though several
    together would, and a climb from the bias ends too early; from several columns it seldom does.
    Whichever end has the larger evidence is kept.
    """
    bias = empty_machine(columns.n_rows, _FIRST_CAPACITY, bias_precision)
    refresh(bias, problem)
    best = _climb(bias, columns, problem, max_active, max_steps, report)
    start, precisions = spread_columns(columns, max_active)
    if len(start) < 2:
        return best
    several = _start_from(start, precisions, columns, problem, bias_precision)
    if np.isfinite(several.evidence[0]):
        other = _climb(several, columns, problem, max_active, max_steps, report)
        if other.machine.evidence[0] > best.machine.evidence[0]:
            best = other
    return best


def _start_from(
    start: np.ndarray,
    precisions: np.ndarray,
    columns: CandidateColumns,
    problem: Problem,
    bias_precision: float,
) -> Machine:
    """Return a machine with these candidates."""
    machine = empty_machine(columns.n_rows, _FIRST_CAPACITY, bias_precision)
    size = len(start) + 1
    machine.size[0] = size
    machine.members[1:size] = start
    for place, candidate in enumerate(start.tolist()):
        machine.design[place + 1] = columns.signs[candidate] * columns.column(candidate)
    machine.alpha[1:size] = precisions
    refresh(machine, problem)
    return machine


def _climb(
    machine: Machine,
    columns: CandidateColumns,
    problem: Problem,
    max_active: int,
    max_steps: int,
    report: Callable[[], None] | None,
) -> FittedMachine:
    """Take steps until nothing gains.

    A block of candidates is looked at before each addition, the blocks in turn; the climb ends when
    none of a whole round of blocks gains more than ``problem.min_gain``.
    """
    closed = np.zeros(len(columns.signs), np.bool_)  # refused since the last move kept
    path = [(float(machine.evidence[0]), int(machine.size[0]))]
    steps, idle, number, pace = 0, 0, 0, 1
    while idle < columns.n_blocks and steps < max_steps:
        before, settled = steps, False
        while steps < max_steps and not settled:
            begin, tried = time.perf_counter(), min(pace, max_steps - steps)
            kept, settled = settle(machine, problem, closed, tried)
            steps += kept
            rate = tried / max(time.perf_counter() - begin, 1e-9)
            pace = max(1, min(_MOVES_AT_ONCE, 4 * pace, int(rate * _SECONDS_AT_ONCE)))
            if report is not None:
                report()
        if steps > before:  # the pace must not show
            idle = 0
            path.append((float(machine.evidence[0]), int(machine.size[0])))
        if steps >= max_steps:
            break
        if machine.size[0] > max_active:
            return FittedMachine(machine, True, np.array(path))
        chosen, table = columns.block(number)
        shut = closed[chosen].copy()
        inside = machine.members[1 : machine.size[0]] - chosen.start
        shut[inside[(inside >= 0) & (inside < len(shut))]] = True
        place, alpha, _ = scan(machine, problem, table, columns.signs[chosen], shut)
        if place < 0:
            idle += 1
            number = (number + 1) % columns.n_blocks
            continue
        candidate = chosen.start + place
        if machine.size[0] == len(machine.alpha):
            machine = enlarged(machine)
        sign = float(columns.signs[candidate])
        if add_column(machine, problem, columns.column(candidate), sign, candidate, alpha):
            closed[:] = False
            steps, idle = steps + 1, 0
            number = (number + 1) % columns.n_blocks
            path.append((float(machine.evidence[0]), int(machine.size[0])))
        else:
            closed[candidate] = True
    return FittedMachine(machine, idle >= columns.n_blocks, np.array(path))
