"""The reference sampler against quadrature and its own prior; expectation propagation against it.

Chains are long enough that a wrong conditional shows; standard errors come from batch means.
"""

import numpy as np
import pytest
from dense_model import batch_error
from scipy.special import gammaln, ndtr
from scipy.stats import norm
from vector_machine_setup import (
    draw_rows,
    exact_posterior,
    log_likelihood,
    make_problem,
    open_machine,
    quadrature,
    signed_design,
)

from sparsekern._jit import jit
from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.vector_machine.gibbs import GibbsSampler, sweep_once


def sample(design, labels, draws, precisions=None, prior=(1.0, 0.5), bias=0.1, seed=0):
    """Return weights, bias first, with positive sign."""
    signs = np.where(np.arange(len(design) - 1) % 2 == 0, 1.0, -1.0)  # undone below
    sampler = GibbsSampler(design, signs, labels, prior, bias, precisions=precisions)
    plan = Plan(tune=500, draws=draws, thin=1)
    rng = np.random.default_rng(seed)
    state, kept = sampler.start(rng, 0), sampler.allocate(plan)
    sampler.advance((rng, rng), state, None, kept, plan.sweeps, plan, True)
    assert (kept.n_active == len(signs)).all()
    weights = np.column_stack([kept.intercept[:, 0], kept.coefficients[:, 0] * signs])
    latent = weights @ design
    margin = log_likelihood("probit", labels * latent).sum(1)
    np.testing.assert_allclose(kept.log_likelihood, margin, rtol=1e-9)
    np.testing.assert_allclose(kept.monitored, ndtr(latent[:, sampler.monitored_rows]), atol=1e-12)
    return weights


def scores(values, expected):
    return (values.mean(0) - expected) / batch_error(values, 50)


def small_problem(seed, n=14, rows=(0, 3)):
    features, labels = draw_rows(seed, n)
    return signed_design(features, labels, np.array(rows)), labels


