"""Several classes at once: derivatives, evidence, gains and the mean of a softmax."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from speed import slow_except
from vector_machine_setup import columns_of, draw_rows, make_problem, open_machine, quadrature

from sparsekern.inference.vector_machine.gains import GAUSSIAN, RULES, gain
from sparsekern.inference.vector_machine.machine import empty_machine
from sparsekern.inference.vector_machine.multinomial import MulticlassMachine, fit_multiclass
from sparsekern.inference.vector_machine.multinomial_expansion import mean_softmax
from sparsekern.likelihoods.terms import LOGIT


def clouds(seed, n=30, classes=3):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % classes
    angle = 2 * np.pi * codes / classes
    features = rng.standard_normal((n, 2)) + 1.3 * np.column_stack([np.cos(angle), np.sin(angle)])
    return features, codes


def kernel_rows(features, rows, width=1.0):
    return np.exp(-0.5 * ((features[rows][:, None] - features[None]) ** 2).sum(-1) / width**2)


def open_state(design, of_class, alpha, codes, classes, signed):
    """The first ``classes`` columns of ``design`` are biases."""
    size, n = design.shape
    machine = empty_machine(n, size + 2, alpha[0])
    machine.size[0], machine.free[0] = size, classes
    machine.design[:size], machine.alpha[:size] = design, alpha
    room = np.concatenate([of_class, [0, 0]]).astype(np.int64)
    state = MulticlassMachine(machine, room, np.eye(classes)[codes], signed)
    state.refresh()
    return state


def small_state(seed=0, signed=True, classes=3, inner=5):
    features, codes = clouds(seed, classes=classes)
    rng = np.random.default_rng(seed)
    rows, of_class = np.arange(inner), rng.integers(0, classes, inner)
    sign = np.where(codes[rows] == of_class, 1.0, -1.0) if signed else np.ones(inner)
    design = np.vstack([np.ones((classes, 30)), sign[:, None] * kernel_rows(features, rows)])
    alpha = np.concatenate([np.full(classes, 0.1), rng.uniform(0.3, 2.0, inner)])
    of_class = np.concatenate([np.arange(classes), of_class])
    return open_state(design, of_class, alpha, codes, classes, signed), features, codes


def test_gradient_and_hessian_by_differences():
    state, _, _ = small_state(signed=False)
    rng = np.random.default_rng(0)
    w, size = rng.normal(size=state.size), state.size
    alpha = state.machine.alpha[:size]

    def slope_at(weight):
        return state._data_slope(state._value(weight)[1]) - alpha * weight

    numeric, bend = np.empty(size), np.empty((size, size))
    for a in range(size):
        step = 1e-5 * np.eye(size)[a]
        numeric[a] = (state._value(w + step)[0] - state._value(w - step)[0]) / 2e-5
        bend[a] = -(slope_at(w + step) - slope_at(w - step)) / 2e-5
    np.testing.assert_allclose(slope_at(w), numeric, atol=1e-8)
    gram = state._gram(state._value(w)[1]) + np.diag(alpha)
    np.testing.assert_allclose(gram, bend, atol=1e-8)
    latent = np.stack([(w * (state.of_class[:size] == c)) @ state.machine.design[:size]
                       for c in range(3)], axis=1)  # fmt: skip
    np.testing.assert_allclose(state.latent(w), latent, atol=1e-12)
    value = (state.target * log_softmax(latent, axis=1)).sum() - 0.5 * alpha @ w**2
    assert state._value(w)[0] == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_mode_satisfies_its_conditions(seed):
    state, _, _ = small_state(seed, inner=8)
    size, machine = state.size, state.machine
    w = machine.weight[:size]
    slope = state._data_slope(state.probability) - machine.alpha[:size] * w
    inside = (np.arange(size) < 3) | (w > 0)
    assert np.abs(slope[inside]).max() < 1e-5
    assert (slope[~inside] <= 1e-8).all()
    assert (w[3:] >= 0).all() and (machine.mean[3:size] > 0).all()
    assert (machine.edge_precision[3:size] > 0).all()
    assert (machine.edge_precision[:3] == 0).all()


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_two_classes_are_the_two_class_model(signed, seed):
    """Columns in one class only: the biases' difference has twice their variance."""
    features, labels = draw_rows(seed, 30)
    codes = (labels > 0).astype(int)
    rows = np.arange(4)
    columns = kernel_rows(features, rows) * (labels[rows][:, None] if signed else 1.0)
    alpha = np.array([0.5, 1.0, 2.0, 0.7])
    state = open_state(
        np.vstack([np.ones((2, 30)), columns]), np.array([0, 1, 1, 1, 1, 1]),
        np.concatenate([[0.2, 0.2], alpha]), codes, 2, signed,
    )  # fmt: skip
    problem = make_problem("laplace" if signed else "rvm", labels)._replace(likelihood=LOGIT)
    machine = open_machine(
        np.vstack([np.ones(30), columns]), np.concatenate([[0.1], alpha]), problem
    )
    assert state.machine.evidence[0] == pytest.approx(machine.evidence[0], abs=1e-7)
    np.testing.assert_allclose(state.machine.mean[2:6], machine.mean[1:5], atol=1e-6)
    np.testing.assert_allclose(state.machine.variance[2:6], machine.variance[1:5], rtol=1e-6)
    difference = state.machine.mean[1] - state.machine.mean[0]
    assert difference == pytest.approx(machine.mean[0], abs=1e-6)


