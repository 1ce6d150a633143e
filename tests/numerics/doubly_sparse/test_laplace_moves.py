"""Moves under Laplace's evidence, against enumeration and quadrature of one made in NumPy.

The mode and the evidence first; then each move alone, which must keep the law that is proportional
to Laplace's evidence times the prior. The same comparisons must fail, clearly, for moves with a
piece left out.
"""

import numpy as np
import pytest
from chain_setup import recompiled
from doubly_sparse_dense import (
    bandwidth_grid,
    feature_kernel,
    precision_grid,
    scores,
    subsets,
    truncated_bernoulli,
    worst,
)
from doubly_sparse_setup import MODEL, rewritten
from laplace_dense import LAWS, laplace_evidence, smooth_terms
from laplace_setup import MOVES, bare, record_moves, terms
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from sparsekern.bases import laplace_columns
from sparsekern.bases._compiled import judge_proposal
from sparsekern.bases.feature_columns import rebuild_features
from sparsekern.inference.feature_search.graph import FeatureGraph
from sparsekern.inference.moves.features import toggle_features
from sparsekern.inference.moves.laplace_blocks import move_vector_blocks
from sparsekern.inference.moves.laplace_slab import walk_slab
from sparsekern.inference.moves.laplace_vectors import move_vectors
from sparsekern.priors import independent_log_weights
from sparsekern.priors.scales import ScalePriors

N, P, ROWS, LARGEST = 6, 3, [0, 2, 3], 3
PROBABILITY, V0, NU = 0.3, 2.0, 6.0
SLAB = (3.0, 4.0)
_KNOWN = {}


def _data(law, n=N):
    """Return features, response, offset and weights."""
    rng = np.random.default_rng(21)
    features = rng.standard_normal((n, P))
    signal = 1.5 * np.sin(2.0 * features[:, 0])
    offset, weights = np.zeros(n), np.exp(0.4 * rng.standard_normal(n))
    if law == "poisson":
        offset = np.log(rng.uniform(0.5, 2.0, n))
        return features, rng.poisson(np.exp(signal + offset)) * 1.0, offset, weights
    return features, np.where(signal > 0.3, 1.0, -1.0), offset, weights


def _design(kernels, rows, nu, v0=V0):
    """Return the columns of intercept and active rows times their deviations, last axes (n, k)."""
    columns = kernels[..., np.asarray(rows, dtype=int)] * np.sqrt(nu)
    ones = np.full((*columns.shape[:-1], 1), np.sqrt(v0))
    return np.concatenate([ones, columns], -1)


def _random_case(rng, law, n):
    features = 1.3 * rng.standard_normal((n, P))
    included = rng.permutation(P)[: rng.integers(0, P + 1)]
    bandwidths = rng.standard_exponential(len(included))
    rows = rng.permutation(n)[: rng.integers(0, 5)]
    nu = np.exp(2.0 * rng.standard_normal() + 1.0)
    eta = np.zeros(P)
    eta[included] = bandwidths
    return (
        features,
        included,
        bandwidths,
        rows,
        nu,
        _design(feature_kernel(features, eta), rows, nu),
    )


RESPONSES = {
    "mixed": lambda rng, n: np.where(rng.random(n) < 0.5, 1.0, -1.0),
    "separable": lambda rng, n: np.ones(n),
    "counts": lambda rng, n: rng.poisson(3.0, n) * 1.0,
    "no counts": lambda rng, n: np.zeros(n),
    "high counts": lambda rng, n: rng.choice([0.0, 1.0, 1e4], n),
}
STARTS = {
    "zero": lambda rng, n: (np.zeros(n), np.ones(n)),
    "no precision": lambda rng, n: (np.zeros(n), np.full(n, 1e-9)),
    "huge": lambda rng, n: (1e3 * rng.standard_normal(n), np.exp(3.0 * rng.standard_normal(n))),
    "steep": lambda rng, n: (30.0 * rng.standard_normal(n), np.full(n, 1e6)),
}


def _responses(law):
    return ["counts", "no counts", "high counts"] if law == "poisson" else ["mixed", "separable"]


