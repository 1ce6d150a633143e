r"""Metropolis sampling of features and parameters: the exact but slow way, for comparison.

Target :math:`\pi(\gamma,u\mid y)\propto e^{\ell_\gamma(u)}p(u)\pi(\gamma)`. A sweep toggles every
feature in turn, accepted with :math:`\min\{1,e^{\Delta\ell}\pi(\gamma')/\pi(\gamma)\}`, exchanges
features for correlated ones, and walks on each parameter, with step sizes that adapt while the
chain is tuned. One bandwidth is shared.

An exchange draws a feature i of the model and one, j, of its :math:`g_i` neighbours in the graph
of correlated features; it is accepted with :math:`\min\{1,e^{\Delta\ell}g_i/g_j\}`. Without
exchanges a chain passes from a feature to its twin only through a model with both or neither, which
is rare where the data are clear that one of them is needed.
"""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..._jit import jit
from ..._threads import count_workers, single_blas_thread
from ...kernels.feature_sums import kernel_of_sums
from .compiled import add_distances, factor_covariance, log_density
from .posterior import WeightedModel
from .scoring import Features, FittedModel
from .search import HybridSearch

_LEG_SECONDS = 0.2  # between looks at Ctrl-C
_TARGET = 0.44
_EXCHANGES = 5  # tries in a sweep, for each feature of the model
_MOST_DRAWS = 100  # of a model's parameters, for prediction


@jit
def _value(sums, values, kind, u, target, matrix, work):
    kernel_of_sums(sums, kind, values)
    if not factor_covariance(values, math.exp(u[0]), math.exp(u[2]), matrix):
        return -math.inf
    return log_density(matrix, target, work)


@jit
def _rebuild(batch, included, u, sums):
    sums[:] = 0.0
    for feature in range(included.shape[0]):
        if included[feature] > 0:
            add_distances(batch.columns[feature], batch.rows[0], math.exp(-u[1]), batch.kind, sums)


@jit
def _log_prior(u, shapes, rates):
    total = 0.0
    for m in range(u.shape[0]):
        total -= shapes[m] * u[m] + rates[m] * math.exp(-u[m])
    return total


@jit
def _exchange(rng, batch, graph, included, u, value, memory):
    """Try to exchange features for neighbours in the graph; return l(u) of the model it ends in."""
    sums, other, values, matrix, work = memory
    inside = np.flatnonzero(included)
    bandwidth = math.exp(-u[1])
    for _ in range(_EXCHANGES * len(inside)):
        place = rng.integers(0, len(inside))
        out = inside[place]
        choices = graph.starts[out + 1] - graph.starts[out]
        if choices == 0:
            continue
        into = graph.neighbors[graph.starts[out] + rng.integers(0, choices)]
        if included[into] > 0:
            continue
        other[:] = sums
        if len(inside) == 1:  # nothing but rounding would be left
            other[:] = 0.0
        else:
            add_distances(batch.columns[out], batch.rows[0], -bandwidth, batch.kind, other)
        add_distances(batch.columns[into], batch.rows[0], bandwidth, batch.kind, other)
        there = _value(other, values, batch.kind, u, batch.targets[0], matrix, work)
        back = graph.starts[into + 1] - graph.starts[into]
        if math.log(rng.random()) < there - value + math.log(choices / back):
            included[out], included[into] = 0, 1
            inside[place] = into
            value = there
            sums[:] = other
    return value