@pytest.mark.parametrize(
    ("draws", "limit"), [(40_000, 4.0), pytest.param(1_000_000, 4.0, marks=pytest.mark.slow)]
)
def test_sampler_with_fixed_precisions_against_quadrature(draws, limit):
    design, labels = small_problem(1)
    alpha = np.array([0.1, 0.6, 1.5])
    _, mean, covariance = exact_posterior(design, labels, alpha, nodes=50)
    weights = sample(design, labels, draws, precisions=alpha[1:])
    z = np.concatenate(
        [
            scores(weights, mean),
            scores(weights**2, np.diag(covariance) + mean**2),
            scores((weights[:, 1] * weights[:, 2])[:, None], covariance[1, 2] + mean[1] * mean[2]),
        ]
    )
    print(f"max |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() < limit


@pytest.mark.parametrize("draws", [40_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_sampler_with_learned_precisions_against_quadrature(draws):
    """With the gamma prior integrated out a weight is half Student."""
    design, labels = small_problem(2, rows=(0,))
    shape, rate, bias = 2.0, 1.5, 0.1

    def log_density(w):
        value = log_likelihood("probit", labels[:, None] * (design.T @ w)).sum(0)
        value -= 0.5 * bias * w[0] ** 2
        return value - (shape + 0.5) * np.log(rate + 0.5 * w[1] ** 2)

    _, mean, covariance = quadrature(log_density, [(-6.0, 6.0), (0.0, 40.0)], 200)
    weights = sample(design, labels, draws, prior=(shape, rate), bias=bias)
    z = np.concatenate(
        [scores(weights, mean), scores(np.minimum(weights, 40) ** 2, np.diag(covariance) + mean**2)]
    )
    print(f"max |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() < 4


@jit
def _alternate(rng, state, design, squares, labels, shape, rate, weights, alphas, sides):
    """Alternate sweeps and fresh labels given the function; write everything down."""
    n = labels.shape[0]
    fitted = np.empty(n)
    for t in range(weights.shape[0]):
        sweep_once(rng, state, design, squares, labels, shape, rate, True, fitted)
        for j in range(n):
            labels[j] = 1.0 if fitted[j] + rng.standard_normal() > 0 else -1.0
        weights[t] = state.weight
        alphas[t] = state.alpha
        sides[t] = labels


def _joint_scores(sweeps, seed, spoil=1.0):
    """Geweke's test; the columns of the design are held, as if they carried no labels."""
    rng = np.random.default_rng(seed)
    features, labels = draw_rows(seed, 5)
    design = signed_design(features, labels, np.arange(3))
    shape, rate, bias = 3.0, 2.0, 1.0
    sampler = GibbsSampler(design, np.ones(3), labels.copy(), (shape, rate), bias)
    state = sampler.start(rng, 0)
    weights, alphas = np.empty((sweeps, 4)), np.empty((sweeps, 4))
    sides = np.empty((sweeps, 5))
    squares = spoil * (design**2).sum(1)
    _alternate(rng, state, design, squares, sampler.response, shape, rate, weights, alphas, sides)
    count = 400_000
    alpha = rng.gamma(shape, 1 / rate, (count, 3))
    drawn = np.column_stack(
        [rng.standard_normal(count), np.abs(rng.standard_normal((count, 3))) / np.sqrt(alpha)]
    )
    side = np.where(drawn @ design + rng.standard_normal((count, 5)) > 0, 1.0, -1.0)

    def functionals(w, a, s):
        parts = [w[:, 0], w[:, 0] ** 2, *np.log1p(w[:, 1:]).T, *np.log(a).T]
        parts += [np.log(a[:, 0]) * np.log1p(w[:, 1]), s[:, 0], s[:, 1] * s[:, 2]]
        parts += [s[:, 0] * np.arctan(w @ design[:, 0]), np.log1p(w[:, 1]) * np.log1p(w[:, 2])]
        return np.column_stack(parts)

    chain, direct = functionals(weights, alphas[:, 1:], sides), functionals(drawn, alpha, side)
    error = np.hypot(batch_error(chain), direct.std(0) / np.sqrt(count))
    return (chain.mean(0) - direct.mean(0)) / error


@pytest.mark.parametrize("sweeps", [60_000, pytest.param(2_000_000, marks=pytest.mark.slow)])
def test_joint_law_of_parameters_and_labels(sweeps):
    z = _joint_scores(sweeps, 3)
    print(f"max |z| {np.abs(z).max():.2f} of {len(z)} functionals")
    assert np.abs(z).max() < 4


def test_a_wrong_conditional_precision_is_noticed():
    z = _joint_scores(60_000, 3, spoil=1.2)
    assert np.abs(z).max() > 6


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_expectation_propagation_against_a_long_run(seed):
    """Eight correlated columns, where quadrature ends; what EP itself errs by is allowed for."""
    features, labels = draw_rows(seed, 40)
    design = signed_design(features, labels, np.arange(8), 1.0)
    alpha = np.concatenate([[0.1], np.random.default_rng(seed).uniform(0.3, 2.0, 8)])
    machine = open_machine(design, alpha, make_problem("ep", labels))
    draws = 200_000
    weights = sample(design, labels, draws, precisions=alpha[1:], seed=seed)
    error = batch_error(weights, 50)
    sd = weights.std(0)
    gap = machine.mean[:9] - weights.mean(0)
    print(f"max |z| {np.abs(gap / error).max():.1f}, in sd {np.abs(gap / sd).max():.4f}")
    print(f"sd ratio {np.abs(np.sqrt(machine.variance[:9]) / sd - 1).max():.4f}")
    assert (np.abs(gap) < 4 * error + 0.02 * sd).all()
    np.testing.assert_allclose(np.sqrt(machine.variance[:9]), sd, rtol=0.05)
    new = np.random.default_rng(9).standard_normal((20, 2))
    columns = np.vstack([np.ones(20), np.empty((8, 20))])
    columns[1:] = labels[:8, None] * np.exp(-0.5 * ((features[:8, None] - new[None]) ** 2).sum(-1))
    covariance = np.tril(machine.inverse[:9, :9]).T @ np.tril(machine.inverse[:9, :9])
    spread = np.einsum("an,ab,bn->n", columns, covariance, columns)
    averaged = ndtr(machine.mean[:9] @ columns / np.sqrt(1 + spread))
    np.testing.assert_allclose(averaged, ndtr(weights @ columns).mean(0), atol=5e-3)
    plain = ndtr(machine.mean[:9] @ columns)
    assert np.abs(plain - ndtr(weights @ columns).mean(0)).max() > 0.01  # the variance matters


def test_half_student_prior_has_the_constant_used_here():
    shape, rate, w = 2.0, 1.5, 0.7
    grid = np.geomspace(1e-8, 200, 400_001)
    density = np.exp(shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(grid))
    density *= np.exp(-rate * grid) * 2 * norm.pdf(w, scale=grid**-0.5)
    other = density * 0
    other[:] = density * norm.pdf(0.2, scale=grid**-0.5) / norm.pdf(w, scale=grid**-0.5)
    ratio = np.trapezoid(density, grid) / np.trapezoid(other, grid)
    expected = ((rate + 0.5 * w**2) / (rate + 0.5 * 0.2**2)) ** -(shape + 0.5)
    assert ratio == pytest.approx(expected, rel=1e-6)