@pytest.mark.parametrize(
    ("law", "kind"), [(law, kind) for law in LAWS for kind in _responses(law)], ids=str
)
def test_mode_and_evidence_from_any_start(law, kind):
    """Newton's method arrives from wherever it starts, and Laplace's evidence is that of NumPy."""
    rng = np.random.default_rng(5)
    for case in range(12):
        n = 30 if case % 2 else 8
        features, included, bandwidths, rows, nu, design = _random_case(rng, law, n)
        response, weights = RESPONSES[kind](rng, n), np.exp(0.5 * rng.standard_normal(n))
        offset = 0.5 * rng.standard_normal(n) if law == "poisson" else np.zeros(n)
        exact, mode = laplace_evidence(law, response, design, offset, weights)
        data = terms(law, response, offset, weights)
        for start, sites in STARTS.items():
            basis, factor, _, sums, _ = bare(
                features, included, bandwidths, rows, data, nu, largest=6, sites=sites(rng, n)
            )
            value = rebuild_features(basis, factor, sums)  # once more, from where it came
            assert_allclose(value, exact, rtol=1e-9, atol=1e-6, err_msg=start)
            size = len(rows) + 1
            alpha = np.linalg.solve(
                np.tril(factor.root[:size, :size]).T, factor.projected[0, :size]
            )
            assert_allclose(design @ alpha, design @ mode, atol=1e-5, rtol=1e-6, err_msg=start)


def test_mode_is_that_of_a_general_optimizer():
    rng = np.random.default_rng(6)
    for law in LAWS:
        *_, design = _random_case(rng, law, 12)
        response = RESPONSES["counts" if law == "poisson" else "mixed"](rng, 12)
        found = minimize(
            lambda a: 0.5 * a @ a - smooth_terms(law, response, design @ a)[0].sum(),  # noqa: B023
            np.zeros(design.shape[1]), method="BFGS", options={"gtol": 1e-9},
        )  # fmt: skip
        _, mode = laplace_evidence(law, response, design)
        assert_allclose(mode, found.x, atol=1e-6)


def _path():
    return FeatureGraph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]))


PAIRS = np.array([[0, 1], [1, 2]])


def _evidence_of(law, kernels, rows, nu):
    _, response, offset, weights = _data(law)
    return laplace_evidence(law, response, _design(kernels, rows, nu), offset, weights)[0]


FEATURE_SETS = {  # that a move alone goes through; features and bandwidth to start with
    "toggles": (subsets(P, 2), [0]),
    "pairs": ([[], [0, 1], [1, 2]], [0, 1]),
    "swaps": ([[0], [1], [2]], [0]),
    "walks": ([[0, 1]], [0, 1]),
}


def _sets(move, count):
    """Feature sets, bandwidths on a grid (exchanges hold theirs): eta and log weights."""
    points, mass = (np.array([0.8]), np.ones(1)) if move == "swaps" else bandwidth_grid(count)
    eta, logs = [], []
    for chosen in FEATURE_SETS[move][0]:
        block = np.zeros((len(points) ** len(chosen), P))
        weight = np.ones(len(block))
        grids = np.meshgrid(*[np.arange(len(points))] * len(chosen), indexing="ij")
        for place, feature in enumerate(chosen):
            block[:, feature] = points[grids[place].ravel()]
            weight *= mass[grids[place].ravel()]
        with np.errstate(divide="ignore"):
            eta.append(block)
            logs.append(np.log(weight) + truncated_bernoulli(len(chosen), PROBABILITY))
    eta, logs = np.concatenate(eta), np.concatenate(logs)
    keep = logs > logs.max() - 40.0
    return eta[keep], logs[keep]


def _of_features(eta):
    included = eta > 0
    size = included.sum(1)
    found = {f"in {j}": included[:, j] for j in range(P)}
    found |= {f"eta {j}": np.arctan(eta[:, j]) for j in range(P)}
    found |= {f"rho {j}": included[:, j] * np.exp(-eta[:, j]) for j in range(P)}
    found |= {"empty": size == 0, "two": size == 2, "0 and 1": included[:, 0] & included[:, 1]}
    return {name: np.asarray(values, dtype=float) for name, values in found.items()}


def _exact_features(law, move, count):
    features = _data(law)[0]
    eta, logs = _sets(move, count)
    logs = logs + _evidence_of(law, feature_kernel(features, eta), ROWS, NU)
    weights = np.exp(logs - logs.max())
    return {k: float(weights @ v / weights.sum()) for k, v in _of_features(eta).items()}


SIZES = {"vectors": (0, 1, 2, 3), "blocks": (1, 3)}  # of active sets that a move alone goes through


def _exact_vectors(law, sizes):
    features = _data(law)[0]
    kernel = feature_kernel(features, [0.8, 0.0, 0.0])
    sets, logs = [rows for rows in subsets(N - 1, LARGEST) if len(rows) in sizes], []
    for rows in sets:
        value = float(_evidence_of(law, kernel, rows, NU))
        logs.append(value + truncated_bernoulli(len(rows), MODEL["vector_probability"]))
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    table = np.array([np.isin(np.arange(N), rows) for rows in sets], dtype=float)
    return {k: float(weights @ v) for k, v in _of_vectors(table).items()}


