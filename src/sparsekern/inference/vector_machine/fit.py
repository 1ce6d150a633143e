"""The sequential fit: add, weigh anew, delete, until nothing gains any more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .columns import CandidateColumns
from .machine import Machine, Problem, empty_machine, enlarged
from .selection import add_column, refresh, scan, settle

_FIRST_CAPACITY = 32
_MOVES_AT_ONCE = 50  # between looks at the keyboard
FEW_COLUMNS = 2  # with no more, a fit may be stuck
START_COLUMNS = 10  # of the second start
START_VARIANCE = 1e5  # of the function before it has seen the data: wide kernels need large weights


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
    """Fit from the bias alone and, where that ends with next to nothing, from many columns.

    With a wide kernel no column may gain alone, though several together would. Whichever end has
    the larger evidence is kept.
    """
    machine = empty_machine(columns.n_rows, _FIRST_CAPACITY, bias_precision)
    refresh(machine, problem)
    found = _climb(machine, columns, problem, max_active, max_steps, report)
    start = np.arange(min(START_COLUMNS, len(columns.signs), max_active))
    if len(found.members) > FEW_COLUMNS or len(start) <= FEW_COLUMNS:
        return found
    machine = empty_machine(columns.n_rows, _FIRST_CAPACITY, bias_precision)
    size = len(start) + 1
    machine.size[0] = size
    machine.members[1:size] = start
    for place, candidate in enumerate(start.tolist()):
        machine.design[place + 1] = columns.signs[candidate] * columns.column(candidate)
    square = float(np.mean(machine.design[1:size] ** 2))
    machine.alpha[1:size] = len(start) * max(square, np.finfo(np.float64).tiny) / START_VARIANCE
    refresh(machine, problem)
    if not np.isfinite(machine.evidence[0]):
        return found
    other = _climb(machine, columns, problem, max_active, max_steps, report)
    return other if other.machine.evidence[0] > found.machine.evidence[0] else found


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
    steps, idle, number = 0, 0, 0
    while idle < columns.n_blocks and steps < max_steps:
        if report is not None:
            report()
        while steps < max_steps:
            kept = settle(machine, problem, closed, min(_MOVES_AT_ONCE, max_steps - steps))
            if kept == 0:
                break
            steps += kept
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