@pytest.mark.parametrize("signed", [True, False])
def test_evidence_against_quadrature(signed):
    """Three biases and one column; close, as Laplace's method is with thirty rows."""
    features, codes = clouds(2)
    sign = 1.0 if not signed or codes[0] == 0 else -1.0
    design = np.vstack([np.ones((3, 30)), sign * kernel_rows(features, np.array([0]))])
    alpha, of_class = np.array([1.0, 1.0, 1.0, 0.5]), np.array([0, 1, 2, 0])
    state = open_state(design, of_class, alpha, codes, 3, signed)

    def log_density(w):
        latent = np.stack([w[0] + w[3] * design[3][:, None], w[1] + 0 * design[3][:, None],
                           w[2] + 0 * design[3][:, None]])  # fmt: skip
        out = np.zeros(w.shape[1])
        for i in range(30):
            out += log_softmax(latent[:, i], axis=0)[codes[i]]
        out += 0.5 * (np.log(alpha / (2 * np.pi))[:, None] - alpha[:, None] * w**2).sum(0)
        return out + np.log(2) * signed

    m, s = state.machine.mean[:4], np.sqrt(state.machine.variance[:4])
    boxes = [(a - 6 * b, a + 6 * b) for a, b in zip(m, s, strict=True)]
    if signed:
        boxes[3] = (0.0, m[3] + 8 * s[3])
    log_z, mean, _ = quadrature(log_density, boxes, 18)
    print(f"log Z {state.machine.evidence[0] - log_z:+.4f}")
    assert state.machine.evidence[0] == pytest.approx(log_z, abs=0.1)
    np.testing.assert_allclose(m, mean, atol=0.12)


def sites(state, design, of_class, alpha, d, h):
    """Log evidence of the Gaussian sites at the mode, up to a constant."""
    p, n = state.probability, len(state.target)
    at_mode = state.latent(state.machine.weight)
    precision, shift = np.diag(alpha + d), h.copy()
    for i in range(n):
        bend = np.diag(p[i]) - np.outer(p[i], p[i])
        block = np.zeros((len(alpha), p.shape[1]))
        block[np.arange(len(alpha)), of_class] = design[:, i]
        precision = precision + block @ bend @ block.T
        shift = shift + block @ (state.target[i] - p[i] + bend @ at_mode[i])
    value = np.log(alpha).sum() - np.linalg.slogdet(precision)[1]
    return 0.5 * (value + shift @ np.linalg.solve(precision, shift))


