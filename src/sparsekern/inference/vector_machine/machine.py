r"""State of a sparse kernel machine, and the Gaussian form that every method shares.

Column 0 of the design is the bias, always active; column :math:`a\ge1` is
:math:`y_i\,\phi(\cdot,x_i)` (the sign only in models with non-negative weights). Every method
replaces likelihood factors by :math:`\exp(\nu_nf_n-\frac12\tau_nf_n^2)` and, for non-negative
weights, the edge at zero by :math:`\exp(h_aw_a-\frac12d_aw_a^2)`. Then

.. math:: H=A+D+\Phi^\top T\Phi=CC^\top,\quad \Sigma=H^{-1},\quad \mu=\Sigma(\Phi^\top\nu+h).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._jit import jit
from ...linalg.blas import cholesky_in_place, invert_lower_in_place
from ...linalg.triangular import dot

BIAS = -1  # in place of a candidate's number


class Machine(NamedTuple):
    """Active columns, their precisions and the Gaussian that stands for the posterior."""

    size: np.ndarray  # int64[1], active columns M, the biases included
    free: np.ndarray  # int64[1], leading columns without an edge at zero (the biases)
    members: np.ndarray  # int64[m], candidate of each column
    alpha: np.ndarray  # float64[m], prior precisions
    weight: np.ndarray  # float64[m], mode (where the method has one)
    edge_precision: np.ndarray  # float64[m], d
    edge_shift: np.ndarray  # float64[m], h
    mean: np.ndarray  # float64[m], mu
    variance: np.ndarray  # float64[m], diagonal of Sigma
    design: np.ndarray  # float64[m, n], a row for each column of Phi
    tau: np.ndarray  # float64[n]
    nu: np.ndarray  # float64[n]
    gram: np.ndarray  # float64[m, m], Phi' T Phi
    root: np.ndarray  # float64[m, m], C
    inverse: np.ndarray  # float64[m, m], inverse of C
    evidence: np.ndarray  # float64[1]


class Problem(NamedTuple):
    """What stays the same during a fit."""

    labels: np.ndarray  # float64[n], -1 or +1
    inference: int
    likelihood: int
    signed: bool  # whether weights are not negative
    rule: int  # which one-dimensional evidence decides
    min_gain: float


def empty_machine(n: int, capacity: int, bias_precision: float) -> Machine:
    """Return a machine with the bias alone, not yet refreshed."""

    def vector() -> np.ndarray:
        return np.zeros(capacity)

    machine = Machine(
        size=np.ones(1, np.int64), free=np.ones(1, np.int64),
        members=np.full(capacity, BIAS, np.int64),
        alpha=vector(), weight=vector(), edge_precision=vector(), edge_shift=vector(),
        mean=vector(), variance=vector(),
        design=np.empty((capacity, n)),
        tau=np.zeros(n), nu=np.zeros(n),
        gram=np.zeros((capacity, capacity)), root=np.zeros((capacity, capacity)),
        inverse=np.zeros((capacity, capacity)), evidence=np.full(1, -np.inf),
    )  # fmt: skip
    machine.design[0] = 1.0
    machine.alpha[0] = bias_precision
    return machine


def enlarged(machine: Machine) -> Machine:
    """Return the same machine with room for twice as many columns."""
    before, n = machine.design.shape
    after = empty_machine(n, 2 * before, 1.0)
    for old, new in zip(machine, after, strict=True):
        new[tuple(slice(length) for length in old.shape)] = old
    return after


@jit
def solve(machine, shift):
    r"""Factor H and write mean and variances; ``machine.gram`` holds :math:`\Phi^\top T\Phi`.

    ``shift`` is :math:`\Phi^\top\nu+h`. Returns :math:`-\frac12\log|H|+\frac12b^\top\mu`, b
    the shift, or NaN where H has no factor.
    """
    size = machine.size[0]
    root, inverse = machine.root, machine.inverse
    for a in range(size):
        for b in range(a):
            root[a, b] = machine.gram[a, b]
        root[a, a] = machine.gram[a, a] + machine.alpha[a] + machine.edge_precision[a]
    if cholesky_in_place(root, size) != 0:
        return math.nan
    log_determinant = 0.0
    for a in range(size):
        log_determinant += 2.0 * math.log(root[a, a])
        machine.mean[a] = 0.0
        machine.variance[a] = 0.0
        for b in range(a + 1):
            inverse[a, b] = root[a, b]
    invert_lower_in_place(inverse, size)
    form = 0.0
    for a in range(size):
        row = inverse[a]
        value = dot(row, shift, a + 1)
        form += value * value
        for b in range(a + 1):
            machine.mean[b] += row[b] * value
            machine.variance[b] += row[b] * row[b]
    return 0.5 * (form - log_determinant)


@jit
def fitted_values(machine, coefficients, out):
    """Write the values of the function with these coefficients at every row."""
    out[:] = 0.0
    for a in range(machine.size[0]):
        here = coefficients[a]
        if here != 0.0:
            column = machine.design[a]
            for i in range(out.shape[0]):
                out[i] += here * column[i]


@jit
def log_prior_constant(machine, signed):
    r"""Return :math:`\frac12\sum\log\alpha_a`, and :math:`\log2` for each half normal."""
    total = 0.0
    size = machine.size[0]
    for a in range(size):
        total += 0.5 * math.log(machine.alpha[a])
    return total + (size - machine.free[0]) * math.log(2.0) if signed else total
