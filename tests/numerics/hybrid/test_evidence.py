"""Likelihoods, derivatives, predictions and evidence of batches of Gaussian processes."""

import numpy as np
import pytest
import torch
from hybrid_dense import (
    KERNELS,
    correlation,
    differences,
    energies,
    log_likelihood,
    log_prior,
    predict,
    quadrature_evidence,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import invgamma

from sparsekern.inference.feature_search.graph import correlation_graph
from sparsekern.inference.hybrid._contract import BOX, Batch
from sparsekern.inference.hybrid.compiled_derivatives import _invert
from sparsekern.inference.hybrid.cpu import CpuBackend
from sparsekern.inference.hybrid.cuda import CudaBackend
from sparsekern.inference.hybrid.evidence import ParameterPrior, find_modes, fit_batch
from sparsekern.inference.hybrid.scoring import SearchSettings
from sparsekern.inference.hybrid.search import HybridSearch
from sparsekern.kernels.feature_sums import FEATURE_KERNELS
from sparsekern.kernels.sum_derivatives import kernel_derivatives

N, P = 20, 5
PRIOR = ParameterPrior((1.0, 1.0), (1.0, 1.0), (1.0, 1.0))
SHARED = pytest.mark.parametrize("shared", [True, False], ids=["shared", "per_feature"])


def open_torch(memory_limit=1.0):
    return CudaBackend(memory_limit, device="cpu")


def open_triton(monkeypatch):
    """The torch backend with Triton's kernel: on a CUDA device, else interpreted."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        monkeypatch.setenv("TRITON_INTERPRET", "1")  # looked at when Triton is imported
    pytest.importorskip("triton", reason="Triton is for Linux")
    from sparsekern.inference.hybrid import cuda, fused

    fused._open.cache_clear()
    assert fused.open_fused_toggles(device, N) is not None
    backend = cuda.CudaBackend(1.0, device=device)
    backend.toggles = np.errstate(all="ignore")(backend.toggles)  # the interpreter is NumPy
    return backend


@pytest.fixture(params=["cpu", "torch", "triton"])
def backend(request, monkeypatch):
    if request.param == "triton":
        yield open_triton(monkeypatch)
        monkeypatch.undo()
        from sparsekern.inference.hybrid import fused

        fused._open.cache_clear()
    else:
        yield CpuBackend() if request.param == "cpu" else open_torch()


def problems(rng, kind, shared, count=6, k=13):
    """A batch whose problems have rows, responses and features of their own, and parameters."""
    columns = 1.3 * rng.standard_normal((P, N))
    rows = np.array([rng.permutation(N)[:k] for _ in range(count)])
    targets = 1.5 * rng.standard_normal((count, k))
    features = np.array([rng.permutation(P)[:3] for _ in range(count)])
    counts = 1 + np.arange(count) % 3 if shared else np.full(count, 3)
    batch = Batch(columns, FEATURE_KERNELS[kind], rows, targets, features, counts, shared)
    parameters = 0.6 * rng.standard_normal((count, 3 if shared else 5)) + [0.3]
    parameters[:, -1] -= 1.5
    return batch, parameters


def part(batch, b):
    """Columns of the features of problem b at its rows, and its response."""
    rows = batch.rows[b if len(batch.rows) > 1 else 0]
    chosen = batch.features[b, : batch.counts[b]]
    return batch.columns[chosen][:, rows].T, batch.targets[b if len(batch.targets) > 1 else 0]


def without_features(rng, n=N):
    columns = rng.standard_normal((P, n))
    response = rng.standard_normal(n) + 0.8
    none = np.zeros((1, 1), np.int64), np.zeros(1, np.int64)
    return Batch(columns, FEATURE_KERNELS["rbf"], np.arange(n)[None], response[None], *none, True)


def empty_likelihood(response, u):
    """Sherman and Morrison: C = sigma^2 I + lambda 11'."""
    n, amplitude, noise = len(response), np.exp(u[0]), np.exp(u[1])
    form = (response @ response - amplitude * response.sum() ** 2 / (noise + n * amplitude)) / noise
    log_det = (n - 1) * np.log(noise) + np.log(noise + n * amplitude)
    return -0.5 * (form + log_det + n * np.log(2 * np.pi))


# -- kernels of sums ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KERNELS)
def test_derivatives_of_kernels_of_sums(kind):
    sums = np.array([1e-3, 0.02, 0.3, 1.0, 4.0, 30.0])
    values, first, second = np.empty((3, len(sums)))
    kernel_derivatives(sums, FEATURE_KERNELS[kind], values, first, second)

    def kernel(s):
        zero = np.zeros((len(s), 1))
        return correlation(zero, s[:, None] ** 0.5, np.zeros(3), kind)[0]

    if kind == "laplacian":

        def kernel(s):
            return correlation(np.zeros((1, 1)), s[:, None], np.zeros(3), kind)[0]

    def slope(s, h):
        return (
            (8 * (kernel(s + h) - kernel(s - h)) - kernel(s + 2 * h) + kernel(s - 2 * h)) / 12 / h
        )

    h = 1e-3 * sums
    assert_allclose(values, kernel(sums), rtol=1e-14)
    assert_allclose(first, slope(sums, h), rtol=1e-8, atol=1e-14)
    bend = (kernel(sums + h) - 2 * kernel(sums) + kernel(sums - h)) / h**2
    assert_allclose(second * sums**2, bend * sums**2, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("kind", KERNELS)
def test_kernels_of_sums_at_zero_and_far_away(kind):
    sums = np.array([0.0, 1e290])
    values, first, second = np.empty((3, 2))
    kernel_derivatives(sums, FEATURE_KERNELS[kind], values, first, second)
    assert_array_equal(values, [1.0, 0.0])
    assert_array_equal((first * sums)[1], 0.0)
    assert np.isfinite(second).all()


# -- likelihood and its derivatives ---------------------------------------------------------------


@SHARED
@pytest.mark.parametrize("kind", KERNELS)
def test_likelihood_against_dense_algebra(backend, kind, shared):
    batch, parameters = problems(np.random.default_rng(0), kind, shared)
    exact = [log_likelihood(*part(batch, b), u, kind) for b, u in enumerate(parameters)]
    assert_allclose(backend.log_likelihood(batch, parameters), exact, rtol=1e-11)
    assert_allclose(backend.derivatives(batch, parameters)[0], exact, rtol=1e-11)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 50, 127, 128, 129, 200])
