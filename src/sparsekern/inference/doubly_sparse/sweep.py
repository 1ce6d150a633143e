r"""The sweep of the doubly-sparse kernel model, and its compiled loop.

:math:`f=\beta_0+\sum_{j\in a}k_{\gamma,\eta}(\cdot,x_j)\beta_j` with independent
:math:`\beta_j\sim N(0,\sigma^2\nu_1)`. State: features :math:`\gamma`, bandwidths
:math:`\eta`, active vectors a, slab :math:`\nu_1`, auxiliary variables. Coefficients and, where it
is learned, the variance of the noise are integrated out of every move; what was integrated out is
drawn anew, jointly, before anything conditions on it. The file knows no likelihood.

1. toggles, exchanges and walks of the features, now and then leaps, 2. active vectors, 3. the slab,
4. working response, 5. the size of the latent function, 6. on kept sweeps the coefficients.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._jit import jit, jit_inlined
from ...bases.feature_columns import FeatureColumns, rebuild_features
from ...bases.laplace_columns import LaplaceColumns
from ...likelihoods._augmented import WorkingMemory
from ...likelihoods._compiled import update_working
from ...linalg.whitened_factor import WhitenedFactor, empty_factor, refactor, response_energy
from ..feature_search.graph import FeatureGraph
from ..moves.active_set import move_active_set
from ..moves.blocks import move_blocks
from ..moves.features import swap_features, toggle_features, toggle_pairs, walk_bandwidths
from ..moves.function_scale import move_function_scale
from ..moves.kept_draw import store_function
from ..moves.leap import LeapMemory, leap_bandwidth, open_leaps
from ..moves.ridge import walk_ridge
from ..moves.scales import DIRECTIONS, adapt_width, slice_scales

MOVES = (
    "birth", "death", "swap", "feature_birth", "feature_death", "feature_swap", "length_scale",
    "feature_pair", "temperature_swap", "joint", "ridge", "block", "leap",
)  # fmt: skip
RIDGE, BLOCK, LEAP = 10, 11, 12  # rows of the tallies
TRIED, LIVELY, QUIET = 3, 2, 8  # one sweep in so many makes leaps: in tuning, and after it
_LIVELY = 4  # leaps taken in tuning; one or two may just have left a bad start


class DoublySparseState(NamedTuple):
    """All that a chain needs to go on; everything else is rebuilt from it at every sweep."""

    sweep: np.ndarray  # int64[1], sweeps done
    n_active: np.ndarray  # int64[1], active vectors
    rows: np.ndarray  # int64[m], which
    n_features: np.ndarray  # int64[1], included features
    features: np.ndarray  # int64[s], which
    bandwidths: np.ndarray  # float64[s], theirs
    response: np.ndarray  # float64[C, n], working response
    precision: np.ndarray  # float64[n], working precision
    noise: np.ndarray  # float64[5], see the whitened factor
    parameters: np.ndarray  # float64[r], the likelihood's own
    variances: np.ndarray  # float64[2], of intercept and slab
    slice_width: np.ndarray  # float64[5], by row of DIRECTIONS, the function last
    log_step: np.ndarray  # float64[p], walk on each bandwidth
    steps: np.ndarray  # int64[p], walks that shaped it
    log_ridge: np.ndarray  # float64[3], walk along the ridge, by slope
    ridge_steps: np.ndarray  # int64[3], walks that shaped it
    leap_every: np.ndarray  # int64[1], one sweep in so many makes leaps
    slab: np.ndarray  # int64[n], 1 in the slab, 0 in the spike (nothing without a continuous spike)
    tallies: np.ndarray  # int64[13, 2], attempts and acceptances after tuning
    function: np.ndarray  # float64[1 + m + n], see corrected moves (nothing where none is held)
    site_sums: np.ndarray  # float64[3, n], what the next sites are made of (nothing likewise)
    best: np.ndarray  # float64[1 + packed_size], best end of an annealing (nothing likewise)


class DoublySparseDraws(NamedTuple):
    """Kept draws of one chain, active vectors and features stored sparsely, and their numbers."""

    n_active: np.ndarray  # int32[T]
    rows: np.ndarray  # int32[T, m]
    n_features: np.ndarray  # int32[T]
    features: np.ndarray  # int32[T, s]
    bandwidths: np.ndarray  # float64[T, s]
    coefficients: np.ndarray  # float64[T, C, m]
    intercept: np.ndarray  # float64[T, C]
    variances: np.ndarray  # float64[T, 2]
    noise_variance: np.ndarray  # float64[T]
    parameters: np.ndarray  # float64[T, r]
    log_likelihood: np.ndarray  # float64[T]
    monitored: np.ndarray  # float64[T, q]
    slab: np.ndarray  # int8[T, m], membership (nothing without a continuous spike)
    size_trace: np.ndarray  # int32[sweeps], active vectors after every sweep
    features_trace: np.ndarray  # int32[sweeps], included features after every sweep


class DoublySparseWorkspace(NamedTuple):
    """Memory of one running chain that can be rebuilt from its state."""

    data: Any  # training responses as the likelihood's compiled functions want them
    basis: Any  # FeatureColumns or LaplaceColumns
    factor: WhitenedFactor
    spare: WhitenedFactor
    sums: np.ndarray  # float64[m, n], kernel sums of the active vectors
    other_sums: np.ndarray
    memory: WorkingMemory
    root: np.ndarray
    projected: np.ndarray
    functions: np.ndarray  # float64[C, n]
    unused: np.ndarray  # float64[1, 1], length scales that this basis does not have
    leaps: LeapMemory


class DoublySparseSettings(NamedTuple):
    """What stays the same over all chains of a fit."""

    log_weights: np.ndarray  # float64[max_active + 1], log prior weight of an active set, by size
    candidates: np.ndarray  # int64[c], rows that may become active
    monitored_rows: np.ndarray  # int64[q]
    diagonal: np.ndarray  # float64[1, n], bound on the prior variance of f over the slab's
    log_odds: float  # prior log odds that a feature is included
    graph: FeatureGraph  # features to exchange for each other
    pairs: np.ndarray  # int64[q, 2], features to toggle together
    toggles: int
    pair_toggles: int
    swaps: int
    walks: int
    moves: int
    blocks: int
    leaps: int  # in a sweep that makes them
    leap_steps: int  # of the way of each
    scans: int
    directions: np.ndarray  # int64[d], slices to make, by their row in DIRECTIONS
    function_moves: bool
    row_weights: np.ndarray  # float64[n]


def open_workspace(
    state: DoublySparseState,
    columns: np.ndarray,
    kind: int,
    data: Any,
    terms: Any = None,
    leaps: bool = False,
) -> DoublySparseWorkspace:
    """Allocate the memory of a running chain around its state (arrays are shared).

    ``terms`` are the responses by their terms, for a chain without auxiliary variables; ``leaps``
    says whether it makes leaps.
    """
    latents, n = state.response.shape
    largest = len(state.rows) - 1
    shared = {
        "n_active": state.n_active,
        "rows": state.rows,
        "response": state.response,
        "precision": state.precision,
        "variances": state.variances,
    }
    factor = empty_factor(n, largest, latents)._replace(**shared, noise=state.noise)
    if terms is not None:  # proposals have sites and active sets of their own
        shared = {"variances": state.variances}
    spare = empty_factor(n, largest, latents)._replace(
        **shared, noise=state.noise.copy(), prior_root=factor.prior_root, position=factor.position
    )
    basis: Any = FeatureColumns(
        columns=columns,
        kind=kind,
        weight=np.ones(len(state.slab)),
        n_features=state.n_features,
        features=state.features,
        bandwidths=state.bandwidths,
    )
    if terms is not None:
        sites = {"data": terms, "response": state.response, "precision": state.precision}
        basis = LaplaceColumns(**basis._asdict(), **sites)
    return DoublySparseWorkspace(
        data=data,
        basis=basis,
        factor=factor,
        spare=spare,
        sums=np.empty((largest + 1, n)),
        other_sums=np.empty((largest + 1, n)),
        memory=WorkingMemory(
            hat=np.empty((largest + 2) * n),
            free=np.empty(n),
            coefficients=np.empty(largest + 1),
            fitted=np.empty(n),
        ),
        root=np.empty_like(factor.root),
        projected=np.empty_like(factor.projected),
        functions=np.empty((latents, n)),
        unused=np.ones((1, 1)),
        leaps=open_leaps(spare, leaps),
    )


@jit
def sweep_features(rng, state, work, settings, tuning):
    """Move features and bandwidths; the factor is left exact. Return its log evidence."""
    basis, factor, spare = work.basis, work.factor, work.spare
    sums, other = work.sums, work.other_sums
    evidence = rebuild_features(basis, factor, sums)
    tallies = state.tallies[3:]
    if settings.toggles > 0:
        evidence = toggle_features(
            rng, basis, factor, spare, sums, other, evidence, settings.toggles, settings.log_odds,
            tallies,
        )  # fmt: skip
        evidence = toggle_pairs(
            rng, basis, factor, spare, sums, other, evidence, settings.pair_toggles, settings.pairs,
            settings.log_odds, tallies,
        )  # fmt: skip
        evidence = swap_features(
            rng, basis, factor, spare, sums, other, evidence, settings.swaps, settings.graph,
            tallies,
        )  # fmt: skip
    return walk_bandwidths(
        rng, basis, factor, spare, sums, other, evidence, settings.walks, state.log_step,
        state.steps, tuning, tallies,
    )  # fmt: skip


@jit_inlined
def sweep_once(rng, state, work, prior, settings, tuning):
    """Carry out one sweep, all but the coefficients."""
    factor, sweep = work.factor, state.sweep[0]
    evidence = sweep_features(rng, state, work, settings, tuning)
    evidence = walk_ridge(
        rng, work.basis, factor, work.spare, work.sums, work.other_sums, evidence, prior,
        settings.walks, 3 if settings.directions.shape[0] > 0 else 1, state.log_step,
        state.log_ridge, state.ridge_steps, tuning, state.tallies[RIDGE],
    )  # fmt: skip
    for _ in range(settings.leaps if sweep % state.leap_every[0] == 0 else 0):
        evidence = leap_bandwidth(
            rng, work.basis, factor, work.leaps, work.sums, work.other_sums, work.unused, evidence,
            settings.log_weights, settings.candidates, settings.leap_steps, state.log_step,
            state.tallies[LEAP],
        )  # fmt: skip
    if settings.moves > 0:
        move_active_set(
            rng, factor, work.basis, work.unused, settings.log_weights, settings.candidates,
            settings.moves, settings.candidates[:0], state.tallies,
        )  # fmt: skip
        move_blocks(
            rng, factor, work.basis, work.unused, settings.log_weights, settings.candidates,
            settings.blocks, state.tallies[BLOCK],
        )  # fmt: skip
    for d in settings.directions:
        step = slice_scales(
            rng, factor, prior, DIRECTIONS[d], state.slice_width[d], work.root, work.projected
        )
        if tuning:
            state.slice_width[d] = adapt_width(state.slice_width[d], step, sweep)
    refactor(factor)
    memory = work.memory
    update_working(work.data, rng, factor, settings.diagonal, settings.scans, memory)
    if settings.function_moves:
        step = move_function_scale(
            rng, factor, prior, work.data, state.slice_width[4], memory.coefficients, memory.fitted
        )
        if tuning:
            state.slice_width[4] = adapt_width(state.slice_width[4], step, sweep)


@jit
def store_features(state, draws, at):
    """Write features and bandwidths down as kept draw ``at``."""
    draws.n_features[at] = state.n_features[0]
    for place in range(state.n_features[0]):
        draws.features[at, place] = state.features[place]
        draws.bandwidths[at, place] = state.bandwidths[place]


@jit
def end_tuning(state):
    """Fix how often leaps are made, by how many were taken, and begin to count moves."""
    state.leap_every[0] = LIVELY if state.tallies[LEAP, 1] >= _LIVELY else QUIET
    state.tallies[:] = 0


@jit
def run_doubly_sparse(rng, state, work, prior, settings, draws, stop, tune, thin):
    """Run until ``stop`` sweeps are done; return whether the working response stayed finite."""
    while state.sweep[0] < stop:
        sweep = state.sweep[0]
        if sweep == tune:
            end_tuning(state)
        sweep_once(rng, state, work, prior, settings, sweep < tune)
        draws.size_trace[sweep] = state.n_active[0]
        draws.features_trace[sweep] = state.n_features[0]
        kept = sweep - tune + 1
        if kept > 0 and kept % thin == 0:
            store_function(rng, state, work, settings, draws, kept // thin - 1)
            store_features(state, draws, kept // thin - 1)
        state.sweep[0] = sweep + 1
        if not math.isfinite(response_energy(work.factor)):
            return False
    return True
