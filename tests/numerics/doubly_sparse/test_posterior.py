"""Posteriors of the doubly-sparse model on fixed labels.

The hinge has no law of the data, so it is held against quadrature; all likelihoods, the hinge too,
are held against draws of the prior weighted with the likelihood.
"""

import numpy as np
import pytest
from doubly_sparse_dense import (
    bandwidth_grid,
    batch_error,
    draw_prior,
    feature_kernel,
    precision_grid,
    subsets,
    truncated_bernoulli,
    worst,
)
from doubly_sparse_setup import MODEL, make_sampler, run, unpack
from scipy.special import log_ndtr
from scipy.stats import norm, t
from speed import slow_except

from sparsekern.likelihoods import Gaussian, Hinge, Logit, Probit, StudentT

DEGREES = 3.0
LIKELIHOODS = {
    "gaussian": Gaussian(), "student_t": StudentT([DEGREES]), "probit": Probit(), "logit": Logit(),
    "hinge": Hinge(),
}  # fmt: skip


def functionals(included, eta, active, log_nu, fitted):
    """Light-tailed functions; features, rows and values along the last axes."""
    active, bend = active * 1.0, np.arctan(fitted)
    size, count = active.sum(-1), included.sum(-1)
    found = {f"in {j}": included[..., j] * 1.0 for j in range(included.shape[-1])}
    found |= {f"eta {j}": eta[..., j] for j in range(included.shape[-1])}
    found |= {f"a{i}": active[..., i] for i in range(active.shape[-1])}
    found |= {f"f{i}": bend[..., i] for i in range(active.shape[-1])}
    return found | {
        "rho": (included * np.exp(-eta)).sum(-1), "log nu": log_nu, "log^2 nu": log_nu**2,
        "k^2": size**2, "k log nu": size * log_nu, "s log nu": count * log_nu, "k s": size * count,
        "f0 f1": bend[..., 0] * bend[..., 1], "f0^2": np.log1p(fitted[..., 0] ** 2),
        "f^2": np.log1p((fitted**2).sum(-1)), "f s": bend[..., 0] * count,
    }  # fmt: skip


def _hinge_by_quadrature(features, response, model, nodes, slabs, values):
    """Two rows, one feature: all sets, bandwidth, slab and both latent values on grids."""
    normal = np.linspace(-5.5, 5.5, values)
    points = np.stack(np.meshgrid(normal, normal, indexing="ij"), axis=-1).reshape(-1, 2)
    density = norm.pdf(points).prod(axis=1)
    odds = model["feature_probability"] / (1 - model["feature_probability"])
    eta, mass = bandwidth_grid(nodes)
    eta, mass = np.r_[0.0, eta], np.r_[1.0, odds * mass]
    precisions, slab_mass = precision_grid(*model["slab_prior"], slabs)
    total, sums = 0.0, 0.0
    for rows in subsets(2, 2):
        prior = density * np.exp(truncated_bernoulli(len(rows), model["vector_probability"]))
        active = np.isin([0, 1], rows)
        for bandwidth, weight in zip(eta, mass, strict=True):
            columns = feature_kernel(features, np.array([bandwidth]))[:, rows]
            for precision, share in zip(precisions, slab_mass, strict=True):
                law = model["v0"] + columns @ columns.T / precision
                latent = points @ np.linalg.cholesky(law + 1e-12 * np.eye(2)).T
                loss = 2 * np.maximum(1 - response * latent, 0).sum(1)
                w = prior * weight * share * np.exp(-loss)
                found = functionals(
                    np.array([bandwidth > 0]), np.array([bandwidth]), active, -np.log(precision),
                    latent,
                )  # fmt: skip
                total += w.sum()
                sums = sums + np.array([(w * value).sum() for value in found.values()])
    return dict(zip(found, sums / total, strict=True))


@pytest.mark.slow  # in every run the hinge is in test_collapsed.py
@pytest.mark.parametrize("response", [(1.0, 1.0), (1.0, -1.0)])
def test_hinge_against_quadrature(response):
    features, response = np.array([[0.0], [0.9]]), np.array(response)
    model = MODEL | {"max_features": 1, "max_active": 2}
    exact = _hinge_by_quadrature(features, response, model, 25, 19, 96)
    rough = _hinge_by_quadrature(features, response, model, 21, 17, 75)
    error = {name: abs(exact[name] - rough[name]) for name in exact}
    assert max(error.values()) < 2e-3, error
    sampler = make_sampler(Hinge(), features, response, model)
    draws, _ = run(sampler, 150_000, tune=500, seed=4)
    found = _of_chain(draws, features, model["kind"])
    z = {}
    for name, value in exact.items():
        spread = np.hypot(batch_error(found[name]), error[name])
        z[name] = (found[name].mean() - value) / spread
    print(worst(z))
    assert max(map(abs, z.values())) < 4, z


