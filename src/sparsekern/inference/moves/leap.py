r"""Leaps from one length scale to another, the active vectors carried along.

The evidence may have two peaks in the bandwidth of a feature, such as a nearly linear effect and a
wavy one, tens of nats apart from what lies between them; and the active vectors of one suit the
other badly, so that a walk never crosses and a plain jump is refused. A leap

1. looks at the profile :math:`\eta_l\mapsto m(\eta_l,a)p(\eta_l)\eta_l` on a grid, by some of the
   rows, for peaks away from the present bandwidth; mostly there are none, and that is all;
2. draws :math:`\log\eta_l'` around one of them, from q;
3. leads a, the active set and the other bandwidths, from the one to the other by L - 1 births,
   deaths, swaps and walks under
   :math:`\pi_t(a)\propto p(a)\,m(\eta_l,a)^{1-t/L}\,m(\eta_l',a)^{t/L}`, t = 1, .., L - 1;
4. takes both, or neither, with the log acceptance ratio

.. math::
    \frac1L\sum_{t=0}^{L-1}\log\frac{m(\eta_l',a_t)\,p(\eta_l')\,\eta_l'}
    {m(\eta_l,a_t)\,p(\eta_l)\,\eta_l}
    +\log\frac{q(\eta_l\mid\eta_l',a_{L-1})}{q(\eta_l'\mid\eta_l,a_0)}.

This is exact (a nonequilibrium candidate: Neal 2001, Nilmeier et al. 2011): each step is
reversible under its own law, and the way back passes the same laws in reverse order. The file knows
no likelihood and no kernel by name.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._jit import jit, jit_apart
from ...bases._compiled import load_from_sums, value_newcomer
from ...bases.feature_columns import FeatureColumns, rebuild_features
from ...kernels.feature_sums import add_feature
from ...linalg.active_changes import commit_birth, commit_death
from ...linalg.active_moves import value_death
from ...linalg.whitened_factor import RATE, SHAPE, WhitenedFactor, empty_factor, log_evidence
from .active_set import BIRTH, DEATH, draw_inactive, draw_kind, log_odds_of_change

_STEP = 0.5
_GRID = np.arange(-6.5, 2.1, _STEP)  # of log bandwidths
_APART = 0.8  # of a peak from the present log bandwidth
_DEEPEST = 40.0  # nats; peaks further below the highest point of a profile do not count
_SPREAD = 0.25  # of proposals around a peak; Student's t, as peaks are not where they seem
_WALKS = 0.1  # share of the way's steps that are walks on another bandwidth
_PROFILE_ROWS = 500  # of more than 2,000 rows a quarter


class LeapMemory(NamedTuple):
    """What leaps need besides the workspace of a chain."""

    rows: np.ndarray  # int64[m], the rows of profiles
    column: np.ndarray  # float64[m], a feature of theirs
    small: WhitenedFactor  # of these rows
    base: np.ndarray  # float64[k, m], kernel sums without the feature
    sums: np.ndarray  # float64[k, m], and with it
    twin: WhitenedFactor  # with the other bandwidth; large arrays are the spare factor's


def open_leaps(spare: WhitenedFactor, used: bool) -> LeapMemory:
    """Allocate the memory of leaps (next to none where these are not used)."""
    n = len(spare.precision)
    largest = len(spare.rows) - 1 if used else 0
    m = min(n, max(_PROFILE_ROWS, n // 4)) if used else 0
    rows = np.linspace(0, n - 1, m).astype(np.int64)
    return LeapMemory(
        rows=rows,
        column=np.empty(m),
        small=empty_factor(m, largest, len(spare.response)),
        base=np.empty((largest + 1, m)),
        sums=np.empty((largest + 1, m)),
        twin=spare._replace(
            n_active=np.zeros(1, np.int64),
            rows=np.zeros_like(spare.rows),
            position=np.full_like(spare.position, -1),
            prior_root=np.zeros_like(spare.prior_root) if used else spare.prior_root,
        ),
    )


@jit
def _match_small(factor, memory):
    """Let the small factor know the active rows, variances, noise and responses."""
    small, rows = memory.small, memory.rows
    small.n_active[0] = factor.n_active[0]
    small.rows[: factor.rows.shape[0]] = factor.rows
    small.variances[:] = factor.variances
    small.noise[SHAPE], small.noise[RATE] = factor.noise[SHAPE], factor.noise[RATE]
    share = factor.precision.shape[0] / rows.shape[0]
    for i in range(rows.shape[0]):
        small.precision[i] = share * factor.precision[rows[i]]
        for c in range(small.response.shape[0]):
            small.response[c, i] = factor.response[c, rows[i]]


@jit
def _gather(basis, memory, place):
    """Gather a feature's column of the rows of profiles; return that of all rows."""
    whole = basis.columns[basis.features[place]]
    for i in range(memory.rows.shape[0]):
        memory.column[i] = whole[memory.rows[i]]
    return whole


