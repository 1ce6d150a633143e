"""Samplers and bare factors of the doubly-sparse kernel model on small data."""

import inspect
import textwrap

import numba
import numpy as np

from sparsekern._jit import jit
from sparsekern.bases.feature_columns import FeatureColumns, rebuild_features
from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.doubly_sparse.sampler import DoublySparseSampler
from sparsekern.inference.moves.features import (
    swap_features,
    toggle_features,
    toggle_pairs,
    walk_bandwidths,
)
from sparsekern.kernels.feature_sums import FEATURE_KERNELS
from sparsekern.likelihoods._augmented import renew_working
from sparsekern.linalg.whitened_factor import empty_factor
from sparsekern.model import DoublySparseModel

MODEL = {
    "kind": "rbf", "feature_probability": 0.4, "vector_probability": 0.35, "max_features": 3,
    "max_active": 4, "v0": 2.0, "slab_prior": (3.0, 4.0), "nu": 1.5, "noise_prior": (3.0, 2.0),
}  # fmt: skip


def make_sampler(likelihood, features, response, model, **options):
    """Return a sampler of the oracle's ``model``; few moves a sweep, so that a mistake shows.

    ``make`` may be another class of samplers.
    """
    make = options.pop("make", DoublySparseSampler)
    chosen = {
        "toggles": 2,
        "pair_toggles": 1,
        "swaps": 1,
        "walks": 1,
        "moves": 3,
        "blocks": 1,
        "leaps": 1,
        "scans": 2,
        "n_monitored": 2,
    }
    learned = "learned noise" in likelihood.provides
    described = DoublySparseModel(
        likelihood,
        FEATURE_KERNELS[model["kind"]],
        feature_probability=model["feature_probability"],
        vector_probability=model["vector_probability"],
        slab_prior=model["slab_prior"],
        slab_variance=model["nu"],
        intercept_variance=model["v0"],
        max_features=model["max_features"],
        max_active=model["max_active"],
        select_features=model.get("select_features", True),
        select_vectors=model.get("select_vectors", True),
        noise_prior=model["noise_prior"] if learned else None,
    )
    return make(
        described, np.asfortranarray(features), np.array(response, dtype=float), **chosen | options
    )


def generators(seed):
    return tuple(np.random.Generator(np.random.PCG64([seed, i])) for i in range(2))


def run(sampler, draws, tune=0, seed=0, chain=0, edit=None):
    """Run one chain, ``edit`` applied to its first state; return draws and state."""
    plan = Plan(tune, draws, 1)
    rngs = generators(seed)
    state, kept = sampler.start(rngs[0], chain), sampler.allocate(plan)
    if edit is not None:
        edit(state)
    sampler.advance(rngs, state, sampler.open(state), kept, plan.sweeps, plan, True)
    return kept, state


def unpack(draws, n, p):
    """Return what the oracle calls the same: dense arrays of included, eta, active, nu, ..."""
    count, latents = draws.intercept.shape
    found = {
        "included": np.zeros((count, p), bool), "eta": np.zeros((count, p)),
        "active": np.zeros((count, n), bool), "beta": np.zeros((count, latents, n)),
        "nu": draws.variances[:, 1].copy(), "variance": draws.noise_variance.copy(),
        "intercept": draws.intercept.copy(), "parameters": draws.parameters.copy(),
    }  # fmt: skip
    for size in range(draws.features.shape[1]):
        t = np.flatnonzero(draws.n_features > size)
        found["included"][t, draws.features[t, size]] = True
        found["eta"][t, draws.features[t, size]] = draws.bandwidths[t, size]
    for size in range(draws.rows.shape[1]):
        t = np.flatnonzero(draws.n_active > size)
        found["active"][t, draws.rows[t, size]] = True
        found["beta"][t, :, draws.rows[t, size]] = draws.coefficients[t, :, size]
    assert (found["included"].sum(1) == draws.n_features).all()
    assert (found["active"].sum(1) == draws.n_active).all()
    return found


def place(state, sample, t):
    """Put a chain at draw ``t`` of the oracle."""
    for size, where, flags in (
        (state.n_features, state.features, sample["included"][t]),
        (state.n_active, state.rows, sample["active"][t]),
    ):
        chosen = np.flatnonzero(flags)
        size[0] = len(chosen)
        where[: len(chosen)] = chosen
        if where is state.features:
            state.bandwidths[: len(chosen)] = sample["eta"][t, chosen]
    state.variances[1] = sample["nu"][t]
    state.noise[2] = sample["variance"][t]