def _of_vectors(active):
    found = {f"a{i}": active[:, i] for i in range(N)}
    found |= {f"a{i} a{j}": active[:, i] * active[:, j] for i in range(N - 1) for j in range(i)}
    size = active.sum(1)
    return found | {f"k={k}": (size == k) * 1.0 for k in range(LARGEST + 1)}


def _of_scales(eta, nu):
    log_nu = np.log(nu)
    return {
        "log nu": log_nu, "log^2 nu": log_nu**2, "eta": np.arctan(eta),
        "rho": np.exp(-eta), "rho log nu": np.exp(-eta) * log_nu,
    }  # fmt: skip


def _exact_scales(law, walking, counts=(60, 40)):
    """Feature 0 alone: its bandwidth, if it is ``walking``, and the slab on a grid."""
    features = _data(law)[0]
    points, mass = bandwidth_grid(counts[0]) if walking else (np.array([0.8]), np.ones(1))
    eta = np.zeros((len(points), P))
    eta[:, 0] = points
    nodes, weights = precision_grid(*SLAB, counts[1])
    kernels = feature_kernel(features, eta)
    with np.errstate(divide="ignore"):
        logs = np.array([_evidence_of(law, kernels, ROWS, 1 / g) for g in nodes])
        logs = logs + np.log(weights)[:, None] + np.log(mass)
    found = np.exp(logs - logs.max())
    values = _of_scales(points[None, :] + 0 * logs, 1 / nodes[:, None] + 0 * logs)
    return {k: float((found * v).sum() / found.sum()) for k, v in values.items()}


def exact_means(law, move):
    """Return what the oracle says of a move alone, and how far coarser grids are from it."""
    if (law, move) not in _KNOWN:
        if move in SIZES:
            fine = rough = _exact_vectors(law, SIZES[move])
        elif move in ("ridge", "slab"):
            fine = _exact_scales(law, move == "ridge")
            rough = _exact_scales(law, move == "ridge", (44, 30))
        else:
            fine, rough = (_exact_features(law, move, count) for count in (48, 36))
        error = {name: abs(fine[name] - rough[name]) for name in fine}
        assert max(error.values()) < 3e-3, error
        _KNOWN[law, move] = fine, error
    return _KNOWN[law, move]


def compare(law, move, sweeps, record=record_moves, seed=3):
    """Return z by name: the move alone against the oracle."""
    exact, error = exact_means(law, move)
    features, response, offset, weights = _data(law)
    started = FEATURE_SETS[move][1] if move in FEATURE_SETS else [0]
    rows = [1] if move in SIZES else ROWS
    pieces = bare(
        features, started, [0.8] * len(started), rows, terms(law, response, offset, weights), NU,
        largest=LARGEST, room=2, v0=V0,
    )  # fmt: skip
    eta, active, nu = np.zeros((sweeps, P)), np.zeros((sweeps, N)), np.zeros(sweeps)
    tallies = np.zeros((12, 2), np.int64)
    drift = record(
        np.random.default_rng(seed), *pieces, np.array([kind == move for kind in MOVES], np.int64),
        np.log(PROBABILITY / (1 - PROBABILITY)),
        independent_log_weights(LARGEST, MODEL["vector_probability"]), np.arange(N - 1), _path(),
        PAIRS, ScalePriors(*SLAB, 0.0, 0.0), eta, active, nu, tallies,
    )  # fmt: skip
    assert drift < 1e-3
    if move in SIZES:
        found = _of_vectors(active)
    elif move in ("ridge", "slab"):
        found = _of_scales(eta[:, 0], nu)
    else:
        found = _of_features(eta)
    vary = [name for name in exact if np.ptp(found[name]) > 1e-12]
    assert len(vary) >= 2
    z = scores(found, {k: exact[k] for k in vary}, {k: error[k] for k in vary})
    print(law, move, worst(z), tallies[tallies[:, 0] > 0].ravel())
    return z


QUICK = [
    ("hinge", "toggles"), ("poisson", "pairs"), ("poisson", "swaps"), ("logit", "walks"),
    ("probit", "ridge"), ("poisson", "vectors"), ("hinge", "blocks"), ("hinge", "slab"),
    ("hinge", "vectors"),  # where the two judgements of a move differ most
]  # fmt: skip


@pytest.mark.parametrize(
    ("law", "move"),
    [case if case in QUICK else pytest.param(*case, marks=pytest.mark.slow)
     for case in ((law, move) for law in LAWS for move in MOVES)],
)  # fmt: skip
def test_move_keeps_its_law(law, move):
    z = compare(law, move, 60_000)
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("move", MOVES)
def test_move_keeps_its_law_long(law, move):
    z = compare(law, move, 600_000, seed=4)
    assert max(map(abs, z.values())) < 4, z