@jit_apart
def _write_profile(basis, factor, memory, at, profile):
    """Write log evidence and prior at every bandwidth of the grid for the feature at place ``at``.

    The present bandwidth of the feature has no part in it.
    """
    _match_small(factor, memory)
    k, column = factor.n_active[0], memory.column
    for a in range(k):
        memory.base[a] = 0.0
    for place in range(basis.n_features[0]):
        if place != at:
            whole, bandwidth = _gather(basis, memory, place), basis.bandwidths[place]
            for a in range(k):
                base, here = memory.base[a], whole[factor.rows[a]]
                add_feature(column, here, bandwidth, basis.kind, base, base)
    whole = _gather(basis, memory, at)
    for point in range(_GRID.shape[0]):
        bandwidth = math.exp(_GRID[point])
        for a in range(k):
            base, here = memory.base[a], whole[factor.rows[a]]
            add_feature(column, here, bandwidth, basis.kind, base, memory.sums[a])
        profile[point] = load_from_sums(basis, memory.small, memory.sums)
        profile[point] += _GRID[point] - bandwidth


@jit
def _find_peaks(profile, here, peaks):
    """Write the peaks of a profile that lie away from ``here``; return how many there are."""
    count, highest = 0, np.max(profile)
    for point in range(1, profile.shape[0] - 1):
        value = profile[point]
        left, right = value - profile[point - 1], value - profile[point + 1]
        if left > 0.0 and right >= 0.0 and value > highest - _DEEPEST:
            peak = _GRID[point] + 0.5 * _STEP * (left - right) / (left + right)  # of a parabola
            if abs(peak - here) > _APART:
                peaks[count] = peak
                count += 1
    return count


@jit
def _log_proposal(peaks, count, value):
    """Return the log density of a proposal, but for a constant: Student's t, 3 degrees."""
    total = 0.0
    for peak in range(count):
        total += (1.0 + ((value - peaks[peak]) / _SPREAD) ** 2 / 3.0) ** -2
    return math.log(total / count)


@jit
def _change_vectors(rng, factor, twin, basis, other, unused, share, log_weights, candidates):
    """Try a birth, a death or a swap; return by how much the log ratio of the laws grows."""
    n, largest = candidates.shape[0], log_weights.shape[0] - 1
    k = factor.n_active[0]
    kind = draw_kind(rng, k, largest, n)
    row, victim, size = -1, -1, k
    first, second = 0.0, 0.0
    if kind != DEATH:
        row = draw_inactive(rng, factor, candidates)
        first += value_newcomer(basis, factor, unused, row, factor.long[1])
        second += value_newcomer(other, twin, unused, row, twin.long[1])
        size += 1
    if kind != BIRTH:
        victim = rng.integers(0, k)
        first += value_death(factor, victim, size)
        second += value_death(twin, victim, size)
    newcomers = n - (k if kind == BIRTH else k - 1)
    odds = log_odds_of_change(kind, k, log_weights, n, newcomers)
    if not math.log(rng.random()) < odds + (1.0 - share) * first + share * second:
        return 0.0
    if kind != DEATH:
        commit_birth(factor, row)
        commit_birth(twin, row)
    if kind != BIRTH:
        commit_death(factor, victim)
        commit_death(twin, victim)
    return second - first