def test_inverse_from_the_factor(n):
    rng = np.random.default_rng(n)
    half = rng.standard_normal((n, n))
    matrix = half @ half.T / n + 0.1 * np.eye(n)
    root = np.linalg.cholesky(matrix) + np.triu(rng.standard_normal((n, n)), 1)  # not to be read
    _invert(root, rng.standard_normal((n, n)))
    assert_allclose(root @ matrix, np.eye(n), atol=1e-10)
    assert_allclose(root, root.T, rtol=1e-12, atol=1e-13)


@SHARED
@pytest.mark.parametrize("kind", KERNELS)
def test_gradient_and_hessian_against_differences(backend, kind, shared):
    """The gradient against differences of the dense likelihood, the Hessian against its own."""
    batch, parameters = problems(np.random.default_rng(1), kind, shared)
    _, gradients, hessians = backend.derivatives(batch, parameters)
    for b, u in enumerate(parameters):
        one = batch.take(np.array([b]))

        def gradient(at, one=one):
            return backend.derivatives(one, at[None])[1][0]

        dense = differences(lambda at, b=b: log_likelihood(*part(batch, b), at, kind), u, 1e-3)
        assert_allclose(gradients[b], dense, rtol=1e-7, atol=1e-8)
        assert_allclose(hessians[b], differences(gradient, u, 1e-3), rtol=1e-7, atol=1e-8)
        assert_allclose(hessians[b], hessians[b].T, rtol=0, atol=0)


