"""Probabilities by blocks against the plain formulas."""

import numpy as np
import pytest
from scipy.special import expit, ndtr

from sparsekern.inference.vector_machine.block_prediction import (
    _logistic,
    _normal_distribution,
    block_probabilities,
)
from sparsekern.inference.vector_machine.classification import FittedClassifier
from sparsekern.inference.vector_machine.expansion import KernelExpansion
from sparsekern.inference.vector_machine.prediction import class_probability
from sparsekern.kernels.resolve import resolve_kernel
from sparsekern.likelihoods.terms import CODES


def machine(seed, vectors, kernel="rbf", likelihood="probit"):
    rng = np.random.default_rng(seed)
    training = rng.normal(size=(40, 3))
    rows = rng.choice(40, vectors, replace=False)
    expansion = KernelExpansion(
        kernel=resolve_kernel(kernel, "mean_distance", training),
        rows=rows,
        vectors=training[rows].copy(),
        signs=rng.choice([-1.0, 1.0], vectors),
        mean=rng.normal(0, 2, (vectors + 1, 1)),
        inverse=np.tril(rng.normal(size=(vectors + 1, vectors + 1))),
    )
    return FittedClassifier(expansion, CODES[likelihood], np.zeros(1), 0.0, np.empty(0), True)


@pytest.mark.parametrize("function, exact", [(_normal_distribution, ndtr), (_logistic, expit)])
def test_response_functions_in_both_tails(function, exact):
    x = np.concatenate([np.linspace(-36, 36, 20001), [0.0, -1e-300, 1e-9, -700.0, 700.0, 1e200]])
    out = np.empty(len(x))
    function(x.copy(), np.empty(len(x)), out)
    np.testing.assert_allclose(out, exact(x), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("likelihood", ["probit", "logit", "scaled_logit"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern32", "linear"])
def test_blocks_give_the_plain_formula(kernel, likelihood):
    for n, vectors in ((1, 0), (3, 2), (511, 5), (512, 5), (1100, 12)):
        fitted = machine(n, vectors, kernel, likelihood)
        features = np.random.default_rng(0).normal(size=(n, 3))
        mean, variance = fitted.expansion.moments(features)
        expected = class_probability(fitted.likelihood, mean[:, 0], variance)
        np.testing.assert_allclose(fitted.probability(features), expected, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("place", [0, 600])
def test_a_row_that_overflows_is_told(place):
    fitted = machine(1, 4, "linear")
    features = np.zeros((700, 3))
    columns = features.T.copy()
    out = np.empty(700)
    kernel, expansion = fitted.expansion.kernel, fitted.expansion
    options = (
        expansion.vectors, np.ones(3), kernel.kind, 1.0, expansion.mean[:, 0], expansion.inverse,
        fitted.likelihood, out,
    )  # fmt: skip
    assert block_probabilities(columns, *options)
    features[place] = columns[:, place] = 1e300
    assert not block_probabilities(columns, *options)
    with pytest.raises(ValueError, match="overflows"):
        fitted.probability(features)
