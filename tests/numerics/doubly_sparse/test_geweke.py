"""Geweke's joint test of the doubly-sparse sweep: the joint law must be the prior's.

Two forms. One sweep from independent draws of the prior and their responses, compared draw by
draw: no autocorrelation, the sharper one. And a chain that alternates sweeps and fresh responses,
in which small errors add up.
"""

import numpy as np
import pytest
from doubly_sparse_dense import batch_error, draw_prior, feature_kernel
from doubly_sparse_setup import MODEL, generators, make_sampler, place, respond, unpack
from joint_law import report, stack
from speed import slow_except

from sparsekern.inference.chains.plan import Plan
from sparsekern.likelihoods import Gaussian, Logit, MultinomialProbit, Probit, StudentT

N, P = 5, 4
FEATURES = np.random.default_rng(8).standard_normal((N, P))
DEGREES = (2.0, 5.0, 30.0)
LIKELIHOODS = {
    "gaussian": Gaussian(), "student_t": StudentT(DEGREES), "probit": Probit(), "logit": Logit(),
    "multinomial": MultinomialProbit(3),
}  # fmt: skip
KINDS = {
    "gaussian": "rbf", "student_t": "matern52", "probit": "laplacian", "logit": "matern32",
    "multinomial": "rbf",
}  # fmt: skip


def _setting(name):
    likelihood = LIKELIHOODS[name]
    model = MODEL | {"kind": KINDS[name], "latents": 2 if name == "multinomial" else 1}
    if "learned noise" not in likelihood.provides:
        model["noise_prior"] = None
    return likelihood, model


def _prior(rng, name, count):
    _, model = _setting(name)
    sample = draw_prior(rng, count, FEATURES, model)
    sample["parameters"] = np.zeros((count, 0))
    if name == "student_t":
        sample["parameters"] = rng.choice(DEGREES, (count, 1))
    return sample


def _open(name, sweeps, seed, **options):
    likelihood, model = _setting(name)
    labels = np.arange(N) % 3 if name == "multinomial" else np.where(np.arange(N) % 2, 1.0, -1.0)
    sampler = make_sampler(likelihood, FEATURES, labels, model, **options)
    # given auxiliary variables; without them, see test_collapsed.py
    sampler._collapsed = False
    plan, rngs = Plan(0, sweeps, 1), generators(seed)
    state = sampler.start(rngs[0], 0)
    return sampler, plan, rngs, state, sampler.allocate(plan), sampler.open(state)


def functionals(sample, response):
    """Bounded or light-tailed functions of everything, with products across blocks."""
    included, eta, active = sample["included"], sample["eta"], sample["active"].astype(float)
    size, count = active.sum(1), included.sum(1).astype(float)
    log_nu, log_v = np.log(sample["nu"]), np.log(sample["variance"])
    beta, fitted, intercept = sample["beta"], sample["fitted"], sample["intercept"]
    squares = np.log1p((fitted**2).sum((1, 2)))
    misfit = np.log1p(((response - fitted[:, 0]) ** 2).sum(1))
    found = {
        "k": size, "k^2": size**2, "a1": active[:, 0], "a2 a3": active[:, 1] * active[:, 2],
        "s": count, "s^2": count**2, "in 0": included[:, 0], "in 1": included[:, 1],
        "in 2 3": included[:, 2] & included[:, 3], "eta 0": eta[:, 0], "eta 3": eta[:, 3],
        "eta^2": (eta**2).sum(1), "rho": (included * np.exp(-eta)).sum(1),
        "eta 0 eta 1": eta[:, 0] * eta[:, 1], "small eta": ((eta < 0.2) & included).sum(1),
        "log nu": log_nu, "log^2 nu": log_nu**2, "log v": log_v, "log^2 v": log_v**2,
        "nu v": log_nu * log_v, "k log nu": size * log_nu, "k s": size * count,
        "s log nu": count * log_nu, "k log v": size * log_v, "s log v": count * log_v,
        "u": np.arctan(intercept[:, 0]), "u^2": np.log1p(intercept[:, 0] ** 2),
        "u^2 / v": np.minimum(intercept[:, 0] ** 2 / sample["variance"], 30.0),
        "b1": np.arctan(beta[:, 0, 0]), "b^2": np.log1p((beta**2).sum((1, 2))),
        "b^2 / nu v": (beta**2).sum((1, 2)) / sample["nu"] / sample["variance"],
        "b^2 s": np.log1p((beta**2).sum((1, 2))) * count, "f^2": squares, "f^2 k": squares * size,
        "f^2 s": squares * count, "f^2 eta": squares * eta.sum(1), "f^2 log nu": squares * log_nu,
        "f1 f2": np.arctan(fitted[:, 0, 0] * fitted[:, 0, 1]),
        "misfit": misfit, "misfit s": misfit * count, "misfit v": misfit * log_v,
        "y1 f1": np.arctan(response[:, 0] * fitted[:, 0, 0]),
        "y s": np.arctan(response[:, 0] * response[:, 1]) * count,
        "y eta": np.arctan(response[:, 1] * response[:, 2]) * eta[:, 0],
        "y^2 k": np.log1p((response**2).sum(1)) * size,
        "y log nu": np.log1p((response**2).sum(1)) * log_nu,
    }  # fmt: skip
    for j in range(sample["parameters"].shape[1]):
        value = np.log(sample["parameters"][:, j])
        found |= {"log df": value, "df misfit": value * misfit, "df s": value * count}
    return {name: np.asarray(value, dtype=float) for name, value in found.items()}


