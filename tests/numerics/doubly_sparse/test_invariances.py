"""Symmetries of the doubly-sparse model that draws must share, exactly or in law."""

import numpy as np
import pytest
from doubly_sparse_dense import batch_error, feature_kernel, worst
from doubly_sparse_setup import MODEL, generators, make_sampler, run, unpack

from sparsekern.inference.chains.plan import Plan
from sparsekern.likelihoods import Gaussian, Hinge, Logit, MultinomialProbit, Probit, StudentT

N, P = 12, 4
LIKELIHOODS = {
    "gaussian": Gaussian(), "student_t": StudentT([2.0, 5.0, 30.0]), "probit": Probit(),
    "logit": Logit(), "hinge": Hinge(), "multinomial": MultinomialProbit(3),
}  # fmt: skip


def _data(name="gaussian"):
    rng = np.random.default_rng(5)
    features = rng.standard_normal((N, P))
    smooth = np.sin(2 * features[:, 1]) + 0.5 * features[:, 0]
    if name == "multinomial":
        return features, np.digitize(smooth, [-0.4, 0.4]).astype(float)
    if "learned noise" in LIKELIHOODS[name].provides:
        return features, smooth + 0.3 * rng.standard_normal(N)
    return features, np.where(smooth + 0.3 * rng.standard_normal(N) > 0, 1.0, -1.0)


@pytest.mark.parametrize("chain", [0, 1])
@pytest.mark.parametrize(
    ("name", "scale"),
    [("gaussian", 4.0), ("gaussian", -0.125), ("gaussian", 37.0), ("student_t", 0.5)],
)
def test_unit_of_the_response(name, scale, chain):
    """y -> cy with the noise rate times c^2: the same features, vectors and slabs."""
    features, response = _data(name)
    shape, rate = MODEL["noise_prior"]
    found = []
    for c in (1.0, scale):
        model = MODEL | {"noise_prior": (shape, rate * c**2), "max_active": 8}
        sampler = make_sampler(LIKELIHOODS[name], features, c * response, model)
        found.append(run(sampler, 400, tune=50, seed=3, chain=chain)[0])
    one, other = found
    for field in ("n_features", "features", "n_active", "rows"):
        assert (getattr(one, field) == getattr(other, field)).all(), field
    np.testing.assert_allclose(one.bandwidths, other.bandwidths, rtol=1e-7)
    np.testing.assert_allclose(one.variances, other.variances, rtol=1e-6)
    np.testing.assert_allclose(one.noise_variance * scale**2, other.noise_variance, rtol=1e-6)
    if scale > 0:
        np.testing.assert_allclose(one.intercept * scale, other.intercept, rtol=1e-5, atol=1e-6)


def _summaries(draws, features, sign=1.0):
    sample = unpack(draws, *features.shape)
    kernels = feature_kernel(features, sample["eta"])
    fitted = sample["intercept"][:, :1] + np.einsum("tij,tj->ti", kernels, sample["beta"][:, 0])
    included = sample["included"].astype(float)
    found = {f"in {j}": included[:, j] for j in range(P)}
    found |= {f"eta {j}": sample["eta"][:, j] for j in range(P)}
    found |= {f"a{i}": sample["active"][:, i].astype(float) for i in range(len(features))}
    if sign:
        found |= {f"f{i}": np.arctan(sign * fitted[:, i]) for i in range(len(features))}
        found["u"] = np.arctan(sign * sample["intercept"][:, 0])
    found |= {"log nu": np.log(sample["nu"]), "log v": np.log(sample["variance"])}
    found |= {"k": sample["active"].sum(1) * 1.0, "s": included.sum(1)}
    found["loss"] = draws.log_likelihood
    return found


def _against(one, other):
    z = {}
    for name in one:
        error = np.hypot(batch_error(one[name]), batch_error(other[name]))
        if error > 0:
            z[name] = float((one[name].mean() - other[name].mean()) / error)
    print(worst(z))
    return z


