"""Chains without auxiliary variables: the whole sampler and the estimate that corrects it.

The sampler against draws of the prior weighted with the likelihood of SciPy: no Gaussian stands in
for anything there. The estimate of evidence over Laplace's, and the draw that comes with it,
against quadrature over the coefficients. Wrong variants must fail, clearly.
"""

from typing import NamedTuple

import numpy as np
import pytest
from chain_setup import recompiled
from doubly_sparse_dense import batch_error, draw_prior, feature_kernel, worst
from doubly_sparse_setup import MODEL, generators, make_sampler, rewritten, run, unpack
from laplace_dense import LAWS, evidence_by_quadrature, laplace_evidence, log_density
from laplace_setup import bare, terms
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal
from speed import slow_except

from sparsekern.bases.feature_columns import rebuild_features
from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.doubly_sparse import collapsed_sweep, sampler
from sparsekern.inference.moves import evidence_estimate
from sparsekern.inference.moves.evidence_estimate import estimate_ratio, renew_ratio
from sparsekern.likelihoods import Hinge, Logit, Poisson, Probit
from sparsekern.likelihoods.terms import response_terms

N, P = 5, 3
FEATURES = np.random.default_rng(31).standard_normal((N, P))
OFFSET = np.log([0.5, 1.0, 2.0, 1.0, 3.0])
RESPONSES = {"poisson": np.array([0.0, 1.0, 6.0, 2.0, 0.0])}
LIKELIHOODS = {
    "probit": Probit(), "logit": Logit(), "hinge": Hinge(), "poisson": Poisson(OFFSET),
}  # fmt: skip
BASE = MODEL | {"v0": 1.5, "noise_prior": None, "max_features": 3, "max_active": 4}
CASES = {
    "plain": (BASE, None),
    "prior ends": (BASE | {"max_features": 1, "max_active": 2, "feature_probability": 0.6}, None),
    "some candidates": (BASE | {"max_features": 2}, [0, 2, 3]),
    "known slab": (BASE | {"slab_prior": None, "nu": 4.0, "kind": "matern32"}, None),
}
_PRIORS = {}


def _response(law):
    return RESPONSES.get(law, np.array([1.0, -1.0, 1.0, 1.0, -1.0]))


def functionals(included, eta, active, log_nu, fitted, beta):
    """Light-tailed functions of everything."""
    included, active, bend = included * 1.0, active * 1.0, np.arctan(fitted)
    size, count = active.sum(1), included.sum(1)
    found = {f"in {j}": included[:, j] for j in range(P)}
    found |= {f"eta {j}": np.arctan(eta[:, j]) for j in range(P)}
    found |= {f"a{i}": active[:, i] for i in range(N)}
    found |= {f"f{i}": bend[:, i] for i in range(N)}
    found |= {f"b{i}": np.arctan(beta[:, i]) for i in range(N)}
    return found | {
        "rho": (included * np.exp(-eta)).sum(1), "k^2": size**2, "s^2": count**2,
        "log nu": log_nu, "log^2 nu": log_nu**2, "k log nu": size * log_nu, "k s": size * count,
        "s log nu": count * log_nu, "in 0 a 0": included[:, 0] * active[:, 0],
        "f0 f1": bend[:, 0] * bend[:, 1], "f2^2": bend[:, 2] ** 2, "f s": bend[:, 0] * count,
        "f^2": np.log1p((fitted**2).sum(1)), "b^2": np.log1p((beta**2).sum(1)),
        "none in": (count == 0) * 1.0, "no vector": (size == 0) * 1.0,
    }  # fmt: skip


def _prior_blocks(case, blocks):
    """Functionals and functions of draws of the prior, block by block, kept."""
    if (case, blocks) not in _PRIORS:
        model, candidates = CASES[case]
        rng, found = np.random.default_rng(0), []
        for _ in range(blocks):
            prior = draw_prior(rng, 50_000, FEATURES, model)
            outside = np.setdiff1d(np.arange(N), np.arange(N) if candidates is None else candidates)
            keep = ~prior["active"][:, outside].any(1)  # a Bernoulli law given none outside
            part = {
                k: prior[k][keep] for k in ("included", "eta", "active", "nu", "fitted", "beta")
            }
            values = functionals(
                part["included"], part["eta"], part["active"], np.log(part["nu"]),
                part["fitted"][:, 0], part["beta"][:, 0],
            )  # fmt: skip
            names = list(values)
            found.append((np.column_stack(list(values.values())), part["fitted"][:, 0]))
        _PRIORS.clear()  # one at a time: they are large
        _PRIORS[case, blocks] = names, found
    return _PRIORS[case, blocks]


