"""Latent outputs, non-negative weights, low rank and pruning in multiple kernel learning."""

from dataclasses import replace

import numpy as np
import pytest
from multiple_kernel.test_bound import PLAIN, SHARING, SPARSE, make_problem, steps
from numpy.testing import assert_allclose
from scipy.stats import gamma, multivariate_normal, norm, truncnorm

from sparsekern.inference.multiple_kernel.additive.whitening import Whitening
from sparsekern.inference.multiple_kernel.latent import Latent
from sparsekern.inference.multiple_kernel.shared.bound import evidence_bound
from sparsekern.inference.multiple_kernel.shared.fit import Schedule, fit_kernels, fitted_values
from sparsekern.inference.multiple_kernel.shared.prediction import predict
from sparsekern.inference.multiple_kernel.shared.pruning import Kept, prune
from sparsekern.inference.multiple_kernel.shared.start import start_posterior
from sparsekern.inference.multiple_kernel.shared.updates import Problem, sweep
from sparsekern.likelihoods import MultinomialProbit, Probit
from sparsekern.likelihoods._largest_normal import winning_probabilities


def start(problem, share="kernel_weights", hyperpriors=PLAIN, **options):
    return start_posterior(problem, share, hyperpriors, np.random.default_rng(1), **options)


# latent outputs


@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_probit_moments_are_those_of_truncated_normals(margin):
    eta = np.array([[-6.0, -1.0], [0.3, 2.0], [20.0, -20.0]])
    signs = np.array([[1.0, -1.0], [1.0, -1.0], [1.0, -1.0]])
    mean, part = Latent(Probit(), signs, margin).step(eta)
    assert (signs * mean > margin).all()
    entropy = 0.0
    for e, s, m in zip(eta.ravel(), signs.ravel(), mean.ravel(), strict=True):
        law = truncnorm(margin - s * e, np.inf, loc=s * e)
        assert_allclose(s * m, law.mean(), rtol=1e-9)
        grid = np.linspace(margin, margin + 4, 200_001) if s * e < -5 else None
        grid = np.linspace(margin, max(s * e, margin) + 10, 200_001) if grid is None else grid
        density = law.pdf(grid)
        logs = np.where(density > 0, law.logpdf(grid), 0.0)
        entropy -= np.trapezoid(density * logs, grid) + 0.5 * law.var()
    assert_allclose(part, entropy, rtol=1e-6)
    far, _ = Latent(Probit(), np.array([[1.0]]), margin).step(np.array([[-1e4]]))
    assert far[0, 0] > margin


def test_multinomial_moments_are_those_of_draws_and_the_slope_of_log_z():
    eta = np.array([[0.3, -0.2, 0.9], [1.5, 0.0, -1.0]])
    labels = np.array([0, 2])
    latent = Latent(MultinomialProbit(3), labels)
    mean, part = latent.step(eta)
    draws = eta + np.random.default_rng(0).standard_normal((2_000_000, 2, 3))
    log_z = 0.0
    for i, label in enumerate(labels):
        inside = draws[draws[:, i].argmax(axis=1) == label, i]
        assert_allclose(mean[i], inside.mean(axis=0), atol=5 * inside.std() / len(inside) ** 0.5)
        log_z += np.log(len(inside) / len(draws))
    shape = 3 * np.log(2 * np.pi)  # of 2 rows and 3 outputs
    assert_allclose(part - 0.5 * np.sum((mean - eta) ** 2) - shape, log_z, atol=0.02)
    for place in np.ndindex(2, 3):
        step = np.zeros((2, 3))
        step[place] = 1e-5
        values = []
        for shifted in (eta + step, eta - step):
            centre, value = latent.step(shifted)
            values.append(value - 0.5 * np.sum((centre - shifted) ** 2))
        slope = (values[0] - values[1]) / 2e-5
        assert_allclose(slope, (mean - eta)[place], rtol=1e-6, atol=1e-8)