def test_no_features_against_sherman_and_morrison(backend):
    batch = without_features(np.random.default_rng(2))
    response = batch.targets[0]
    for u in np.random.default_rng(3).standard_normal((5, 2)):
        value, gradient, hessian = (a[0] for a in backend.derivatives(batch, u[None]))
        assert_allclose(value, empty_likelihood(response, u), rtol=1e-12)
        assert_allclose(backend.log_likelihood(batch, u[None]), value, rtol=1e-12)
        slopes = differences(lambda at: empty_likelihood(response, at), u, 1e-3)
        assert_allclose(gradient, slopes, rtol=1e-7, atol=1e-8)
        bends = differences(lambda at: backend.derivatives(batch, at[None])[1][0], u, 1e-3)
        assert_allclose(hessian, bends, rtol=1e-7, atol=1e-8)


def test_rows_and_responses_shared_by_all_problems(backend):
    """An axis of length one stands for every problem."""
    rng = np.random.default_rng(4)
    batch, parameters = problems(rng, "rbf", True)
    common = batch._replace(rows=batch.rows[:1], targets=batch.targets[:1])
    spelled = common._replace(
        rows=np.repeat(common.rows, batch.size, 0), targets=np.repeat(common.targets, batch.size, 0)
    )
    for one, two in zip(
        backend.derivatives(common, parameters), backend.derivatives(spelled, parameters),
        strict=True,
    ):  # fmt: skip
        assert_allclose(one, two, rtol=1e-12, atol=1e-12)
    chosen = np.array([4, 1])
    for whole in (common, spelled, batch):
        taken = backend.log_likelihood(whole.take(chosen), parameters[chosen])
        expected = backend.log_likelihood(whole, parameters)[chosen]
        assert_allclose(taken, expected, rtol=1e-12)


def test_taking_some_of_a_batch_keeps_rows_with_their_problem(backend):
    batch, parameters = problems(np.random.default_rng(5), "matern52", False)
    chosen = np.array([5, 0, 2])
    whole, some = (
        backend.derivatives(batch, parameters),
        backend.derivatives(batch.take(chosen), parameters[chosen]),
    )
    for one, two in zip(whole, some, strict=True):
        assert_allclose(one[chosen], two, rtol=1e-12)


# -- changed features -----------------------------------------------------------------------------


# Triton's interpreter takes long; with every kernel it is in the test after this one
TOGGLED = [
    pytest.param(name, kind, marks=[pytest.mark.slow] * (name == "triton" and kind != "matern52"))
    for name in ("cpu", "torch", "triton")
    for kind in KERNELS
]


@SHARED
@pytest.mark.parametrize(("backend", "kind"), TOGGLED, indirect=["backend"])
def test_toggles_and_exchanges_against_rebuilding(backend, kind, shared):
    batch, parameters = problems(np.random.default_rng(6), kind, shared)
    newcomer = 0.9 if not shared else None
    for b in range(3):
        one, u = batch.take(np.array([b])), parameters[b]
        fresh = u[1] if shared else newcomer
        inside = [int(j) for j in one.features[0, : one.counts[0]]]
        outside = [j for j in range(P) if j not in inside]
        changes = [(i, -1) for i in inside] + [(-1, j) for j in outside]
        changes += [(i, j) for i in inside for j in outside] + [(-1, -1)]
        found = backend.toggles(one, u, np.array(changes), fresh)
        scales = dict(zip(inside, [u[1]] * len(inside) if shared else u[1:-1], strict=True))
        for change, value in zip(changes, found, strict=True):
            kept = {j: s for j, s in scales.items() if j != change[0]}
            if change[1] >= 0:
                kept[change[1]] = fresh
            features = batch.columns[list(kept)][:, one.rows[0]].T
            at = np.array([u[0], *kept.values(), u[-1]])
            dense = log_likelihood(features, one.targets[0], at, kind)
            assert_allclose(value, dense, rtol=1e-10)


