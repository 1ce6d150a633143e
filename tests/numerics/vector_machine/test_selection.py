"""Which column to take: informations, gains, moves, whole sequential fits."""

import numpy as np
import pytest
from speed import slow_except
from vector_machine_setup import (
    METHODS,
    columns_of,
    draw_rows,
    gaussian_kernel,
    make_problem,
    open_machine,
    signed_design,
    sites_evidence,
    small_machine,
)

from sparsekern.inference.vector_machine.columns import CandidateColumns
from sparsekern.inference.vector_machine.fit import fit_machine
from sparsekern.inference.vector_machine.gains import GAUSSIAN, TRUNCATED, best_precision, gain
from sparsekern.inference.vector_machine.moves import add_column, settle
from sparsekern.inference.vector_machine.selection import (
    outside_information,
    own_information,
    scan,
)

CASES = list(METHODS)


def run(method, features, labels, width, min_gain=0.1, max_steps=1000, **options):
    problem = make_problem(method, labels, min_gain)
    columns = columns_of(features, labels, width, problem.signed, **options)
    return fit_machine(
        columns, problem, bias_precision=0.01, max_active=len(labels), max_steps=max_steps
    )


def keep(machine, problem, without=None):
    """Return design, precisions and edges of the active columns, one of them left out."""
    size = int(machine.size[0])
    kept = np.array([a for a in range(size) if a != without])
    return (
        machine.design[kept],
        machine.alpha[kept],
        machine.edge_precision[kept],
        machine.edge_shift[kept],
    )


@pytest.mark.parametrize("method", CASES)
def test_information_of_active_columns(method):
    """Recomputed without the column, all other sites held."""
    machine, problem = small_machine(method, 1, size=6)
    worst = 0.0
    for a in range(1, 6):
        s, q = own_information(machine, problem, a)
        design, alpha, d, h = keep(machine, problem, a)
        column = machine.design[a]
        precision = np.diag(alpha + d) + (design * machine.tau) @ design.T
        cross = design @ (machine.tau * column)
        expected_s = column @ (machine.tau * column) - cross @ np.linalg.solve(precision, cross)
        mean = np.linalg.solve(precision, design @ machine.nu + h)
        expected_q = column @ (machine.nu - machine.tau * (mean @ design))
        if method == "smoothed":  # the edge stays with its column
            expected_s += machine.edge_precision[a]
            expected_q += machine.edge_shift[a]
        scale = max(1.0, abs(expected_q))
        worst = max(worst, abs(s - expected_s) / max(1.0, s), abs(q - expected_q) / scale)
    assert worst < 1e-8


@pytest.mark.parametrize("method", CASES)
def test_gains_of_active_columns_are_differences_of_evidences(method):
    machine, problem = small_machine(method, 2, size=5)
    base = sites_evidence(machine, *keep(machine, problem))
    for a in range(1, 5):
        s, q = own_information(machine, problem, a)
        d, h = machine.edge_precision[a], machine.edge_shift[a]
        design, alpha, others_d, others_h = keep(machine, problem)
        for factor in (0.3, 5.0):
            moved = alpha.copy()
            moved[a] *= factor
            found = sites_evidence(machine, design, moved, others_d, others_h) - base
            if method == "smoothed":  # the rule's (s, q) hold the edge
                promised = gain(GAUSSIAN, moved[a], s, q) - gain(GAUSSIAN, alpha[a], s, q)
            else:  # what the rule has taken out is put back: everything is Gaussian here
                promised = gain(GAUSSIAN, moved[a], s + d, q + h)
                promised -= gain(GAUSSIAN, alpha[a], s + d, q + h)
            assert found == pytest.approx(promised, abs=1e-8)
        deleted = sites_evidence(machine, *keep(machine, problem, a)) - base
        if method == "smoothed":
            assert deleted == pytest.approx(-gain(GAUSSIAN, alpha[a], s, q), abs=1e-8)
        else:
            assert deleted == pytest.approx(-gain(GAUSSIAN, alpha[a], s + d, q + h), abs=1e-8)


