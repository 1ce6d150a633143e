r"""Moves of the features in the kernel, coefficients integrated out.

The prior: feature l is included with probability :math:`\pi`, and then its bandwidth is
:math:`\eta_l\sim Exp(1)`. With m the evidence given everything else:

- take in a feature, or leave one out, by a fair coin (at either end of the prior there is no
  choice): a newcomer is drawn uniformly from those outside and gets a bandwidth from
  :math:`q=\frac12Exp(1)+\frac12Exp(8)`, as features that come and go matter little, so that from s
  to s + 1 of p features the acceptance ratio is :math:`\Delta\log m+\log\frac\pi{1-\pi}
  +\log\frac{P_{out}(s+1)\,(p-s)}{P_{in}(s)\,(s+1)}-\eta_l-\log q(\eta_l)`, and its inverse
  back. Drawn uniformly from all features, those inside would hardly ever be tried;
- toggle two features at once, a pair drawn from a list made beforehand of pairs that may matter
  only together (:mod:`.feature_pairs`), if both are included or both excluded: :math:`\Delta\log
  m\pm\sum(\log\frac\pi{1-\pi}-\eta-\log q(\eta))`;
- swap an included feature k for an excluded one l, which takes over the bandwidth: l is drawn
  from all excluded ones, :math:`\Delta\log m`, or, every other time, from the :math:`d_k`
  neighbours of k in a graph of correlated features, :math:`\Delta\log m+\log d_k-\log d_l`
  (features that stand in for each other are exchanged far more often so);
- walk on :math:`\log\eta_l` of every included feature: :math:`\Delta\log
  m+\Delta\log\eta_l-\Delta\eta_l`, with a step size for each feature that adapts while the chain
  is tuned.

Every proposal costs one exponential a row and active vector, one Gram matrix and one Cholesky
factorisation. The file knows no likelihood and no kernel by name.
"""

from __future__ import annotations

import math

from ..._jit import jit, jit_apart
from ...bases._compiled import judge_proposal
from ...kernels.feature_sums import add_feature
from ...linalg.copies import copy_vector
from ...linalg.whitened_factor import FORM, count_columns

ENTER, LEAVE, EXCHANGE, WALK, PAIR = range(5)
_WALK_TARGET = 0.44
_LOG_STEP_BOUNDS = (math.log(1e-3), math.log(5.0))
_SMALL = 8.0  # rate of the smaller half of newcomers' bandwidths


@jit
def find_feature(basis, feature):
    """Return the place of a feature among the included ones, or -1."""
    for place in range(basis.n_features[0]):
        if basis.features[place] == feature:
            return place
    return -1


@jit
def _shift(basis, factor, feature, change, sums, out):
    """Write the sums of all active vectors after feature ``feature`` gains ``change``."""
    column = basis.columns[feature]
    for a in range(factor.n_active[0]):
        here = column[factor.rows[a]]
        add_feature(column, here, change, basis.kind, sums[a], out[a])


@jit_apart
def take_proposal(factor, spare, sums, other_sums):
    """Make the proposal in ``spare`` and ``other_sums`` the present state."""
    k = count_columns(factor)
    for a in range(k):
        copy_vector(spare.whitened[a], factor.whitened[a])
        copy_vector(other_sums[a], sums[a])
    for a in range(k + 1):
        for b in range(k + 1):
            factor.gram[a, b] = spare.gram[a, b]
            factor.root[a, b] = spare.root[a, b]
    for c in range(factor.cross.shape[0]):
        for a in range(k + 1):
            factor.cross[c, a] = spare.cross[c, a]
            factor.projected[c, a] = spare.projected[c, a]
        copy_vector(spare.response[c], factor.response[c])  # the same arrays, but for Laplace's
    copy_vector(spare.precision, factor.precision)
    factor.noise[FORM] = spare.noise[FORM]


@jit
def _include(basis, feature, bandwidth):
    size = basis.n_features[0]
    basis.features[size] = feature
    basis.bandwidths[size] = bandwidth
    basis.n_features[0] = size + 1


@jit
def _exclude(basis, place):
    last = basis.n_features[0] - 1
    basis.features[place] = basis.features[last]
    basis.bandwidths[place] = basis.bandwidths[last]
    basis.n_features[0] = last


@jit
def _entry_probability(size, largest):
    """Return the probability of trying a feature that is out, rather than one that is in."""
    if size == 0:
        return 1.0
    return 0.0 if size == largest else 0.5