def test_winning_probabilities_are_those_of_draws():
    mean = np.array([[0.5, -1.0, 0.2], [30.0, 0.0, 0.0]])
    variance = np.array([[1.0, 4.0, 0.3], [1.0, 1.0, 1.0]])
    found = winning_probabilities(mean, variance)
    draws = mean + np.sqrt(variance) * np.random.default_rng(0).standard_normal((400_000, 2, 3))
    share = [(draws[:, 0].argmax(axis=1) == c).mean() for c in range(3)]
    assert_allclose(found[0], share, atol=0.004)
    assert_allclose(found.sum(axis=1), 1.0)
    assert found[1, 0] > 1 - 1e-12


def make_latent(what, targets):
    if what == "multinomial":
        return Latent(MultinomialProbit(targets.shape[1]), targets.argmax(axis=1))
    return Latent(Probit(), np.where(targets > 1.5, 1.0, -1.0), 1.0 if what == "margin" else 0.0)


@pytest.mark.parametrize("what", ["probit", "margin", "multinomial"])
@pytest.mark.parametrize("share", SHARING)
@pytest.mark.parametrize("hyperpriors", [PLAIN, SPARSE], ids=["plain", "sparse"])
def test_no_step_lowers_the_bound_of_latent_outputs(what, share, hyperpriors):
    problem = make_problem(0, outputs=3)
    latent = make_latent(what, problem.targets)
    problem = replace(problem, targets=latent.start())
    posterior = start(problem, share, hyperpriors, latent=True)
    sweep(problem, posterior)
    targets, part = latent.step(fitted_values(posterior))
    problem = replace(problem, targets=targets)
    before = evidence_bound(problem, posterior) + part
    for _ in range(40):
        for name, step in steps(problem, posterior, False):
            step()
            after = evidence_bound(problem, posterior) + part
            assert after >= before - 1e-9 * abs(before), name
            before = after
        targets, part = latent.step(fitted_values(posterior))
        problem = replace(problem, targets=targets)
        after = evidence_bound(problem, posterior) + part
        assert after >= before - 1e-9 * abs(before), "latent"
        before = after


# non-negative kernel weights


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("hyperpriors", [PLAIN, SPARSE], ids=["plain", "sparse"])
def test_no_step_lowers_the_bound_of_nonnegative_weights(outputs, hyperpriors):
    problem = make_problem(0, outputs=outputs)
    posterior = start(problem, "kernel_weights", hyperpriors, nonnegative=True)
    sweep(problem, posterior)
    before = evidence_bound(problem, posterior)
    for _ in range(60):
        for name, step in steps(problem, posterior, hyperpriors is PLAIN):
            step()
            after = evidence_bound(problem, posterior)
            assert after >= before - 1e-9 * abs(before), name
            before = after
    assert (posterior.kernels[0].mean > 0).all()


def test_the_bound_of_nonnegative_weights_is_the_mean_of_log_p_less_log_q():
    """Only what differs from the plain model is drawn: e and b, all else at its law in q."""
    problem = make_problem(3, n=6, p=2, outputs=1, vectors=4)
    posterior = start(problem, nonnegative=True)
    for _ in range(5):
        sweep(problem, posterior)
    block, output = posterior.kernels[0], posterior.outputs[0]
    samples, draws, rng = posterior.samples[0], 200_000, np.random.default_rng(0)
    # location and precision of the truncated normals, from their moments
    laws = []
    for mean, variance in zip(block.mean, np.diag(block.covariance), strict=True):
        laws.append(_truncated_with(mean, variance))
    e = np.column_stack([law.rvs(draws, random_state=rng) for law in laws])
    omega = rng.gamma(block.precision.shape, block.precision.scale, (draws, 2))
    total = (np.log(2) + norm.logpdf(e, 0, omega**-0.5)).sum(1)
    total -= sum(law.logpdf(e[:, m]) for m, law in enumerate(laws))
    total += gamma.logpdf(omega, 1.0, scale=1.0).sum(1)
    total -= gamma.logpdf(omega, block.precision.shape, scale=block.precision.scale).sum(1)
    b = rng.normal(output.bias, output.bias_variance**0.5, draws)
    g = samples.intermediate + np.einsum(
        "mk,tkn->tmn", np.linalg.cholesky(samples.covariance), rng.standard_normal((draws, 2, 6))
    )
    eps = rng.gamma(output.noise_precision.shape, output.noise_precision.scale, draws)
    total += norm.logpdf(
        problem.targets[:, 0], np.einsum("tm,tmn->tn", e, g) + b[:, None], eps[:, None] ** -0.5
    ).sum(1)
    # the same terms of the formula: the bound less those of the other factors
    other = replace(output, noise_precision=output.noise_precision)
    found = evidence_bound(problem, posterior)
    found -= _rest_of_the_bound(problem, posterior, other)
    z = (total.mean() - found) / (total.std() / np.sqrt(draws))
    assert abs(z) < 4


