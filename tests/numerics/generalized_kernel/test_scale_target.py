"""The density that the three slice moves of g and eta follow, against the dense log density."""

import numpy as np
import pytest
from chain_setup import factor_at, rbf_basis
from dense_model import batch_error, covariance, gaussian_kernel, log_joint
from numpy.testing import assert_allclose
from scipy.integrate import cumulative_trapezoid
from speed import slow_except

from sparsekern.inference.moves.scales import DIRECTIONS, _log_density, _summarize, slice_scales
from sparsekern.linalg.whitened_factor import refactor
from sparsekern.priors import ScalePriors

PRIOR = (2.0, 0.05, 0.5, 0.07)  # shape, rate of g; shape, rate of eta
G, ETA, JITTER = 0.35, 1.7, 1e-5
SCALE = np.array([0.9, 1.3])


def _problem(n, k, latents, unit, noise_prior=None):
    rng = np.random.default_rng([n, k, latents])
    features = rng.standard_normal((n, 2))
    latent = 1.3 * rng.standard_normal((latents, n))
    precision = np.ones(n) if unit else rng.gamma(2.0, 0.5, n) + 0.1
    rows = rng.permutation(n)[:k]
    factor = factor_at(
        rbf_basis(features, JITTER), SCALE, rows, latent, G, ETA, max(1, k), precision
    )
    if noise_prior is not None:
        factor.noise[:2] = noise_prior[0] + 0.5 * n * latents, noise_prior[1]
        refactor(factor)
    return factor, gaussian_kernel(features, features, SCALE), rows, latent, precision


def _dense(problem, direction, x, noise_prior=None):
    """lambda^(n C) N(lambda s; 0, Q) p(log g) p(log eta) at the point x along the direction.

    With a prior of the noise, Q is over sigma^2, which is integrated out.
    """
    _, kernel, rows, latent, precision = problem
    log_eta, log_g, log_stretch = np.array([np.log(ETA), np.log(G), 0.0]) + x * direction
    stretched, g, eta = np.exp(log_stretch) * latent, np.exp(log_g), np.exp(log_eta)
    value = log_joint(stretched, kernel, rows, g, eta, JITTER, PRIOR, precision)
    if noise_prior is not None:
        form = np.sum(
            stretched.T
            * np.linalg.solve(covariance(kernel, rows, g, eta, JITTER, precision), stretched.T)
        )
        shape, rate = noise_prior[0] + 0.5 * latent.size, noise_prior[1]
        value += 0.5 * form - shape * np.log(rate + 0.5 * form)
    return value + latent.size * log_stretch


@pytest.mark.parametrize("direction", range(4))
@pytest.mark.parametrize(
    ("n", "k", "latents", "unit"),
    [(14, 5, 1, True), (14, 0, 1, True), (14, 14, 1, True), (20, 8, 2, False)],
)
@pytest.mark.parametrize("noise_prior", [None, (2.3, 0.7)], ids=["unit noise", "learned noise"])
def test_density_along_a_direction(direction, n, k, latents, unit, noise_prior):
    problem = _problem(n, k, latents, unit, noise_prior)
    factor, precision, latent = problem[0], problem[4], problem[3]
    line = DIRECTIONS[direction]
    start = np.log([ETA, G])
    scratch = np.empty_like(factor.root), np.empty_like(factor.projected)
    summary = _summarize(factor, line, *scratch)
    assert_allclose(summary[0], (precision * latent**2).sum(), rtol=1e-12)
    prior = ScalePriors(*PRIOR)

    def ours(x):
        return _log_density(factor, prior, *scratch, start, line, summary, x)

    for x in (-1.5, -0.3, 0.2, 0.9):
        dense = _dense(problem, line, x, noise_prior) - _dense(problem, line, 0.0, noise_prior)
        assert_allclose(ours(x) - ours(0.0), dense, rtol=1e-10, atol=1e-10)


def test_directions_are_g_eta_and_the_ridge():
    assert sorted(map(tuple, DIRECTIONS)) == [(-2, -2, 1), (0, -2, 1), (0, 1, 0), (1, 0, 0)]


@pytest.mark.parametrize("direction", range(4))
def test_state_after_a_slice(direction):
    """Variances, latent variables and cross products move together along the line."""
    factor, _, _, latent, _ = _problem(14, 5, 2, False)
    cross = factor.cross.copy()
    rng = np.random.default_rng(5)
    scratch = np.empty_like(factor.root), np.empty_like(factor.projected)
    for _ in range(20):
        before = -np.log(factor.variances), factor.response.copy(), factor.cross.copy()
        line = DIRECTIONS[direction]
        x = slice_scales(rng, factor, ScalePriors(*PRIOR), line, 0.7, *scratch)
        assert x != 0
        assert_allclose(-np.log(factor.variances), before[0] + x * line[:2], rtol=1e-12, atol=1e-12)
        assert_allclose(factor.response, before[1] * np.exp(line[2] * x), rtol=1e-12)
        assert_allclose(factor.cross, before[2] * np.exp(line[2] * x), rtol=1e-12)
    moved = direction >= 2
    assert (factor.response != latent).all() == moved
    assert (factor.cross[:, :6] != cross[:, :6]).all() == moved
    refactor(factor)
    assert np.isfinite(factor.root[:6, :6]).all()


@pytest.mark.parametrize("direction", slow_except(range(4), (0, 2)))  # one scale, and the ridge
# 0.03: far more than 60 steps out would be needed
@pytest.mark.parametrize("width", slow_except([1.0, 0.03], [1.0]))
def test_slice_follows_its_density(direction, width):
    """Quantiles of a long run of slices, in one direction, against quadrature of the density."""
    problem = _problem(8, 3, 1, True)
    factor = problem[0]
    line = DIRECTIONS[direction]
    axis = np.flatnonzero(line[:2])[0]
    grid = np.linspace(-10, 9, 2001)
    density = np.exp([_dense(problem, line, x) - _dense(problem, line, 0.0) for x in grid])
    cdf = cumulative_trapezoid(density, grid, initial=0.0)
    cdf /= cdf[-1]
    rng = np.random.default_rng(2)
    scratch = np.empty_like(factor.root), np.empty_like(factor.projected)
    start = -np.log(factor.variances[axis])
    visited = np.empty(60_000)
    for t in range(len(visited)):
        slice_scales(rng, factor, ScalePriors(*PRIOR), line, width, *scratch)
        visited[t] = (-np.log(factor.variances[axis]) - start) / line[axis]
    levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    below = visited[:, None] < np.interp(levels, cdf, grid)
    z = (below.mean(0) - levels) / batch_error(below, 60)
    assert np.abs(z).max() < 4, z
