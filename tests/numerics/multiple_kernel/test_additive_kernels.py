"""The additive model of several kernels: bound, forms, predictions, what it finds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import gamma, multivariate_normal, norm

from sparsekern.inference.multiple_kernel.additive.ascent import Ascent, Schedule, ascend, revive
from sparsekern.inference.multiple_kernel.additive.bound import AdditivePriors, Model, Scales
from sparsekern.inference.multiple_kernel.additive.fit import build_form, fit_additive
from sparsekern.inference.multiple_kernel.additive.forms import (
    ColumnForm,
    KernelForm,
    RowForm,
    column_form,
)
from sparsekern.inference.multiple_kernel.additive.posterior import make_posterior
from sparsekern.inference.multiple_kernel.additive.resolvent import resolve
from sparsekern.inference.multiple_kernel.additive.whitening import Whitening
from sparsekern.inference.multiple_kernel.latent import Latent
from sparsekern.likelihoods import MultinomialProbit, Probit

PRIORS = AdditivePriors((1.5, 0.7), (1.2, 0.8), (1.1, 0.9))
BIAS = 4.0


def make_data(seed=0, n=40, p=3, outputs=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    kernels = np.stack([np.exp(-np.abs(X[:, [m]] - X[:, m])) for m in range(p)])  # full rank
    targets = np.sin(2 * X[:, :1]) + 0.5 * X[:, 1:2] * np.arange(outputs)
    targets = 1.5 + targets + 0.3 * rng.standard_normal((n, outputs))
    return kernels, targets


def make_model(kind, kernels, priors=PRIORS):
    """Return a model, its scales (not at a maximum) and the columns of the weights."""
    p, n, _ = kernels.shape
    noise = np.array([0.1, 0.3])
    kernel_scales = np.array([0.5, 0.2, 0.1])[:p]
    whitened = np.hstack([Whitening.of(k).features(k) for k in kernels])
    if kind == "kernels":
        form, columns = KernelForm(kernels, BIAS), whitened
        return Model(form, np.arange(p), None, np.full(p, n), priors), Scales(
            kernel_scales, None, noise
        ), columns  # fmt: skip
    width = 4 if kind == "few columns" else n
    columns = np.hstack([k[:, :width] for k in kernels])
    form = column_form(columns, BIAS)
    assert isinstance(form, ColumnForm if p * width < n else RowForm)
    kernel_of, row_of = np.repeat(np.arange(p), width), np.tile(np.arange(width), p)
    scales = Scales(kernel_scales, np.linspace(0.5, 2.0, width), noise)
    return Model(form, kernel_of, row_of, np.full(p, width), priors), scales, columns


KINDS = ("kernels", "rows", "few columns")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [[0.1, 0.3], [0.2, 0.2]])
def test_gradient_and_value(kind, noise):
    kernels, targets = make_data()
    model, scales, columns = make_model(kind, kernels)
    scales = Scales(scales.kernel, scales.sample, np.array(noise))
    logs = scales.pack(True)
    _, slope, inner = model.evaluate(scales, targets)
    for place, direction in enumerate(1e-5 * np.eye(len(logs))):
        high, low = (
            model.evaluate(scales.unpacked(logs + sign * direction), targets)[0] for sign in (1, -1)
        )
        assert_allclose(slope[place], (high - low) / 2e-5, rtol=1e-6, atol=1e-5)
    size = model.component_scales(scales)
    if kind == "kernels":
        covariance = np.tensordot(size, kernels, 1) + BIAS
    else:
        covariance = (columns * size) @ columns.T + BIAS
    for o in range(2):
        dense = covariance + scales.noise[o] * np.eye(len(targets))
        alpha = np.linalg.solve(dense, targets[:, o])
        assert_allclose(inner.fitted[:, o], covariance @ alpha, rtol=1e-7, atol=1e-9)
    laws = [covariance + v * np.eye(len(targets)) for v in scales.noise]
    value = sum(multivariate_normal(cov=c).logpdf(t) for c, t in zip(laws, targets.T, strict=True))
    assert_allclose(inner.value, value, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_is_the_mean_of_log_p_less_log_q(kind):
    kernels, targets = make_data(3, n=13 if kind == "few columns" else 6)
    model, scales, columns = make_model(kind, kernels)
    bound = model.evaluate(scales, targets)[0]
    draws, rng = 20_000, np.random.default_rng(1)
    design = np.column_stack([columns, np.ones(len(targets))])
    factors = model.factors(scales, 2)
    total = np.zeros(draws)
    samples = []
    for factor, _ in factors:
        value = rng.gamma(factor.shape, factor.scale, (draws, len(factor.shape)))
        total += gamma.logpdf(value, factor.prior[0], scale=factor.prior[1]).sum(1)
        total -= gamma.logpdf(value, factor.shape, scale=factor.scale).sum(1)
        samples.append(value)
    owner = model.kernel_of if kind != "kernels" else np.repeat(np.arange(3), len(targets))
    precision = samples[0][:, owner]
    mean_precision = factors[0][0].mean[owner]
    if model.row_of is not None:
        precision = precision * samples[1][:, model.row_of]
        mean_precision = mean_precision * factors[1][0].mean[model.row_of]
    precision = np.column_stack([precision, np.full(draws, 1 / BIAS)])
    mean_precision = np.append(mean_precision, 1 / BIAS)
    for o in range(2):
        noise = factors[-1][0].mean[o]
        cover = np.linalg.inv(np.diag(mean_precision) + noise * design.T @ design)
        law = multivariate_normal(noise * cover @ design.T @ targets[:, o], cover)
        weights = law.rvs(draws, random_state=rng)
        total += norm.logpdf(weights, 0, precision**-0.5).sum(1) - law.logpdf(weights)
        function = weights @ design.T
        total += norm.logpdf(targets[:, o], function, samples[-1][:, [o]] ** -0.5).sum(1)
    z = (total.mean() - bound) / (total.std() / np.sqrt(draws))
    print(kind, "z", round(z, 2), "bound", round(bound, 3))
    assert abs(z) < 4


@pytest.mark.parametrize("kind", KINDS)
def test_coordinate_updates_climb_the_same_hill(kind):
    """The textbook's updates, one factor at a time, never lower the bound nor pass the ascent."""
    kernels, targets = make_data()
    model, scales, columns = make_model(kind, kernels)
    owner = model.kernel_of if kind != "kernels" else np.repeat(np.arange(3), len(targets))
    design = np.column_stack([columns, np.ones(len(targets))])
    best = ascend(model, scales, targets, Schedule(500, 1e-9, 1e-13)).bound
    before = model.evaluate(scales, targets)[0]
    for _ in range(60):
        second = np.zeros(len(owner))
        size = model.component_scales(scales)
        size = size if kind != "kernels" else size[owner]
        gaps = []
        for o in range(2):
            inner = np.diag(1 / np.append(size, BIAS)) + design.T @ design / scales.noise[o]
            cover = np.linalg.inv(inner)
            mean = cover @ design.T @ targets[:, o] / scales.noise[o]
            second += (mean**2 + np.diag(cover))[:-1]
            gap = targets[:, o] - design @ mean
            gaps.append(gap @ gap + np.trace(design.T @ design @ cover))
        rows = None if scales.sample is None else 1 / scales.sample[model.row_of]
        kernel = _updated(second if rows is None else second * rows, owner, 2, PRIORS.kernel)
        after = [Scales(kernel, scales.sample, scales.noise)]
        noise = np.array([_updated(g, None, len(targets), PRIORS.noise) for g in gaps])
        after.append(Scales(scales.kernel, scales.sample, noise))
        scales = after[_ % 2]  # one factor at a time
        bound = model.evaluate(scales, targets)[0]
        assert bound >= before - 1e-9 * abs(before)
        assert bound <= best + 1e-7 * abs(best)
        before = bound