def _with_functions(draws, kind):
    """Add the functions at the training rows, made by the oracle."""
    sample = unpack(draws, N, P)
    kernels = feature_kernel(FEATURES, sample["eta"], kind)
    sample["fitted"] = sample["intercept"][:, :, None] + np.einsum(
        "tij,tcj->tci", kernels, sample["beta"]
    )
    return sample


def from_prior_by_one_sweep(name, count, seed, **options):
    """Return functionals before and after one sweep from the prior."""
    rng = np.random.default_rng(seed)
    likelihood, model = _setting(name)
    before = _prior(rng, name, count)
    sampler, plan, rngs, state, draws, work = _open(name, count, seed, **options)
    response = np.empty((count, N))
    for t in range(count):
        place(state, before, t)
        response[t] = respond(
            rng, likelihood, before["fitted"][t], before["variance"][t], before["parameters"][t],
            state, work,
        )  # fmt: skip
        sampler.advance(rngs, state, work, draws, t + 1, plan, True)
    after = _with_functions(draws, model["kind"])
    return functionals(before, response), functionals(after, response), state.tallies


def alternate(name, sweeps, seed, **options):
    """Alternate sweeps and fresh responses; return the functionals."""
    rng = np.random.default_rng(seed)
    likelihood, model = _setting(name)
    sampler, plan, rngs, state, draws, work = _open(name, sweeps, seed, **options)
    start = _prior(rng, name, 1)
    place(state, start, 0)
    respond(
        rng, likelihood, start["fitted"][0], start["variance"][0], start["parameters"][0], state,
        work,
    )  # fmt: skip
    response = np.empty((sweeps, N))
    for t in range(sweeps):
        sampler.advance(rngs, state, work, draws, t + 1, plan, True)
        response[t] = respond(
            rng, likelihood, work.functions.copy(), draws.noise_variance[t], draws.parameters[t],
            state, work,
        )  # fmt: skip
    return functionals(_with_functions(draws, model["kind"]), response), state.tallies


def _paired_scores(name, count, seed, **options):
    before, after, tallies = from_prior_by_one_sweep(name, count, seed, **options)
    assert (tallies[:8, 1] > 0).all()  # every kind of move was taken
    z = {}
    for key in before:
        difference = after[key] - before[key]
        if np.ptp(difference) > 0:
            z[key] = difference.mean() / (difference.std() / np.sqrt(count))
    print(name, "one sweep:", report(list(z), np.array(list(z.values()))))
    return z


def _alternate_scores(name, sweeps, seed, **options):
    ours, tallies = alternate(name, sweeps, seed, **options)
    names, ours = stack(ours)
    assert (tallies[:8, 1] > 0).all()
    rng = np.random.default_rng(seed + 100)
    count = 5 * sweeps
    sample = _prior(rng, name, count)
    theirs = functionals(sample, _responses(rng, name, sample))
    theirs = np.column_stack([theirs[key] for key in names])
    error = np.hypot(batch_error(ours, 50), theirs.std(0) / np.sqrt(count))
    z = (ours.mean(0) - theirs.mean(0)) / error
    print(name, "alternating:", report(names, z))
    return dict(zip(names, z, strict=True))


def _responses(rng, name, sample):
    """Draw responses of all draws of the prior at once."""
    fitted = sample["fitted"]
    noise = rng.standard_normal(fitted.shape)
    deviation = np.sqrt(sample["variance"])[:, None]
    if name == "gaussian":
        return fitted[:, 0] + deviation * noise[:, 0]
    if name == "student_t":
        return fitted[:, 0] + deviation * rng.standard_t(sample["parameters"], fitted[:, 0].shape)
    if name == "probit":
        return np.where(fitted[:, 0] + noise[:, 0] > 0, 1.0, -1.0)
    if name == "logit":
        return np.where(rng.random(fitted[:, 0].shape) < 1 / (1 + np.exp(-fitted[:, 0])), 1.0, -1.0)
    contrasts = LIKELIHOODS[name].contrasts
    return np.argmax(np.einsum("jc,tci->tji", contrasts, fitted + noise), axis=1).astype(float)


# each move under every likelihood: test_move_invariance.py
@pytest.mark.parametrize("name", slow_except(LIKELIHOODS, ("student_t",)))
def test_one_sweep_from_the_prior(name):
    z = _paired_scores(name, 30_000, seed=1)
    assert len(z) > 25
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_sweeps_and_responses_in_turn(name):
    z = _alternate_scores(name, 30_000, seed=2)
    assert len(z) > 25
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_one_sweep_from_the_prior_long(name):
    z = _paired_scores(name, 300_000, seed=3)
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_sweeps_and_responses_in_turn_long(name):
    z = _alternate_scores(name, 300_000, seed=4)
    assert max(map(abs, z.values())) < 4, z
