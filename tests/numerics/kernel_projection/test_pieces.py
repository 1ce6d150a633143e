"""Pieces of the kernel projection models against quadrature, dense algebra and symmetry."""

import numpy as np
import pytest
from chain_setup import recompiled
from numpy.testing import assert_allclose
from projection_setup import make_sampler, orthogonal_columns, printed_order
from scipy.special import logsumexp
from scipy.stats import norm
from speed import slow_except

from sparsekern._jit import jit
from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.kernel_projection.latent_noise import (
    draw_noise_and_coefficients,
    noise_shape,
    slice_row,
)
from sparsekern.inference.kernel_projection.sampler import KernelProjectionSampler, Priors
from sparsekern.inference.kernel_projection.softmax import log_sum_of_others, row_log_likelihood


@jit
def many_slices(rng, centre, sd, label, out):
    latent, spare = centre.copy(), centre.copy()
    for t in range(out.shape[0]):
        slice_row(rng, latent, centre, spare, 0, sd, label, True)
        out[t] = latent[:, 0]


def test_one_row_against_a_grid():
    """Moments of the latent values of one row: the specification's numbers, and a grid."""
    mean, variance = np.array([0.7, -1.2]), 2.0
    grid = np.linspace(-12, 12, 1201)
    a, b = np.meshgrid(grid, grid, indexing="ij")
    log = a - np.logaddexp(np.logaddexp(a, b), 0)
    log -= ((a - mean[0]) ** 2 + (b - mean[1]) ** 2) / (2 * variance)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    exact = [np.sum(weight * f) for f in (a, b, a * a, a * b)]
    assert_allclose(exact, [1.341, -1.387, 3.307, -1.743], atol=6e-4)
    out = np.empty((200_000, 2))
    many_slices(np.random.default_rng(0), mean[:, None].copy(), np.sqrt(variance), 0, out)
    found = [out[:, 0].mean(), out[:, 1].mean(), (out[:, 0] ** 2).mean(), out.prod(1).mean()]
    assert_allclose(found, exact, atol=0.03)


def test_softmax_of_large_values():
    latent = np.array([[1e3], [-1e3], [5.0]])
    assert row_log_likelihood(latent, 0, 0, True) == 0.0
    assert row_log_likelihood(latent, 0, 1, True) == -2e3
    assert row_log_likelihood(latent, 0, 3, True) == -1e3
    assert_allclose(log_sum_of_others(latent, 0, 0, True), np.logaddexp(5, 0))
    assert_allclose(log_sum_of_others(latent, 0, 2, False), 1e3)


@jit
def many_blocks(rng, state, work, settings, noise, out):
    mean, spread = np.empty(state.coefficients.shape), np.empty(state.coefficients.shape)
    for t in range(noise.shape[0]):
        draw_noise_and_coefficients(rng, state, work, settings, mean, spread)
        noise[t] = state.noise[0]
        out[t] = state.coefficients


@pytest.mark.parametrize("dense", [False, True])
def test_noise_and_coefficients_against_quadrature(dense):
    """Moments of the block step against integration over log sigma^2."""
    columns = orthogonal_columns() + (0.4 if dense else 0.0)
    prior = (3.0, 2.0)
    priors = Priors(model="latent_noise", reference=True, noise=prior, precision=(2.0, 2.0))
    sampler = make_sampler(priors, columns=[columns])
    assert bool(len(sampler.settings.gram)) is dense
    rng = np.random.default_rng(2)
    state = sampler.start(rng, 0)
    state.latent[:] = rng.standard_normal(state.latent.shape) * 2 + 0.5
    state.precisions[:] = rng.gamma(2, 1, state.precisions.shape)
    design, n = sampler.settings.design.T, len(columns)
    energy = 0.0
    means = []
    for k in range(2):
        covariance = np.eye(n) + design @ np.diag(1 / state.precisions[k]) @ design.T
        z = state.latent[k]
        energy += z @ np.linalg.solve(covariance, z)
        inner = design.T @ design + np.diag(state.precisions[k])
        means.append(np.linalg.solve(inner, design.T @ z))
        # both forms of the rate
        residual = z - design @ means[k]
        safe = residual @ residual + state.precisions[k] @ means[k] ** 2
        assert_allclose(safe, z @ z - means[k] @ inner @ means[k], rtol=1e-10)
    grid = np.linspace(-6, 6, 4001)
    log = -(prior[0] + n) * grid - (prior[1] + 0.5 * energy) * np.exp(-grid)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    exact = weight @ np.exp(grid)
    assert_allclose(exact, (prior[1] + 0.5 * energy) / (prior[0] + n - 1), rtol=1e-6)
    printed = (prior[1] + 0.5 * energy) / (prior[0] + 2 * n - 1)  # the paper's shape, no half
    assert printed < 0.7 * exact
    noise, out = np.empty(40_000), np.empty((40_000, *state.coefficients.shape))
    many_blocks(rng, state, sampler.open(state), sampler.settings, noise, out)
    assert_allclose(noise.mean(), exact, rtol=0.01)
    assert_allclose(out.mean(0), means, atol=0.02)