def _updated(squares, owner, count, prior):
    if owner is None:
        return (1 / prior[1] + 0.5 * squares) / (prior[0] + 0.5 * count)
    total, number = np.bincount(owner, squares), np.bincount(owner)
    return (1 / prior[1] + 0.5 * total) / (prior[0] + 0.5 * count * number)


def test_forms_of_the_same_kernels_agree():
    kernels, targets = make_data()
    model, scales, columns = make_model("kernels", kernels)
    ranks = np.array([len(Whitening.of(k).pivots) for k in kernels])
    owner = np.repeat(np.arange(3), ranks)
    values = [model.evaluate(scales, targets)]
    for form in (RowForm(columns, BIAS), ColumnForm.of(columns, BIAS)):
        other = Model(form, owner, None, np.full(3, 40), PRIORS)
        values.append(other.evaluate(scales, targets))
    for bound, slope, inner in values[1:]:
        assert_allclose(bound, values[0][0], rtol=1e-7)
        assert_allclose(slope, values[0][1], rtol=1e-5, atol=1e-6)
        assert_allclose(inner.fitted, values[0][2].fitted, atol=1e-6)


def test_kernels_of_low_rank_go_by_columns_and_predict_the_same():
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((60, 4)), rng.standard_normal((7, 4))
    inputs = [X[:, :2], X[:, 2:]]
    others = [new[:, :2], new[:, 2:]]
    kernels = np.stack([z @ z.T for z in inputs])
    targets = 2 + X[:, [0]] + 0.5 * X[:, [1]] + 0.2 * rng.standard_normal((60, 1))
    form, owner, ranks, whitenings = build_form(lambda m: kernels[m], 2, None, BIAS)
    assert isinstance(form, ColumnForm)
    assert_array_equal(ranks, [2, 2])
    scales = Scales(np.array([0.7, 0.2]), None, np.array([0.1]))
    found = []
    for model, features in (
        (Model(form, owner, None, ranks, PRIORS), whitenings),
        (Model(KernelForm(kernels, BIAS), np.arange(2), None, np.full(2, 60), PRIORS), None),
    ):
        posterior = make_posterior(model, scales, targets, np.arange(2), None, features)
        moments = posterior.moments(
            lambda m: others[m] @ inputs[m].T, lambda m: np.sum(others[m] ** 2, axis=1), 7
        )
        found.append([*moments, *posterior.contributions()])
    for first, second in zip(*found, strict=True):
        assert_allclose(first, second, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_and_contributions_are_those_of_draws(kind):
    kernels, targets = make_data(5)
    model, scales, columns = make_model(kind, kernels)
    rows = None if model.row_of is None else np.arange(model.row_of.max() + 1)
    posterior = make_posterior(model, scales, targets, np.arange(3), rows, None)
    rng, draws = np.random.default_rng(0), 40_000
    new = np.random.default_rng(2).standard_normal((5, 40))  # any kernel values, off centre
    cross = [0.3 + 0.2 * (m + 1) * new for m in range(3)]
    if kind == "kernels":  # through the training rows' features
        roots = [Whitening.of(k) for k in kernels]
        extra = np.hstack([w.features(c) for w, c in zip(roots, cross, strict=True)])
        own = [np.sum(w.features(c) ** 2, axis=1) for w, c in zip(roots, cross, strict=True)]
        owner = np.repeat(np.arange(3), [len(w.pivots) for w in roots])
        size = scales.kernel[owner]
    else:
        extra = np.hstack([c[:, rows] for c in cross])
        own, owner, size = [np.zeros(5)] * 3, model.kernel_of, model.component_scales(scales)
    mean, variance = posterior.moments(lambda m: cross[m], lambda m: own[m], 5)
    means, deviations = posterior.contributions()
    design = np.column_stack([columns, np.ones(40)])
    outer = np.column_stack([extra, np.ones(5)])
    spread = np.zeros((3, draws))
    for o in range(2):
        inner = np.diag(1 / np.append(size, BIAS)) + design.T @ design / scales.noise[o]
        root = np.linalg.cholesky(np.linalg.inv(inner))
        weights = root @ (root.T @ (design.T @ targets[:, o] / scales.noise[o]))
        assert_allclose(mean[:, o], outer @ weights, rtol=1e-6, atol=1e-7)
        assert_allclose(variance[:, o], np.sum((outer @ root) ** 2, axis=1), rtol=1e-5, atol=1e-7)
        sampled = weights[:, None] + root @ rng.standard_normal((len(weights), draws))
        for m in range(3):
            mine = np.append(owner == m, False)
            spread[m] += (design[:, mine] @ sampled[mine]).var(axis=0) / 2
    error = spread.std(axis=1) / np.sqrt(draws)
    assert np.all(np.abs(spread.mean(axis=1) - means) < 4.5 * error)
    assert_allclose(spread.std(axis=1), deviations, rtol=0.05)


def test_the_expected_noise_is_that_of_its_factor():
    kernels, targets = make_data(5)
    model, scales, _ = make_model("kernels", kernels)
    posterior = make_posterior(model, scales, targets, np.arange(3), None, None)
    shape = PRIORS.noise[0] + 20
    assert_allclose(posterior.noise_variance, scales.noise * shape / (shape - 1))


def test_a_matrix_that_rounding_left_indefinite_is_mended():
    matrix = np.diag([1.0, 2.0, -1e-12])
    found = resolve(matrix, np.array([1e-13]), np.ones((3, 1)))
    assert np.isfinite(found.solutions).all()
    assert_allclose(found.solutions[:2, 0], [1.0, 0.5], rtol=1e-6)


def test_whitening_gives_the_kernel_back_and_finds_its_rank():
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((30, 4))
    kernel = wide @ wide.T
    found = Whitening.of(kernel)
    assert len(found.pivots) == 4
    features = found.features(kernel)
    assert_allclose(features @ features.T, kernel, atol=1e-10)
    assert Whitening.of(np.zeros((5, 5))).features(np.zeros((5, 5))).shape == (5, 0)


def fit(kernels, targets, rows=None, priors=None, **options):
    options = {
        "kernel_sparsity": True,
        "sample_sparsity": False,
        "bias_variance": 100.0,
        "n_init": 2,
        **options,
    }
    columns = slice(None) if rows is None else rows
    return fit_additive(
        lambda m: np.ascontiguousarray(kernels[m][:, columns]),
        len(kernels),
        rows,
        targets,
        priors or AdditivePriors(),
        Schedule(options.pop("max_iter", 300)),
        rng=np.random.default_rng(0),
        **options,
    )


@pytest.mark.parametrize("what", ["regression", "probit", "margin", "multinomial"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("rows", [None, np.arange(0, 40, 4)])
def test_no_iteration_lowers_the_bound(what, sparse, rows):
    kernels, values = make_data(7)
    if what == "regression":
        targets = values
    elif what == "multinomial":
        targets = Latent(MultinomialProbit(3), np.digitize(values[:, 0], [1.0, 2.0]))
    else:
        margin = 1.0 if what == "margin" else 0.0
        targets = Latent(Probit(), np.where(values > 1.5, 1.0, -1.0), margin)
    found = fit(kernels, targets, rows, sample_sparsity=sparse, max_iter=60)
    parts = np.split(found.path, found.stages)
    for part in parts:
        assert np.all(np.diff(part) >= -1e-9 * np.abs(part[1:]))
    assert found.bound == parts[-1][-1]
    assert np.isfinite(found.bound)


def test_a_kernel_that_died_too_early_comes_back():
    kernels, targets = make_data(outputs=1)
    model = Model(KernelForm(kernels, BIAS), np.arange(3), None, np.full(3, 40), AdditivePriors())
    others = np.array([False, True, True])
    start = Scales(np.full(2, 0.3), None, np.array([0.5]))
    without = ascend(model.restricted(others, None), start, targets, Schedule())
    dead = Scales(np.append(1e-9, without.scales.kernel), None, without.scales.noise)
    bound, _, inner = model.evaluate(dead, targets)
    stuck = Ascent(dead, bound, inner, [], True)
    revived = revive(model, stuck, targets)
    assert revived is not None and revived.kernel[0] > 1e-6
    assert model.evaluate(revived, targets)[0] > stuck.bound
    best = ascend(model, revived, targets, Schedule())
    assert revive(model, best, targets) is None


def test_order_of_kernels_and_a_kernel_given_twice():
    kernels, targets = make_data(outputs=1)
    order = np.array([2, 0, 1])
    first, second = fit(kernels, targets, n_init=1), fit(kernels[order], targets, n_init=1)
    assert_allclose(first.bound, second.bound, rtol=1e-7)
    assert_allclose(first.fitted, second.fitted, atol=1e-3)
    twice = fit(kernels[[0, 0, 1, 2]], targets)
    assert np.isfinite(twice.bound)
    assert_allclose(twice.fitted, first.fitted, atol=0.02)


def test_kernels_leave_only_where_they_may_and_only_if_not_missed():
    kernels, targets = make_data(outputs=1)
    rng = np.random.default_rng(4)
    other = rng.standard_normal((40, 3))
    noise = np.stack([np.exp(-np.abs(other[:, [m]] - other[:, m])) for m in range(3)])
    both = np.concatenate([kernels[:1], noise])
    free = fit(both, targets)
    left = free.posterior.kernels
    assert 0 in left and len(left) < 4
    kept = fit(both, targets, kernel_sparsity=False)
    assert_array_equal(kept.posterior.kernels, np.arange(4))
    assert_allclose(free.fitted, kept.fitted, atol=0.02)
    only = Model(KernelForm(both[left], 100.0), np.arange(len(left)), None,
                 np.full(len(left), 40), AdditivePriors())  # fmt: skip
    best = ascend(only, free.posterior.scales, targets, Schedule(300, 1e-9, 1e-13))
    assert best.bound - only.evaluate(free.posterior.scales, targets)[0] < 0.1


def test_all_rows_as_candidates_are_no_restriction():
    kernels, targets = make_data(outputs=1)
    whole, marked = fit(kernels, targets), fit(kernels, targets, np.arange(40))
    assert_allclose(marked.fitted, whole.fitted, atol=5e-3)


def test_sample_sparsity_leaves_few_rows_that_fit_as_well():
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(-3, 3, 80))
    kernels = np.stack([np.exp(-((x[:, None] - x) ** 2) / 2 / s**2) for s in (0.3, 1.0, 3.0)])
    targets = (5 + np.sin(2 * x) + 0.1 * rng.standard_normal(80))[:, None]
    found = fit(kernels, targets - targets.mean(), sample_sparsity=True)
    assert len(found.posterior.rows) < 30
    truth = np.sin(2 * x) - np.sin(2 * x).mean()
    assert np.sqrt(np.mean((found.fitted[:, 0] - truth) ** 2)) < 0.08


# data where kernels carry different functions


def make_views(seed, n=150, n_new=400):
    """Twelve blocks of five features; those of number 2 and 7 carry the signal."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + n_new, 60))

    def part(block):
        first, second = rng.standard_normal((2, 5))
        first, second = first / np.linalg.norm(first), second / np.linalg.norm(second)
        return np.sin(1.5 * block @ first) + 0.5 * (block @ second) ** 2

    f = part(X[:, 10:15]) + part(X[:, 35:40])
    y = 3 + (f - f.mean()) / f.std() + 0.3 * rng.standard_normal(n + n_new)
    kernels = []
    for m in range(12):
        block = X[:, 5 * m : 5 * m + 5]
        square = np.sum((block[:, None] - block[None, :n]) ** 2, axis=2)
        kernels.append(np.exp(-square / np.median(square[:n])))
    return np.stack(kernels), y, n


def judge_views(seed):
    """Return rmse, coverage, whether the right kernels are on top, and uniform weights' rmse."""
    kernels, y, n = make_views(seed)
    centre, spread = y[:n].mean(), y[:n].std()
    targets = ((y[:n] - centre) / spread)[:, None]
    found = fit(kernels[:, :n], targets)
    posterior = found.posterior
    m = len(y) - n
    mean, variance = posterior.moments(lambda k: kernels[k][n:], lambda k: np.ones(m), m)
    gap = y[n:] - centre - spread * mean[:, 0]
    deviation = spread * np.sqrt(variance[:, 0] + posterior.noise_variance[0])
    size = np.zeros(12)
    size[posterior.kernels] = posterior.contributions()[0]
    right = min(size[2], size[7]) > np.delete(size, [2, 7]).max()
    even = kernels.mean(axis=0)
    ridge = np.linalg.solve(even[:n] + 0.1 * np.eye(n), targets[:, 0])
    uniform = y[n:] - centre - spread * even[n:] @ ridge
    return (
        np.sqrt(np.mean(gap**2)),
        np.mean(np.abs(gap) < 1.96 * deviation),
        right,
        np.sqrt(np.mean(uniform**2)),
    )


def test_views_that_carry_the_signal_are_found():
    rmse, coverage, right, uniform = np.mean([judge_views(seed) for seed in range(3)], axis=0)
    print("rmse", rmse, "coverage", coverage, "uniform", uniform)
    assert right == 1
    assert rmse < 0.85 * uniform
    assert 0.91 < coverage < 0.98


@pytest.mark.slow
def test_views_in_twenty_sets():
    found = np.mean([judge_views(seed) for seed in range(20)], axis=0)
    print("rmse, coverage, right, uniform", found)
    assert found[2] >= 0.9
    assert 0.93 < found[1] < 0.97
