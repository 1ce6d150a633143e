"""The log posterior by which chains are compared, against dense algebra; constants do not count."""

import numpy as np
import pytest
from doubly_sparse_dense import covariance, feature_kernel
from doubly_sparse_setup import MODEL, generators, make_sampler
from laplace_dense import laplace_evidence

from sparsekern.likelihoods import Gaussian, Logit, StudentT

N, P = 6, 3
FEATURES = np.random.default_rng(31).standard_normal((N, P))
REALS = np.array([0.4, -1.2, 2.0, 0.3, -0.7, 1.1])
LABELS = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
BASE = MODEL | {"max_features": 3, "max_active": 4}
STATES = [
    ([0, 2, 3], [0.8, 0.0, 0.0], 2.0), ([1], [0.0, 0.3, 1.7], 0.4), ([4, 5], [0.1, 0.2, 0.9], 9.0),
]  # fmt: skip


def _dense(law, rows, eta, nu, weights):
    kernel = feature_kernel(FEATURES, np.array([eta]))[0]
    if law == "gaussian":
        q = covariance(kernel, rows, nu, BASE["v0"], weights)
        (shape, rate), energy = BASE["noise_prior"], REALS @ np.linalg.solve(q, REALS)
        # a row of weight w counts w times in the law of the noise, too
        value = -0.5 * np.linalg.slogdet(q)[1]
        value -= (shape + 0.5 * np.sum(weights)) * np.log(rate + 0.5 * energy)
    else:
        scale = np.sqrt([BASE["v0"], *[nu] * len(rows)])
        design = scale * np.column_stack([np.ones(N), kernel[:, rows]])
        value = float(laplace_evidence(law, LABELS, design)[0])
    included = np.array(eta) > 0
    shape, rate = BASE["slab_prior"]
    value += len(rows) * np.log(0.35 / 0.65) + included.sum() * np.log(0.4 / 0.6) - np.sum(eta)
    return value - shape * np.log(nu) - rate / nu  # of log nu, as chains walk on it


@pytest.mark.parametrize("law", ["gaussian", "weighted", "logit"])
def test_differences_between_states(law):
    weights = np.linspace(0.5, 3.0, N) if law == "weighted" else np.ones(N)
    likelihood = Logit() if law == "logit" else Gaussian(weights if law == "weighted" else None)
    response = LABELS if law == "logit" else REALS
    sampler = make_sampler(likelihood, FEATURES, response, BASE)
    found = []
    for rows, eta, nu in STATES:
        state = sampler.start(generators(3)[0], 1)
        state.n_active[0], state.rows[: len(rows)] = len(rows), rows
        chosen = np.flatnonzero(eta)
        state.n_features[0], state.features[: len(chosen)] = len(chosen), chosen
        state.bandwidths[: len(chosen)] = np.array(eta)[chosen]
        state.variances[1] = nu
        before = [part.copy() for part in state]
        value = sampler.log_density(state)
        for part, old in zip(state, before, strict=True):
            np.testing.assert_array_equal(part, old)
        name = "logit" if law == "logit" else "gaussian"
        found.append(value - _dense(name, rows, eta, nu, weights))
    np.testing.assert_allclose(found, found[0], atol=1e-5 if law == "logit" else 1e-9)


def test_auxiliary_variables_are_not_integrated_out():
    sampler = make_sampler(StudentT([4.0]), FEATURES, REALS, BASE)
    assert not sampler.knows_log_density