@jit
def _draw_bandwidth(rng):
    bandwidth = rng.standard_exponential()
    return bandwidth if rng.random() < 0.5 else bandwidth / _SMALL


@jit
def _log_prior_to_proposal(bandwidth):
    """Return the log ratio of a bandwidth's prior density to that of :func:`_draw_bandwidth`."""
    return -math.log(0.5 + 0.5 * _SMALL * math.exp((1.0 - _SMALL) * bandwidth))


@jit
def _draw_outside(rng, basis):
    while True:
        feature = rng.integers(0, basis.columns.shape[0])
        if find_feature(basis, feature) < 0:
            return feature


@jit_apart
def toggle_features(
    rng, basis, factor, spare, sums, other_sums, evidence, moves, log_odds, tallies
):
    """Try ``moves`` times to take a feature in or to leave one out; return the log evidence.

    ``spare`` shares rows, response, precision and variances with ``factor``. The prior ends at the
    largest number of features that ``basis`` has room for.
    """
    p = basis.columns.shape[0]
    largest = min(p, basis.features.shape[0])
    for _ in range(moves if largest > 0 else 0):
        if factor.abandoned[0] != 0:
            break
        size = basis.n_features[0]
        entry = _entry_probability(size, largest)
        if rng.random() < entry:
            kind, place = ENTER, -1
            feature = _draw_outside(rng, basis)
            change = _draw_bandwidth(rng)
            back = (1.0 - _entry_probability(size + 1, largest)) / (size + 1)
            ratio = log_odds + math.log(back * (p - size) / entry)
            ratio += _log_prior_to_proposal(change)
        else:
            kind, place = LEAVE, rng.integers(0, size)
            feature = basis.features[place]
            change = -basis.bandwidths[place]
            back = _entry_probability(size - 1, largest) / (p - size + 1)
            ratio = -log_odds + math.log(back * size / (1.0 - entry))
            ratio -= _log_prior_to_proposal(-change)
        tallies[kind, 0] += 1
        if kind == LEAVE and size == 1:  # nothing but rounding would be left
            for a in range(factor.n_active[0]):
                other_sums[a] = 0.0
        else:
            _shift(basis, factor, feature, change, sums, other_sums)
        value, ratio = judge_proposal(basis, rng, factor, spare, other_sums, evidence, ratio)
        if not math.log(rng.random()) < ratio:
            continue
        tallies[kind, 1] += 1
        evidence = value
        take_proposal(factor, spare, sums, other_sums)
        if kind == ENTER:
            _include(basis, feature, change)
        else:
            _exclude(basis, place)
    return evidence


@jit_apart
def toggle_pairs(
    rng, basis, factor, spare, sums, other_sums, evidence, moves, pairs, log_odds, tallies
):
    """Try to toggle both features of ``moves`` pairs drawn from ``pairs``, int64[q, 2].

    A pair of which one is included is left alone: single toggles are for that.
    """
    for _ in range(moves if pairs.shape[0] > 0 else 0):
        if factor.abandoned[0] != 0:
            break
        pair = pairs[rng.integers(0, pairs.shape[0])]
        first, second = find_feature(basis, pair[0]), find_feature(basis, pair[1])
        size = basis.n_features[0]
        entering = first < 0
        tallies[PAIR, 0] += 1
        if entering != (second < 0) or (entering and size + 2 > basis.features.shape[0]):
            continue
        one = _draw_bandwidth(rng) if entering else -basis.bandwidths[first]
        two = _draw_bandwidth(rng) if entering else -basis.bandwidths[second]
        if not entering and size == 2:  # nothing but rounding would be left
            for a in range(factor.n_active[0]):
                other_sums[a] = 0.0
        else:
            _shift(basis, factor, pair[0], one, sums, other_sums)
            _shift(basis, factor, pair[1], two, other_sums, other_sums)
        ratio = 2.0 * log_odds
        ratio += _log_prior_to_proposal(abs(one)) + _log_prior_to_proposal(abs(two))
        ratio = ratio if entering else -ratio
        value, ratio = judge_proposal(basis, rng, factor, spare, other_sums, evidence, ratio)
        if not math.log(rng.random()) < ratio:
            continue
        tallies[PAIR, 1] += 1
        evidence = value
        take_proposal(factor, spare, sums, other_sums)
        if entering:
            _include(basis, pair[0], one)
            _include(basis, pair[1], two)
        else:
            _exclude(basis, first)
            _exclude(basis, find_feature(basis, pair[1]))  # it may have moved
    return evidence


