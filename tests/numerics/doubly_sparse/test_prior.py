"""Where the data say nothing the doubly-sparse sampler must return its prior.

Three ways to say nothing: a precision of zero, rows that are all alike (the kernel is one whatever
the features), and a constant feature among others.
"""

import numpy as np
import pytest
from doubly_sparse_dense import batch_error, subsets, truncated_bernoulli, worst
from doubly_sparse_setup import MODEL, make_sampler, run, unpack
from speed import slow_rows_except

from sparsekern.likelihoods import Gaussian, Hinge, Logit, MultinomialProbit, Probit, StudentT

LIKELIHOODS = {
    "gaussian": Gaussian(), "student_t": StudentT([2.0, 5.0, 30.0]), "probit": Probit(),
    "logit": Logit(), "hinge": Hinge(), "multinomial": MultinomialProbit(3),
}  # fmt: skip


def _size_law(count, largest, probability):
    """Probability of each size, and of one item, under the prior that ends at ``largest``."""
    sizes = np.array([len(s) for s in subsets(count, largest)])
    weights = np.exp(truncated_bernoulli(sizes, probability))
    law = np.bincount(sizes, weights=weights) / weights.sum()
    return law, law @ np.arange(largest + 1) / count


def _z(values, exact):
    values = np.asarray(values, dtype=float)
    return float((values.mean() - exact) / batch_error(values))


def _feature_scores(sample, p, largest, probability):
    """Inclusion, sizes, and the uniform law of rho = exp(-eta) of each included feature."""
    law, inclusion = _size_law(p, largest, probability)
    included, size = sample["included"], sample["included"].sum(1)
    z = {f"in {j}": _z(included[:, j], inclusion) for j in range(p)}
    z |= {f"s={s}": _z(size == s, law[s]) for s in range(largest + 1) if law[s] > 1e-3}
    rho = np.exp(-sample["eta"])
    for j in range(p):
        z[f"rho {j}"] = _z(included[:, j] * (rho[:, j] - 0.5), 0.0)
        z[f"rho^2 {j}"] = _z(included[:, j] * (rho[:, j] ** 2 - 1 / 3), 0.0)
        z[f"eta {j}"] = _z(included[:, j] * (sample["eta"][:, j] - 1.0), 0.0)
    for cut in (0.02, 0.1, 0.3, 0.7, 0.9, 0.98):
        z[f"rho<{cut}"] = _z((included * ((rho < cut) - cut)).sum(1), 0.0)
    if largest > 1:
        first, second = included[:, 0] * (rho[:, 0] - 0.5), included[:, 1] * (rho[:, 1] - 0.5)
        z["rho rho"] = _z(first * second, 0.0)
    return z


SHAPES = [(4, 6, 4, 6), (6, 8, 2, 3), (3, 5, 1, 1)]


@pytest.mark.parametrize(
    ("p", "n", "most", "largest"), slow_rows_except(SHAPES, [(6, 8, 2, 3)]), ids=str
)
def test_no_precision(p, n, most, largest):
    """Working precision zero: features, bandwidths, vectors and slab come from the prior."""
    rng = np.random.default_rng(1)
    model = MODEL | {"max_features": most, "max_active": largest, "slab_prior": (2.0, 5.0)}
    sampler = make_sampler(
        Gaussian(), rng.standard_normal((n, p)), rng.standard_normal(n), model, moves=5
    )

    def silence(state):
        state.precision[:] = 0.0

    draws, state = run(sampler, 120_000, tune=200, seed=1, edit=silence)
    sample = unpack(draws, n, p)
    z = _feature_scores(sample, p, most, model["feature_probability"])
    law, inclusion = _size_law(n, largest, model["vector_probability"])
    size = sample["active"].sum(1)
    z |= {f"a{i}": _z(sample["active"][:, i], inclusion) for i in range(n)}
    z |= {f"k={k}": _z(size == k, law[k]) for k in range(largest + 1) if law[k] > 1e-3}
    share = np.exp(-5.0 / sample["nu"])  # nu is IG(2, 5): 5 / nu ~ Ga(2, 1)
    z["slab"] = _z(share, 0.25)
    z["slab^2"] = _z(share**2, 1 / 9)
    z["slab k"] = _z((share - 0.25) * size, 0.0)
    z["k s"] = _z((size - size.mean()) * (sample["included"].sum(1) - 0.5), 0.0)
    precise = sample["variance"] / (2.0 / (3.0 + 0.5 * n - 1.0))  # IG(a + n/2, b), nothing else
    z["variance"] = _z(np.minimum(precise, 50.0), 1.0)
    print(worst(z))
    assert (state.tallies[: 8 if most > 1 else 7, 1] > 0).all()  # no pairs where one is the most
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_rows_that_are_all_alike(name):
    """The kernel is one everywhere: features follow their prior under any likelihood."""
    p, n = 3, 6
    labels = np.array([1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    if name == "multinomial":
        labels = np.array([0.0, 1.0, 1.0, 2.0, 1.0, 1.0])
    features = np.tile([0.3, -1.2, 2.0], (n, 1))
    sampler = make_sampler(LIKELIHOODS[name], features, labels, MODEL)
    draws, _ = run(sampler, 60_000, tune=200, seed=2)
    sample = unpack(draws, n, p)
    z = _feature_scores(sample, p, 3, MODEL["feature_probability"])
    extra = np.log(sample["nu"]) - np.log(sample["nu"]).mean()
    z["in 0, slab"] = _z((sample["included"][:, 0] - 0.4) * extra, 0.0)
    print(name, worst(z))
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_constant_feature(name):
    """A constant column never reaches the kernel, whatever the other columns do."""
    p, n = 3, 7
    rng = np.random.default_rng(3)
    features = rng.standard_normal((n, p))
    features[:, 1] = 4.0
    labels = np.where(features[:, 0] > 0, 1.0, -1.0)
    if name == "multinomial":
        labels = np.arange(n) % 3.0
    sampler = make_sampler(LIKELIHOODS[name], features, labels, MODEL)
    draws, _ = run(sampler, 60_000, tune=200, seed=4)
    sample = unpack(draws, n, p)
    included, eta = sample["included"], sample["eta"][:, 1]
    here = included[:, 1]
    other = included[:, 0] - included[:, 0].mean()
    z = {
        "in": _z(here, 0.4), "eta": _z(here * (eta - 1.0), 0.0),
        "rho": _z(here * (np.exp(-eta) - 0.5), 0.0), "eta^2": _z(here * (eta**2 - 2.0), 0.0),
        "with the first": _z((here - 0.4) * other, 0.0),
        "with the slab": _z((here - 0.4) * np.log(sample["nu"]), 0.0),
    }  # fmt: skip
    print(name, worst(z))
    assert max(map(abs, z.values())) < 4, z
