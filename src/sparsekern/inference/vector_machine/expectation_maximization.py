r"""The original algorithm: expectation-maximisation over all candidates at once.

Each precision has a Gamma(a, rate b) prior. Given the weights, :math:`\bar z=f+y\,r(yf)` and
:math:`\bar\alpha_i=(a+\frac12)/(b+\frac12w_i^2)`; then the weights minimise :math:`|\bar z-\Phi
w|^2+\sum\bar\alpha_iw_i^2` on :math:`w_{i\ge1}\ge0`. (An unconstrained solution clipped at zero is
not a maximisation.) The non-negative least squares problem is solved by coordinate descent on the
normal equations, each M-step from where the last one ended; the objective

.. math:: \sum_n\log\Phi(y_nf_n)-\sum_i(a+\tfrac12)\log(b+\tfrac12w_i^2)

never falls. b must be positive: with b = 0 the objective is unbounded at :math:`w_i\to0`. The
solution is then the mode of a model with precisions :math:`\bar\alpha`, whose Gaussian, evidence
and left-out predictions come from Laplace's method.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..._jit import jit
from ...likelihoods.probit import probit_terms
from .columns import CandidateColumns
from .fit import FittedMachine
from .machine import Problem, empty_machine
from .selection import refresh

_SCANS = 25  # of coordinate descent in one M-step
_TOLERANCE = 1e-8  # of the objective between steps


@jit
def _descend(gram, product, precision, weight, slope, scans):
    """Lower the quadratic by cyclic exact coordinate steps; ``slope`` is gram @ weight."""
    count = weight.shape[0]
    for _ in range(scans):
        largest = 0.0
        for i in range(count):
            curvature = gram[i, i] + precision[i]
            new = weight[i] + (product[i] - slope[i] - precision[i] * weight[i]) / curvature
            if i > 0 and new < 0.0:
                new = 0.0
            change = new - weight[i]
            if change != 0.0:
                weight[i] = new
                largest = max(largest, change * change * curvature)
                row = gram[i]
                for j in range(count):
                    slope[j] += change * row[j]
        if largest < 1e-12:
            break


@jit
def _expected_response(labels, latent, out):
    """Write the mean of each truncated latent variable; return the log-likelihood."""
    total = 0.0
    for i in range(labels.shape[0]):
        value, gradient, _, _ = probit_terms(labels[i], latent[i], 0.0, 0.0)
        out[i] = latent[i] + gradient
        total += value
    return total


def maximize(
    design: np.ndarray,
    labels: np.ndarray,
    prior: tuple[float, float],
    bias_precision: float,
    max_steps: int,
    report: Callable[[], None] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weights, precisions and the objective after every step; ``design`` is by column."""
    shape, rate = prior
    gram = design @ design.T
    weight = np.zeros(len(design))
    # from unit weights: a weight of exactly zero has so large a precision that it is slow to leave
    weight[1:] = 1.0 / max(1.0, math.sqrt(len(design)))
    response = np.empty(len(labels))
    path: list[float] = []
    precision = np.full(len(design), bias_precision)
    for _ in range(max_steps):
        if report is not None:
            report()
        value = _expected_response(labels, weight @ design, response)
        value -= (shape + 0.5) * float(np.log(rate + 0.5 * weight[1:] ** 2).sum())
        value -= 0.5 * bias_precision * weight[0] ** 2
        path.append(value)
        if len(path) > 1 and value - path[-2] < _TOLERANCE * max(1.0, abs(value)):
            break
        precision[1:] = (shape + 0.5) / (rate + 0.5 * weight[1:] ** 2)
        slope = gram @ weight
        _descend(gram, design @ response, precision, weight, slope, _SCANS)
    precision[1:] = (shape + 0.5) / (rate + 0.5 * weight[1:] ** 2)
    return weight, precision, np.array(path)


def fit_by_em(
    columns: CandidateColumns,
    problem: Problem,
    *,
    precision_prior: tuple[float, float],
    bias_precision: float,
    max_steps: int,
    report: Callable[[], None] | None = None,
) -> FittedMachine:
    """Fit all candidates at once and keep those with a positive weight."""
    count = len(columns.signs)
    design = np.ones((count + 1, columns.n_rows))
    for number in range(columns.n_blocks):
        chosen, table = columns.block(number)
        design[1:][chosen] = columns.signs[chosen, None] * table
    weight, precision, objective = maximize(
        design, problem.labels, precision_prior, bias_precision, max_steps, report
    )
    members = np.flatnonzero(weight[1:] > 0.0)
    machine = empty_machine(columns.n_rows, len(members) + 1, bias_precision)
    size = len(members) + 1
    machine.size[0] = size
    machine.members[1:size] = members
    machine.alpha[1:size] = precision[1:][members]
    machine.weight[0], machine.weight[1:size] = weight[0], weight[1:][members]
    machine.design[1:size] = design[1:][members]
    refresh(machine, problem)
    if not math.isfinite(machine.evidence[0]):
        raise ValueError(
            "The columns of inference='em' are not independent to working precision: the kernel is "
            f"as large as {np.abs(machine.design[:size]).max():.3g}, which precisions near one "
            "cannot tell apart; divide the kernel by that, or use inference='laplace'."
        )
    path = np.column_stack([objective, np.full(len(objective), size)])
    return FittedMachine(machine, len(objective) < max_steps, path)