@pytest.mark.parametrize("n", [1, 16, 53])
@pytest.mark.parametrize("kind", KERNELS)
def test_toggles_of_any_number_of_rows(backend, kind, n):
    rng = np.random.default_rng(n)
    columns, response = rng.standard_normal((6, n)), rng.standard_normal(n)
    features = np.array([[1, 3, 4]])
    batch = Batch(
        columns, FEATURE_KERNELS[kind], np.arange(n)[None], response[None], features,
        np.array([3]), True,
    )  # fmt: skip
    u = np.array([0.4, 0.9, -1.8])
    changes = np.array([(1, -1), (-1, 0), (3, 5), (-1, -1)])
    models = [(3, 4), (0, 1, 3, 4), (1, 4, 5), (1, 3, 4)]
    expected = [log_likelihood(columns[list(model)].T, response, u, kind) for model in models]
    assert_allclose(backend.toggles(batch, u, changes, 0.9), expected, rtol=1e-11)


def test_nothing_is_left_of_the_only_feature(backend):
    rng = np.random.default_rng(8)
    columns, response = rng.standard_normal((3, 17)), rng.standard_normal(17)
    columns[1] *= 1e9
    batch = Batch(
        columns, FEATURE_KERNELS["rbf"], np.arange(17)[None], response[None], np.array([[1]]),
        np.array([1]), True,
    )  # fmt: skip
    u = np.array([0.4, 0.9, -1.8])
    found = backend.toggles(batch, u, np.array([(1, 2), (1, -1)]), 0.9)
    expected = (
        log_likelihood(columns[[2]].T, response, u, "rbf"),
        empty_likelihood(response, u[::2]),
    )
    assert_allclose(found, expected, rtol=1e-11)


def test_toggles_of_the_empty_model(backend):
    batch = without_features(np.random.default_rng(7))
    u = np.array([0.4, -0.7])
    changes = np.array([(-1, 0), (-1, 3), (-1, -1)])
    found = backend.toggles(batch, u, changes, 1.1)
    response = batch.targets[0]
    for value, features in zip(found[:2], ([0], [3]), strict=True):
        at = np.array([0.4, 1.1, -0.7])
        dense = log_likelihood(batch.columns[features].T, response, at, "rbf")
        assert_allclose(value, dense, rtol=1e-11)
    assert_allclose(found[2], empty_likelihood(response, u), rtol=1e-11)


# -- prediction -----------------------------------------------------------------------------------


@SHARED
@pytest.mark.parametrize("kind", KERNELS)
def test_predictions_against_dense_formulas(backend, kind, shared):
    """Several parameter vectors and points of its own for every problem."""
    rng = np.random.default_rng(8)
    batch, parameters = problems(rng, kind, shared)
    several = parameters[:, None] + 0.3 * rng.standard_normal((batch.size, 4, parameters.shape[1]))
    points = 1.5 * rng.standard_normal((batch.size, 7, 3))
    means, variances = backend.predict(batch, several, points)
    assert means.shape == variances.shape == (batch.size, 4, 7)
    for b in range(batch.size):
        new = points[b, :, : batch.counts[b]]
        for t in range(4):
            mean, variance = predict(*part(batch, b), new, several[b, t], kind)
            assert_allclose(means[b, t], mean, rtol=1e-9, atol=1e-11)
            assert_allclose(variances[b, t], variance, rtol=1e-9, atol=1e-11)


def test_predictions_without_features(backend):
    """The same everywhere: the posterior of one mean."""
    batch = without_features(np.random.default_rng(9))
    u = np.array([[[0.3, -0.4], [1.0, 0.2]]])
    means, variances = backend.predict(batch, u, np.array([[[0.0], [7.0]]]))
    amplitude, noise = np.exp(u[0]).T
    precision = 1 / amplitude + N / noise
    expected = batch.targets[0].sum() / noise / precision
    assert_allclose(means[0], np.column_stack([expected, expected]), rtol=1e-10)
    assert_allclose(variances[0], np.column_stack([1 / precision] * 2), rtol=1e-9)