@jit
def sample_models(
    rng, batch, graph, included, u, log_sizes, shapes, rates, log_step, tune, kept_models,
    kept_parameters, first, last,
):  # fmt: skip
    """Run sweeps ``first`` to ``last`` of a chain whose state is ``included, u, log_step``.

    ``log_sizes`` holds log pi by size. Every sweep after ``tune`` is kept. Returns the acceptance
    rates of toggles and walks.
    """
    n, p = batch.rows.shape[1], included.shape[0]
    target, kind = batch.targets[0], batch.kind
    sums = np.empty(n * (n + 1) // 2)
    other, values = np.empty_like(sums), np.empty_like(sums)
    matrix, work = np.empty((n, n)), np.empty(n)
    proposal = np.empty(3)
    rates_seen = np.zeros(2)
    tries = np.zeros(2)
    size = 0
    for feature in range(p):
        size += included[feature]
    for sweep in range(first, last):
        _rebuild(batch, included, u, sums)
        value = _value(sums, values, kind, u, target, matrix, work)
        bandwidth = math.exp(-u[1])
        for feature in range(p):
            change = -1 if included[feature] > 0 else 1
            if size + change >= log_sizes.shape[0]:
                continue
            tries[0] += 1
            if size + change == 0:
                other[:] = 0.0
            else:
                other[:] = sums
                add_distances(
                    batch.columns[feature], batch.rows[0], change * bandwidth, kind, other
                )
            there = _value(other, values, kind, u, target, matrix, work)
            ratio = there - value + log_sizes[size + change] - log_sizes[size]
            if math.log(rng.random()) < ratio:
                rates_seen[0] += 1
                included[feature] += change
                size += change
                value = there
                sums[:] = other
        value = _exchange(
            rng, batch, graph, included, u, value, (sums, other, values, matrix, work)
        )
        for m in range(3):
            proposal[:] = u
            proposal[m] += math.exp(log_step[m]) * rng.standard_normal()
            if m == 1:
                _rebuild(batch, included, proposal, other)
            else:
                other[:] = sums
            there = _value(other, values, kind, proposal, target, matrix, work)
            ratio = there - value + _log_prior(proposal, shapes, rates)
            ratio -= _log_prior(u, shapes, rates)
            probability = math.exp(min(0.0, ratio)) if ratio > -math.inf else 0.0
            tries[1] += 1
            if rng.random() < probability:
                rates_seen[1] += 1
                u[m] = proposal[m]
                value = there
                sums[:] = other
            if sweep < tune:
                log_step[m] += (sweep + 1.0) ** -0.6 * (probability - _TARGET)
        if sweep >= tune:
            for feature in range(p):
                kept_models[sweep - tune, feature] = included[feature]
            kept_parameters[sweep - tune] = u
    return rates_seen[0] / tries[0], rates_seen[1] / tries[1]


def sample_posterior(
    search: HybridSearch, start: FittedModel, draws: int, tune: int, chains: int, n_jobs: int | None
) -> list[WeightedModel]:
    """Return the models visited, most often first, with their parameters as draws.

    The chains start from ``start``; ``search`` has data, priors and the random numbers.
    """
    settings, p = search.settings, len(search.columns)
    largest = min(settings.max_features, p)
    log_sizes = np.array([search.log_prior(size) for size in range(largest + 1)])
    shapes, rates = np.array(settings.prior).T
    rngs = search.rng.spawn(chains)
    models = [np.zeros((draws, p), np.int8) for _ in range(chains)]
    parameters = [np.zeros((draws, 3)) for _ in range(chains)]
    batch = search.describe([()])

    def run(chain: int) -> None:
        included = np.zeros(p, np.int64)
        included[list(start.features)] = 1
        u, log_step = start.parameters.copy(), np.full(3, -1.0)
        sweep, pace = 0, 1
        while sweep < tune + draws and not ended.is_set():  # legs touch no draw
            begin, last = time.perf_counter(), min(sweep + pace, tune + draws)
            sample_models(
                rngs[chain], batch, search.graph, included, u, log_sizes,
                np.ascontiguousarray(shapes), np.ascontiguousarray(rates), log_step, tune,
                models[chain], parameters[chain], sweep, last,
            )  # fmt: skip
            rate = (last - sweep) / max(time.perf_counter() - begin, 1e-9)
            sweep, pace = last, max(1, min(4 * pace, int(rate * _LEG_SECONDS)))

    ended = threading.Event()
    with single_blas_thread(), ThreadPoolExecutor(count_workers(n_jobs, chains)) as pool:
        try:
            list(pool.map(run, range(chains)))
        finally:
            ended.set()
    visits: dict[Features, list[np.ndarray]] = {}
    for included, drawn in zip(np.concatenate(models), np.concatenate(parameters), strict=True):
        visits.setdefault(tuple(np.flatnonzero(included).tolist()), []).append(drawn)
    total = draws * chains
    found = []
    for features, drawn in sorted(visits.items(), key=lambda item: -len(item[1])):
        chosen = np.array(drawn)[:: max(1, len(drawn) // _MOST_DRAWS)]
        if not features:
            chosen = chosen[:, [0, 2]]  # without features there is no bandwidth
        share = np.full(len(chosen), 1.0 / len(chosen))
        found.append(WeightedModel(features, len(drawn) / total, chosen, share))
    return found
