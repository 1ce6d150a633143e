"""The hinge has no law of the data, so no joint test: its posterior is compared with quadrature.

Two rows, every active set, both precisions and both latent values on grids: nothing is drawn and
nothing of the sampler is used.
"""

import numpy as np
import pytest
from dense_model import all_sets, batch_error, covariance, gaussian_kernel, set_log_prior
from family_setup import JITTER, PRIOR, make_sampler, run
from scipy.stats import gamma, norm
from speed import slow_except

from sparsekern.likelihoods import Hinge

FEATURES = np.array([[0.0], [0.8]])
NAMES = ("first active", "second active", "log g", "log eta", "f1", "f2", "f1^2", "f1 f2", "loss")


def _functionals(first, second, log_g, log_eta, latent, loss):
    f1, f2 = np.arctan(latent[..., 0]), np.arctan(latent[..., 1])
    return np.stack(
        np.broadcast_arrays(first, second, log_g, log_eta, f1, f2, f1**2, f1 * f2, loss), axis=-1
    )


def _log_grid(shape, rate, count):
    """Points of a gamma variable, even on the log scale, and their prior weights."""
    low, high = np.log(gamma.ppf([1e-7, 1 - 1e-9], shape, scale=1 / rate))
    points = np.exp(np.linspace(low, high, count))
    return points, points * gamma.pdf(points, shape, scale=1 / rate)


def _by_quadrature(response, precisions=30, values=60):
    """Trapezoidal rule in both log precisions and in two standardised latent values."""
    normal = np.linspace(-6, 6, values)
    points = np.stack(np.meshgrid(normal, normal, indexing="ij"), axis=-1).reshape(-1, 2)
    density = norm.pdf(points).prod(axis=1)
    kernel = gaussian_kernel(FEATURES, FEATURES, 1.0)
    total, sums = 0.0, np.zeros(len(NAMES))
    for rows in all_sets(2, 2).values():
        prior = density * np.exp(set_log_prior(2, len(rows)))
        for g, g_weight in zip(*_log_grid(*PRIOR[:2], precisions), strict=True):
            for eta, eta_weight in zip(*_log_grid(*PRIOR[2:], precisions), strict=True):
                # the law of the function is that of the working response without its noise
                law = covariance(kernel, rows, g, eta, JITTER) - np.eye(2)
                latent = points @ np.linalg.cholesky(law + 1e-12 * np.eye(2)).T
                loss = 2 * np.maximum(1 - response * latent, 0).sum(1)
                weight = prior * np.exp(-loss) * g_weight * eta_weight
                found = _functionals(
                    float(0 in rows), float(1 in rows), np.log(g), np.log(eta), latent, loss
                )
                total += weight.sum()
                sums += weight @ found
    return sums / total


@pytest.mark.parametrize("response", slow_except([(1.0, 1.0), (1.0, -1.0)], [(1.0, -1.0)]))
def test_posterior_against_quadrature(response):
    response = np.array(response)
    exact = _by_quadrature(response)
    # the rule's own error, from half as many points, must not matter
    rough = _by_quadrature(response, precisions=21, values=41)
    sampler = make_sampler(Hinge(), FEATURES, response, largest=2)
    draws, _ = run(sampler, 150_000, tune=1000, seed=4)
    active, latent = np.zeros((150_000, 2)), np.empty((150_000, 2))
    kernel = gaussian_kernel(FEATURES, FEATURES, 1.0)
    for t in range(150_000):
        rows = draws.rows[t, : draws.n_active[t]]
        active[t, rows] = 1.0
        weights = draws.coefficients[t, 0, : len(rows)]
        latent[t] = draws.intercept[t, 0] + kernel[:, rows] @ weights
    loss = 2 * np.maximum(1 - response * latent, 0).sum(1)
    precision = -np.log(draws.variances)
    found = _functionals(*active.T, precision[:, 1], precision[:, 0], latent, loss)
    error = np.hypot(batch_error(found, 100), exact - rough)
    z = (found.mean(0) - exact) / error
    report = {name: (m, e, s) for name, m, e, s in zip(NAMES, found.mean(0), exact, z, strict=True)}
    print(report)
    assert (np.abs(exact - rough) < 1e-3).all(), exact - rough
    assert np.abs(z).max() < 4, report
