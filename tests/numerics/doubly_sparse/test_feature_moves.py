"""Moves of the features alone against quadrature over all feature sets and bandwidths.

Active vectors and slab are held; two or three features, every set, bandwidths on a grid. The same
comparison must fail, clearly, for moves with a piece left out.
"""

import numpy as np
import pytest
from chain_setup import recompiled
from doubly_sparse_dense import (
    KERNELS,
    covariance,
    feature_terms,
    log_evidence,
    scores,
    worst,
)
from doubly_sparse_setup import MODEL, bare, record_features, rewritten
from numba import njit
from speed import slow_except, slow_rows_except

from sparsekern.bases._compiled import load_from_sums
from sparsekern.inference.feature_search.graph import FeatureGraph
from sparsekern.inference.moves.features import (
    _walk_one,
    swap_features,
    toggle_features,
    toggle_pairs,
    walk_bandwidths,
)

N, NU, ROWS = 6, 2.5, [0, 2, 3]
COUNTS = np.array([1, 1, 1, 1])
PROBABILITY = 0.25


def _data(p, latents=1):
    rng = np.random.default_rng(11)
    features = rng.standard_normal((N, p))
    response = 1.2 * np.sin(2 * features[:, 0]) + 0.4 * rng.standard_normal((latents, N))
    return features, response, np.exp(0.5 * rng.standard_normal(N))


def _path(p):
    """Features in a row: the ends have one neighbour, those between two."""
    starts = np.array([0, *(np.arange(1, p) * 2 - 1), 2 * p - 2])
    neighbors = [b for a in range(p) for b in (a - 1, a + 1) if 0 <= b < p]
    return FeatureGraph(starts, np.array(neighbors))


def _pairs(p):
    """Each feature and the next."""
    return np.array([(a, a + 1) for a in range(p - 1)])


def _functionals(eta):
    """Bounded or light-tailed functions of the bandwidths (zero: not included)."""
    included = eta > 0
    size = included.sum(1)
    found = {f"in {j}": included[:, j] for j in range(eta.shape[1])}
    found |= {f"eta {j}": eta[:, j] for j in range(eta.shape[1])}
    found |= {f"rho {j}": included[:, j] * np.exp(-eta[:, j]) for j in range(eta.shape[1])}
    found |= {"empty": size == 0, "two": size == 2, "both": included[:, 0] & included[:, 1]}
    found |= {"eta^2": (eta**2).sum(1), "product": eta[:, 0] * eta[:, 1]}
    found["small"] = (np.where(included, eta, 9.0) < 0.1).sum(1)
    return {name: values.astype(float) for name, values in found.items()}


def _exact(p, kind, noise_prior, latents, room, count):
    features, response, precision = _data(p, latents)
    eta, logs, kernels = feature_terms(features, PROBABILITY, room, kind, count)
    logs = logs + np.array(
        [
            log_evidence(response, covariance(k, ROWS, NU, MODEL["v0"], precision), noise_prior)
            for k in kernels
        ]
    )
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    return {
        name: float(weights @ values)
        for name, values in _functionals(eta).items()
        if name != "small"  # not smooth: quadrature is for the others
    }


def _chain(record, p, kind, noise_prior, latents, room, sweeps, counts=COUNTS, log_odds=None):
    features, response, precision = _data(p, latents)
    pieces = bare(
        features, MODEL | {"kind": kind}, [0], [0.5], ROWS, response, NU, precision,
        noise_prior=noise_prior, room=room,
    )  # fmt: skip
    eta = np.zeros((sweeps, p))
    odds = np.log(PROBABILITY / (1 - PROBABILITY)) if log_odds is None else log_odds
    step = np.full(p, np.log(1.0)) + 0.3 * np.arange(p)
    rng = np.random.default_rng(12)
    drift, tallies = record(rng, *pieces, odds, counts, _path(p), _pairs(p), step, eta)
    assert drift < 1e-9
    return _functionals(eta), tallies


