"""Sites that match moments: against expectation propagation with dense matrices."""

import numpy as np
import pytest
from doubly_sparse_dense import feature_kernel
from laplace_dense import LAWS, evidence_by_quadrature, log_density
from laplace_setup import bare, terms
from numba import njit
from numpy.testing import assert_allclose

from sparsekern.bases.feature_columns import rebuild_features
from sparsekern.inference.moves.evidence_estimate import estimate_ratio
from sparsekern.inference.moves.matched_sites import match_moments, match_rounds

N, ETA, V0, NU = 6, 0.7, 1.1, 1.3
FEATURES = np.random.default_rng(31).standard_normal((N, 2))
WEIGHTS = np.array([1.0, 0.7, 1.6, 1.0, 0.4, 1.0])
NODES, MASS = np.polynomial.hermite_e.hermegauss(12)


def _response(law, n=N):
    labels = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    return (np.array([0.0, 1.0, 6.0, 2.0, 0.0, 3.0]) if law == "poisson" else labels)[:n]


def _offset(law, n=N):
    return (np.log([0.5, 1.0, 2.0, 1.0, 3.0, 0.7]) if law == "poisson" else np.zeros(N))[:n]


def _state(law, rows, n=N):
    """Return the factor at the mode, its data, evidence, and the dense whitened columns."""
    data = terms(law, _response(law, n), _offset(law, n), WEIGHTS[:n])
    options = {"largest": 3, "v0": V0}
    basis, factor, _, sums, _ = bare(FEATURES[:n], [1], [ETA], rows, data, NU, **options)
    evidence = rebuild_features(basis, factor, sums)
    kernel = feature_kernel(FEATURES[:n], [0.0, ETA], "rbf")
    scale = np.sqrt([V0, *[NU] * len(rows)])
    return factor, data, evidence, np.column_stack([np.ones(n), kernel[:, rows]]) * scale


def _posterior(factor, columns):
    """Return mean and covariance of the function by the factor's sites, with dense matrices."""
    precision = np.eye(columns.shape[1]) + columns.T @ (factor.precision[:, None] * columns)
    covariance = columns @ np.linalg.inv(precision) @ columns.T
    return covariance @ (factor.precision * factor.response[0]), covariance


def _propagate(law, columns, precision, response, rounds):
    """Return sites after rounds over all rows at once, a fifth of the old site kept each time."""
    n = len(columns)
    y, offset = _response(law, n), _offset(law, n)
    for _ in range(rounds):
        inner = np.eye(columns.shape[1]) + columns.T @ (precision[:, None] * columns)
        covariance = columns @ np.linalg.inv(inner) @ columns.T
        mean = covariance @ (precision * response)
        new_precision, new_product = precision.copy(), precision * response
        for i in range(n):
            cavity = 1.0 / covariance[i, i] - precision[i]
            centre = (mean[i] / covariance[i, i] - precision[i] * response[i]) / cavity
            f = centre + NODES / np.sqrt(cavity)
            mass = MASS * np.exp(WEIGHTS[i] * log_density(law, y[i], offset[i] + f))
            first = f @ mass / mass.sum()
            variance = (f - first) ** 2 @ mass / mass.sum()
            wanted = 1.0 / variance - cavity
            new_product[i] += 0.8 * (first / variance - cavity * centre - new_product[i])
            new_precision[i] += 0.8 * (wanted - precision[i])
        precision, response = new_precision, new_product / new_precision
    return precision, response