@pytest.mark.slow  # of every run: classes in another order, below
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_columns_in_another_order(name):
    features, response = _data(name)
    order = np.array([2, 0, 3, 1])
    one = run(make_sampler(LIKELIHOODS[name], features, response, MODEL), 20_000, 500, 1)[0]
    moved = make_sampler(LIKELIHOODS[name], features[:, order], response, MODEL)
    other = _summaries(run(moved, 20_000, 500, 2)[0], features[:, order])
    renamed = dict(other)
    for place, column in enumerate(order):
        renamed |= {f"{k} {column}": other[f"{k} {place}"] for k in ("in", "eta")}
    z = _against(_summaries(one, features), renamed)
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian", "logit", "multinomial"])
def test_rows_in_another_order_and_columns_moved(name):
    """Rows permuted, and every feature shifted by a constant."""
    features, response = _data(name)
    order = np.random.default_rng(6).permutation(N)
    one = run(make_sampler(LIKELIHOODS[name], features, response, MODEL), 20_000, 500, 3)[0]
    shifted = features[order] + np.array([1.0, -2.0, 0.5, 8.0])
    moved = make_sampler(LIKELIHOODS[name], shifted, response[order], MODEL)
    other = _summaries(run(moved, 20_000, 500, 4)[0], shifted)
    renamed = dict(other)
    for place, row in enumerate(order):
        renamed |= {f"{k}{row}": other[f"{k}{place}"] for k in ("a", "f")}
    z = _against(_summaries(one, features), renamed)
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian", "student_t", "probit", "logit", "hinge"])
def test_other_sign(name):
    """y -> -y turns the function over and changes nothing else."""
    features, response = _data(name)
    one = run(make_sampler(LIKELIHOODS[name], features, response, MODEL), 20_000, 500, 5)[0]
    turned = run(make_sampler(LIKELIHOODS[name], features, -response, MODEL), 20_000, 500, 6)[0]
    z = _against(_summaries(one, features), _summaries(turned, features, -1.0))
    assert max(map(abs, z.values())) < 4, z


def test_classes_named_otherwise():
    features, labels = _data("multinomial")
    likelihood = LIKELIHOODS["multinomial"]
    one = run(make_sampler(likelihood, features, labels, MODEL), 20_000, 500, 7)[0]
    cycled = (labels + 1) % 3
    other = run(make_sampler(likelihood, features, cycled, MODEL), 20_000, 500, 8)[0]
    z = _against(_summaries(one, features, 0.0), _summaries(other, features, 0.0))
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize("name", ["student_t", "probit", "hinge"])
def test_starts_are_forgotten(name):
    """Chains from one feature and from several agree."""
    features, response = _data(name)
    sampler = make_sampler(LIKELIHOODS[name], features, response, MODEL)
    one, other = (run(sampler, 20_000, 500, 9 + chain, chain)[0] for chain in (0, 3))
    z = _against(_summaries(one, features), _summaries(other, features))
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_continued_chain(name):
    """Continued from its state after any sweep, in fresh memory, a chain gives the same bits."""
    features, response = _data(name)
    sampler = make_sampler(LIKELIHOODS[name], features, response, MODEL)
    plan = Plan(30, 100, 1)
    whole, _ = run(sampler, 100, tune=30, seed=11)
    rngs = generators(11)
    state, pieces = sampler.start(rngs[0], 0), sampler.allocate(plan)
    for stop in (1, 7, 30, 31, 64, 130):
        copied = type(state)(*(np.array(value) for value in state))
        work = sampler.open(copied)
        work.factor.whitened[:] = np.nan  # nothing may be read that is not rebuilt
        work.factor.gram[:] = np.nan
        work.factor.root[:] = np.nan
        work.spare.whitened[:] = np.nan
        work.sums[:] = np.nan
        sampler.advance(rngs, copied, work, pieces, stop, plan, True)
        state = copied
    for field, expected in whole._asdict().items():
        assert np.array_equal(expected, getattr(pieces, field)), field


@pytest.mark.parametrize("name", ["probit", "logit", "hinge"])
@pytest.mark.parametrize("rows", [2, 6])
def test_one_class_only(name, rows):
    features = np.random.default_rng(1).standard_normal((rows, 2))
    sampler = make_sampler(LIKELIHOODS[name], features, np.ones(rows), MODEL)
    draws, _ = run(sampler, 2000, tune=500, seed=1)
    assert np.isfinite(draws.coefficients).all()
    assert np.isfinite(draws.variances).all()
    assert (draws.n_active == 0).any()
    assert (draws.n_features == 0).any()


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_extreme_units_of_the_features(name):
    """Columns in units far too large or small: a kernel of ones or of the identity."""
    features, response = _data(name)
    for unit in (1e-8, 1e8):
        sampler = make_sampler(LIKELIHOODS[name], unit * features, response, MODEL)
        draws, _ = run(sampler, 500, tune=100, seed=1)
        assert np.isfinite(draws.coefficients).all()
        assert np.isfinite(draws.log_likelihood).all()