@pytest.mark.parametrize("signed", [True, False])
def test_gains_against_dense_evidence(signed):
    state, features, _ = small_state(1, signed)
    machine, size = state.machine, state.size
    design, alpha = machine.design[:size].copy(), machine.alpha[:size].copy()
    d, h = machine.edge_precision[:size].copy(), machine.edge_shift[:size].copy()
    of_class = state.of_class[:size]
    base = sites(state, design, of_class, alpha, d, h)
    table = kernel_rows(features, np.arange(10, 20))
    residual = state.residual()
    for c in range(3):
        s, q = state.information(table, c, residual)
        for m in range(10):
            found = sites(
                state, np.vstack([design, table[m]]), np.append(of_class, c),
                np.append(alpha, 0.7), np.append(d, 0.0), np.append(h, 0.0),
            )  # fmt: skip
            assert found - base == pytest.approx(gain(GAUSSIAN, 0.7, s[m], q[m]), abs=1e-8)
    for a in range(3, size):
        s, q = state.own_information(a)
        kept = np.arange(size) != a
        found = sites(state, design[kept], of_class[kept], alpha[kept], d[kept], h[kept])
        promised = -gain(GAUSSIAN, alpha[a], s + d[a], q + h[a])
        assert found - base == pytest.approx(promised, abs=1e-8)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("rule", ["gaussian", "truncated"])
@pytest.mark.parametrize("seed", slow_except(range(10), range(2)))
def test_fits_end_and_evidence_never_falls(signed, rule, seed):
    if rule == "truncated" and not signed:
        return
    n = [9, 30, 45][seed % 3]
    features, codes = clouds(seed, n, [3, 4][seed % 2])
    width = [0.05, 0.8, 3.0, 40.0][seed % 4]
    fitted = fit_multiclass(
        columns_of(features, np.ones(n), width), codes, codes, int(codes.max()) + 1,
        signed=signed, rule=RULES[rule], min_gain=0.1, bias_precision=0.01,
        max_active=4 * n, max_steps=500,
    )  # fmt: skip
    assert (np.diff(fitted.path[:, 0]) > 0).all()
    assert fitted.converged
    state = fitted.state
    size, classes = state.size, int(codes.max()) + 1
    fresh = open_state(
        state.machine.design[:size], state.of_class[:size], state.machine.alpha[:size],
        codes, classes, signed,
    )  # fmt: skip
    assert fresh.machine.evidence[0] == pytest.approx(fitted.path[-1, 0], abs=1e-4)


def test_the_order_of_the_classes_is_of_no_consequence():
    features, codes = clouds(3)
    found = []
    for order in ([0, 1, 2], [2, 0, 1]):
        mapped = np.array(order)[codes]
        fitted = fit_multiclass(
            columns_of(features, np.ones(30), 0.8), mapped, mapped, 3,
            signed=True, rule=GAUSSIAN, min_gain=0.1, bias_precision=0.01,
            max_active=90, max_steps=500,
        )  # fmt: skip
        found.append(fitted.path[-1, 0])
    assert found[0] == pytest.approx(found[1], abs=1e-4)


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_mean_softmax_against_simulation(classes):
    rng = np.random.default_rng(classes)
    mean = rng.normal(size=(6, classes))
    root = rng.normal(size=(6, classes, classes)) * np.array([0.1, 0.5, 1, 1, 2, 3])[:, None, None]
    covariance = np.einsum("nij,nkj->nik", root, root)
    found = mean_softmax(mean, covariance)
    np.testing.assert_allclose(found.sum(1), 1.0, atol=1e-12)
    draws = rng.standard_normal((200_000, classes))
    for row in range(6):
        exact = softmax(mean[row] + draws @ root[row].T, axis=1).mean(0)
        np.testing.assert_allclose(found[row], exact, atol=0.01 if row < 4 else 0.02)
    np.testing.assert_allclose(mean_softmax(mean, 0 * covariance), softmax(mean, axis=1))
