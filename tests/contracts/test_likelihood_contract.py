"""Every likelihood keeps the promises of the contract; add a row when you add one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from sparsekern._jit import jit
from sparsekern.likelihoods import (
    Gaussian,
    Hinge,
    Laplace,
    Logit,
    NegativeBinomial,
    Poisson,
    Probit,
    StudentT,
)
from sparsekern.likelihoods._compiled import (
    add_site_terms,
    draw_working,
    mean_response,
    scaled_log_likelihood,
)
from sparsekern.likelihoods._contract import Likelihood

LABELS = (-1.0, 1.0)
NUMBERS = (-2.0, 0.3, 4.0)
COUNTS = (0.0, 2.0, 30.0)


@dataclass
class Case:
    """A likelihood, responses it accepts, and what does not hold for it."""

    likelihood: Any
    responses: tuple[float, ...]
    variance: float = 1.0
    normalised: bool = True  # over the responses
    smooth: bool = True  # has two derivatives
    concave: bool = True  # in the latent value; otherwise curvatures are cut at zero
    augmented: bool = True  # has auxiliary variables
    sites: bool = True  # has terms of a stand-in's sites
    far: float = 1e4  # a latent value that is not absurd

    def __str__(self):
        return self.likelihood.name

    @property
    def parameters(self):
        return self.likelihood.start_parameters()

    def log_likelihood(self, response, latent):
        parameters = self.parameters.reshape(1, -1)
        return self.likelihood.log_likelihood(response, latent, self.variance, parameters)

    def compiled(self, response):
        return self.likelihood.compiled(np.asarray(response, dtype=float), self.parameters)


CASES = [
    Case(Probit(), LABELS),
    Case(Logit(), LABELS),
    Case(Hinge(), LABELS, normalised=False, smooth=False),
    Case(Gaussian(), NUMBERS, variance=0.7, augmented=False),
    Case(StudentT([4.0]), NUMBERS, variance=0.7, concave=False),
    Case(Laplace(), NUMBERS, variance=0.7, smooth=False, sites=False),
    Case(Poisson(), COUNTS, augmented=False, far=200.0),
    Case(NegativeBinomial(), COUNTS, augmented=False, far=200.0),
]
cases = pytest.mark.parametrize("case", CASES, ids=str)


@cases
def test_contract(case):
    assert isinstance(case.likelihood, Likelihood)
    assert isinstance(case.likelihood.name, str) and case.likelihood.name
    assert {"working response", "stand-in"} & case.likelihood.provides


@cases
def test_link_inverts_mean(case):
    latent = np.linspace(-5, 5, 41).reshape(1, 41)
    mean = case.likelihood.mean(latent)
    assert mean.shape == latent.shape
    assert (np.diff(mean[0]) > 0).all()
    np.testing.assert_allclose(case.likelihood.link(mean), latent, rtol=1e-8, atol=1e-8)


@cases
def test_likelihood_is_the_law_of_the_response(case):
    if not case.normalised:
        return
    for latent in (-3.0, 0.2, 1.7):
        if case.responses is LABELS:
            law = [
                np.exp(case.log_likelihood(np.array([y]), np.array([latent])))[0] for y in LABELS
            ]
            np.testing.assert_allclose(sum(law), 1.0, rtol=1e-12)
            np.testing.assert_allclose(law[1], case.likelihood.mean(np.array(latent)), rtol=1e-10)
        elif case.responses is COUNTS:
            counts = np.arange(20_000.0)
            law = np.exp(case.log_likelihood(counts, np.full(len(counts), latent)))
            np.testing.assert_allclose(law.sum(), 1.0, rtol=1e-9)
            np.testing.assert_allclose(law @ counts, np.exp(latent), rtol=1e-8)
        else:

            def density(y, latent=latent):
                return float(np.exp(case.log_likelihood(np.array([y]), np.array([latent])))[0])

            total = quad(density, -np.inf, np.inf)[0]
            np.testing.assert_allclose(total, 1.0, rtol=1e-6)


@cases
def test_far_latent_values_stay_finite(case):
    for response in case.responses:
        value = case.log_likelihood(np.full(2, response), np.array([-case.far, case.far]))
        assert np.isfinite(value).all()
        if not case.sites:
            continue
        sums = np.zeros((3, 2))
        add_site_terms(case.compiled([response, response]), np.array([-1e6, 1e6]), sums)
        assert np.isfinite(sums).all() and (sums[2] >= 0).all()


@cases
def test_compiled_functions_are_those_of_the_class(case):
    latent = np.linspace(-4, 4, 21)
    for response in case.responses:
        responses = np.full(21, response)
        data = case.compiled(responses)
        for scale in (1.0, 0.3):
            total = scaled_log_likelihood(data, latent, scale, case.variance)
            exact = case.log_likelihood(responses, scale * latent).sum()
            np.testing.assert_allclose(total, exact, rtol=1e-11)
        means = [mean_response(data, value) for value in latent]
        np.testing.assert_allclose(means, case.likelihood.mean(latent), rtol=1e-11)


@cases
def test_site_terms_are_the_derivatives(case):
    latent, step = np.linspace(-5, 5, 40), 1e-4
    unit = Case(case.likelihood, case.responses)  # sites are those of unit noise
    for response in case.responses if case.sites else ():
        responses, sums = np.full(40, response), np.zeros((3, 40))
        add_site_terms(case.compiled(responses), latent, sums)
        low, mid, high = (unit.log_likelihood(responses, latent + d) for d in (-step, 0.0, step))
        np.testing.assert_array_equal(sums[0], latent)
        np.testing.assert_allclose(sums[1], (high - low) / (2 * step), rtol=1e-6, atol=1e-8)
        if case.smooth:
            curvature = -(high - 2 * mid + low) / step**2
            expected = curvature if case.concave else np.maximum(curvature, 0.0)
            # logarithms of counts are sums of large terms: their differences have fewer digits
            close = {"rtol": 1e-4, "atol": 2e-5} if case.responses is COUNTS else {"atol": 2e-6}
            np.testing.assert_allclose(sums[2], expected, **close)


@jit
def _alternate(data, rng, prior_variance, noise, functions):
    """Alternate auxiliary variables given f and f given them, one row, f ~ N(0, v)."""
    fitted, response, precision = np.zeros(1), np.zeros(1), np.ones(1)
    for t in range(functions.shape[0]):
        draw_working(data, rng, fitted, noise, response, precision)
        weight = precision[0] / noise
        total = weight + 1.0 / prior_variance
        fitted[0] = weight * response[0] / total + rng.standard_normal() / np.sqrt(total)
        functions[t] = fitted[0]


@cases
def test_auxiliary_variables_give_the_posterior(case):
    """The law of f under the two-block sampler is prior times likelihood, by quadrature."""
    if not case.augmented:
        return
    prior_variance, steps = 2.5, 200_000
    for response in case.responses:
        functions = np.empty(steps)
        data = case.compiled([response])
        _alternate(data, np.random.default_rng(1), prior_variance, case.variance, functions)

        def density(f, response=response):
            value = case.log_likelihood(np.array([response]), np.array([f]))[0]
            return np.exp(value - 0.5 * f * f / prior_variance)

        total = quad(density, -30, 30, limit=400, points=[-1.0, 0.0, 1.0])[0]
        for functional in (lambda f: f, lambda f: f * f, lambda f: np.float64(np.abs(f) < 0.5)):

            def weighted(f, functional=functional):
                return functional(f) * density(f)

            exact = quad(weighted, -30, 30, limit=400, points=[-1.0, -0.5, 0.5, 1.0])[0] / total
            values = functional(functions)
            batches = values.reshape(200, -1).mean(1)
            error = batches.std(ddof=1) / np.sqrt(200)
            assert abs(values.mean() - exact) < 4.5 * error, (response, values.mean(), exact, error)