def _compare(record, p=2, kind="rbf", noise_prior=(2.0, 1.0), latents=1, room=None, **options):
    room = p if room is None else room
    exact = _exact(p, kind, noise_prior, latents, room, 48 if p == 2 else 33)
    rough = _exact(p, kind, noise_prior, latents, room, 36 if p == 2 else 25)
    draws, tallies = _chain(record, p, kind, noise_prior, latents, room, **options)
    error = {name: abs(exact[name] - rough[name]) for name in exact}
    assert max(error.values()) < 2e-3, error
    z = scores(draws, exact, error)
    print(worst(z), tallies.ravel())
    return z, tallies


QUICK = ("rbf", (2.0, 1.0), 1, 250_000)
CASES = [
    QUICK, ("rbf", (2.0, 1.0), 1, 500_000), ("rbf", None, 1, 500_000),
    ("laplacian", (2.0, 1.0), 1, 500_000), ("matern32", None, 2, 500_000),
    ("matern52", (2.0, 1.0), 2, 500_000),
]  # fmt: skip


# of other kernels, of known noise and of two functions nothing but the evidence is different, which
# test_identities.py holds against dense algebra
@pytest.mark.parametrize(
    ("kind", "noise_prior", "latents", "sweeps"), slow_rows_except(CASES, [QUICK])
)
def test_features_and_bandwidths(kind, noise_prior, latents, sweeps):
    z, tallies = _compare(
        record_features, kind=kind, noise_prior=noise_prior, latents=latents, sweeps=sweeps
    )
    assert kind in KERNELS
    assert (tallies[:, 1] > 1000).all()
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.parametrize("room", slow_except([1, 2, 3], [2]))
def test_prior_that_ends(room):
    """Room for one, two or all of three features; exchanges are the only way between full sets."""
    z, _ = _compare(record_features, p=3, room=room, sweeps=250_000)
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.parametrize(
    "counts",
    slow_except([(1, 0, 0, 0), (3, 2, 0, 0), (1, 0, 3, 0), (1, 0, 0, 3)], [(1, 0, 0, 0)]),
    ids=str,
)
def test_moves_in_other_numbers(counts):
    """Every move keeps the law whatever the others do; toggles alone must already reach it."""
    z, _ = _compare(record_features, counts=np.array(counts), sweeps=250_000)
    assert max(map(abs, z.values())) < 4, z


def test_forgotten_prior_odds_are_noticed():
    z, _ = _compare(record_features, sweeps=30_000, log_odds=0.0)
    assert max(map(abs, z.values())) > 6


WRONG_TOGGLES = {
    "those outside and inside": ("ratio = log_odds + math.log(back * (p - size) / entry)",
                                 "ratio = log_odds + math.log(back * (size + 1) / entry)"),
    "ends of the prior": ("math.log(back * size / (1.0 - entry))",
                          "math.log(size / (p - size + 1))"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mistake", WRONG_TOGGLES)
def test_toggles_with_other_odds_are_noticed(mistake):
    toggle = rewritten(toggle_features, *WRONG_TOGGLES[mistake])
    record = recompiled(record_features, toggle_features=toggle)
    z, _ = _compare(record, p=3, room=2, sweeps=60_000)
    assert max(map(abs, z.values())) > 6


@pytest.mark.slow
def test_forgotten_degrees_of_the_neighbours_are_noticed():
    """An end of the path is proposed half as often as it proposes."""
    swap = rewritten(swap_features, "other_sums, evidence, ratio)", "other_sums, evidence, 0.0)")
    record = recompiled(record_features, swap_features=swap)
    z, _ = _compare(record, p=3, sweeps=120_000, counts=np.array([1, 6, 1, 0]))
    assert max(map(abs, z.values())) > 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "2.0 * log_odds if entering else -2.0 * log_odds",
            "log_odds if entering else -log_odds",
        ),
        ("if entering != (second < 0) or", "if"),
        ("_include(basis, pair[1], two)", "_include(basis, pair[1], one)"),
    ],
    ids=["odds", "one of two", "bandwidth"],
)
def test_wrong_pairs_are_noticed(old, new):
    toggle = rewritten(toggle_pairs, old, new)
    record = recompiled(record_features, toggle_pairs=toggle)
    features, response, precision = _data(2)
    pieces = bare(
        features, MODEL, [0], [0.5], ROWS, response, NU, precision, noise_prior=(2.0, 1.0), room=4
    )
    exact = _exact(2, "rbf", (2.0, 1.0), 1, 2, 48)
    eta = np.zeros((60_000, 2))
    odds = np.log(PROBABILITY / (1 - PROBABILITY))
    counts = np.array([1, 0, 1, 3])
    record(np.random.default_rng(3), *pieces, odds, counts, _path(2), _pairs(2), np.zeros(2), eta)
    z = scores(_functionals(eta), exact)
    print(worst(z))
    assert max(map(abs, z.values())) > 6


