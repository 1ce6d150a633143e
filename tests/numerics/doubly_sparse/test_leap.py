"""Leaps between bandwidths, with few other moves, against a sum over all sets and a quadrature.

Two features are held, slab too; seven rows with little noise, so that sets and bandwidths
depend on each other. The same comparison must fail for leaps with a piece left out.
"""

import functools
import math
from typing import NamedTuple

import numpy as np
import pytest
from chain_setup import recompiled
from doubly_sparse_dense import (
    bandwidth_grid,
    covariance,
    feature_kernel,
    feature_terms,
    log_evidence,
    scores,
    subsets,
    worst,
)
from doubly_sparse_setup import MODEL, bare, generators, make_sampler, rewritten
from numba import njit

from sparsekern.bases.feature_columns import rebuild_features
from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.doubly_sparse.sweep import LEAP, LIVELY, QUIET
from sparsekern.inference.moves import leap
from sparsekern.inference.moves.active_set import move_active_set
from sparsekern.inference.moves.features import walk_bandwidths
from sparsekern.inference.moves.leap import _lead, leap_bandwidth, open_leaps
from sparsekern.likelihoods import Gaussian
from sparsekern.linalg.whitened_factor import empty_factor
from sparsekern.priors import independent_log_weights

N, NU, LARGEST, SHARE = 7, 4.0, 3, 0.3
NOISE = (2.0, 0.2)
STEPS = 8


def _data():
    rng = np.random.default_rng(5)
    features = rng.standard_normal((N, 2))
    features[:, 0] = np.linspace(-1.5, 1.5, N)
    response = np.sin(4.0 * features[:, 0]) + 0.6 * features[:, 0] + 0.3 * features[:, 1]
    return features, response + 0.1 * rng.standard_normal(N)


def _functionals(eta, active):
    """Bounded functions of bandwidths, shape (t, 2), and active vectors, shape (t, N)."""
    size = active.sum(1)
    rough = eta[:, 0] > 0.7
    found = {f"rho {j}": np.exp(-eta[:, j]) for j in range(2)}
    found |= {f"log {j}": np.tanh(np.log(eta[:, j])) for j in range(2)}
    found |= {f"in {i}": active[:, i] for i in range(N)}
    found |= {f"in {i}, rho": active[:, i] * np.exp(-eta[:, 0]) for i in range(N)}
    found |= {"k": size, "k^2": size**2, "k rho": size * np.exp(-eta[:, 0])}
    return {name: values.astype(float) for name, values in found.items()} | {"rough": rough * 1.0}


class Case(NamedTuple):
    """What the comparison is made of."""

    noise: tuple[float, float] | None = NOISE  # None: of variance one, over the precision
    precision: tuple[float, ...] = (1.0,) * N
    candidates: tuple[int, ...] = tuple(range(N))
    rows: tuple[int, ...] = tuple(range(N))  # of profiles


PLAIN = Case()
CASES = {
    "plain": PLAIN,
    "known noise": Case(noise=None, precision=(6.0,) * N, rows=(0, 1, 3, 6)),
    "weights": Case(
        precision=(0.3, 2.0, 1.0, 0.5, 1.5, 2.5, 0.8), candidates=(0, 2, 3, 6), rows=(0, 2, 3, 5)
    ),
}


def _evidence(response, columns, case=PLAIN):
    """Return the log evidence of sets of kernel columns, shape (t, N, k)."""
    noise = np.diag(1.0 / np.array(case.precision))
    q = noise + MODEL["v0"] + NU * columns @ columns.transpose(0, 2, 1)
    energy = np.linalg.solve(q, response[:, None])[..., 0] @ response
    if case.noise is None:
        return -0.5 * np.linalg.slogdet(q)[1] - 0.5 * energy
    shape, rate = case.noise
    return -0.5 * np.linalg.slogdet(q)[1] - (shape + 0.5 * N) * np.log(rate + 0.5 * energy)


@functools.cache
def _exact(count, case):
    features, response = _data()
    eta, log_prior, kernels = feature_terms(features, 0.5, 2, "rbf", count, select=False)
    odds, parts, sets = np.log(SHARE / (1.0 - SHARE)), [], []
    for rows in subsets(N, LARGEST):
        if not set(rows) <= set(case.candidates):
            continue
        evidence = _evidence(response, kernels[:, :, rows], case)
        parts.append(log_prior + evidence + len(rows) * odds)
        sets.append(np.isin(np.arange(N), rows))
    logs = np.concatenate(parts)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    values = _functionals(np.tile(eta, (len(sets), 1)), np.repeat(sets, len(eta), axis=0))
    return {name: float(weights @ value) for name, value in values.items()}