def _judged(judge, law, one, other, ratio):
    """Return the log of the second probability for the way from one state to another."""
    features, response, offset, weights = _data(law)
    data, rng = terms(law, response, offset, weights), np.random.default_rng(8)
    states = []
    for included, bandwidths in (one, other):
        states.append(bare(features, included, bandwidths, ROWS, data, NU, v0=V0))
    basis, factor, spare, sums, _ = states[0]
    evidence = rebuild_features(basis, factor, sums)
    for _ in range(100_000):
        value, found = judge(basis, rng, factor, spare, states[1][3], evidence, ratio)
        if value > -np.inf:
            expected = _evidence_of(law, feature_kernel(features, _vector(*other)), ROWS, NU)
            assert_allclose(value, expected, atol=1e-4)
            assert_allclose(rebuild_features(basis, factor, sums), evidence, atol=1e-4)
            return found
    raise AssertionError("never worth the search")


def _vector(included, bandwidths):
    eta = np.zeros(P)
    eta[included] = bandwidths
    return eta


BALANCED = [
    (([0], [0.8]), ([0, 1], [0.8, 0.6]), 0.4), (([0], [0.8]), ([0], [1.9]), -0.3),
    (([], []), ([2], [0.3]), -1.0), (([1], [2.0]), ([0], [2.0]), 0.0),
]  # fmt: skip


def _imbalance(judge):
    return max(
        abs(_judged(judge, law, x, y, r) + _judged(judge, law, y, x, -r))
        for law in LAWS
        for x, y, r in BALANCED
    )


def test_ways_there_and_back_balance():
    """What is judged twice is reversible: the second ratio of the way back is the inverse."""
    assert _imbalance(judge_proposal) < 1e-3


def test_a_way_back_left_out_upsets_the_balance():
    wrong = rewritten(laplace_columns._judge_proposal, *WRONG_JUDGES["no way back"])
    assert _imbalance(wrong) > 0.1


def _judging(old, new):
    """Return the record with toggles, exchanges and walks that judge by a changed rule."""
    judge = rewritten(laplace_columns._judge_proposal, old, new)
    toggle = recompiled(toggle_features, judge_proposal=judge)
    return recompiled(record_moves, toggle_features=toggle)


WRONG_JUDGES = {
    "no way back": ("+ min(0.0, back) - min(0.0, there)", "- min(0.0, there)"),
    "worth forgotten": ("+ min(0.0, back) - min(0.0, there)", ""),
    "way back by the sites of x": ("_evidence_by_sites(factor, spare)", "log_evidence(factor)"),
    "no prior in the way back": ("- log_evidence(spare) - ratio", "- log_evidence(spare)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", WRONG_JUDGES)
def test_a_wrong_judgement_of_features_is_noticed(mistake):
    sweeps = 60_000 if mistake == "worth forgotten" else 400_000
    z = compare("poisson", "toggles", sweeps, record=_judging(*WRONG_JUDGES[mistake]))
    assert max(map(abs, z.values())) > 6


WRONG_VECTORS = {
    "no way back": ("+ min(0.0, back) - min(0.0, there)", "- min(0.0, there)"),
    "worth forgotten": ("+ min(0.0, back) - min(0.0, there)", ""),
    "birth odds": ("reverse * (n - k) / (birth * (k + 1))", "(n - k) / (k + 1)"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "mistake", "sweeps"),
    [
        ("poisson", "no way back", 400_000),
        ("hinge", "no way back", 60_000),
        ("poisson", "worth forgotten", 60_000),
        ("poisson", "birth odds", 400_000),
    ],
)
def test_a_wrong_move_of_vectors_is_noticed(law, mistake, sweeps):
    wrong = rewritten(move_vectors, *WRONG_VECTORS[mistake])
    z = compare(law, "vectors", sweeps, record=recompiled(record_moves, move_vectors=wrong))
    assert max(map(abs, z.values())) > 6


@pytest.mark.slow
def test_blocks_with_the_odds_of_single_vectors_are_noticed():
    wrong = rewritten(
        move_vector_blocks, "log_odds_of_block(n, k, count, log_weights)",
        "log_odds_of_block(n, k, 1, log_weights)",
    )  # fmt: skip
    z = compare("logit", "blocks", 60_000, recompiled(record_moves, move_vector_blocks=wrong))
    assert max(map(abs, z.values())) > 6


@pytest.mark.slow
def test_a_slab_without_its_prior_is_noticed():
    wrong = rewritten(walk_slab, "ratio += value - evidence", "ratio = value - evidence")
    z = compare("hinge", "slab", 60_000, record=recompiled(record_moves, walk_slab=wrong))
    assert max(map(abs, z.values())) > 6
