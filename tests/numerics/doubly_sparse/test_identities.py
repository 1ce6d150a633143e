"""Evidence and Bayes factors of the doubly-sparse model against dense normal and t densities."""

import numpy as np
import pytest
from doubly_sparse_dense import KERNELS, covariance, feature_kernel, log_evidence
from doubly_sparse_setup import MODEL, bare, record_features
from numpy.testing import assert_allclose

from sparsekern.bases._compiled import value_newcomer
from sparsekern.bases.feature_columns import load_from_sums, rebuild_features
from sparsekern.inference.feature_search.graph import correlation_graph
from sparsekern.inference.moves.features import (
    PAIR,
    swap_features,
    toggle_features,
    toggle_pairs,
    walk_bandwidths,
)
from sparsekern.linalg.active_changes import commit_birth, commit_death
from sparsekern.linalg.active_moves import value_death
from sparsekern.linalg.whitened_factor import FORM
from sparsekern.linalg.whitened_factor import log_evidence as factor_evidence
from sparsekern.linalg.whitened_response import draw_coefficients, draw_noise

N, P = 9, 4
UNUSED = np.ones((1, 1))
CASES = [(None, 1), (None, 2), ((2.3, 0.7), 1), ((2.3, 0.7), 2)]


def _random_state(rng, latents, kind):
    features = rng.standard_normal((N, P)) * 1.3
    response = 1.5 * rng.standard_normal((latents, N))
    included = rng.permutation(P)[: rng.integers(0, P + 1)]
    bandwidths = rng.standard_exponential(len(included))
    rows = rng.permutation(N)[: rng.integers(0, N + 1)]
    nu = np.exp(2 * rng.standard_normal())
    precision = np.exp(rng.standard_normal(N))
    return features, response, included, bandwidths, rows, nu, precision, MODEL | {"kind": kind}


def _dense(features, response, eta, rows, nu, precision, model, noise_prior):
    kernel = feature_kernel(features, eta, model["kind"])
    q = covariance(kernel, rows, nu, model["v0"], precision)
    return log_evidence(response, q, noise_prior)