@jit
def _walk_another(rng, factor, twin, basis, other, at, share, log_step, sums, other_sums):
    """Walk on the bandwidth of another feature; return by how much the log ratio grows."""
    place = rng.integers(0, basis.n_features[0] - 1)
    place += 1 if place >= at else 0
    before = basis.bandwidths[place]
    move = math.exp(log_step[basis.features[place]]) * rng.standard_normal()
    after = before * math.exp(move)
    first, second = -log_evidence(factor), -log_evidence(twin)
    basis.bandwidths[place] = other.bandwidths[place] = after
    first += rebuild_features(basis, factor, sums)
    second += rebuild_features(other, twin, other_sums)
    ratio = move - after + before + (1.0 - share) * first + share * second
    if math.log(rng.random()) < ratio:
        return second - first
    basis.bandwidths[place] = other.bandwidths[place] = before
    rebuild_features(basis, factor, sums)
    rebuild_features(other, twin, other_sums)
    return 0.0


@jit_apart
def _lead(
    rng, factor, twin, basis, other, at, unused, gap, log_weights, candidates, steps, log_step,
    sums, other_sums,
):  # fmt: skip
    """Lead the active set of both factors from the law of one to that of the other.

    ``gap`` is the log ratio of the second law to the first, to begin with. Returns the mean of that
    ratio over the way.
    """
    total, alone = gap, basis.n_features[0] == 1
    for step in range(1, steps):
        if factor.abandoned[0] != 0:
            break
        share = step / steps
        if not alone and rng.random() < _WALKS:
            gap += _walk_another(
                rng, factor, twin, basis, other, at, share, log_step, sums, other_sums
            )
        else:
            gap += _change_vectors(
                rng, factor, twin, basis, other, unused, share, log_weights, candidates
            )
        total += gap
    return total / steps


@jit_apart
def leap_bandwidth(
    rng, basis, factor, memory, sums, other_sums, unused, evidence, log_weights, candidates, steps,
    log_step, tally,
):  # fmt: skip
    """Try a leap of one included feature; return the log evidence.

    Parameters
    ----------
    memory : LeapMemory
    log_weights, candidates
        As for :func:`.active_set.move_active_set`.
    steps : int
        L, the steps of the way, of which L - 1 change something.
    log_step : float64[p]
        Log step of the walk on each bandwidth alone.
    tally : int64[2]
        Leaps to a peak, and those of them that were taken, counted up here.
    """
    size = basis.n_features[0]
    if size == 0 or factor.n_active[0] == 0 or factor.abandoned[0] != 0:
        return evidence
    at = rng.integers(0, size)
    before = basis.bandwidths[at]
    profile, peaks = np.empty(_GRID.shape[0]), np.empty(_GRID.shape[0])
    _write_profile(basis, factor, memory, at, profile)
    count = _find_peaks(profile, math.log(before), peaks)
    if count == 0:
        return evidence
    tally[0] += 1
    goal = peaks[rng.integers(0, count)] + _SPREAD * rng.standard_t(3.0)
    after = math.exp(goal)
    ratio = -_log_proposal(peaks, count, goal)

    twin, held, bandwidths = memory.twin, basis.bandwidths.copy(), basis.bandwidths.copy()
    bandwidths[at] = after
    other = FeatureColumns(
        basis.columns, basis.kind, basis.weight, basis.n_features, basis.features, bandwidths
    )
    k = factor.n_active[0]
    rows = factor.rows[:k].copy()
    twin.n_active[0] = k
    twin.rows[:k] = rows
    gap = rebuild_features(other, twin, other_sums) - evidence
    gap += goal - after - math.log(before) + before
    ratio += _lead(
        rng, factor, twin, basis, other, at, unused, gap, log_weights, candidates, steps, log_step,
        sums, other_sums,
    )  # fmt: skip
    chance = math.log(rng.random())
    if factor.abandoned[0] == 0 and factor.n_active[0] > 0:
        _write_profile(basis, factor, memory, at, profile)
        count = _find_peaks(profile, goal, peaks)
        if count > 0 and chance < ratio + _log_proposal(peaks, count, math.log(before)):
            tally[1] += 1
            basis.bandwidths[at] = after
            return rebuild_features(basis, factor, sums)
    factor.n_active[0] = k
    factor.rows[:k] = rows
    basis.bandwidths[:] = held
    return rebuild_features(basis, factor, sums)