def exact_means(law, case, blocks):
    """Posterior means and their standard errors from weighted draws of the prior."""
    names, found = _prior_blocks(case, blocks)
    offset = OFFSET if law == "poisson" else 0.0
    rows = []
    for values, fitted in found:
        weight = np.exp(log_density(law, _response(law), offset + fitted).sum(1))
        rows.append(np.r_[weight.sum(), weight @ values])
    rows = np.array(rows) / np.mean(rows, axis=0)[0]
    mean = rows.mean(0)[1:]
    error = (rows[:, 1:] - mean * rows[:, :1]).std(0, ddof=1) / np.sqrt(blocks)
    return {name: (m, e) for name, m, e in zip(names, mean, error, strict=True)}


def compare(law, case="plain", sweeps=25_000, blocks=24, seed=1):
    """Return z by name: the sampler against the oracle."""
    model, candidates = CASES[case]
    made = make_sampler(
        LIKELIHOODS[law], FEATURES, _response(law), model,
        candidates=None if candidates is None else np.array(candidates),
    )  # fmt: skip
    draws, state = run(made, sweeps, tune=500, seed=seed)
    sample = unpack(draws, N, P)
    fitted = draws.intercept + np.einsum(
        "tij,tj->ti", feature_kernel(FEATURES, sample["eta"], model["kind"]), sample["beta"][:, 0]
    )
    found = functionals(
        sample["included"], sample["eta"], sample["active"], np.log(sample["nu"]), fitted,
        sample["beta"][:, 0],
    )  # fmt: skip
    z = {}
    for key, (value, error) in exact_means(law, case, blocks).items():
        if np.ptp(found[key]) > 0:
            z[key] = (found[key].mean() - value) / np.hypot(batch_error(found[key]), error)
        else:
            assert abs(value - found[key][0]) < 1e-9, key
    print(law, case, worst(z), "taken", state.tallies[9])
    return z


QUICK = [("hinge", "prior ends"), ("poisson", "some candidates"), ("logit", "known slab")]
ALL = [(law, case) for case in CASES for law in LAWS]


@pytest.mark.parametrize(("law", "case"), QUICK)
def test_posterior_against_weighted_draws_of_the_prior(law, case):
    z = compare(law, case)
    assert len(z) > 25
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize(("law", "case"), ALL)
def test_posterior_against_weighted_draws_of_the_prior_long(law, case):
    z = compare(law, case, 200_000, 100, seed=2)
    assert max(map(abs, z.values())) < 4, z


@njit
def _estimates(rng, data, factor, evidence, pairs, values, functions):
    for t in range(values.shape[0]):
        values[t] = estimate_ratio(rng, data, factor, evidence, pairs, functions[t])


class _State(NamedTuple):
    """One state, and what quadrature says of its coefficients."""

    data: object
    factor: object
    columns: np.ndarray
    scale: np.ndarray
    evidence: float
    exact: float
    of: object  # functionals of whitened coefficients
    means: np.ndarray


def _one_state(law, rows):
    response, offset = _response(law), OFFSET if law == "poisson" else np.zeros(N)
    weights = np.array([1.0, 0.7, 1.6, 1.0, 0.4])
    data = terms(law, response, offset, weights)
    basis, factor, _, sums, _ = bare(FEATURES, [1], [0.7], rows, data, 1.3, largest=3, v0=1.1)
    evidence = rebuild_features(basis, factor, sums)
    kernel = feature_kernel(FEATURES, [0.0, 0.7, 0.0])
    scale = np.sqrt([1.1, *[1.3] * len(rows)])
    columns = np.column_stack([np.ones(N), kernel[:, rows]])
    assert_allclose(
        evidence, laplace_evidence(law, response, columns * scale, offset, weights)[0], atol=1e-6
    )

    def of(points):
        beta = points * scale
        f = beta @ columns.T
        return np.column_stack([np.arctan(beta), np.arctan(f), np.arctan(beta) ** 2, f[:, :1] ** 2])

    exact, means = evidence_by_quadrature(law, response, columns * scale, offset, weights, of)
    return _State(data, factor, columns, scale, evidence, exact, of, means)