def _vector(included, bandwidths):
    eta = np.zeros(P)
    eta[included] = bandwidths
    return eta


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize(("noise_prior", "latents"), CASES)
def test_differences_of_the_log_evidence(kind, noise_prior, latents):
    """Same data, two random states: features, bandwidths, rows and both variances differ."""
    rng = np.random.default_rng(1)
    for _ in range(15):
        features, response, *one, precision, model = _random_state(rng, latents, kind)
        values, exact = [], []
        _, _, *other, _, _ = _random_state(rng, latents, kind)
        for v0, (included, bandwidths, rows, nu) in ((0.6, one), (7.0, other)):
            model = model | {"v0": v0}
            basis, factor, spare, sums, _ = bare(
                features, model, included, bandwidths, rows, response, nu, precision,
                noise_prior=noise_prior,
            )  # fmt: skip
            values.append(rebuild_features(basis, factor, sums))
            assert load_from_sums(basis, spare, sums) == values[-1]
            assert factor_evidence(factor) == values[-1]
            exact.append(
                _dense(
                    features, response, _vector(included, bandwidths), rows, nu, precision, model,
                    noise_prior,
                )
            )  # fmt: skip
            kernel = feature_kernel(features, _vector(included, bandwidths), kind)
            assert_allclose(factor.whitened[: len(rows)], kernel[rows], atol=1e-13)
        assert_allclose(values[0] - values[1], exact[0] - exact[1], atol=1e-9)


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize(("noise_prior", "latents"), CASES)
def test_active_set_moves(kind, noise_prior, latents):
    """Births, deaths and swaps one after the other, never rebuilt, each against dense algebra."""
    rng = np.random.default_rng(2)
    features, response, included, bandwidths, rows, nu, precision, model = _random_state(
        rng, latents, kind
    )
    eta, rows = _vector(included, bandwidths), list(rows[:3])
    basis, factor, _, _, _ = bare(
        features, model, included, bandwidths, rows, response, nu, precision,
        noise_prior=noise_prior,
    )  # fmt: skip

    def dense(chosen):
        return _dense(features, response, eta, chosen, nu, precision, model, noise_prior)

    for step in range(40):
        rows = list(factor.rows[: factor.n_active[0]])
        outside = [i for i in range(N) if i not in rows]
        choice = step % 3 if 0 < len(rows) < N else (0 if not rows else 1)
        victim = int(rng.integers(0, len(rows))) if rows else -1
        newcomer = int(rng.choice(outside)) if outside else -1
        if choice == 0:
            value = value_newcomer(basis, factor, UNUSED, newcomer, factor.long[1])
            after = [*rows, newcomer]
            assert_allclose(value, dense(after) - dense(rows), atol=1e-9)
            commit_birth(factor, newcomer)
        elif choice == 1:
            value = value_death(factor, victim, len(rows))
            after = rows[:victim] + rows[victim + 1 :]
            assert_allclose(value, dense(after) - dense(rows), atol=1e-9)
            commit_death(factor, victim)
        else:
            value = value_newcomer(basis, factor, UNUSED, newcomer, factor.long[1])
            value += value_death(factor, victim, len(rows) + 1)
            after = [*rows[:victim], *rows[victim + 1 :], newcomer]
            assert_allclose(value, dense(after) - dense(rows), atol=1e-9)
            commit_birth(factor, newcomer)
            commit_death(factor, victim)
        assert list(factor.rows[: factor.n_active[0]]) == after
        _, fresh, _, _, _ = bare(
            features, model, included, bandwidths, after, response, nu, precision,
            noise_prior=noise_prior,
        )  # fmt: skip
        assert_allclose(factor_evidence(factor), factor_evidence(fresh), atol=1e-9)
        assert_allclose(factor.noise[FORM], fresh.noise[FORM], atol=1e-9)
        assert_allclose(factor.whitened[: len(after)], fresh.whitened[: len(after)], atol=1e-12)


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize(("noise_prior", "latents"), CASES)
def test_evidence_carried_through_feature_moves(kind, noise_prior, latents):
    """What toggles, exchanges and walks return is the evidence of the state they leave."""
    rng = np.random.default_rng(3)
    features, response, included, bandwidths, _, nu, precision, model = _random_state(
        rng, latents, kind
    )
    rows = [1, 4, 5]
    basis, factor, spare, sums, other = bare(
        features, model, included, bandwidths, rows, 0.3 * response, nu, precision,
        noise_prior=noise_prior,
    )  # fmt: skip
    tallies, steps = np.zeros((5, 2), np.int64), np.zeros(P, np.int64)
    pairs = np.array([[0, 1], [1, 2], [0, P - 1]])
    graph = correlation_graph(features.T, 2)
    start = rebuild_features(basis, factor, sums)
    offset = start - _dense(
        features, 0.3 * response, _vector(included, bandwidths), rows, nu, precision, model,
        noise_prior,
    )  # fmt: skip
    evidence = start
    for _ in range(60):
        shared = (rng, basis, factor, spare, sums, other)
        evidence = toggle_features(*shared, evidence, 3, 0.0, tallies)
        evidence = toggle_pairs(*shared, evidence, 2, pairs, 0.0, tallies)
        evidence = swap_features(*shared, evidence, 2, graph, tallies)
        evidence = walk_bandwidths(
            *shared, evidence, 2, np.full(P, np.log(0.5)), steps, False, tallies
        )
        size = basis.n_features[0]
        eta = _vector(basis.features[:size], basis.bandwidths[:size])
        exact = _dense(features, 0.3 * response, eta, rows, nu, precision, model, noise_prior)
        assert_allclose(evidence - offset, exact, atol=1e-8)
        assert_allclose(factor_evidence(factor), evidence, atol=1e-10)
        assert len(set(basis.features[:size])) == size
        kernel = feature_kernel(features, eta, kind)
        assert_allclose(factor.whitened[:3], kernel[rows], atol=1e-10)
        fresh = np.empty_like(sums)
        rebuild_features(basis, spare, fresh)
        assert_allclose(sums[:3], fresh[:3], atol=1e-10)
        for part in ("gram", "cross", "projected"):  # four columns with the intercept's
            ours, theirs = getattr(factor, part)[:4, :4], getattr(spare, part)[:4, :4]
            assert_allclose(ours, theirs, atol=1e-9, err_msg=part)
        assert_allclose(np.tril(factor.root[:4, :4]), np.tril(spare.root[:4, :4]), atol=1e-9)
        assert_allclose(factor.noise[FORM], spare.noise[FORM], atol=1e-9)
    assert (tallies[:, 1] > 0).all()
    assert (steps == 0).all()