def _truncated_with(mean, variance):
    from scipy.optimize import brentq

    def ratio(z):
        law = truncnorm(-z, np.inf, loc=z)
        return law.var() / law.mean() ** 2 - variance / mean**2

    z = brentq(ratio, -20, 60)
    scale = mean / truncnorm(-z, np.inf, loc=z).mean()
    return truncnorm(-z, np.inf, loc=z * scale, scale=scale)


def _rest_of_the_bound(problem, posterior, output):
    """Sample weights, intermediate outputs, bias and noise: their terms written out densely."""
    block = posterior.samples[0]
    p, d, n = problem.kernels.shape
    noise = block.intermediate_precision
    root = np.diag(block.factor.reach) @ np.linalg.inv(block.factor.root).T
    sigma = root @ root.T
    lam = block.precision
    total = 0.5 * np.sum(lam.mean_log - lam.mean * (block.mean**2 + np.diag(sigma)))
    total += 0.5 * np.linalg.slogdet(sigma)[1] + 0.5 * d
    gap = block.intermediate - np.einsum("d,mdn->mn", block.mean, problem.kernels)
    square = np.sum(gap**2) + n * np.trace(block.covariance) + np.trace(problem.gram @ sigma)
    total += 0.5 * p * n * (noise.mean_log - np.log(2 * np.pi)) - 0.5 * noise.mean * square
    total += n * multivariate_normal(np.zeros(p), block.covariance).entropy()
    bias = output.bias_precision
    second = output.bias**2 + output.bias_variance
    total += 0.5 * (bias.mean_log - bias.mean * second) + 0.5 * np.log(output.bias_variance) + 0.5
    factors = (lam, noise, bias, output.noise_precision)
    return total - sum(factor.divergence() for factor in factors)


# low rank, candidates, pruning


def test_low_rank_equals_dense():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    kernels = np.stack([X[:, :3] @ X[:, :3].T, X[:, 3:] @ X[:, 3:].T])
    targets = 1.5 + X[:, :1] + 0.2 * rng.standard_normal((40, 1))
    features = [Whitening.of(kernel).features(kernel) for kernel in kernels]
    dense = Problem.of(kernels, targets)
    low = Problem.of_features(kernels, features, targets)
    assert low.gram.shape == (40, 6)
    posteriors = [start(dense), start(low)]
    new = rng.uniform(0, 1, (2, 40, 5))
    for problem, posterior in zip((dense, low), posteriors, strict=True):
        for _ in range(20):
            for _, step in steps(problem, posterior, True):
                step()
    bounds = [evidence_bound(p, q) for p, q in zip((dense, low), posteriors, strict=True)]
    assert_allclose(bounds[0], bounds[1], rtol=1e-8)
    found = [predict(posterior, new) for posterior in posteriors]
    assert_allclose(found[0].mean, found[1].mean, rtol=1e-6)
    assert_allclose(found[0].covariance, found[1].covariance, rtol=1e-5)


def test_pruning_keeps_the_fit_and_counts_what_is_left():
    problem = make_problem(12, n=60, outputs=2)
    posterior = start(problem)
    for _ in range(60):
        sweep(problem, posterior)
    kept = Kept(np.arange(3), np.arange(60))
    assert prune(problem, posterior, kept) is None
    block = posterior.samples
    for samples in block:
        scale = samples.precision.scale.copy()
        scale[5] *= 1e7
        samples.precision = replace(samples.precision, scale=scale)
    before = fitted_values(posterior)
    smaller, left, kept = prune(problem, posterior, kept)
    assert_allclose(kept.vectors, np.delete(np.arange(60), 5))
    assert smaller.kernels.shape == (3, 59, 60)
    sweep(smaller, left)
    assert np.corrcoef(before.ravel(), fitted_values(left).ravel())[0, 1] > 0.99