@njit
def record(
    rng, basis, factor, spare, sums, other, memory, unused, log_weights, candidates, log_step, eta,
    active, tally,
):  # fmt: skip
    """One leap, one walk on a bandwidth and two changes of the set a sweep."""
    steps, tallies = np.zeros(2, np.int64), np.zeros((5, 2), np.int64)
    counts = np.zeros((3, 2), np.int64)
    drift = 0.0
    for t in range(eta.shape[0]):
        evidence = rebuild_features(basis, factor, sums)
        evidence = leap_bandwidth(
            rng, basis, factor, memory, sums, other, unused, evidence, log_weights, candidates,
            STEPS, log_step, tally,
        )  # fmt: skip
        if t % 100 == 0:
            drift = max(drift, abs(evidence - rebuild_features(basis, factor, sums)))
        if t % 4 == 0:
            walk_bandwidths(
                rng, basis, factor, spare, sums, other, evidence, 1, log_step, steps, False, tallies
            )
        move_active_set(
            rng, factor, basis, unused, log_weights, candidates, 2, candidates[:0], counts
        )
        eta[t] = basis.bandwidths
        for a in range(factor.n_active[0]):
            active[t, factor.rows[a]] = True
    return drift


def _compare(sweeps, record=record, case=PLAIN):
    features, response = _data()
    basis, factor, spare, sums, other = bare(
        features, MODEL | {"kind": "rbf"}, [0, 1], [0.5, 0.5], [0, 3], response, NU,
        np.array(case.precision), noise_prior=case.noise, largest=LARGEST,
    )  # fmt: skip
    memory, m = open_leaps(spare, True), len(case.rows)
    memory = memory._replace(
        rows=np.array(case.rows), column=np.empty(m), small=empty_factor(m, LARGEST),
        base=np.empty((LARGEST + 1, m)), sums=np.empty((LARGEST + 1, m)),
    )  # fmt: skip
    eta, active = np.zeros((sweeps, 2)), np.zeros((sweeps, N), bool)
    tally = np.zeros(2, np.int64)
    drift = record(
        np.random.default_rng(3), basis, factor, spare, sums, other, memory, np.ones((1, 1)),
        independent_log_weights(LARGEST, SHARE), np.array(case.candidates),
        np.full(2, np.log(0.8)), eta, active, tally,
    )  # fmt: skip
    assert drift < 1e-8
    exact, rough = _exact(44, case), _exact(34, case)
    error = {name: abs(exact[name] - rough[name]) for name in exact if name != "rough"}
    assert max(error.values()) < 2e-3, error
    z = scores(_functionals(eta, active), {name: exact[name] for name in error}, error)
    print(worst(z), tally, f"rough {exact['rough']:.2f}")
    return z, tally


def test_leaps_keep_the_posterior():
    z, tally = _compare(60_000)
    assert tally[1] > 800
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_leaps_keep_the_posterior_long(case):
    z, tally = _compare(800_000, case=CASES[case])
    assert tally[1] > 5_000
    assert max(map(abs, z.values())) < 4, z


