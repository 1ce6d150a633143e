"""Bare pieces of the moves under Laplace's evidence, and a record of them on small data."""

import numpy as np
from doubly_sparse_setup import MODEL

from sparsekern._jit import jit
from sparsekern.bases.feature_columns import rebuild_features
from sparsekern.bases.laplace_columns import LaplaceColumns
from sparsekern.inference.moves.features import (
    swap_features,
    toggle_features,
    toggle_pairs,
    walk_at_random,
)
from sparsekern.inference.moves.laplace_blocks import move_vector_blocks
from sparsekern.inference.moves.laplace_slab import walk_slab
from sparsekern.inference.moves.laplace_vectors import move_vectors
from sparsekern.inference.moves.ridge import walk_ridge
from sparsekern.kernels.feature_sums import FEATURE_KERNELS
from sparsekern.likelihoods._terms_data import TermsData
from sparsekern.likelihoods.terms import CODES
from sparsekern.linalg.whitened_factor import empty_factor

MOVES = ("toggles", "pairs", "swaps", "walks", "ridge", "vectors", "blocks", "slab")


def terms(law, response, offset=None, weights=None):
    """Return the responses of a law by their terms."""
    n = len(response)
    return TermsData(
        CODES[law], np.array(response, dtype=float),
        np.zeros(n) if offset is None else np.array(offset, dtype=float),
        np.ones(n) if weights is None else np.array(weights, dtype=float),
        np.zeros(0), np.zeros(2),
    )  # fmt: skip


def bare(features, included, bandwidths, rows, data, nu, **options):
    """Return (basis, factor, spare, sums, other), the factor at the mode of its state.

    ``options``: room for features, largest active set, kind, v0, sites to start from.
    """
    n, p = features.shape
    largest, room = options.get("largest", n), options.get("room", p)
    factor = empty_factor(n, largest)
    factor.response[0], factor.precision[:] = options.get("sites", (np.zeros(n), np.ones(n)))
    factor.variances[:] = options.get("v0", MODEL["v0"]), nu
    factor.n_active[0] = len(rows)
    factor.rows[: len(rows)] = rows
    basis = LaplaceColumns(
        np.ascontiguousarray(features.T), FEATURE_KERNELS[options.get("kind", "rbf")], np.zeros(0),
        np.array([len(included)]), np.zeros(room, np.int64), np.zeros(room), data,
        factor.response, factor.precision,
    )  # fmt: skip
    basis.features[: len(included)] = included
    basis.bandwidths[: len(included)] = bandwidths
    sums, other = np.empty((largest + 1, n)), np.empty((largest + 1, n))
    rebuild_features(basis, factor, sums)
    spare = empty_factor(n, largest)._replace(
        variances=factor.variances, prior_root=factor.prior_root, position=factor.position
    )
    spare.n_active[0] = len(rows)
    spare.rows[:] = factor.rows
    return basis, factor, spare, sums, other


@jit
def record_moves(
    rng, basis, factor, spare, sums, other, counts, log_odds, log_weights, candidates, graph, pairs,
    prior, eta, active, nu, tallies,
):  # fmt: skip
    """Make ``counts`` moves of each kind a sweep; write down the state after every sweep.

    Returns the largest difference between the evidence carried along and one made from scratch.
    """
    p = eta.shape[1]
    steps, log_step, drift = np.zeros(p, np.int64), np.zeros(p), 0.0
    log_ridge, width = np.zeros(3), np.zeros(5)
    evidence = rebuild_features(basis, factor, sums)
    for t in range(eta.shape[0]):
        evidence = toggle_features(
            rng, basis, factor, spare, sums, other, evidence, counts[0], log_odds, tallies[3:]
        )
        evidence = toggle_pairs(
            rng, basis, factor, spare, sums, other, evidence, counts[1], pairs, log_odds,
            tallies[3:],
        )  # fmt: skip
        evidence = swap_features(
            rng, basis, factor, spare, sums, other, evidence, counts[2], graph, tallies[3:]
        )
        evidence = walk_at_random(
            rng, basis, factor, spare, sums, other, evidence, counts[3], log_step, steps, False,
            tallies[3:],
        )  # fmt: skip
        evidence = walk_ridge(
            rng, basis, factor, spare, sums, other, evidence, prior, counts[4], 3, log_step,
            log_ridge, steps[:3], False, tallies[10],
        )  # fmt: skip
        evidence = move_vectors(
            rng, basis, factor, spare, sums, other, evidence, log_weights, candidates, counts[5],
            tallies,
        )  # fmt: skip
        evidence = move_vector_blocks(
            rng, basis, factor, spare, sums, other, evidence, log_weights, candidates, counts[6],
            tallies[11],
        )  # fmt: skip
        evidence = walk_slab(
            rng, basis, factor, spare, sums, other, evidence, prior, counts[7], width, t, False
        )
        for place in range(basis.n_features[0]):
            eta[t, basis.features[place]] = basis.bandwidths[place]
        for a in range(factor.n_active[0]):
            active[t, factor.rows[a]] = 1.0
        nu[t] = factor.variances[1]
        if t % 50 == 0:
            again = rebuild_features(basis, factor, sums)
            drift = max(drift, abs(evidence - again))
            evidence = again
    return drift
