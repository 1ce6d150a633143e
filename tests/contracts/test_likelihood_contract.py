"""Every likelihood keeps the promises of the contract; add a row when you add one."""

import numpy as np
import pytest

from sparsekern.likelihoods import Probit
from sparsekern.likelihoods._contract import Likelihood
from sparsekern.likelihoods.probit import add_site_terms

# likelihood, responses it accepts, probability of each response as a function of the mean
CASES = [(Probit(), (-1.0, 1.0), (lambda m: 1 - m, lambda m: m))]


@pytest.mark.parametrize(("likelihood", "responses", "laws"), CASES)
def test_contract(likelihood, responses, laws):
    assert isinstance(likelihood, Likelihood)
    assert isinstance(likelihood.name, str) and likelihood.name
    assert isinstance(likelihood.provides, frozenset) and likelihood.provides


@pytest.mark.parametrize(("likelihood", "responses", "laws"), CASES)
def test_link_inverts_mean(likelihood, responses, laws):
    latent = np.linspace(-5, 5, 41).reshape(1, 41)
    mean = likelihood.mean(latent)
    assert mean.shape == latent.shape
    assert (np.diff(mean[0]) > 0).all()
    np.testing.assert_allclose(likelihood.link(mean), latent, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("likelihood", "responses", "laws"), CASES)
def test_likelihood_is_the_law_of_the_response(likelihood, responses, laws):
    latent = np.linspace(-5, 5, 41)
    total = np.zeros(41)
    for response, law in zip(responses, laws, strict=True):
        value = likelihood.log_likelihood(np.full(41, response), latent)
        np.testing.assert_allclose(np.exp(value), law(likelihood.mean(latent)), rtol=1e-8)
        total += np.exp(value)
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_probit_site_terms_are_the_derivatives(side):
    latent = np.linspace(-6, 6, 49)
    step = 1e-4
    sides = np.full(49, side)
    sums = np.zeros((3, 49))
    add_site_terms(sides, latent, sums)
    low, mid, high = (Probit().log_likelihood(sides, latent + d) for d in (-step, 0.0, step))
    np.testing.assert_array_equal(sums[0], latent)
    np.testing.assert_allclose(sums[1], (high - low) / (2 * step), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(sums[2], -(high - 2 * mid + low) / step**2, atol=1e-6)
    far = np.zeros((3, 2))
    add_site_terms(sides[:2], np.array([-1e8, 1e8]), far)
    assert np.isfinite(far).all() and (far[2] >= 0).all() and (far[2] <= 1).all()


@pytest.mark.parametrize(("likelihood", "responses", "laws"), CASES)
def test_far_latent_values_stay_finite(likelihood, responses, laws):
    for response in responses:
        value = likelihood.log_likelihood(np.full(2, response), np.array([-1e4, 1e4]))
        assert np.isfinite(value).all()
