"""A column is added, weighed anew or deleted; a move that lowers the evidence is taken back."""

from __future__ import annotations

import math

from ..._jit import jit
from .machine import Machine
from .selection import best_change, refresh


@jit
def _snapshot(machine):
    """Return a copy of all that a move changes; the columns themselves are only moved about."""
    m = machine.size[0]
    return Machine(
        machine.size.copy(), machine.free, machine.members[:m].copy(), machine.alpha[:m].copy(),
        machine.weight[:m].copy(), machine.edge_precision[:m].copy(),
        machine.edge_shift[:m].copy(), machine.mean[:m].copy(), machine.variance[:m].copy(),
        machine.design, machine.tau.copy(), machine.nu.copy(), machine.gram[:m, :m].copy(),
        machine.root[:m, :m].copy(), machine.inverse[:m, :m].copy(), machine.evidence.copy(),
    )  # fmt: skip


@jit
def _restore(machine, before):
    """Write a copy back, but for the order of the columns."""
    m = before.size[0]
    machine.size[0], machine.evidence[0] = m, before.evidence[0]
    machine.members[:m] = before.members
    machine.alpha[:m] = before.alpha
    machine.weight[:m] = before.weight
    machine.edge_precision[:m] = before.edge_precision
    machine.edge_shift[:m] = before.edge_shift
    machine.mean[:m] = before.mean
    machine.variance[:m] = before.variance
    machine.tau[:] = before.tau
    machine.nu[:] = before.nu
    machine.gram[:m, :m] = before.gram
    machine.root[:m, :m] = before.root
    machine.inverse[:m, :m] = before.inverse


@jit
def _rises(machine, before):
    """Tell whether the evidence is larger than before (false for NaN, too)."""
    return before.evidence[0] < machine.evidence[0] < math.inf


@jit
def add_column(machine, problem, column, sign, member, alpha):
    """Add a column unless the evidence falls; return whether it was added."""
    before = _snapshot(machine)
    at = machine.size[0]
    for i in range(column.shape[0]):
        machine.design[at, i] = sign * column[i]
    machine.size[0] = at + 1
    machine.members[at] = member
    machine.alpha[at] = alpha
    machine.weight[at] = machine.edge_precision[at] = machine.edge_shift[at] = 0.0
    refresh(machine, problem)
    if _rises(machine, before):
        return True
    _restore(machine, before)
    return False


@jit
def _swap_columns(machine, a, b):
    for i in range(machine.design.shape[1]):
        machine.design[a, i], machine.design[b, i] = machine.design[b, i], machine.design[a, i]


@jit
def _weigh_anew(machine, problem, a, alpha):
    """Change or, with an infinite precision, delete a column; return whether that was kept."""
    before = _snapshot(machine)
    last = machine.size[0] - 1
    stays = math.isfinite(alpha)
    if stays:
        machine.alpha[a] = alpha
    else:
        _swap_columns(machine, a, last)
        machine.members[a] = machine.members[last]
        machine.alpha[a] = machine.alpha[last]
        machine.weight[a] = machine.weight[last]
        machine.edge_precision[a] = machine.edge_precision[last]
        machine.edge_shift[a] = machine.edge_shift[last]
        machine.size[0] = last
    refresh(machine, problem)
    if _rises(machine, before):
        return True
    if not stays:
        _swap_columns(machine, a, last)
    _restore(machine, before)
    return False


@jit
def settle(machine, problem, refused, most):
    """Weigh active columns anew and delete them while that gains, the best move first.

    ``refused`` marks candidates whose last move lowered the evidence; it is wiped by every move
    that is kept. At most ``most`` moves are tried. Returns the number of moves kept, and whether
    nothing is left to try.
    """
    kept = 0
    for _ in range(most):
        place, precision = best_change(machine, problem, refused)
        if place == 0:
            return kept, True
        member = machine.members[place]
        if _weigh_anew(machine, problem, place, precision):
            refused[:] = False
            kept += 1
        else:
            refused[member] = True
    return kept, False
