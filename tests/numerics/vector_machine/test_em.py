"""The original algorithm: monotone, at a stationary point, and not by clipping."""

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.special import log_ndtr
from vector_machine_setup import columns_of, draw_rows, make_problem, signed_design

from sparsekern.inference.vector_machine.expectation_maximization import (
    _descend,
    fit_by_em,
    maximize,
)

BIAS = 0.01
PRIORS = [(1.0, 0.5), (1e-3, 1e-3), (0.1, 2.0)]


def objective(weight, design, labels, prior):
    value = log_ndtr(labels * (weight @ design)).sum() - 0.5 * BIAS * weight[0] ** 2
    return value - (prior[0] + 0.5) * np.log(prior[1] + 0.5 * weight[1:] ** 2).sum()


def inverse_mills(z):
    return np.exp(-0.5 * z * z - log_ndtr(z)) / np.sqrt(2 * np.pi)


def non_negative_ridge(design, response, precision):
    """The M-step by the algorithm of Lawson and Hanson, the free bias as a difference."""
    stacked = np.vstack([design.T, np.diag(np.sqrt(precision))])
    target = np.concatenate([response, np.zeros(len(precision))])
    both = np.column_stack([stacked[:, 0], -stacked[:, 0], stacked[:, 1:]])
    found, _ = nnls(both, target, maxiter=10_000)
    return np.concatenate([[found[0] - found[1]], found[2:]])


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("seed", range(4))
def test_objective_is_monotone_and_ends_at_a_stationary_point(prior, seed):
    features, labels = draw_rows(seed, 30)
    design = signed_design(features, labels, np.arange(30), [0.3, 1.0, 4.0][seed % 3])
    weight, precision, path = maximize(design, labels, prior, BIAS, 3000)
    assert (np.diff(path) > -1e-9 * np.abs(path[1:])).all()
    assert path[-1] == pytest.approx(objective(weight, design, labels, prior), rel=1e-10)
    assert (weight[1:] >= 0).all()
    np.testing.assert_allclose(
        precision[1:], (prior[0] + 0.5) / (prior[1] + 0.5 * weight[1:] ** 2), rtol=1e-12
    )
    assert precision[0] == BIAS
    margin = labels * (weight @ design)
    slope = design @ (labels * inverse_mills(margin)) - precision * weight
    inside = np.append(True, weight[1:] > 0)
    assert np.abs(slope[inside]).max() < 0.03  # EM creeps: its stop is relative to the objective
    assert slope[~inside].max(initial=0.0) < 0.03


@pytest.mark.parametrize("seed", range(3))
def test_the_maximisation_step_is_non_negative_least_squares(seed):
    features, labels = draw_rows(seed, 25)
    design = signed_design(features, labels, np.arange(25), 2.0)
    rng = np.random.default_rng(seed)
    response, precision = labels + 0.5 * rng.standard_normal(25), rng.uniform(0.1, 3.0, 26)
    weight = np.full(26, 0.2)
    gram = design @ design.T
    _descend(gram, design @ response, precision, weight, gram @ weight, 100_000)
    np.testing.assert_allclose(weight, non_negative_ridge(design, response, precision), atol=1e-4)
    slope = design @ response - gram @ weight - precision * weight
    inside = np.append(True, weight[1:] > 0)
    assert np.abs(slope[inside]).max() < 1e-4
    assert slope[~inside].max(initial=0.0) < 1e-4
    assert (~inside).any()


def test_clipping_is_no_maximisation():
    """Errata: an unconstrained solution clipped at zero lowers the objective."""
    falls = []
    for seed in range(8):
        features, labels = draw_rows(seed, 30)
        design = signed_design(features, labels, np.arange(30), 1.5)
        for clipped in (True, False):
            weight = np.append(0.0, np.full(30, 0.2))
            path = [objective(weight, design, labels, (1.0, 0.5))]
            for _ in range(30):
                latent = weight @ design
                response = latent + labels * inverse_mills(labels * latent)
                precision = np.append(BIAS, 1.5 / (0.5 + 0.5 * weight[1:] ** 2))
                if clipped:
                    matrix = design @ design.T + np.diag(precision)
                    weight = np.linalg.solve(matrix, design @ response)
                    weight[1:] = np.maximum(weight[1:], 0.0)
                else:
                    weight = non_negative_ridge(design, response, precision)
                path.append(objective(weight, design, labels, (1.0, 0.5)))
            worst = np.diff(path).min()
            if clipped:
                falls.append(worst)
            else:
                assert worst > -1e-10
    print(f"largest fall by clipping {min(falls):.2e}")
    assert min(falls) < -1e-5


def test_gaussian_after_the_algorithm_is_that_of_its_mode():
    features, labels = draw_rows(2, 40)
    problem = make_problem("laplace", labels)
    fitted = fit_by_em(
        columns_of(features, labels, 1.0),
        problem,
        precision_prior=(1.0, 0.5),
        bias_precision=BIAS,
        max_steps=3000,
    )
    machine, size = fitted.machine, int(fitted.machine.size[0])
    assert fitted.converged
    design = machine.design[:size]
    slope = design @ (labels * inverse_mills(labels * (machine.weight[:size] @ design)))
    slope -= machine.alpha[:size] * machine.weight[:size]
    assert np.abs(slope[machine.weight[:size] > 0]).max() < 1e-5
    assert np.isfinite(machine.evidence[0])
    assert (machine.mean[1:size] > 0).all()
    short = fit_by_em(
        columns_of(features, labels, 1.0),
        problem,
        precision_prior=(1.0, 0.5),
        bias_precision=BIAS,
        max_steps=3,
    )
    assert not short.converged and len(short.path) == 3