@pytest.mark.parametrize("order", slow_except(["right", "printed"], ["right"]))
def test_coefficients_come_after_their_noise(order):
    """(beta - m)^2/(sigma^2 V) has mean 1; as printed (erratum 2) a/(a - 1), a the shape."""
    priors = Priors(model="latent_noise", reference=True, noise=(3.0, 2.0), precision=(2.0, 2.0))
    sampler = make_sampler(priors)
    rng = np.random.default_rng(4)
    state, settings = sampler.start(rng, 0), sampler.settings
    state.latent[:] = 2 * rng.standard_normal(state.latent.shape)
    right = state.latent @ settings.design.T
    total = settings.squares + state.precisions
    noise, out = np.empty(40_000), np.empty((40_000, *state.coefficients.shape))
    run = many_blocks
    if order == "printed":
        run = recompiled(many_blocks, draw_noise_and_coefficients=printed_order())
    run(rng, state, sampler.open(state), settings, noise, out)
    ratio = ((out - right / total) ** 2 * total).mean((1, 2)) / noise
    error = ratio.std() / np.sqrt(len(ratio))
    shape = noise_shape(settings, 12, 2)
    assert shape == 3.0 + 12
    expected = 1.0 if order == "right" else shape / (shape - 1)
    assert abs(ratio.mean() - expected) < 4 * error
    assert (abs(ratio.mean() - 1.0) > 10 * error) == (order == "printed")


def run(sampler, sweeps=600, seed=0):
    plan = Plan(100, sweeps - 100, 1)
    rng = np.random.default_rng(seed)
    state, draws = sampler.start(rng, 1), sampler.allocate(plan)
    sampler.advance((rng, rng), state, sampler.open(state), draws, plan.sweeps, plan, True)
    return draws


def simple_problem(n=40, seed=0):
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((n, 2)) + 0.4
    columns -= columns.mean(0)
    labels = np.argmax(columns @ [[2, -1, 0], [0, 1, -2]] + rng.gumbel(size=(n, 3)), axis=1)
    return columns, labels


def probabilities(sampler, draws):
    z = np.einsum("tkm,mn->tnk", draws.coefficients, sampler.settings.design)
    if sampler.priors.reference:
        z = np.concatenate([z, np.zeros((*z.shape[:2], 1))], axis=2)
    return np.exp(z - logsumexp(z, axis=2, keepdims=True)).mean(0)


@pytest.mark.parametrize("half_cauchy", [False, True])
def test_noise_free_posterior_against_quadrature(half_cauchy):
    """Two classes, one component, no intercept, the scale integrated on a grid."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal(15) + 0.3
    labels = (x + 0.8 * rng.standard_normal(15) > 0.2).astype(int)
    grid = np.linspace(-60, 60, 6001)  # the tail of the half-Cauchy law is heavy
    # beta ~ N(0, s^2), s half-Cauchy(2) or half-normal(2): the prior of beta, integrated over s
    levels = (np.arange(2000) + 0.5) / 2000
    s = 2.0 * (np.tan(0.5 * np.pi * levels) if half_cauchy else norm.ppf(0.5 + 0.5 * levels))
    prior = np.exp(-0.5 * (grid[:, None] / s) ** 2) / s
    log = np.log(prior.mean(1) + 1e-300) + sum(
        np.where(label == 0, -np.logaddexp(0, -grid * v), -np.logaddexp(0, grid * v))
        for v, label in zip(x, labels, strict=True)
    )
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean = weight @ grid
    sd = np.sqrt(weight @ grid**2 - mean**2)
    priors = Priors(reference=True, intercept=False, scale=2.0, half_cauchy=half_cauchy)
    draws = run(KernelProjectionSampler([x[:, None]], labels, 2, priors), 60_000)
    found = draws.coefficients[:, 0, 0]
    assert abs(found.mean() - mean) < 0.04 * sd
    assert abs(found.std() / sd - 1) < 0.05
    assert_allclose(np.tanh(found / 3).mean(), weight @ np.tanh(grid / 3), atol=0.006)


@pytest.mark.parametrize(
    ("priors", "sweeps"),
    [(Priors(), 4000), (Priors(model="latent_noise", precision=(1.0, 1.0)), 20_000)],
)
def test_symmetries_of_the_posterior(priors, sweeps):
    columns, labels = simple_problem()

    def predict(columns, labels, seed):
        sampler = KernelProjectionSampler([columns], labels, 3, priors)
        return probabilities(sampler, run(sampler, sweeps, seed))

    base = predict(columns, labels, 0)
    order = np.random.default_rng(1).permutation(len(labels))
    assert_allclose(predict(columns[order], labels[order], 1), base[order], atol=0.06)
    assert_allclose(predict(columns * [-1.0, 1.0], labels, 2), base, atol=0.06)
    other = np.array([2, 0, 1])
    assert_allclose(predict(columns, other[labels], 3)[:, other], base, atol=0.06)


def test_the_last_class_is_the_reference():
    columns, labels = simple_problem()
    sampler = KernelProjectionSampler([columns], labels, 3, Priors(reference=True))
    draws = run(sampler, 3000)
    assert draws.coefficients.shape[1] == 2
    found = probabilities(sampler, draws)
    assert_allclose(found.sum(1), 1, atol=1e-12)
    for k in range(3):
        assert found[labels == k, k].mean() > found[labels != k, k].mean() + 0.2


def test_a_class_without_rows_is_predicted_rarely():
    columns, labels = simple_problem()
    sampler = KernelProjectionSampler([columns], labels, 4, Priors())
    found = probabilities(sampler, run(sampler, 2000))
    assert np.all(found[:, 3] > 0)
    assert found[:, 3].max() < 0.3


def test_legs_do_not_change_draws():
    columns, labels = simple_problem()
    plan = Plan(20, 40, 2)
    kept = []
    for stops in ([plan.sweeps], [7, 33, 34, plan.sweeps]):
        sampler = KernelProjectionSampler([columns], labels, 3, Priors(average=True))
        rng = np.random.default_rng(0)
        state, draws = sampler.start(rng, 0), sampler.allocate(plan)
        for stop in stops:
            sampler.advance((rng, rng), state, sampler.open(state), draws, stop, plan, True)
        kept.append(draws)
    assert all(np.array_equal(a, b) for a, b in zip(*kept, strict=True))
