"""The variational engine of multiple kernel learning: its bound, its steps, its predictions."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import solve_triangular
from scipy.stats import gamma, multivariate_normal, norm
from speed import slow_except

from sparsekern.inference.multiple_kernel.gamma_factor import GammaFactor
from sparsekern.inference.multiple_kernel.shared.bound import evidence_bound
from sparsekern.inference.multiple_kernel.shared.fit import Schedule, fit_kernels, fitted_values
from sparsekern.inference.multiple_kernel.shared.posterior import Hyperpriors
from sparsekern.inference.multiple_kernel.shared.prediction import predict
from sparsekern.inference.multiple_kernel.shared.start import scale_step, start_posterior
from sparsekern.inference.multiple_kernel.shared.updates import (
    Problem,
    sweep,
    update_intermediate,
    update_kernel_weights,
    update_noise,
    update_sample_weights,
)

PLAIN = Hyperpriors()
SPARSE = Hyperpriors(sample=(1e-10, 1e10), kernel=(1e-10, 1e10))
SHARING = ("kernel_weights", "sample_weights")


def make_problem(seed, n=40, p=3, outputs=2, vectors=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    kernels = np.stack([np.exp(-0.5 * (X[:, [m]] - X[:, m]) ** 2) for m in range(p)])
    targets = np.sin(2 * X[:, :1]) + 0.5 * X[:, 1:2] * np.arange(outputs)
    targets = targets + 0.3 * rng.standard_normal((n, outputs))
    return Problem.of(
        kernels[:, :vectors], 1.5 + (targets - targets.mean(0)) / targets.std(0)
    )  # off centre: biases matter


def make_posterior(problem, share, hyperpriors=PLAIN, sweeps=10):
    posterior = start_posterior(problem, share, hyperpriors, np.random.default_rng(1))
    for _ in range(sweeps):
        sweep(problem, posterior)
    return posterior


def steps(problem, posterior, rescale):
    yield "sample weights", lambda: update_sample_weights(problem, posterior.samples)
    yield "intermediate", lambda: update_intermediate(problem, posterior)
    yield "noise", lambda: update_noise(problem, posterior)
    for number in range(len(posterior.kernels)):
        yield "kernel weights", lambda k=number: update_kernel_weights(problem, posterior, k)
    if rescale:
        yield "scale", lambda: scale_step(posterior)


@pytest.mark.parametrize("share", SHARING)
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("hyperpriors", [PLAIN, SPARSE], ids=["plain", "sparse"])
@pytest.mark.parametrize("vectors", [None, 15])
def test_no_step_lowers_the_bound(share, outputs, hyperpriors, vectors):
    problem = make_problem(0, outputs=outputs, vectors=vectors)
    posterior = make_posterior(problem, share, hyperpriors, sweeps=1)
    before = evidence_bound(problem, posterior)
    for _ in range(60):
        for name, step in steps(problem, posterior, hyperpriors is PLAIN):
            step()
            after = evidence_bound(problem, posterior)
            assert after >= before - 1e-9 * abs(before), name
            before = after


def log_gamma(factor, value, prior):
    shape, scale = factor.prior if prior else (factor.shape, factor.scale)
    return gamma.logpdf(value, shape, scale=scale).sum(axis=-1)


def sample_gamma(rng, factor, count):
    form = (count, *np.shape(factor.shape))
    return np.atleast_2d(rng.gamma(factor.shape, factor.scale, form)).reshape(count, -1)


@pytest.mark.parametrize("draws", slow_except((4000, 60_000), (4000,)))
@pytest.mark.parametrize("share", SHARING)
def test_the_bound_is_the_mean_of_log_p_less_log_q(share, draws):
    problem = make_problem(3, n=6, p=2, outputs=2, vectors=4)
    posterior = make_posterior(problem, share, sweeps=5)
    rng = np.random.default_rng(5)
    p, _, n = problem.kernels.shape
    total = np.zeros(draws)
    intermediate = []
    for block in posterior.samples:
        lam = sample_gamma(rng, block.precision, draws)
        ups = sample_gamma(rng, block.intermediate_precision, draws)[:, 0]
        root = solve_triangular(block.factor.root, np.diag(block.factor.reach), lower=True)
        cov_a = root.T @ root
        a = rng.multivariate_normal(block.mean, cov_a, draws)
        g = block.intermediate + np.einsum(
            "mk,tkn->tmn", np.linalg.cholesky(block.covariance), rng.standard_normal((draws, p, n))
        )
        for factor, value in ((block.precision, lam), (block.intermediate_precision, ups[:, None])):
            total += log_gamma(factor, value, True) - log_gamma(factor, value, False)
        total += norm.logpdf(a, 0, lam**-0.5).sum(1)
        total -= multivariate_normal(block.mean, cov_a).logpdf(a)
        centre = np.einsum("mdn,td->tmn", problem.kernels, a)
        total += norm.logpdf(g, centre, ups[:, None, None] ** -0.5).sum((1, 2))
        for i in range(n):
            law = multivariate_normal(block.intermediate[:, i], block.covariance)
            total -= law.logpdf(g[:, :, i])
        intermediate.append(g)
    for number, block in enumerate(posterior.kernels):
        omega = sample_gamma(rng, block.precision, draws)
        total += log_gamma(block.precision, omega, True) - log_gamma(block.precision, omega, False)
        mine = [(o, out) for o, out in enumerate(posterior.outputs) if out.kernels == number]
        # biases and kernel weights of a block are jointly normal: b | e are independent
        e = rng.multivariate_normal(block.mean, block.covariance, draws)
        total += norm.logpdf(e, 0, omega**-0.5).sum(1)
        total -= multivariate_normal(block.mean, block.covariance).logpdf(e)
        for o, output in mine:
            gam = sample_gamma(rng, output.bias_precision, draws)[:, 0]
            eps = sample_gamma(rng, output.noise_precision, draws)[:, 0]
            for factor, value in ((output.bias_precision, gam), (output.noise_precision, eps)):
                total += log_gamma(factor, value[:, None], True)
                total -= log_gamma(factor, value[:, None], False)
            slope = np.linalg.solve(block.covariance, output.bias_cross)
            centre = output.bias + (e - block.mean) @ slope
            sd = output.conditional_precision**-0.5
            b = centre + sd * rng.standard_normal(draws)
            total += norm.logpdf(b, 0, gam**-0.5) - norm.logpdf(b, centre, sd)
            function = np.einsum("tm,tmn->tn", e, intermediate[output.samples]) + b[:, None]
            target = problem.targets[:, o]
            total += norm.logpdf(target, function, eps[:, None] ** -0.5).sum(1)
    error = total.std() / np.sqrt(draws)
    z = (total.mean() - evidence_bound(problem, posterior)) / error
    print(share, draws, "z", round(z, 2), "error", round(error, 4))
    assert abs(z) < 4


def test_both_ways_of_sharing_agree_for_one_output():
    problem = make_problem(2, outputs=1)
    first, second = (make_posterior(problem, share, sweeps=30) for share in SHARING)
    bounds = [evidence_bound(problem, posterior) for posterior in (first, second)]
    assert_allclose(bounds[0], bounds[1], rtol=1e-12)
    assert_allclose(fitted_values(first), fitted_values(second), rtol=0, atol=1e-10)


@pytest.mark.parametrize("share", SHARING)
def test_bias_and_kernel_weights_equal_the_dense_solution(share):
    problem = make_problem(4, outputs=2)
    posterior = make_posterior(problem, share, sweeps=3)
    for number, block in enumerate(posterior.kernels):
        mine = [(o, out) for o, out in enumerate(posterior.outputs) if out.kernels == number]
        count, p = len(mine), len(block.mean)
        dense, pull = np.zeros((count + p,) * 2), np.zeros(count + p)
        dense[count:, count:] += np.diag(block.precision.mean)
        for place, (o, output) in enumerate(mine):
            samples, target = posterior.samples[output.samples], problem.targets[:, o]
            weight, centre = float(output.noise_precision.mean), samples.intermediate
            dense[place, place] = float(output.bias_precision.mean) + len(target) * weight
            dense[place, count:] = dense[count:, place] = weight * centre.sum(1)
            dense[count:, count:] += weight * (centre @ centre.T + len(target) * samples.covariance)
            pull[place] += weight * target.sum()
            pull[count:] += weight * centre @ target
        covariance = np.linalg.inv(dense)
        mean = covariance @ pull
        assert_allclose(block.mean, mean[count:], rtol=1e-9)
        assert_allclose(block.covariance, covariance[count:, count:], rtol=1e-8, atol=1e-14)
        for place, (_, output) in enumerate(mine):
            assert_allclose(output.bias, mean[place], rtol=1e-8, atol=1e-12)
            assert_allclose(output.bias_variance, covariance[place, place], rtol=1e-9)
            assert_allclose(output.bias_cross, covariance[place, count:], rtol=1e-8, atol=1e-14)
        logs = sum(np.log(out.conditional_precision) for _, out in mine)
        assert_allclose(block.log_determinant - logs, -np.linalg.slogdet(dense)[1], rtol=1e-10)


def test_trace_and_determinant_of_the_sample_weights():
    problem = make_problem(6)
    block = make_posterior(problem, "kernel_weights").samples[0]
    noise = float(block.intermediate_precision.mean)
    sigma = np.linalg.inv(np.diag(block.precision.mean) + noise * problem.gram)
    assert_allclose(block.variance, np.diag(sigma), rtol=1e-9)
    assert_allclose(block.trace, np.trace(problem.gram @ sigma), rtol=1e-9)
    assert_allclose(block.log_determinant, np.linalg.slogdet(sigma)[1], rtol=1e-10)


@pytest.mark.parametrize("share", SHARING)
def test_predictive_variance_is_that_of_samples(share):
    problem = make_problem(7, n=20, outputs=2)
    posterior = make_posterior(problem, share, sweeps=20)
    new = np.random.default_rng(8).uniform(0, 1, (3, 20, 4))
    rng = np.random.default_rng(9)
    found = predict(posterior, new)
    draws = 200_000
    for place, output in enumerate(posterior.outputs):
        block, weights = posterior.samples[output.samples], posterior.kernels[output.kernels]
        root = solve_triangular(block.factor.root, np.diag(block.factor.reach), lower=True)
        a = block.mean + rng.standard_normal((draws, 20)) @ root
        noise = 1.0 / rng.gamma(
            block.intermediate_precision.shape, block.intermediate_precision.scale, draws
        )
        e = rng.multivariate_normal(weights.mean, weights.covariance, draws)
        slope = np.linalg.solve(weights.covariance, output.bias_cross)
        b = output.bias + (e - weights.mean) @ slope
        b += output.conditional_precision**-0.5 * rng.standard_normal(draws)
        eps = 1.0 / rng.gamma(output.noise_precision.shape, output.noise_precision.scale, draws)
        for point in range(new.shape[2]):
            g = a @ new[:, :, point].T + np.sqrt(noise)[:, None] * rng.standard_normal((draws, 3))
            y = np.einsum("tm,tm->t", e, g) + b + np.sqrt(eps) * rng.standard_normal(draws)
            error = y.std() / np.sqrt(draws)
            assert abs(y.mean() - found.mean[point, place]) < 4.5 * error
            spread = np.sqrt(np.var((y - y.mean()) ** 2) / draws)
            assert abs(y.var() - found.variance[point, place]) < 4.5 * spread


def test_the_scale_step_keeps_predictions_and_a_flip_of_signs_keeps_everything():
    problem = make_problem(10)
    posterior = make_posterior(problem, "kernel_weights", sweeps=4)
    new = np.random.default_rng(1).uniform(0, 1, (3, 40, 5))
    before, bound = predict(posterior, new), evidence_bound(problem, posterior)
    flipped = copy.deepcopy(posterior)
    scale_step(posterior)
    after = predict(posterior, new)
    assert_allclose(after.mean, before.mean, rtol=1e-10)
    assert_allclose(after.variance, before.variance, rtol=1e-9)
    assert evidence_bound(problem, posterior) >= bound
    for block in flipped.samples:
        block.mean, block.intermediate = -block.mean, -block.intermediate
        block.projection = -block.projection
    for weights in flipped.kernels:
        weights.mean = -weights.mean
    for output in flipped.outputs:
        output.bias_cross = -output.bias_cross
    assert_allclose(evidence_bound(problem, flipped), bound, rtol=1e-12)
    assert_allclose(predict(flipped, new).mean, before.mean, rtol=1e-10)


def test_the_order_of_kernels_and_a_kernel_given_twice():
    problem = make_problem(11, outputs=1)
    posterior = make_posterior(problem, "kernel_weights", sweeps=0)
    order = np.array([2, 0, 1])
    moved = Problem.of(problem.kernels[order], problem.targets)
    other = copy.deepcopy(posterior)
    other.samples[0].intermediate = posterior.samples[0].intermediate[order]
    other.samples[0].projection = posterior.samples[0].projection[order]
    for _ in range(20):
        sweep(problem, posterior)
        sweep(moved, other)
    assert_allclose(other.kernels[0].mean, posterior.kernels[0].mean[order], rtol=1e-7)
    twice = Problem.of(problem.kernels[[0, 0, 1, 2]], problem.targets)
    found = make_posterior(twice, "kernel_weights", sweeps=50)
    assert np.isfinite(evidence_bound(twice, found))


def test_the_gamma_divergence_is_that_of_quadrature():
    factor = GammaFactor(np.array([2.5]), np.array([0.7]), (1.3, 2.0))
    grid = np.linspace(1e-6, 30, 400_001)
    q = gamma.pdf(grid, 2.5, scale=0.7)
    ratio = gamma.logpdf(grid, 2.5, scale=0.7) - gamma.logpdf(grid, 1.3, scale=2.0)
    assert_allclose(factor.divergence(), np.trapezoid(q * ratio, grid), atol=1e-6)
    assert_allclose(factor.mean_log[0], np.trapezoid(q * np.log(grid), grid), atol=1e-6)
    assert_allclose(factor.mean_inverse[0], np.trapezoid(q / grid, grid), atol=1e-5)


def test_sparsity_is_reached_by_continuation_and_does_not_empty_the_model():
    problem = make_problem(12, n=60, outputs=1)
    schedule = Schedule(max_sweeps=150)
    rng = np.random.default_rng(0)
    fitted = fit_kernels(problem, "kernel_weights", SPARSE, schedule, 2, rng)
    assert len(fitted.stages) >= 2  # the change of priors, and something that died
    assert fitted_values(fitted.posterior).var() > 0.3 * problem.targets.var()
    assert len(fitted.kept.vectors) < 60
    for part in np.split(fitted.path, fitted.stages):
        assert np.all(np.diff(part) > -1e-9 * abs(fitted.bound))