def test_covariances_of_outputs_are_those_of_draws():
    for share in SHARING:
        problem = make_problem(7, n=20, outputs=2)
        posterior = start(problem, share)
        for _ in range(20):
            sweep(problem, posterior)
        new = np.random.default_rng(8).uniform(0, 1, (3, 20, 2))
        found = predict(posterior, new)
        rng, draws = np.random.default_rng(9), 200_000
        a = []
        for block in posterior.samples:
            root = np.linalg.inv(block.factor.root) * block.factor.reach
            a.append(block.mean + rng.standard_normal((draws, 20)) @ root)
        e = [rng.multivariate_normal(k.mean, k.covariance, draws) for k in posterior.kernels]
        upsilon = [block.intermediate_precision for block in posterior.samples]
        noise = [1 / rng.gamma(factor.shape, factor.scale, draws) for factor in upsilon]
        for point in range(2):
            g = [
                w @ new[:, :, point].T + np.sqrt(v)[:, None] * rng.standard_normal((draws, 3))
                for w, v in zip(a, noise, strict=True)
            ]
            values = []
            for output in posterior.outputs:
                weights, block = e[output.kernels], posterior.kernels[output.kernels]
                slope = np.linalg.solve(block.covariance, output.bias_cross)
                bias = output.bias + (weights - block.mean) @ slope
                values.append(bias + np.sum(weights * g[output.samples], axis=1))
            product = (values[0] - values[0].mean()) * (values[1] - values[1].mean())
            error = product.std() / np.sqrt(draws)
            assert abs(product.mean() - found.covariance[point, 0, 1]) < 4.5 * error, share
        assert_allclose(found.covariance[:, 0, 1], found.covariance[:, 1, 0])


def test_the_covariance_of_outputs_that_share_kernel_weights_is_exact():
    """Given independent sample weights, it is the one of biases and kernel weights, densely."""
    problem = make_problem(7, n=20, outputs=2)
    problem = replace(problem, targets=problem.targets * [1.0, 3.0] - [0.0, 9.0])
    posterior = start(problem)
    for _ in range(5):
        sweep(problem, posterior)
    block = posterior.kernels[0]
    dense = np.zeros((5, 5))
    dense[2:, 2:] = np.diag(block.precision.mean)
    for place, output in enumerate(posterior.outputs):
        samples, weight = posterior.samples[output.samples], float(output.noise_precision.mean)
        centre = samples.intermediate
        dense[place, place] = float(output.bias_precision.mean) + 20 * weight
        dense[place, 2:] = dense[2:, place] = weight * centre.sum(axis=1)
        dense[2:, 2:] += weight * (centre @ centre.T + 20 * samples.covariance)
    covariance = np.linalg.inv(dense)
    new = np.random.default_rng(8).uniform(0, 1, (3, 20, 4))
    found = predict(posterior, new).covariance[:, 0, 1]
    for point in range(4):
        first, second = (
            np.append(np.eye(2)[o], new[:, :, point] @ posterior.samples[o].mean) for o in range(2)
        )
        assert_allclose(found[point], first @ covariance @ second, rtol=1e-8, atol=1e-12)


def test_candidates_and_latent_outputs_in_the_whole_fit():
    problem = make_problem(12, n=60, outputs=1, vectors=12)
    latent = Latent(Probit(), np.where(problem.targets > 1.5, 1.0, -1.0), 1.0)
    start_of = replace(problem, targets=latent.start())
    schedule = Schedule(max_sweeps=100)
    found = fit_kernels(
        start_of, "kernel_weights", SPARSE, schedule, 2, np.random.default_rng(0), latent=latent
    )
    for part in np.split(found.path, found.stages):
        assert np.all(np.diff(part) > -1e-9 * abs(found.bound))
    right = np.sign(fitted_values(found.posterior)) == latent.labels
    assert right.mean() > 0.8