def test_little_noise_interpolates_and_far_away_is_the_prior(backend):
    rng = np.random.default_rng(10)
    column, response = np.linspace(-3, 3, N), rng.standard_normal(N)
    batch = without_features(rng)._replace(
        columns=column[None], targets=response[None], counts=np.ones(1, np.int64)
    )
    points = np.r_[column, 1e3, -1e300][None, :, None]
    means, variances = backend.predict(batch, np.array([[[0.5, -4.0, -20.0]]]), points)
    assert_allclose(means[0, 0, :-2], response, atol=1e-6)
    assert (variances[0, 0, :-2] < 1e-6).all()
    assert_allclose(means[0, 0, -2:], 0.0, atol=1e-300)
    assert_allclose(variances[0, 0, -2:], np.exp(0.5), rtol=1e-12)


# -- numbers at their limits ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", KERNELS)
def test_repeated_rows_and_hardly_any_noise(backend, kind):
    """C is singular in double precision; everything stays finite, and prediction sensible."""
    rng = np.random.default_rng(11)
    columns = np.repeat(rng.standard_normal((2, 6)), 4, axis=1)
    response = np.repeat(rng.standard_normal(6), 4)
    batch = Batch(
        columns, FEATURE_KERNELS[kind], np.arange(24)[None], response[None],
        np.array([[0, 1]]), np.array([2]), True,
    )  # fmt: skip
    for u in ([12.0, 12.0, -9.0], [5.0, 12.0, -40.0], [0.0, 0.0, -40.0]):
        value, gradient, hessian = backend.derivatives(batch, np.array([u]))
        assert np.isfinite(value).all() and np.isfinite(gradient).all()
        assert np.isfinite(hessian).all()
        assert_allclose(backend.log_likelihood(batch, np.array([u])), value, rtol=1e-6)
        changes = np.array([(0, -1), (-1, -1)])
        assert np.isfinite(backend.toggles(batch, np.array(u), changes, 0.0)).all()
    mean, variance = backend.predict(batch, np.array([[[0.0, 0.0, -40.0]]]), columns.T[None])
    assert_allclose(mean[0, 0], response, atol=1e-4)
    assert ((variance >= 0) & (variance < 1e-4)).all()
    fits = fit_batch(backend, batch, np.zeros((1, 3)), PRIOR)
    assert np.isfinite(fits.log_evidence).all() and np.isfinite(fits.hessian).all()


@pytest.mark.parametrize("kind", KERNELS)
def test_distances_beyond_double_precision(backend, kind):
    """Rows that are infinitely far from each other are independent."""
    columns = np.array([[0.0, 1e200, -1e300, 1e250]])
    response = np.array([1.0, -0.5, 0.3, 0.8])
    batch = Batch(
        columns, FEATURE_KERNELS[kind], np.arange(4)[None], response[None],
        np.array([[0]]), np.array([1]), True,
    )  # fmt: skip
    u = np.array([[0.2, 0.5, -0.3]])
    total = np.exp(0.2) + np.exp(-0.3)
    exact = -0.5 * (response @ response / total + 4 * np.log(2 * np.pi * total))
    value, gradient, hessian = backend.derivatives(batch, u)
    assert_allclose(value, exact, rtol=1e-12)
    assert_allclose(gradient[0, 1], 0.0, atol=1e-12)
    assert np.isfinite(hessian).all()
    found = backend.toggles(batch, u[0], np.array([(0, -1), (-1, -1)]), 0.5)
    assert_allclose(found, [empty_likelihood(response, u[0, [0, 2]]), exact], rtol=1e-12)
    mean, variance = backend.predict(batch, u[None], np.array([[[1e100], [0.0], [-1e308]]]))
    assert_allclose(mean[0, 0], [0.0, np.exp(0.2) / total, 0.0], atol=1e-12)
    assert_allclose(variance[0, 0, [0, 2]], np.exp(0.2), rtol=1e-12)