@pytest.mark.parametrize("kind", KERNELS)
def test_no_features_give_a_kernel_of_ones(kind):
    """Closed form: Q = Omega^-1 + (v0 + k nu) 11', and any slab, however wide."""
    rng = np.random.default_rng(4)
    features, response = rng.standard_normal((N, P)), rng.standard_normal(N) + 1.0
    for nu in (1e-3, 1.0, 1e4, 1e8):
        values = []
        for rows in ([], [3], [0, 3, 5, 8]):
            basis, factor, _, sums, _ = bare(
                features, MODEL | {"kind": kind}, [], [], rows, response, nu
            )
            values.append(rebuild_features(basis, factor, sums))
            assert (factor.whitened[: len(rows)] == 1.0).all()
            total = MODEL["v0"] + len(rows) * nu
            exact = -0.5 * np.log1p(N * total)
            exact += 0.5 * total * response.sum() ** 2 / (1 + N * total)
            assert_allclose(values[-1], exact, rtol=1e-9, atol=1e-7)


def test_last_feature_out_leaves_no_rounding():
    """Kernel columns are ones exactly after a feature of any bandwidth has come and gone."""
    rng = np.random.default_rng(5)
    features = 3 * rng.standard_normal((N, 2))
    basis, factor, spare, sums, other = bare(
        features, MODEL, [1], [0.7331], [2, 6], np.zeros(N), 1.0, np.zeros(N)
    )
    tallies = np.zeros((4, 2), np.int64)
    empty = 0
    for _ in range(500):
        value = toggle_features(rng, basis, factor, spare, sums, other, 0.0, 1, 0.0, tallies)
        assert value == 0.0
        if basis.n_features[0] == 0:
            empty += 1
            assert (factor.whitened[:2] == 1.0).all()
            assert (sums[:2] == 0.0).all()
    assert empty > 50


def test_room_for_features_is_never_exceeded():
    rng = np.random.default_rng(6)
    features = rng.standard_normal((N, P))
    pieces = bare(features, MODEL, [0, 2], [0.5, 1.0], [1], np.zeros(N), 1.0, np.zeros(N), room=2)
    eta = np.zeros((5000, P))
    counts, graph = np.array([3, 1, 1, 2]), correlation_graph(features.T)
    pairs, step = np.array([[0, 1], [1, 2], [0, 2]]), np.full(P, np.log(0.5))
    _, tallies = record_features(rng, *pieces, 3.0, counts, graph, pairs, step, eta)
    assert ((eta > 0).sum(1) <= 2).all()
    assert tallies[PAIR, 0] == 10_000
    assert tallies[0, 1] > 100


@pytest.mark.parametrize("noise_prior", [None, (2.3, 0.7)])
def test_draws_of_noise_and_coefficients(noise_prior):
    """Moments of sigma^2, coefficients and function given the state, against dense formulas."""
    rng = np.random.default_rng(7)
    features, response, *_, precision, model = _random_state(rng, 1, "rbf")
    included, bandwidths, rows, nu = [0, 2], [0.4, 0.9], [1, 5, 7], 1.7
    _, factor, _, _, _ = bare(
        features, model, included, bandwidths, rows, response, nu, precision,
        noise_prior=noise_prior,
    )  # fmt: skip
    kernel = feature_kernel(features, _vector(included, bandwidths), "rbf")
    design = np.column_stack([np.ones(N), kernel[:, rows]])
    hessian = design.T @ (precision[:, None] * design) + np.diag(1 / np.r_[2.0, [nu] * 3])
    mean = np.linalg.solve(hessian, design.T @ (precision * response[0]))
    rate = precision @ response[0] ** 2 - mean @ hessian @ mean
    count = 60_000
    beta, variance, fitted = np.empty((count, 4)), np.empty(count), np.empty(N)
    for t in range(count):
        draw_noise(rng, factor)
        variance[t] = factor.noise[2]
        beta[t, 0] = draw_coefficients(rng, factor, 0, beta[t, 1:], fitted)
    assert_allclose(fitted, design @ beta[-1], atol=1e-12)
    standard = (beta - mean) @ np.linalg.cholesky(hessian) / np.sqrt(variance)[:, None]
    z = [standard.mean(0) * np.sqrt(count), (standard**2 - 1).mean(0) * np.sqrt(count / 2)]
    cross = standard[:, [0, 1, 2]] * standard[:, [1, 2, 3]]
    z.append(cross.mean(0) * np.sqrt(count))
    if noise_prior is not None:
        shape, rate = noise_prior[0] + N / 2, noise_prior[1] + rate / 2
        share = rate / variance
        z.append([(share.mean() - shape) / np.sqrt(shape / count)])
        z.append([np.corrcoef(share, (standard**2).sum(1))[0, 1] * np.sqrt(count)])
    else:
        assert (variance == 1.0).all()
    print(f"max|z| {np.abs(np.concatenate(z)).max():.2f}")
    assert np.abs(np.concatenate(z)).max() < 4


