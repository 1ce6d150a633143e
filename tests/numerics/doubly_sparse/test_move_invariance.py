"""Every move of the doubly-sparse sweep alone keeps the joint law.

Draw from the prior, with a response and auxiliary variables, make one move, compare: the
replicates are independent, and no other move can hide a mistake.
"""

import numpy as np
import pytest
from chain_setup import recompiled
from doubly_sparse_dense import draw_prior
from doubly_sparse_setup import MODEL, generators, make_sampler, place, respond, rewritten
from joint_law import report
from numba import njit
from speed import slow_rows_except

from sparsekern.bases.feature_columns import rebuild_features
from sparsekern.inference.doubly_sparse.sweep import sweep_features
from sparsekern.inference.moves import function_scale
from sparsekern.inference.moves.active_set import move_active_set
from sparsekern.inference.moves.function_scale import move_function_scale
from sparsekern.inference.moves.leap import leap_bandwidth
from sparsekern.inference.moves.ridge import walk_ridge
from sparsekern.inference.moves.scales import DIRECTIONS, _log_density, slice_scales
from sparsekern.likelihoods import Gaussian, Logit, MultinomialProbit, Probit, StudentT
from sparsekern.likelihoods._compiled import update_working
from sparsekern.linalg.whitened_factor import refactor

N, P = 5, 3
FEATURES = np.random.default_rng(18).standard_normal((N, P))
COUNT = 20_000
LIKELIHOODS = {
    "gaussian": Gaussian(), "student_t": StudentT([4.0]), "probit": Probit(), "logit": Logit(),
    "multinomial": MultinomialProbit(3),
}  # fmt: skip
CASES = [
    *((name, move) for name in LIKELIHOODS for move in ("features", "ridge", "vectors", "slab")),
    ("gaussian", "leap"),
    ("probit", "stretch"), ("multinomial", "stretch"), ("probit", "function"),
    ("logit", "function"), ("probit", "latents"), ("multinomial", "latents"),
    ("logit", "latents"), ("student_t", "latents"),
]  # fmt: skip
# given auxiliary variables moves see the noise, precisions and the number of functions alone
SHARED_MOVES = {
    "features": ("student_t", "multinomial"), "ridge": ("student_t",), "vectors": ("multinomial",),
    "slab": ("gaussian",),
}  # fmt: skip
QUICK = [(name, move) for name, move in CASES if name in SHARED_MOVES.get(move, LIKELIHOODS)]


def _functionals(included, eta, active, nu, response, precision):
    size, count, log_nu = active.sum(1), included.sum(1), np.log(nu)
    length = np.log1p((response**2).sum((1, 2)))
    mean = np.log1p((response.mean(2) ** 2).sum(1))
    found = {
        "k": size, "k^2": size**2, "a0": active[:, 0], "a1 a2": active[:, 1] & active[:, 2],
        "s": count, "in 0": included[:, 0], "in 1 2": included[:, 1] & included[:, 2],
        "eta": eta.sum(1), "eta^2": (eta**2).sum(1), "rho": (included * np.exp(-eta)).sum(1),
        "log nu": log_nu, "log^2 nu": log_nu**2, "k log nu": size * log_nu, "k s": size * count,
        "z": length, "z mean": mean, "z k": length * size, "z s": length * count,
        "z nu": length * log_nu, "z mean nu": mean * log_nu, "z mean s": mean * count,
        "z0 z1": np.arctan(response[:, 0, 0] * response[:, 0, 1]),
        "z0 z1 eta": np.arctan(response[:, 0, 0] * response[:, 0, 1]) * eta[:, 0],
        "w": np.log(precision).sum(1), "w nu": np.log(precision).sum(1) * log_nu,
        "w s": np.log(precision).sum(1) * count, "w z": np.arctan(precision[:, 0]) * length,
    }  # fmt: skip
    return {name: np.asarray(value, dtype=float) for name, value in found.items()}


def _move(name, kind, sampler, rng, state, work, moves):
    settings, prior = sampler.settings, sampler.model.prior
    factor = work.factor
    if kind == "features":
        moves["features"](rng, state, work, settings, False)
    elif kind == "ridge":
        evidence = rebuild_features(work.basis, factor, work.sums)
        moves["ridge"](
            rng, work.basis, factor, work.spare, work.sums, work.other_sums, evidence, prior, 4, 3,
            state.log_step, state.log_ridge, state.ridge_steps, False, state.tallies[10],
        )  # fmt: skip
    elif kind == "leap":
        evidence = rebuild_features(work.basis, factor, work.sums)
        moves["leap"](
            rng, work.basis, factor, work.leaps, work.sums, work.other_sums, work.unused, evidence,
            settings.log_weights, settings.candidates, 6, state.log_step, state.tallies[12],
        )  # fmt: skip
    elif kind == "vectors":
        moves["vectors"](
            rng, factor, work.basis, work.unused, settings.log_weights, settings.candidates, 3,
            settings.candidates[:0], state.tallies,
        )  # fmt: skip
    elif kind in ("slab", "stretch"):
        direction = DIRECTIONS[0 if kind == "slab" else 3]
        moves["slice"](rng, factor, prior, direction, 1.0, work.root, work.projected)
        refactor(factor)
    elif kind == "latents":
        update_working(work.data, rng, factor, settings.diagonal, 2, work.memory)
    else:
        memory = work.memory
        moves["function"](rng, factor, prior, work.data, 0.7, memory.coefficients, memory.fitted)