@pytest.mark.parametrize("method", CASES)
@pytest.mark.parametrize("single", [False, True])
def test_scan_against_dense_formulas(method, single):
    features, labels = draw_rows(4, 30)
    problem = make_problem(method, labels, 1e-9)
    rows = np.array([0, 5, 9])
    design = signed_design(features, labels, rows, 0.8, problem.signed)
    machine = open_machine(design, np.array([0.1, 1.0, 0.5, 2.0]), problem)
    table = gaussian_kernel(features, features, 0.8)
    s, q = np.empty(30), np.empty(30)
    outside_information(machine, table.astype(np.float32 if single else np.float64), s, q)
    base = sites_evidence(machine, *keep(machine, problem))
    design, alpha, d, h = keep(machine, problem)
    best = (0.0, -1)
    signs = labels if problem.signed else np.ones(30)
    for m in range(30):
        if m in rows:
            if not single:  # explained but for the prior, so never exactly zero
                assert s[m] >= 0
            continue
        precision = np.diag(alpha + d) + (design * machine.tau) @ design.T
        cross = design @ (machine.tau * table[m])
        expected = table[m] @ (machine.tau * table[m]) - cross @ np.linalg.solve(precision, cross)
        rtol = 1e-4 if single else 1e-9
        assert s[m] == pytest.approx(expected, rel=rtol)
        residual = machine.nu - machine.tau * (machine.mean[:4] @ design)
        assert q[m] == pytest.approx(table[m] @ residual, abs=1e-5 if single else 1e-10)
        if not single:
            for a in (0.2, 3.0):
                with_it = sites_evidence(
                    machine,
                    np.vstack([design, signs[m] * table[m]]),
                    np.append(alpha, a),
                    np.append(d, 0.0),
                    np.append(h, 0.0),
                )
                assert with_it - base == pytest.approx(
                    gain(GAUSSIAN, a, s[m], signs[m] * q[m]), abs=1e-8
                )
        edge = (2.25, 1.5) if method == "smoothed" else (0.0, 0.0)
        pair = s[m] + edge[0], signs[m] * q[m] + edge[1]
        value = gain(problem.rule, best_precision(problem.rule, problem.signed, *pair), *pair)
        best = max(best, (value, m))
    closed = np.isin(np.arange(30), rows)
    place, precision, found = scan(machine, problem, table, signs, closed)
    if best[1] >= 0:
        assert found == pytest.approx(best[0], rel=1e-3 if single else 1e-9)
        assert place == best[1]


@pytest.mark.parametrize("method", CASES)
def test_a_refused_move_leaves_no_trace(method):
    features, labels = draw_rows(6, 30)
    fitted = run(method, features, labels, 0.8)
    machine = fitted.machine
    problem = make_problem(method, labels, 0.1)
    before = [values.copy() for values in machine]
    size = int(machine.size[0])
    inside = set(fitted.members)
    refused = 0
    for m in range(30):
        if m in inside:
            continue
        column = gaussian_kernel(features, features[[m]], 0.8)[:, 0]
        sign = labels[m] if problem.signed else 1.0
        if add_column(machine, problem, -column * 3.0, sign, m, 1e-6):
            break
        refused += 1
        for old, new in zip(before, machine, strict=True):
            if old.ndim == 2 and old.shape[0] == old.shape[1]:
                np.testing.assert_array_equal(
                    np.tril(new[:size, :size]), np.tril(old[:size, :size])
                )
            elif len(old) == len(labels):
                np.testing.assert_array_equal(new, old)
            else:
                np.testing.assert_array_equal(new[:size], old[:size])
    assert refused > 0


@pytest.mark.parametrize("method", CASES)
def test_settling_a_settled_machine_does_nothing(method):
    features, labels = draw_rows(7, 40)
    fitted = run(method, features, labels, 0.8)
    problem = make_problem(method, labels, 0.1)
    closed = np.zeros(40, bool)
    before = fitted.machine.evidence[0]
    settle(fitted.machine, problem, closed, 100)
    assert fitted.machine.evidence[0] >= before