def _estimate_scores(law, rows, record=_estimates, pairs=3, count=40_000):
    """Return z of the mean ratio and of its means of the draw, against quadrature."""
    case, rng = _one_state(law, rows), np.random.default_rng(3)
    values, functions = np.empty(count), np.full((count, 1 + 3 + N), 9.0)
    record(rng, case.data, case.factor, case.evidence, pairs, values, functions)
    size = len(rows) + 1
    assert (functions[:, size:4] == 0.0).all()
    assert_allclose(functions[:, 4:], functions[:, :size] @ case.columns.T, atol=1e-12)
    ratio, target = np.exp(values), np.exp(case.exact - case.evidence)
    z = [(ratio.mean() - target) / (ratio.std() / np.sqrt(count))]
    for value, mean in zip(case.of(functions[:, :size] / case.scale).T, case.means, strict=True):
        part = ratio * (value - mean)
        z.append(part.mean() / (part.std() / np.sqrt(count)))
    print(law, rows, f"m over Laplace's {target:.4f}, max|z| {np.abs(z).max():.2f}")
    return np.abs(z)


@pytest.mark.parametrize("rows", [[], [2]], ids=["intercept", "one vector"])
@pytest.mark.parametrize("law", LAWS)
def test_estimate_is_unbiased_and_its_draw_is_right(law, rows):
    assert _estimate_scores(law, rows).max() < 4


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [1, 32])
@pytest.mark.parametrize("law", LAWS)
def test_estimate_is_unbiased_whatever_the_number_of_pairs(law, pairs):
    assert _estimate_scores(law, [2], pairs=pairs, count=400_000).max() < 4


@njit
def _smooth(code, y, f, last, freedom):
    return response_terms(code, y, f, last, freedom)[0]


WRONG_PIECES = {
    "fixed signs": ("_draw_steps", "rng.standard_normal()", "abs(rng.standard_normal())"),
    "no prior": ("_weigh_and_choose", "logs[m] -= 0.5 * alpha[a] * alpha[a]", "pass"),
    "first draw": ("_weigh_and_choose", "chosen = m\n", "chosen = 0\n"),
    "weights of rows": ("_log_likelihood", "data.weight[i] * log_density", "log_density"),
    "smooth hinge": ("_log_likelihood",),
}


def _wrong_estimate(mistake):
    name, *change = WRONG_PIECES[mistake]
    if mistake == "smooth hinge":
        wrong = recompiled(evidence_estimate._log_likelihood, log_density=_smooth)
    else:
        wrong = rewritten(getattr(evidence_estimate, name), *change)
    pieces = {name: wrong}
    if name == "_log_likelihood":
        pieces = {"_weigh_and_choose": recompiled(evidence_estimate._weigh_and_choose, **pieces)}
    return recompiled(estimate_ratio, **pieces)


@pytest.mark.slow
@pytest.mark.parametrize("mistake", WRONG_PIECES)
def test_a_wrong_estimate_is_noticed(mistake):
    wrong = _wrong_estimate(mistake)

    @njit
    def record(rng, data, factor, evidence, pairs, values, functions):
        for t in range(values.shape[0]):
            values[t] = wrong(rng, data, factor, evidence, pairs, functions[t])

    assert _estimate_scores("hinge", [2], record).max() > 6


def _run_with(monkeypatch, part):
    """Run chains whose parts of a sweep are ``part``."""
    sweep = recompiled(collapsed_sweep._sweep, _move_part=part)
    wrong = recompiled(collapsed_sweep.run_collapsed, _sweep=sweep)
    monkeypatch.setattr(sampler, "run_collapsed", wrong)