def _scores(name, kind, count=COUNT, seed=1, **wrong):
    moves = {
        "features": sweep_features, "vectors": move_active_set, "slice": slice_scales,
        "function": move_function_scale, "ridge": walk_ridge,
        "leap": leap_bandwidth,
    } | wrong  # fmt: skip
    likelihood = LIKELIHOODS[name]
    model = MODEL | {"max_features": 2, "latents": 2 if name == "multinomial" else 1}
    if "learned noise" not in likelihood.provides:
        model["noise_prior"] = None
    rng = np.random.default_rng(seed)
    sample = draw_prior(rng, count, FEATURES, model)
    labels = np.arange(N) % 3 if name == "multinomial" else np.where(np.arange(N) % 2, 1.0, -1.0)
    sampler = make_sampler(likelihood, FEATURES, labels, model)
    # given auxiliary variables: so all moves are made where select_vectors is false, and by other
    # laws; what probit and logit do otherwise is tested in test_collapsed.py
    sampler._collapsed = False
    chain_rng = generators(seed)[0]
    state = sampler.start(chain_rng, 0)
    work = sampler.open(state)
    shape = state.response.shape
    before, after = np.empty((2, count, *shape)), np.empty((2, count, *shape))
    end = {key: np.zeros_like(sample[key]) for key in ("included", "eta", "active", "nu")}
    for t in range(count):
        place(state, sample, t)
        respond(
            rng, likelihood, sample["fitted"][t], sample["variance"][t], state.parameters.copy(),
            state, work,
        )  # fmt: skip
        before[0, t], before[1, t] = state.response, state.precision
        rebuild_features(work.basis, work.factor, work.sums)
        _move(name, kind, sampler, chain_rng, state, work, moves)
        after[0, t], after[1, t] = state.response, state.precision
        included, rows = state.features[: state.n_features[0]], state.rows[: state.n_active[0]]
        end["included"][t, included] = True
        end["eta"][t, included] = state.bandwidths[: len(included)]
        end["active"][t, rows] = True
        end["nu"][t] = state.variances[1]
        assert state.variances[0] == model["v0"]
    start = {key: sample[key] for key in end}
    one = _functionals(**start, response=before[0], precision=before[1, :, 0])
    other = _functionals(**end, response=after[0], precision=after[1, :, 0])
    z = {}
    for key in one:
        difference = other[key] - one[key]
        if np.ptp(difference) > 1e-9:
            z[key] = difference.mean() / (difference.std() / np.sqrt(count))
    print(name, kind, report(list(z), np.array(list(z.values()))))
    return z


@pytest.mark.parametrize(("name", "move"), slow_rows_except(CASES, QUICK))
def test_move_keeps_the_joint_law(name, move):
    z = _scores(name, move)
    assert len(z) >= 3
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize(("name", "move"), CASES)
def test_move_keeps_the_joint_law_long(name, move):
    z = _scores(name, move, count=200_000, seed=2)
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
def test_wrong_power_of_the_stretch_is_noticed():
    """lambda^(n-1) in place of lambda^n."""

    @njit
    def density(factor, prior, root, projected, start, direction, summary, x):
        value = _log_density(factor, prior, root, projected, start, direction, summary, x)
        return value - direction[2] * x

    z = _scores("probit", "stretch", slice=recompiled(slice_scales, _log_density=density))
    assert max(map(abs, z.values())) > 6


@pytest.mark.slow
def test_intercept_stretched_for_free_is_noticed():
    """The size of the function moves without asking the intercept of fixed variance."""

    @njit
    def density(data, fitted, prior, intercept, log_intercept, log_scale, x):
        return (
            function_scale._log_density(data, fitted, prior, 0.0, log_intercept, log_scale, x) - x
        )

    wrong = recompiled(move_function_scale, _log_density=density)
    z = _scores("probit", "function", count=30_000, function=wrong)
    assert max(map(abs, z.values())) > 6


@pytest.mark.slow
def test_slab_without_its_prior_is_noticed():
    wrong = rewritten(
        _log_density, "prior.scale_shape * log_scale - prior.scale_rate * math.exp(log_scale)",
        "0.5 * prior.scale_shape * log_scale - prior.scale_rate * math.exp(log_scale)",
    )  # fmt: skip
    z = _scores("gaussian", "slab", slice=recompiled(slice_scales, _log_density=wrong))
    assert max(map(abs, z.values())) > 6


WRONG_RIDGES = {
    "no Jacobian": ("ratio += change - (proposal[place]", "ratio += -(proposal[place]"),
    "no prior of bandwidths": ("change - (proposal[place] - basis.bandwidths[place])", "change"),
}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", WRONG_RIDGES)
def test_wrong_ridge_is_noticed(mistake):
    z = _scores("gaussian", "ridge", ridge=rewritten(walk_ridge, *WRONG_RIDGES[mistake]))
    assert max(map(abs, z.values())) > 6


@pytest.mark.slow
def test_ridge_without_the_prior_of_the_slab_is_noticed():
    wrong = rewritten(
        walk_ridge, "ratio += log_density_of_scale(prior, moved) - log_density_of_scale(prior,",
        "ratio += 0.5 * log_density_of_scale(prior, moved) - 0.5 * log_density_of_scale(prior,",
    )  # fmt: skip
    z = _scores("gaussian", "ridge", ridge=wrong)
    assert max(map(abs, z.values())) > 6


@pytest.mark.slow
def test_vectors_with_other_odds_are_noticed():
    """A size prior that counts sets: the binomial coefficient forgotten or added."""

    @njit
    def other(rng, factor, basis, unused, log_weights, candidates, moves, drawn, tallies):
        n = candidates.shape[0]
        weights = log_weights.copy()
        for k in range(1, weights.shape[0]):
            weights[k] += np.log((n - k + 1) / k)
        move_active_set(rng, factor, basis, unused, weights, candidates, moves, drawn, tallies)

    z = _scores("gaussian", "vectors", vectors=other)
    assert max(map(abs, z.values())) > 6