@pytest.mark.slow
def test_forgotten_jacobian_of_the_walk_is_noticed():
    one = rewritten(_walk_one, "ratio = move - (proposal", "ratio = -(proposal")
    walk = recompiled(walk_bandwidths, _walk_one=one)
    z, _ = _compare(recompiled(record_features, walk_bandwidths=walk), sweeps=60_000)
    assert max(map(abs, z.values())) > 6


@pytest.mark.slow
def test_forgotten_prior_of_the_walk_is_noticed():
    one = rewritten(_walk_one, "ratio = move - (proposal - bandwidth)", "ratio = move")
    walk = recompiled(walk_bandwidths, _walk_one=one)
    z, _ = _compare(recompiled(record_features, walk_bandwidths=walk), sweeps=60_000)
    assert max(map(abs, z.values())) > 6


@pytest.mark.slow
def test_stale_evidence_is_noticed():
    """Toggles that go on comparing with the evidence they began with."""
    toggle = rewritten(
        toggle_features, "tallies[kind, 1] += 1\n        evidence = value", "tallies[kind, 1] += 1"
    )
    features, response, precision = _data(2)
    exact = _exact(2, "rbf", (2.0, 1.0), 1, 2, 48)
    pieces = bare(
        features, MODEL, [0], [0.5], ROWS, response, NU, precision, noise_prior=(2.0, 1.0)
    )
    eta = np.zeros((60_000, 2))
    odds = np.log(PROBABILITY / (1 - PROBABILITY))
    record = recompiled(record_features, toggle_features=toggle)
    counts = np.array([3, 0, 0, 0])
    record(np.random.default_rng(3), *pieces, odds, counts, _path(2), _pairs(2), np.zeros(2), eta)
    z = scores(_functionals(eta), exact)
    print(worst(z))
    assert max(map(abs, z.values())) > 6


@pytest.mark.slow
def test_exchange_at_another_bandwidth_is_noticed():
    """Taking over the evidence of another bandwidth than the one written down."""

    @njit
    def other(basis, rng, factor, spare, sums, evidence, ratio):
        value = load_from_sums(basis, spare, 0.5 * sums)
        return value, value - evidence + ratio

    swap = recompiled(swap_features, judge_proposal=other)
    features, response, precision = _data(2)
    pieces = bare(
        features, MODEL, [0], [0.5], ROWS, response, NU, precision, noise_prior=(2.0, 1.0)
    )
    exact = _exact(2, "rbf", (2.0, 1.0), 1, 2, 48)
    eta = np.zeros((200_000, 2))
    odds = np.log(PROBABILITY / (1 - PROBABILITY))
    record = recompiled(record_features, swap_features=swap)
    counts = np.array([1, 3, 1, 0])
    record(np.random.default_rng(3), *pieces, odds, counts, _path(2), _pairs(2), np.zeros(2), eta)
    z = scores(_functionals(eta), exact)
    print(worst(z))
    assert max(map(abs, z.values())) > 6