_BACK = "unpack_state(before, state)"
WRONG_PARTS = {
    "always taken": ("math.log(rng.random()) < ratio - held", "True"),
    "vectors stay": (
        _BACK,
        "rows, count = state.rows.copy(), state.n_active[0]\n    "
        f"{_BACK}\n    state.rows[:] = rows\n    state.n_active[0] = count",
    ),
    "function stays": (
        _BACK, f"function = state.function.copy()\n    {_BACK}\n    state.function[:] = function"
    ),
    "estimate of the refused": (
        "rebuild_features(basis, factor, sums), held",
        "rebuild_features(basis, factor, sums), ratio",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mistake", WRONG_PARTS)
def test_a_wrong_sweep_is_noticed(mistake, monkeypatch):
    _run_with(monkeypatch, rewritten(collapsed_sweep._move_part, *WRONG_PARTS[mistake]))
    z = compare("hinge", sweeps=100_000, blocks=60)
    assert max(map(abs, z.values())) > 6


@pytest.mark.slow
def test_a_hinge_corrected_by_the_smooth_one_is_noticed(monkeypatch):
    wrong = _wrong_estimate("smooth hinge")
    _run_with(monkeypatch, recompiled(collapsed_sweep._move_part, estimate_ratio=wrong))
    z = compare("hinge", sweeps=400_000, blocks=200)
    assert max(map(abs, z.values())) > 6


@pytest.mark.parametrize("law", slow_except(LAWS, ["poisson"]))
def test_pieces_with_reopening_are_the_whole(law):
    """What a chain needs to go on is all in its state: tuning and kept sweeps, bit by bit."""
    rng = np.random.default_rng(4)
    features = rng.standard_normal((40, 6))
    response = np.where(features[:, 0] > 0.2, 1.0, -1.0)
    likelihood = LIKELIHOODS[law]
    if law == "poisson":
        likelihood, response = Poisson(0.3 * rng.standard_normal(40)), rng.poisson(2.0, 40) * 1.0
    made = make_sampler(
        likelihood, features, response, BASE | {"max_active": 8}, moves=5, toggles=4
    )
    plan, found = Plan(100, 200, 1), []
    for legs in ([300], [1, 37, 99, 100, 101, 180, 299, 300]):
        rngs = generators(6)
        state, draws = made.start(rngs[0], 1), made.allocate(plan)
        for stop in legs:
            copied = type(state)(*(part.copy() for part in state))  # as if read from a file
            state = copied
            made.advance(rngs, state, made.open(state), draws, stop, plan, True)
        found.append((state, draws))
    for one, other in zip(*found, strict=True):
        for name in one._fields:
            assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    state, draws = found[0]
    assert state.tallies[9, 1] > 50
    assert len(np.unique(draws.n_active)) > 1


@njit
def _never(rng, data, factor, evidence, pairs, function):
    function[:] = 9.0
    return -np.inf


def test_a_sweep_that_is_not_taken_leaves_everything(monkeypatch):
    """Estimates that cannot win: the state stays; its coefficients move by their own law."""
    _run_with(monkeypatch, recompiled(collapsed_sweep._move_part, estimate_ratio=_never))
    made = make_sampler(Logit(), FEATURES, _response("logit"), BASE)
    plan, rngs = Plan(20, 50, 1), generators(7)
    state, draws = made.start(rngs[0], 1), made.allocate(plan)
    work = made.open(state)
    state.sweep[0] = 10  # the first and those of an annealing are always taken
    made.advance(rngs, state, work, draws, 20, plan, True)
    before = type(state)(*(part.copy() for part in state))
    made.advance(rngs, state, work, draws, 70, plan, False)
    for name in set(state._fields) - {"sweep", "tallies", "noise", "function"}:
        size = {"rows": state.n_active[0], "features": state.n_features[0]}.get(name)
        # sites are looked for anew, from where they are
        now, then = getattr(state, name)[:size], getattr(before, name)[:size]
        assert_allclose(now, then, rtol=1e-9 if name in ("response", "precision") else 0.0)
    assert state.tallies[9].tolist() == [150, 0]  # three parts a sweep
    assert np.ptp(draws.n_active) == 0 and len(np.unique(draws.intercept)) == 50


@njit
def _renewals(rng, data, factor, evidence, pairs, values, functions):
    estimate_ratio(rng, data, factor, evidence, pairs, functions[0])
    for t in range(values.shape[0]):
        values[t] = renew_ratio(rng, data, factor, evidence, pairs, t % 3, functions[t])
        if t + 1 < values.shape[0]:
            functions[t + 1] = functions[t]


def _renewal_scores(law, rows, record=_renewals, pairs=3, count=80_000):
    """Return z of what an estimate is inversely, and of the coefficients, against quadrature.

    A state that a chain holds has estimates weighted by themselves: E[1/R] is then one over the
    true ratio.
    """
    case = _one_state(law, rows)
    values, functions = np.empty(count), np.full((count, 1 + 3 + N), 9.0)
    record(
        np.random.default_rng(5), case.data, case.factor, case.evidence, pairs, values, functions
    )
    beta = functions[:, : len(rows) + 1]
    assert_allclose(functions[:, 4:], beta @ case.columns.T, atol=1e-9)
    inverse = np.exp(case.exact - case.evidence - values)
    z = [(inverse.mean() - 1) / batch_error(inverse)]
    for value, mean in zip(case.of(beta / case.scale).T, case.means, strict=True):
        z.append((value.mean() - mean) / batch_error(value))
    print(law, rows, f"max|z| {np.abs(z).max():.2f}")
    return np.abs(z)


@pytest.mark.parametrize("rows", [[], [2]], ids=["intercept", "one vector"])
@pytest.mark.parametrize("law", LAWS)
def test_renewed_estimates_have_the_law_of_those_that_a_chain_holds(law, rows):
    assert _renewal_scores(law, rows).max() < 4


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [1, 32])
@pytest.mark.parametrize("law", LAWS)
def test_renewed_estimates_whatever_the_number_of_pairs(law, pairs):
    assert _renewal_scores(law, [2], pairs=pairs, count=400_000).max() < 4


WRONG_RENEWALS = {
    "held draw left out": (renew_ratio, "steps[2 * place, a], steps[2 * place + 1, a] =", "_, _ ="),
    "among normal draws": (renew_ratio, "_chance_of_normal(step, pairs)", "1.0"),
    "slides without the mode": (
        evidence_estimate._slide, "math.log(rng.random())", "2.0 * math.log(rng.random())"
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mistake", WRONG_RENEWALS)
def test_a_wrong_renewal_is_noticed(mistake):
    changed = rewritten(*WRONG_RENEWALS[mistake])
    wrong = changed
    if WRONG_RENEWALS[mistake][0] is not renew_ratio:
        wrong = recompiled(renew_ratio, _slide=changed)

    @njit
    def record(rng, data, factor, evidence, pairs, values, functions):
        estimate_ratio(rng, data, factor, evidence, pairs, functions[0])
        for t in range(values.shape[0]):
            values[t] = wrong(rng, data, factor, evidence, pairs, t % 3, functions[t])
            if t + 1 < values.shape[0]:
                functions[t + 1] = functions[t]

    assert _renewal_scores("hinge", [2], record, pairs=2, count=400_000).max() > 6


def test_annealings_fill_the_first_half_of_tuning():
    places = [collapsed_sweep._place_in_annealing(sweep, 14) for sweep in range(20)]
    assert places == [(0, 2), (1, 2)] * 3 + [(0, 0)] * 14
    assert {collapsed_sweep._place_in_annealing(sweep, 11) for sweep in range(11)} == {(0, 0)}


def test_a_chain_goes_on_from_the_best_end_of_its_annealings():
    made = make_sampler(Logit(), FEATURES, _response("logit"), BASE)
    state = made.start(generators(3)[0], 1)
    rng, ends = np.random.default_rng(8), []
    for place, evidence in enumerate([-3.0, -1.0, -2.0]):
        state.n_active[0], state.n_features[0] = place + 1, 2
        for part in (state.rows, state.features):
            part[:] = rng.permutation(len(part))
        for part in (
            state.variances, state.bandwidths, state.response, state.precision, state.function
        ):  # fmt: skip
            part[:] = rng.random(part.shape)
        # the prior of a state must not make up for the evidence here
        state.bandwidths[:], state.variances[1] = 0.5, 2.0
        ends.append(type(state)(*(part.copy() for part in state)))
        collapsed_sweep._keep_best(
            state, evidence - made.settings.log_weights[place + 1], made.model.prior,
            made.settings, place == 2,
        )  # fmt: skip
    for name in set(state._fields) - {"best"}:
        assert_array_equal(getattr(state, name), getattr(ends[1], name), err_msg=name)


def test_the_prior_of_an_end_of_an_annealing():
    """Against the densities of the specification; constants do not count."""
    made = make_sampler(Logit(), FEATURES, _response("logit"), BASE)
    state = made.start(generators(3)[0], 1)
    state.rows[:3], state.features[:] = [0, 2, 3], [2, 0, 1]
    shape, rate = BASE["slab_prior"]
    found = []
    for size, count, eta, nu in [(1, 1, 0.3, 2.0), (3, 2, 1.7, 0.4), (2, 3, 0.9, 9.0)]:
        state.n_active[0], state.n_features[0] = size, count
        state.bandwidths[:], state.variances[1] = eta, nu
        value = size * np.log(0.35 / 0.65) + count * np.log(0.4 / 0.6) - count * eta
        value += -shape * np.log(nu) - rate / nu  # of log nu, as chains walk on it
        found.append(collapsed_sweep.log_prior(state, made.model.prior, made.settings) - value)
    assert_allclose(found, found[0], atol=1e-10)
