"""Columns to start from, and what starting from them is worth."""

import numpy as np
import pytest
from scipy.linalg import qr
from vector_machine_setup import columns_of, draw_rows, gaussian_kernel, make_problem

from sparsekern.inference.vector_machine.columns import CandidateColumns
from sparsekern.inference.vector_machine.fit import _climb, fit_machine
from sparsekern.inference.vector_machine.machine import empty_machine
from sparsekern.inference.vector_machine.regression import fit_regression
from sparsekern.inference.vector_machine.selection import refresh
from sparsekern.inference.vector_machine.starts import (
    START_COLUMNS,
    START_VARIANCE,
    pivots,
    spread_columns,
)


def banana(seed, n=300):
    """Return two interleaved arcs."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.uniform(size=n) < 0.5, 1.0, -1.0)
    angle = rng.uniform(0, np.pi, n)
    arcs = np.column_stack([np.cos(angle), np.sin(angle)])
    features = np.where(labels[:, None] > 0, arcs, [1.0, 0.4] - arcs)
    return features + rng.normal(0, 0.25, (n, 2)), labels


def from_the_bias(columns, problem):
    machine = empty_machine(columns.n_rows, 32, 0.01)
    refresh(machine, problem)
    return _climb(machine, columns, problem, columns.n_rows, 1000, None)


def fit(columns, problem):
    return fit_machine(
        columns, problem, bias_precision=0.01, max_active=columns.n_rows, max_steps=1000
    )


@pytest.mark.parametrize("width", [0.2, 1.0])
def test_pivots_are_those_of_a_dense_factorisation(width):
    features, _ = draw_rows(1, 60)
    table = gaussian_kernel(features, features, width)
    chosen, squares = pivots(table, 8)
    centred = table - table.mean(axis=1, keepdims=True)  # the bias projected out
    _, factor, order = qr(centred.T, mode="economic", pivoting=True)
    np.testing.assert_array_equal(chosen, order[:8])
    np.testing.assert_allclose(squares, np.diag(factor)[:8] ** 2, rtol=1e-6)


def test_pivots_end_where_nothing_is_left():
    rng = np.random.default_rng(2)
    three = rng.normal(size=(3, 30))
    table = np.vstack([three, three[:2] - three[1:], np.ones((1, 30)), 2 * three])
    assert len(pivots(table, 8)[0]) == 3
    assert len(pivots(np.ones((4, 30)), 8)[0]) == 0


@pytest.mark.parametrize("single", [False, True])
def test_precisions_give_every_column_its_variance(single):
    features, labels = draw_rows(3, 50)
    columns = columns_of(features, labels, 0.5, single=single)
    chosen, precisions = spread_columns(columns, 50)
    assert len(np.unique(chosen)) == START_COLUMNS
    design = np.column_stack([np.ones(50)] + [columns.column(m) for m in chosen])
    for k in range(1, START_COLUMNS + 1):
        before = design[:, :k]
        rest = design[:, k] - before @ np.linalg.lstsq(before, design[:, k])[0]
        added = np.mean(rest**2) / precisions[k - 1]
        assert added == pytest.approx(START_VARIANCE, rel=1e-2 if single else 1e-6)


def test_fewer_columns_than_wanted():
    features, labels = draw_rows(4, 30)
    columns = columns_of(features, labels, 0.5)
    assert len(spread_columns(columns, 3)[0]) == 3
    none = CandidateColumns(lambda chosen: np.empty((0, 3)), np.empty(0), 3, 1)
    assert len(spread_columns(none, 3)[0]) == 0


@pytest.mark.parametrize("method", ["laplace", "rvm"])
def test_the_evidence_is_at_least_that_of_a_climb_from_the_bias(method):
    better = 0
    for seed in range(6):
        features, labels = banana(seed, 120)
        problem = make_problem(method, labels, 0.3)
        columns = columns_of(features, labels, 0.8, problem.signed)
        alone, best = from_the_bias(columns, problem), fit(columns, problem)
        assert best.machine.evidence[0] >= alone.machine.evidence[0]
        better += best.machine.evidence[0] > alone.machine.evidence[0] + 1.0
    assert better > 0  # or the second start is not there


def test_a_wide_kernel_separates_two_arcs():
    """A climb from the bias alone ends at a poor maximum."""
    losses = []
    for seed in range(4):
        features, labels = banana(seed)
        problem = make_problem("rvm", labels, 0.3)
        columns = columns_of(features, labels, 1.5, signed=False)
        wrong = []
        for fitted in (from_the_bias(columns, problem), fit(columns, problem)):
            machine, size = fitted.machine, fitted.machine.size[0]
            wrong.append(np.mean((machine.mean[:size] @ machine.design[:size]) * labels < 0))
        losses.append(wrong)
    alone, both = np.mean(losses, axis=0)
    assert both < 0.06 and alone > 0.1


def test_regression_with_a_wide_kernel():
    rng = np.random.default_rng(0)
    features = rng.uniform(-3, 3, (150, 1))
    targets = np.cos(2 * features) + 0.1 * rng.standard_normal((150, 1))
    columns = columns_of(features, np.ones(150), 2.0, signed=False)
    fitted = fit_regression(
        columns, targets, min_gain=0.1, bias_precision=0.01, max_active=150, max_steps=1000
    )
    assert fitted.converged
    assert fitted.noise_variance[0] < 0.1 * targets.var()