def test_threads_change_nothing():
    rng = np.random.default_rng(12)
    batch, parameters = problems(rng, "matern32", False, count=11)
    points = rng.standard_normal((11, 3, 3))
    changes = np.array([(int(batch.features[0, 0]), -1), *[(-1, j) for j in range(P)]])
    results = []
    for n_jobs in (1, 2, 3):
        backend = CpuBackend(n_jobs)
        fits = fit_batch(backend, batch, np.zeros_like(parameters), PRIOR)
        results.append(
            [
                backend.log_likelihood(batch, parameters),
                *backend.derivatives(batch, parameters),
                backend.toggles(batch, parameters[0], changes, 0.3),
                *backend.predict(batch, parameters[:, None], points),
                *fits,
            ]
        )
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            assert_array_equal(one, two)


@SHARED
@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("memory_limit", [1.0, 1e-9], ids=["at_once", "one_by_one"])
def test_torch_agrees_with_the_compiled_backend(kind, shared, memory_limit):
    rng = np.random.default_rng(13)
    batch, parameters = problems(rng, kind, shared)
    points = rng.standard_normal((batch.size, 4, 3))
    one = batch.take(np.array([2]))
    inside = [int(j) for j in one.features[0, : one.counts[0]]]
    changes = [(i, -1) for i in inside] + [(-1, j) for j in range(P) if j not in inside]
    changes = np.array([*changes, (inside[0], changes[-1][1]), (-1, -1)])
    several = np.stack([parameters, parameters + 0.2], axis=1)
    results = [
        [
            backend.log_likelihood(batch, parameters),
            *backend.derivatives(batch, parameters),
            backend.toggles(one, parameters[2], changes, 0.4),
            *backend.predict(batch, several, points),
        ]
        for backend in (CpuBackend(), open_torch(memory_limit))
    ]
    for cpu, ours in zip(*results, strict=True):
        assert_allclose(ours, cpu, rtol=1e-8, atol=1e-8)


def test_torch_finds_the_same_modes():
    rng = np.random.default_rng(14)
    batch, parameters = problems(rng, "rbf", True)
    cpu, by_torch = (
        fit_batch(backend, batch, np.zeros_like(parameters), PRIOR)
        for backend in (CpuBackend(), open_torch())
    )
    for one, two in zip(cpu, by_torch, strict=True):
        assert_allclose(one, two, rtol=1e-8, atol=1e-8)


# -- modes and evidence ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def forty():
    """Forty rows of four features; the first three matter, from much to little."""
    rng = np.random.default_rng(15)
    features = rng.uniform(-2, 2, (40, 4))
    f = 2 * np.sin(1.5 * features[:, 0]) + features[:, 1] + 0.2 * features[:, 2] ** 2
    response = f + 0.5 * rng.standard_normal(40)
    return features, (response - response.mean()) / response.std()


SIX = [(0,), (1,), (3,), (0, 1), (0, 1, 2), (0, 1, 2, 3)]


def models_of(forty, models, kind="rbf", shared=True):
    features, response = forty
    table = np.zeros((len(models), max(len(m) for m in models)), np.int64)
    for place, model in enumerate(models):
        table[place, : len(model)] = model
    counts = np.array([len(model) for model in models])
    return Batch(
        np.ascontiguousarray(features.T), FEATURE_KERNELS[kind], np.arange(len(features))[None],
        response[None], table, counts, shared,
    )  # fmt: skip


def test_prior_is_a_density_of_log_parameters():
    prior = ParameterPrior((1.5, 0.7), (2.0, 1.3), (1.0, 0.1))
    u = np.array([[0.3, -0.4, 1.1, -2.0], [1.0, 0.0, 0.5, 0.4]])
    values, gradients, curvatures = prior.terms(u)
    for b in range(2):
        assert_allclose(values[b], log_prior(u[b], prior), rtol=1e-12)
        slopes = differences(lambda at: prior.terms(at[None])[0][0], u[b], 1e-3)
        assert_allclose(gradients[b], slopes, rtol=1e-8, atol=1e-9)
        bends = differences(lambda at: prior.terms(at[None])[1][0], u[b], 1e-3)
        assert_allclose(np.diag(-curvatures[b]), bends, rtol=1e-8, atol=1e-9)
    laws = [
        invgamma.logpdf(np.exp(v), shape, scale=rate) + v
        for v, (shape, rate) in zip(u[0, [0, 1, 3]], prior, strict=True)
    ]
    assert_allclose(prior.terms(u[:1, [0, 1, 3]])[0], sum(laws), rtol=1e-12)