def _of_chain(draws, features, kind):
    sample = unpack(draws, *features.shape)
    kernels = feature_kernel(features, sample["eta"], kind)
    fitted = draws.intercept + np.einsum("tij,tj->ti", kernels, sample["beta"][:, 0])
    return functionals(
        sample["included"], sample["eta"], sample["active"], np.log(sample["nu"]), fitted
    )


def _log_likelihood(name, response, fitted, variance):
    if name == "hinge":
        return -2 * np.maximum(1 - response * fitted, 0).sum(1)
    if name == "probit":
        return log_ndtr(response * fitted).sum(1)
    if name == "logit":
        return -np.logaddexp(0, -response * fitted).sum(1)
    deviation = np.sqrt(variance)[:, None]
    law = norm if name == "gaussian" else t(DEGREES)
    return (law.logpdf((response - fitted) / deviation) - np.log(deviation)).sum(1)


def _by_weighting(name, features, response, model, blocks, seed):
    """Means and their standard errors from blocks of 50,000 weighted draws of the prior."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(blocks):
        prior = draw_prior(rng, 50_000, features, model)
        weight = np.exp(_log_likelihood(name, response, prior["fitted"][:, 0], prior["variance"]))
        found = functionals(
            prior["included"], prior["eta"], prior["active"], np.log(prior["nu"]),
            prior["fitted"][:, 0],
        )  # fmt: skip
        rows.append([weight.mean(), *((weight * value).mean() for value in found.values())])
    rows = np.array(rows)
    mean = rows.mean(0)
    ratio = mean[1:] / mean[0]
    residual = (rows[:, 1:] - ratio * rows[:, :1]) / mean[0]
    error = residual.std(0, ddof=1) / np.sqrt(blocks)
    return dict(zip(found, zip(ratio, error, strict=True), strict=True))


def _weighted_scores(name, sweeps, blocks, seed, kind="rbf"):
    rng = np.random.default_rng(9)
    features = rng.standard_normal((5, 3))
    response = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    likelihood = LIKELIHOODS[name]
    model = MODEL | {"kind": kind, "v0": 1.0}
    if "learned noise" not in likelihood.provides:
        model["noise_prior"] = None
    else:
        response = response + 0.5 * rng.standard_normal(5)
    exact = _by_weighting(name, features, response, model, blocks, seed)
    sampler = make_sampler(likelihood, features, response, model)
    draws, _ = run(sampler, sweeps, tune=500, seed=seed)
    found = _of_chain(draws, features, kind)
    z = {}
    for key, (value, error) in exact.items():
        z[key] = (found[key].mean() - value) / np.hypot(batch_error(found[key]), error)
    print(name, worst(z))
    return z


# without auxiliary variables: test_collapsed.py; Gaussian noise: test_enumeration.py
@pytest.mark.parametrize("name", slow_except(LIKELIHOODS, ("student_t",)))
def test_against_weighted_draws_of_the_prior(name):
    z = _weighted_scores(name, 60_000, 40, 1)
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["laplacian", "matern52"])
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_against_weighted_draws_of_the_prior_long(name, kind):
    z = _weighted_scores(name, 600_000, 400, 2, kind)
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.parametrize("kind", ["rbf", "matern32"])
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_stored_log_likelihood(name, kind):
    """What a draw stores beside its parameters follows from them."""
    features = np.random.default_rng(9).standard_normal((6, 3))
    response = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    sampler = make_sampler(LIKELIHOODS[name], features, response, MODEL | {"kind": kind})
    draws, _ = run(sampler, 200, tune=20, seed=3)
    sample = unpack(draws, 6, 3)
    kernels = feature_kernel(features, sample["eta"], kind)
    fitted = draws.intercept + np.einsum("tij,tj->ti", kernels, sample["beta"][:, 0])
    exact = _log_likelihood(name, response, fitted, sample["variance"])
    np.testing.assert_allclose(draws.log_likelihood, exact, rtol=1e-9, atol=1e-9)
    rows = sampler.monitored_rows
    means = LIKELIHOODS[name].mean(fitted[:, rows])
    np.testing.assert_allclose(draws.monitored, means, rtol=1e-9, atol=1e-9)