WRONG_LEAPS = {
    "no Jacobian": ("gap += goal - after - math.log(before) + before", "gap += before - after"),
    "no prior": ("gap += goal - after - math.log(before) + before",
                 "gap += goal - math.log(before)"),
    "no way back": ("ratio + _log_proposal(peaks, count, math.log(before))", "ratio"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mistake", WRONG_LEAPS)
def test_wrong_leaps_are_noticed(mistake):
    made = rewritten(leap_bandwidth, *WRONG_LEAPS[mistake])
    z, _ = _compare(150_000, recompiled(record, leap_bandwidth=made))
    assert max(map(abs, z.values())) > 6


FROM, TO = 0.4, 2.5  # bandwidths of the first feature
MORE_WALKS = {"_WALKS": 0.4}


@functools.cache
def _laws():
    """Return sets, bandwidths of the second feature and the log laws at both ends of the way."""
    features, response = _data()
    points, masses = bandwidth_grid(60)
    logs, sets = np.empty((2, len(subsets(N, LARGEST)), len(points))), subsets(N, LARGEST)
    odds = np.log(SHARE / (1.0 - SHARE))
    for end, bandwidth in enumerate((FROM, TO)):
        kernels = feature_kernel(features, np.column_stack([np.full(60, bandwidth), points]))
        for place, rows in enumerate(sets):
            evidence = _evidence(response, kernels[:, :, rows])
            logs[end, place] = evidence + np.log(masses) + len(rows) * odds
    return sets, points, logs


@njit
def lead_all(
    rng, basis, factor, twin, other, sums, other_sums, log_weights, sizes, sets, eta, ends
):
    """Lead every start to the other law; return the means of the log ratios on the ways."""
    work, unused, log_step = np.empty(len(sizes)), np.ones((1, 1)), np.full(2, math.log(0.8))
    for t in range(len(sizes)):
        basis.bandwidths[0], other.bandwidths[0] = FROM, TO
        basis.bandwidths[1] = other.bandwidths[1] = eta[t]
        for each in (factor, twin):
            each.n_active[0] = sizes[t]
            each.rows[: sets.shape[1]] = sets[t]
        gap = rebuild_features(other, twin, other_sums) - rebuild_features(basis, factor, sums)
        work[t] = _lead(
            rng, factor, twin, basis, other, 0, unused, gap, log_weights, np.arange(N), STEPS,
            log_step, sums, other_sums,
        )  # fmt: skip
        ends[t, 0], ends[t, 1] = factor.n_active[0], factor.rows[: factor.n_active[0]].sum()
        ends[t, 2] = basis.bandwidths[1]
    return work


def _lead_scores(count, lead_all=lead_all):
    r"""Return z scores of :math:`E e^W h(a_L)=\frac{Z'}Z E'h(a)`, starts drawn by the first law."""
    sets, points, logs = _laws()
    first = np.exp(logs[0] - logs[0].max())
    rng = np.random.default_rng(8)
    drawn = rng.choice(first.size, count, p=first.ravel() / first.sum())
    place, point = np.unravel_index(drawn, first.shape)
    sizes = np.array([len(rows) for rows in sets])
    padded = np.array([rows + [0] * (LARGEST - len(rows)) for rows in sets])
    features, response = _data()
    basis, factor, spare, sums, other_sums = bare(
        features, MODEL | {"kind": "rbf"}, [0, 1], [FROM, 0.5], [], response, NU,
        noise_prior=NOISE, largest=LARGEST,
    )  # fmt: skip
    twin = open_leaps(spare, True).twin
    other, ends = basis._replace(bandwidths=basis.bandwidths.copy()), np.empty((count, 3))
    work = lead_all(
        rng, basis, factor, twin, other, sums, other_sums, independent_log_weights(LARGEST, SHARE),
        sizes[place], padded[place], points[point], ends,
    )  # fmt: skip
    weights = np.exp(work)
    size, total, eta = ends.T
    found = {"1": weights, "k": weights * size, "rows": weights * total}
    found |= {"rho": weights * np.exp(-eta), "small": weights * np.exp(-8.0 * eta)}
    second = np.exp(logs[1] - logs[0].max()) / first.sum()
    sums_of = np.array([sum(rows) for rows in sets])
    expected = {"1": second.sum(), "k": (sizes @ second).sum(), "rows": (sums_of @ second).sum()}
    expected |= {"rho": (second @ np.exp(-points)).sum()}
    expected |= {"small": (second @ np.exp(-8.0 * points)).sum()}
    z = {
        name: (found[name].mean() - value) / (found[name].std() / count**0.5)
        for name, value in expected.items()
    }
    print(z, f"log ratio {np.log(expected['1']):.2f}, spread of the work {work.std():.2f}")
    return z


def test_ways_weighed_by_their_work_reach_the_other_law():
    """Jarzynski's equality: of every function of the end, whatever the number of steps."""
    z = _lead_scores(60_000)
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
def test_ways_weighed_by_their_work_reach_the_other_law_long():
    lead = recompiled(leap._lead, **MORE_WALKS)
    z = _lead_scores(1_500_000, recompiled(lead_all, _lead=lead))
    assert max(map(abs, z.values())) < 4, z


WRONG_WAYS = {
    "vectors by the first law": (
        "_change_vectors", "(1.0 - share) * first + share * second", "first"
    ),
    "odds of the vectors": ("_change_vectors", "< odds +", "<"),
    "walks by the first law": (
        "_walk_another", "(1.0 - share) * first + share * second", "first"
    ),
    "walks without their prior": ("_walk_another", "ratio = move - after + before +", "ratio ="),
    "a step that does not count": ("_lead", "total += gap", "total += gap if step > 1 else 0.0"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mistake", WRONG_WAYS)
def test_wrong_ways_are_noticed(mistake):
    name, old, new = WRONG_WAYS[mistake]
    if name == "_lead":
        lead = rewritten(leap._lead, old, new, **MORE_WALKS)
    else:
        wrong = rewritten(getattr(leap, name), old, new)
        lead = recompiled(leap._lead, **{name: wrong}, **MORE_WALKS)
    z = _lead_scores(100_000, recompiled(lead_all, _lead=lead))
    assert max(map(abs, z.values())) > 6


@pytest.mark.parametrize(("taken", "every"), [(0, QUIET), (3, QUIET), (4, LIVELY), (90, LIVELY)])
def test_how_often_leaps_are_made_is_fixed_when_tuning_ends(taken, every):
    features, response = _data()
    sampler = make_sampler(Gaussian(), features, response, MODEL | {"kind": "rbf"})
    plan, rngs = Plan(2, 40, 1), generators(1)
    state, kept = sampler.start(rngs[0], 0), sampler.allocate(plan)
    state.sweep[0] = 2  # the next sweep is the first that counts
    state.tallies[LEAP] = 100, taken
    sampler.advance(rngs, state, sampler.open(state), kept, 42, plan, True)
    assert state.leap_every[0] == every
    assert state.tallies[LEAP, 0] <= 40 // every + 1


def test_the_oracle_is_that_of_the_others():
    """Evidence as in the quadrature above, written another way."""
    features, response = _data()
    kernel = np.exp(-(((features[:, None] - features[None]) ** 2) @ np.array([0.4, 0.9])))
    values = []
    for rows in ([0, 3], [1, 2, 5]):
        q = covariance(kernel, rows, NU, MODEL["v0"])
        mine = _evidence(response, kernel[None][:, :, rows])[0]
        values.append(mine - log_evidence(response, q, NOISE))
    assert abs(values[0] - values[1]) < 1e-10