@pytest.mark.parametrize("kind", KERNELS)
def test_laplace_evidence_against_quadrature(backend, forty, kind):
    """Never more than 0.35 off, and off to the same side for all of the models."""
    fits = fit_batch(backend, models_of(forty, SIX, kind), np.tile([0.0, 1.0, -1.0], (6, 1)), PRIOR)
    features, response = forty
    exact = [quadrature_evidence(features[:, model], response, kind, PRIOR) for model in SIX]
    errors = fits.log_evidence - exact
    print(np.round(errors, 3))
    assert (np.abs(errors) < 0.35).all()
    assert not fits.doubtful.any()


def test_evidence_without_features_against_quadrature(backend, forty):
    features, response = forty
    for shift in (0.0, 0.8):
        moved = response + shift
        batch = models_of((features, moved), [(0,)])._replace(counts=np.zeros(1, np.int64))
        fits = fit_batch(backend, batch, np.zeros((1, 2)), PRIOR)
        grid = np.linspace(-7, 13, 401)
        at = np.meshgrid(grid, grid, indexing="ij")
        logs = empty_likelihood(moved, at) + log_prior(at, PRIOR)
        exact = logsumexp(logs) + 2 * np.log(grid[1] - grid[0])
        spectral = quadrature_evidence(features[:, :0], moved, "rbf", PRIOR)
        assert_allclose(spectral, exact, atol=1e-3)
        assert abs(fits.log_evidence[0] - exact) < 0.35


@SHARED
@pytest.mark.parametrize("kind", ["rbf", "matern32"])
def test_newtons_method_ends_at_the_maximum(backend, forty, kind, shared):
    """No better point is found by a general optimiser from many starts; Laplace's formula there."""
    rng = np.random.default_rng(16)
    features, response = forty
    prior = ParameterPrior((1.0, 1.0), (1.0, 1.0), (1.0, 0.1))
    models = SIX[:4] if shared else [(0, 1), (1, 3), (0, 2)]
    m = 3 if shared else 4
    start = np.tile([0.0, *[1.0] * (m - 2), -1.0], (len(models), 1))
    fits = fit_batch(backend, models_of(forty, models, kind, shared), start, prior)
    for place, model in enumerate(models):
        chosen = features[:, model]

        def loss(u, chosen=chosen):
            return -log_likelihood(chosen, response, u, kind) - log_prior(u, prior)

        found = fits.parameters[place]
        ends = [
            minimize(loss, begin, bounds=[BOX] * m, method="L-BFGS-B").fun
            for begin in (found, *rng.uniform(-2, 3, (4, m)))
        ]
        assert loss(found) < min(ends) + 2e-5
        assert_allclose(differences(loss, found, 1e-3), 0.0, atol=0.02)
        bends = differences(lambda u, loss=loss: differences(loss, u, 3e-3), found, 3e-3)
        assert_allclose(fits.hessian[place], bends, rtol=1e-3, atol=1e-3)
        laplace = -min(ends) + 0.5 * m * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(bends)[1]
        assert_allclose(fits.log_evidence[place], laplace, atol=1e-3)
        plain = log_likelihood(chosen, response, found, kind)
        assert_allclose(fits.log_likelihood[place], plain, rtol=1e-10)