def respond(rng, likelihood, fitted, variance, parameters, state, work):
    """Draw a response given the functions, together with the auxiliary variables.

    All in NumPy but for the auxiliary variables of logit; the next sweep rebuilds the factor.
    """
    noise = rng.standard_normal(fitted.shape)
    if likelihood.name == "gaussian":
        state.response[:] = fitted + np.sqrt(variance) * noise
        work.data.response[:] = state.response[0]
        return work.data.response.copy()
    if likelihood.name == "student_t":
        weight = rng.standard_gamma(0.5 * parameters[0], fitted.shape[1]) / (0.5 * parameters[0])
        state.parameters[:] = parameters
        state.precision[:] = weight
        state.response[:] = fitted + np.sqrt(variance / weight) * noise
        work.data.response[:] = state.response[0]
        return work.data.response.copy()
    if likelihood.name == "probit":
        state.response[:] = fitted + noise
        work.data.side[:] = np.where(state.response[0] > 0, 1.0, -1.0)
        return work.data.side.copy()
    if likelihood.name == "multinomial_probit":
        state.response[:] = fitted + noise
        work.data.labels[:] = np.argmax(work.data.contrasts @ state.response, axis=0)
        return work.data.labels.astype(float)
    probability = 1.0 / (1.0 + np.exp(-fitted[0]))
    work.data.side[:] = np.where(rng.random(len(probability)) < probability, 1.0, -1.0)
    renew_working(work.data, rng, work.factor, fitted[0], False)
    return work.data.side.copy()


def bare(features, model, included, bandwidths, rows, response, nu, precision=None, **options):
    """Return (basis, factor, spare, sums, other) without a sampler, built from scratch.

    ``options``: noise_prior, room for features, largest active set.
    """
    response = np.atleast_2d(np.asarray(response, dtype=float))
    latents, n = response.shape
    largest = options.get("largest", n)
    factor = empty_factor(n, largest, latents)
    factor.response[:] = response
    factor.variances[:] = model["v0"], nu
    if precision is not None:
        factor.precision[:] = precision
    if options.get("noise_prior") is not None:
        shape, rate = options["noise_prior"]
        factor.noise[:2] = shape + 0.5 * n * latents, rate
    factor.n_active[0] = len(rows)
    factor.rows[: len(rows)] = rows
    room = options.get("room", features.shape[1])
    basis = FeatureColumns(
        np.ascontiguousarray(features.T), FEATURE_KERNELS[model["kind"]], np.zeros(0),
        np.array([len(included)]), np.zeros(room, np.int64), np.zeros(room),
    )  # fmt: skip
    basis.features[: len(included)] = included
    basis.bandwidths[: len(included)] = bandwidths
    sums, other = np.empty((largest + 1, n)), np.empty((largest + 1, n))
    rebuild_features(basis, factor, sums)
    again = empty_factor(n, largest, latents)
    spare = again._replace(
        n_active=factor.n_active, rows=factor.rows, response=factor.response,
        precision=factor.precision, variances=factor.variances, noise=factor.noise.copy(),
        prior_root=factor.prior_root, position=factor.position,
    )  # fmt: skip
    return basis, factor, spare, sums, other


@jit
def record_features(
    rng, basis, factor, spare, sums, other, log_odds, counts, graph, pairs, log_step, eta
):
    """Sweep over the features alone; ``counts``: toggles, exchanges, walks and pairs of a sweep.

    ``eta[t]`` receives the bandwidths after sweep t. Returns the largest difference between the
    evidence carried along and one made from scratch.
    """
    steps = np.zeros(log_step.shape[0], np.int64)
    tallies = np.zeros((5, 2), np.int64)
    drift = 0.0
    for t in range(eta.shape[0]):
        evidence = rebuild_features(basis, factor, sums)
        evidence = toggle_features(
            rng, basis, factor, spare, sums, other, evidence, counts[0], log_odds, tallies
        )
        evidence = toggle_pairs(
            rng, basis, factor, spare, sums, other, evidence, counts[3], pairs, log_odds, tallies
        )
        evidence = swap_features(
            rng, basis, factor, spare, sums, other, evidence, counts[1], graph, tallies
        )
        evidence = walk_bandwidths(
            rng, basis, factor, spare, sums, other, evidence, counts[2], log_step, steps, False,
            tallies,
        )  # fmt: skip
        for size in range(basis.n_features[0]):
            eta[t, basis.features[size]] = basis.bandwidths[size]
        if t % 100 == 0:
            drift = max(drift, abs(evidence - rebuild_features(basis, factor, sums)))
    return drift, tallies


def rewritten(function, old, new, **replacements):
    """Compile a compiled function again with one piece of its text replaced.

    This is how a test shows that it would notice a mistake. Nothing is cached on disk.
    """
    source = textwrap.dedent(inspect.getsource(function.py_func))
    assert source.count(old) == 1, f"{old!r} is not once in {function.py_func.__name__}"
    body = source.replace(old, new)
    body = body[body.index("def ") :]
    names = {**function.py_func.__globals__, **replacements}
    exec(compile(body, "<rewritten>", "exec"), names)
    return numba.njit(error_model="numpy")(names[function.py_func.__name__])