@pytest.mark.parametrize("rows", [[], [2], [0, 3, 5]], ids=["intercept", "one", "three"])
@pytest.mark.parametrize("law", LAWS)
def test_rounds_are_those_of_dense_matrices(law, rows):
    factor, data, _, columns = _state(law, rows)
    wanted = _propagate(law, columns, factor.precision.copy(), factor.response[0].copy(), 5)
    match_rounds(data, factor)
    assert_allclose(factor.precision, wanted[0], rtol=1e-8, atol=2e-9)
    assert_allclose(factor.precision * factor.response[0], wanted[0] * wanted[1], rtol=1e-8)
    mean = _posterior(factor, columns)[0]
    ours = columns @ np.linalg.solve(factor.root[: len(rows) + 1, : len(rows) + 1].T,
                                     factor.projected[0, : len(rows) + 1])  # fmt: skip
    assert_allclose(ours, mean, atol=1e-10)  # the factor stands at its sites


@pytest.mark.parametrize("law", LAWS)
def test_moments_of_one_row_are_those_of_the_posterior(law):
    """With one row there is nothing to approximate but what rounds and nodes leave."""
    factor, data, _, columns = _state(law, [], n=1)
    match_rounds(data, factor)
    mean, covariance = _posterior(factor, columns)
    _, exact = evidence_by_quadrature(
        law, _response(law, 1), columns, _offset(law, 1), WEIGHTS[:1],
        lambda points: np.column_stack([points @ columns.T, (points @ columns.T) ** 2]), 20_001,
    )  # fmt: skip
    tolerance = 0.05 if law == "hinge" else 2e-3  # its corner lies between two nodes
    assert_allclose(mean[0], exact[0], atol=tolerance)
    assert_allclose(covariance[0, 0], exact[1] - exact[0] ** 2, atol=tolerance)


@njit
def _estimates(rng, data, factor, evidence, pairs, values, function):
    for t in range(values.shape[0]):
        values[t] = estimate_ratio(rng, data, factor, evidence, pairs, function)


@pytest.mark.parametrize("law", LAWS)
def test_estimates_by_matched_sites_are_unbiased(law):
    factor, data, evidence, columns = _state(law, [2])
    exact = evidence_by_quadrature(law, _response(law), columns, _offset(law), WEIGHTS)[0]
    match_rounds(data, factor)
    values = np.empty(20_000)
    _estimates(np.random.default_rng(1), data, factor, evidence, 4, values, np.empty(4 + N))
    ratio = np.exp(values - (exact - evidence))
    assert abs(ratio.mean() - 1.0) < 4.0 * ratio.std() / np.sqrt(len(ratio))


def test_the_hinge_gains_and_smooth_laws_stay_at_the_mode():
    """Many vectors and rows near the corner: what matched sites are for."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((400, 2))
    f = 2.0 * ((X**2).sum(1) - 1.4)
    y, rows = np.sign(f + rng.logistic(size=400)), list(rng.permutation(400)[:40])
    for law in ("hinge", "logit"):
        data = terms(law, y)
        basis, factor, _, sums, _ = bare(X, [0, 1], [0.5] * 2, rows, data, 10.0, largest=41, v0=10)
        evidence, spread = rebuild_features(basis, factor, sums), []
        for _ in range(2):  # at the mode, then by moments
            values = np.empty(100)
            _estimates(rng, data, factor, evidence, 64, values, np.empty(42 + 400))
            spread.append(values.std())
            before = factor.precision.copy()
            match_moments(data, factor)
        print(law, spread)
        assert (factor.precision == before).all() == (law == "logit")
        assert spread[1] < (0.6 if law == "hinge" else 1.4) * spread[0]


def test_sites_that_cannot_be_matched_stay():
    """A row that says nothing keeps a site of next to no precision; nothing becomes infinite."""
    data = terms("hinge", np.array([1.0, -1.0, 1.0]), weights=np.array([1.0, 1e-12, 1e6]))
    basis, factor, _, sums, _ = bare(FEATURES[:3], [1], [ETA], [0], data, NU, largest=2, v0=V0)
    rebuild_features(basis, factor, sums)
    match_moments(data, factor)
    assert np.isfinite(factor.precision).all() and (factor.precision > 0).all()
    assert np.isfinite(factor.response).all()
    assert factor.precision[1] < 1e-6