def test_modes_do_not_depend_on_the_start(backend, forty):
    batch = models_of(forty, SIX)
    starts = np.array([[0.0, 1.0, -1.0], [3.0, -1.0, 2.0], [-4.0, 5.0, -5.0], [11.9, 11.9, -8.9]])
    ends = [fit_batch(backend, batch, np.tile(start, (6, 1)), PRIOR) for start in starts]
    for end in ends[1:]:
        assert_allclose(end.parameters, ends[0].parameters, atol=0.02)
        assert_allclose(end.log_evidence, ends[0].log_evidence, atol=5e-3)


def test_modes_alone_are_as_good_as_those_of_whole_fits(backend, forty):
    """The last step is not checked, but saves an evaluation and loses no accuracy."""
    batch = models_of(forty, SIX)
    exact = fit_batch(backend, batch, np.tile([0.0, 1.0, -1.0], (6, 1)), PRIOR).parameters
    for _ in range(3):  # what is left of the way, until nothing is
        _, gradient, second = backend.derivatives(batch, exact)
        _, slope, curvature = PRIOR.terms(exact)
        bend = -second + curvature[:, :, None] * np.eye(3)
        exact = exact + np.linalg.solve(bend, (gradient + slope)[:, :, None])[:, :, 0]
    for start in ([0.0, 1.0, -1.0], [3.0, -1.0, 2.0], [-4.0, 5.0, -5.0]):
        found = find_modes(backend, batch, np.tile(start, (6, 1)), PRIOR)
        off = np.einsum("bi,bij,bj->b", found - exact, bend, found - exact)
        assert (0.5 * off < 1e-5).all()  # of the log density: what a whole fit may lack


def test_a_maximum_at_the_edge_of_the_box(backend):
    """Data without noise under a prior that allows that: the noise ends at its least value."""
    rng = np.random.default_rng(17)
    features = rng.uniform(-2, 2, (30, 1))
    prior = ParameterPrior((1.0, 1.0), (1.0, 1.0), (1.0, 1e-9))
    batch = models_of((features, np.sin(features[:, 0])), [(0,)])
    fits = fit_batch(backend, batch, np.array([[0.0, 1.0, -1.0]]), prior)
    assert fits.parameters[0, -1] == BOX[0]
    _, gradient, _ = backend.derivatives(batch, fits.parameters)
    inner = gradient[0, :2] + prior.terms(fits.parameters)[1][0, :2]
    assert_allclose(inner, 0.0, atol=0.1)
    assert np.isfinite(fits.log_evidence).all()
    assert (np.linalg.eigvalsh(fits.hessian[0]) > 0).all()


def test_schwarz_criterion(backend, forty):
    """The same penalty for every model with features, one parameter less for none."""
    features, response = forty
    settings = SearchSettings(prior=PRIOR, evidence="bic")
    columns = np.ascontiguousarray(features.T)
    for shared, extra in ((True, (1, 1, 0)), (False, (2, 3, 0))):
        search = HybridSearch(
            backend, columns, response, FEATURE_KERNELS["rbf"], shared, settings,
            correlation_graph(columns, 0), np.random.default_rng(0),
        )  # fmt: skip
        models = [(0, 1), (0, 1, 2), ()]
        for model, bandwidths, fit in zip(models, extra, search.fit(models), strict=True):
            u = fit.parameters
            at = u if model == () or not shared else np.r_[u[0], u[1], u[2]]
            plain = log_likelihood(features[:, model], response, at, "rbf")
            assert_allclose(fit.log_evidence, plain - 0.5 * (2 + bandwidths) * np.log(40))
            assert len(u) == 2 + bandwidths


def test_energies_of_the_oracle():
    """The oracle itself, by loops."""
    rng = np.random.default_rng(18)
    a, b, tau = rng.standard_normal((3, 2)), rng.standard_normal((4, 2)), np.array([0.5, 2.0])
    for kind, power in (("rbf", 2), ("laplacian", 1)):
        found = energies(a, b, tau, kind)
        for i in range(3):
            for j in range(4):
                total = sum(abs(a[i, k] - b[j, k]) ** power / tau[k] for k in range(2))
                assert_allclose(found[i, j], total)