@jit
def _draw_exchange(rng, basis, graph, feature):
    """Return a feature to take the place of ``feature`` and the log ratio of the proposals.

    The feature returned may be included already: then there is nothing to exchange.
    """
    if rng.random() < 0.5:
        return _draw_outside(rng, basis), 0.0
    first, last = graph.starts[feature], graph.starts[feature + 1]
    if first == last:
        return feature, 0.0
    newcomer = graph.neighbors[rng.integers(first, last)]
    degree = graph.starts[newcomer + 1] - graph.starts[newcomer]
    return newcomer, math.log((last - first) / degree)


@jit_apart
def swap_features(rng, basis, factor, spare, sums, other_sums, evidence, moves, graph, tallies):
    """Try to exchange an included feature for an excluded one, ``moves`` times.

    ``graph`` is a :class:`.feature_graph.FeatureGraph`.
    """
    for _ in range(moves):
        if factor.abandoned[0] != 0:
            break
        size = basis.n_features[0]
        if size == 0 or size == basis.columns.shape[0]:
            return evidence
        place = rng.integers(0, size)
        newcomer, ratio = _draw_exchange(rng, basis, graph, basis.features[place])
        tallies[EXCHANGE, 0] += 1
        if find_feature(basis, newcomer) >= 0:
            continue
        bandwidth = basis.bandwidths[place]
        _shift(basis, factor, newcomer, bandwidth, sums, other_sums)
        _shift(basis, factor, basis.features[place], -bandwidth, other_sums, other_sums)
        value, ratio = judge_proposal(basis, rng, factor, spare, other_sums, evidence, ratio)
        if math.log(rng.random()) < ratio:
            tallies[EXCHANGE, 1] += 1
            evidence = value
            take_proposal(factor, spare, sums, other_sums)
            basis.features[place] = newcomer
    return evidence


@jit
def _walk_one(
    rng, basis, factor, spare, sums, other_sums, evidence, place, log_step, steps, tuning, tallies
):
    """Walk on the bandwidth of one included feature; return the log evidence."""
    feature, bandwidth = basis.features[place], basis.bandwidths[place]
    move = math.exp(log_step[feature]) * rng.standard_normal()
    proposal = bandwidth * math.exp(move)
    _shift(basis, factor, feature, proposal - bandwidth, sums, other_sums)
    ratio = move - (proposal - bandwidth)
    value, ratio = judge_proposal(basis, rng, factor, spare, other_sums, evidence, ratio)
    # a sum that is no number (a hopeless proposal, numerically) compares as false: refused
    probability = math.exp(min(0.0, ratio)) if ratio > -math.inf else 0.0
    tallies[WALK, 0] += 1
    if rng.random() < probability:
        tallies[WALK, 1] += 1
        evidence = value
        take_proposal(factor, spare, sums, other_sums)
        basis.bandwidths[place] = proposal
    if tuning:
        steps[feature] += 1
        gain = min(0.5, steps[feature] ** -0.6)
        target = log_step[feature] + gain * (probability - _WALK_TARGET)
        log_step[feature] = min(max(target, _LOG_STEP_BOUNDS[0]), _LOG_STEP_BOUNDS[1])
    return evidence


@jit_apart
def walk_bandwidths(
    rng, basis, factor, spare, sums, other_sums, evidence, rounds, log_step, steps, tuning, tallies
):
    """Walk on the bandwidth of every included feature, ``rounds`` times.

    ``log_step`` and ``steps`` hold the log step size of each feature and the number of walks that
    have shaped it.
    """
    for _ in range(rounds):
        for place in range(basis.n_features[0]):
            if factor.abandoned[0] != 0:
                return evidence
            evidence = _walk_one(
                rng, basis, factor, spare, sums, other_sums, evidence, place, log_step, steps,
                tuning, tallies,
            )  # fmt: skip
    return evidence


@jit
def walk_at_random(
    rng, basis, factor, spare, sums, other_sums, evidence, rounds, log_step, steps, tuning, tallies
):
    """Make as many walks, each on a feature drawn at random: reversible, in whatever order."""
    for _ in range(rounds * basis.n_features[0]):
        if factor.abandoned[0] != 0:
            break
        evidence = _walk_one(
            rng, basis, factor, spare, sums, other_sums, evidence,
            rng.integers(0, basis.n_features[0]), log_step, steps, tuning, tallies,
        )  # fmt: skip
    return evidence
