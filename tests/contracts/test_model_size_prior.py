"""The beta-binomial prior on the active set."""

from itertools import pairwise
from math import comb

import numpy as np
import pytest
from scipy.integrate import quad

from sparsekern.priors import ScalePriors, beta_binomial_log_weights


@pytest.mark.parametrize(("n", "largest"), [(10, 10), (10, 4), (1, 1), (500, 100)])
def test_size_is_uniform_by_default(n, largest):
    weights = beta_binomial_log_weights(n, largest, (1.0, 1.0))
    assert weights.shape == (largest + 1,)
    log_sizes = weights + np.log([float(comb(n, k)) for k in range(largest + 1)])
    np.testing.assert_allclose(log_sizes, log_sizes[0], rtol=1e-10)


@pytest.mark.parametrize("shapes", [(1.0, 1.0), (2.0, 5.0), (0.5, 3.0)])
def test_inclusion_probability_integrated_out(shapes):
    """Weights by quadrature over the inclusion probability."""
    n = 9
    weights = np.exp(beta_binomial_log_weights(n, n, shapes))
    for k in range(n + 1):
        power = k + shapes[0] - 1, n - k + shapes[1] - 1
        exact = quad(lambda x, p=power: x ** p[0] * (1 - x) ** p[1], 0, 1)[0]
        np.testing.assert_allclose(weights[k], exact, rtol=1e-6)


@pytest.mark.parametrize("shapes", [(1.0, 1.0), (2.0, 5.0)])
def test_ratio_of_neighbours(shapes):
    """p(k+1) / p(k) = (k + a) / (n - k - 1 + b)."""
    n = 12
    weights = beta_binomial_log_weights(n, n, shapes)
    for k, (here, there) in enumerate(pairwise(weights)):
        ratio = (k + shapes[0]) / (n - k - 1 + shapes[1])
        np.testing.assert_allclose(np.exp(there - here), ratio, rtol=1e-10)


def test_names_of_the_scale_prior():
    prior = ScalePriors(scale_shape=1, scale_rate=2, intercept_shape=3, intercept_rate=4)
    assert (prior.scale_shape, prior.scale_rate) == (1, 2)
    assert (prior.intercept_shape, prior.intercept_rate) == (3, 4)