@pytest.mark.parametrize("method", CASES)
@pytest.mark.parametrize("seed", slow_except(range(50), range(2)))
def test_fits_end_and_evidence_never_falls(method, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 60))
    features, labels = draw_rows(seed, n, shift=[0.0, 0.8, 5.0][seed % 3])
    if seed % 5 == 0:
        features = np.repeat(features[: n // 2 + 1], 2, axis=0)[:n]  # repeated rows
    width = float(np.exp(rng.uniform(np.log(0.03), np.log(20))))
    fitted = run(method, features, labels, width, [0.1, 1e-2][seed % 2])
    evidence = fitted.path[:, 0]
    assert (np.diff(evidence) > 0).all()
    assert fitted.converged
    assert len(fitted.path) < 1000
    assert np.isfinite(fitted.machine.mean[: fitted.machine.size[0]]).all()
    assert len(set(fitted.members)) == len(fitted.members)
    # the evidence reported is that of a machine made anew
    size = int(fitted.machine.size[0])
    fresh = open_machine(
        fitted.machine.design[:size],
        fitted.machine.alpha[:size],
        make_problem(method, labels),
    )
    assert fresh.evidence[0] == pytest.approx(evidence[-1], abs=1e-4 * max(1, abs(evidence[-1])))


@pytest.mark.parametrize("method", ["laplace truncated", "ep", "rvm"])
@pytest.mark.parametrize("width", [0.3, 1.0, 4.0])
def test_single_precision_only_ranks(method, width):
    features, labels = draw_rows(11, 60)
    double = run(method, features, labels, width)
    single = run(method, features, labels, width, single=True)
    assert single.machine.design.dtype == np.float64
    if set(single.members) == set(double.members):
        gap = abs(single.path[-1, 0] - double.path[-1, 0])
        assert gap < 1e-2
    else:
        assert abs(single.path[-1, 0] - double.path[-1, 0]) < 0.3


@pytest.mark.parametrize("method", ["laplace", "ep", "rvm"])
def test_blocks_of_candidates_reach_a_model_as_good(method):
    features, labels = draw_rows(12, 60)
    whole = run(method, features, labels, 0.8)
    blocks = run(method, features, labels, 0.8, block=7)
    assert blocks.converged
    assert blocks.path[-1, 0] > whole.path[-1, 0] - 3.0
    # nothing is left to gain in any block
    problem = make_problem(method, labels, 0.1)
    table = gaussian_kernel(features, features, 0.8)
    closed = np.isin(np.arange(60), blocks.members)
    signs = labels if problem.signed else np.ones(60)
    place, _, _ = scan(blocks.machine, problem, table, signs, closed)
    if place >= 0:  # what gains on paper was refused in fact
        _, alpha, _ = scan(blocks.machine, problem, table, signs, closed)
        assert not add_column(
            blocks.machine, problem, table[place], float(signs[place]), place, alpha
        )


def test_columns_made_on_demand(monkeypatch):
    features, labels = draw_rows(12, 60)
    held = run("laplace", features, labels, 0.8, block=16)
    monkeypatch.setattr("sparsekern.inference.vector_machine.columns.HELD_NUMBERS", 10)
    made = run("laplace", features, labels, 0.8, block=16)
    np.testing.assert_array_equal(held.members, made.members)
    np.testing.assert_allclose(held.path, made.path, rtol=1e-12)


def test_more_columns_than_there_is_room_for_at_first():
    features, labels = draw_rows(13, 70, shift=0.2)
    fitted = run("laplace truncated", features, labels, 0.1, 0.05)
    assert len(fitted.members) > 32
    assert (np.diff(fitted.path[:, 0]) > 0).all()


def test_step_and_size_limits():
    features, labels = draw_rows(13, 60)
    problem = make_problem("laplace truncated", labels, 1e-3)
    columns = columns_of(features, labels, 0.5)
    for steps, active in ((1, 60), (5, 60), (40, 60), (1000, 3)):
        fitted = fit_machine(
            columns, problem, bias_precision=0.01, max_active=active, max_steps=steps
        )
        assert fitted.converged == (active < 60)  # a limit on the size is a wish, not a failure
        assert len(fitted.members) <= active
        assert len(fitted.path) <= steps + 1


def test_every_candidate_active_is_an_end_like_any_other():
    features, labels = draw_rows(0, 4)
    columns = columns_of(features * 10, labels, 0.1)
    fitted = fit_machine(
        columns,
        make_problem("laplace truncated", labels, 1e-3),
        bias_precision=0.01,
        max_active=4,
        max_steps=1000,
    )
    assert len(fitted.members) == 4
    assert fitted.converged


def test_no_candidates_at_all():
    labels = np.array([1.0, -1.0, 1.0])
    columns = CandidateColumns(lambda chosen: np.empty((0, 3)), np.empty(0), 3, 1)
    fitted = fit_machine(
        columns, make_problem("laplace", labels), bias_precision=0.01, max_active=1, max_steps=9
    )
    assert fitted.converged and len(fitted.members) == 0


def test_gaussian_rule_takes_less_than_the_truncated_one():
    features, labels = draw_rows(14, 80)
    assert len(run("laplace", features, labels, 0.8).members) < len(
        run("laplace truncated", features, labels, 0.8, 0.01).members
    )
    assert TRUNCATED != GAUSSIAN


def test_information_that_is_rounding_makes_no_precision_of_zero():
    # a column of which the data say nothing: 1 / Sigma - alpha is zero up to rounding
    features, labels = draw_rows(3, 30)
    problem = make_problem("rvm", labels, 0.1)
    columns = columns_of(features, labels, 0.5)
    fitted = fit_machine(columns, problem, bias_precision=0.01, max_active=30, max_steps=50)
    machine = fitted.machine
    machine.alpha[1] = 1.0 / machine.variance[1]
    s, _ = own_information(machine, problem, 1)
    assert s >= 1e-13 * (1.0 / machine.variance[1])


def test_a_wide_kernel_is_not_stuck_where_no_column_gains_alone():
    rng = np.random.default_rng(4)
    features = rng.uniform(-3, 3, (200, 1))
    labels = np.where(np.cos(2 * features[:, 0]) > 0, 1.0, -1.0)
    columns = columns_of(features, labels, 2.5)
    fitted = fit_machine(
        columns, make_problem("rvm", labels, 0.3), bias_precision=0.01, max_active=200,
        max_steps=500,
    )  # fmt: skip
    machine, size = fitted.machine, fitted.machine.size[0]
    assert len(fitted.members) > 2
    assert np.mean((machine.mean[:size] @ machine.design[:size]) * labels > 0) > 0.9