def _evidence_by_orthogonalisation(features, eta, rows, response, nu, noise_prior):
    """Log evidence up to a constant, in extended precision, from an orthogonal basis of [I; D]."""
    x = features.astype(np.longdouble)
    energy = sum(eta[j] * (x[:, j, None] - x[None, rows, j]) ** 2 for j in range(P))
    columns = np.exp(-energy) * np.sqrt(np.longdouble(nu))
    design = np.concatenate([np.full((N, 1), np.sqrt(np.longdouble(MODEL["v0"]))), columns], 1)
    size = design.shape[1]
    basis = np.concatenate([np.eye(size, dtype=np.longdouble), design], 0)
    residual = np.concatenate([np.zeros(size, np.longdouble), response.astype(np.longdouble)])
    log_root = 0.0
    for j in range(size):
        for i in [*range(j)] * 2:
            basis[:, j] -= (basis[:, i] @ basis[:, j]) * basis[:, i]
        length = np.sqrt(basis[:, j] @ basis[:, j])
        basis[:, j] /= length
        log_root += np.log(length)
        residual -= (basis[:, j] @ residual) * basis[:, j]
    form = residual @ residual
    return float(-log_root - (noise_prior[0] + N / 2) * np.log(noise_prior[1] + form / 2))


@pytest.mark.parametrize("nu", [1e2, 1e6, 1e8])
@pytest.mark.parametrize("bandwidth", [1.0, 0.1, 1e-3, 1e-7])
def test_wide_slab_and_nearly_equal_columns(nu, bandwidth):
    """Columns are not whitened: their near-equality may cost digits, but only so many."""
    rng = np.random.default_rng(8)
    features, response = rng.standard_normal((N, P)), rng.standard_normal(N)
    rows = [0, 1, 3, 4, 6, 7]
    eta = np.array([bandwidth, 0.0, 0.0, 0.0])
    basis, factor, _, sums, _ = bare(
        features, MODEL, [0], [bandwidth], rows, response, nu, noise_prior=(1.0, 1.0)
    )
    exact = _evidence_by_orthogonalisation(features, eta, rows, response, nu, (1.0, 1.0))
    assert_allclose(rebuild_features(basis, factor, sums), exact, atol=1e-13 * nu + 1e-10)


def test_walk_refuses_what_is_not_a_number():
    """A slab so wide that the factorisation breaks down at some bandwidths."""
    rng = np.random.default_rng(9)
    features, response = rng.standard_normal((30, 2)), rng.standard_normal(30)
    basis, factor, spare, sums, other = bare(
        features, MODEL, [0], [1.0], range(8), response, 1e16, noise_prior=(1.0, 1.0)
    )
    evidence = rebuild_features(basis, factor, sums)
    assert np.isfinite(evidence)
    tallies, steps = np.zeros((4, 2), np.int64), np.zeros(2, np.int64)
    evidence = walk_bandwidths(
        rng, basis, factor, spare, sums, other, evidence, 300, np.zeros(2), steps, False, tallies
    )
    assert np.isfinite(evidence)
