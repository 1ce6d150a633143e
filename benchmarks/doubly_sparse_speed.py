"""Doubly-sparse regression: effective samples per second, and the cost of a toggle.

Case 2 of Duan (2022), n = 100, p = 200 (20 in the second block). `default` is the point mass with
random subsets of features; `continuous spike, full scan` is the paper's sampler in an order that
keeps the posterior, written in the same compiled style: every candidate has a column and every
feature is tried in every sweep. Four chains each on one thread, processor seconds of the kept
sweeps, chains started alike. `speed-up` is the ratio of effective samples per second (bandwidths of
the true features, log noise variance, number of features; the aim is 30).

The cost of a toggle is that of one proposal of `toggle_features` divided by its floor: n k
exponentials by a plain compiled loop, the Gram matrix as one BLAS product of n k^2 / 2
multiplications (dsyrk), and one LAPACK Cholesky factorisation, on the same arrays (the aim is at
most 3); `sweep` is the time of a whole sweep over that of the feature moves in it (aim 1.5).
"""

from __future__ import annotations

import math

import numpy as np
from measuring import effective_samples, geometric_mean, r_hats, seconds
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf
from tables import Row

from sparsekern._jit import jit
from sparsekern.datasets import make_additive
from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.chains.runner import run_chains, start_chains
from sparsekern.inference.doubly_sparse.sampler import DoublySparseSampler
from sparsekern.inference.doubly_sparse.sweep import sweep_features
from sparsekern.kernels.evaluate import RBF
from sparsekern.likelihoods import Gaussian
from sparsekern.model import DoublySparseModel

_CHAINS = 4
_LEGS = 20


def _sampler(n: int, p: int, spike: float | None = None, vectors: float = 8.0, **options):
    X, y, true = make_additive(n, p, random_state=1, return_features=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = DoublySparseModel(
        likelihood=Gaussian(), kind=RBF, feature_probability=1.0 / p,
        vector_probability=vectors / n, slab_prior=(0.5, 50.0), slab_variance=1.0,
        intercept_variance=100.0, max_features=50, max_active=100, noise_prior=(1e-3, 1e-3),
        spike_variance=spike,
    )  # fmt: skip
    scaled = (y - y.mean()) / y.std()
    return DoublySparseSampler(model, np.asfortranarray(X), scaled, **options), true


def _series(chains, true: np.ndarray) -> dict[str, np.ndarray]:
    found = {}
    for feature in true:
        traces = []
        for chain in chains:
            draws = chain.draws
            held = np.arange(draws.features.shape[1]) < draws.n_features[:, None]
            here = held & (draws.features == feature)
            traces.append(np.where(here, draws.bandwidths, 0.0).sum(axis=1))
        found[f"bandwidth {feature}"] = np.stack(traces)
    found["log noise variance"] = np.log(np.stack([c.draws.noise_variance for c in chains]))
    found["features"] = np.stack([c.draws.n_features for c in chains]).astype(float)
    return found


def _run(sampler, true, tune: int, draws: int) -> tuple[dict[str, float], dict[str, float], float]:
    plan = Plan(tune, draws, 1)
    chains = start_chains(sampler, plan, np.random.SeedSequence(5).spawn(_CHAINS))
    run_chains([sampler] * _CHAINS, chains, Plan(tune, 0, 1))
    time = seconds(lambda: run_chains([sampler] * _CHAINS, chains, plan))
    series = _series(chains, true)
    return effective_samples(series), r_hats(series), time


def _speed(p: int, draws: int, reference_draws: int) -> list[Row]:
    ours, true = _sampler(100, p, toggles=max(20, p // 50))
    paper, _ = _sampler(100, p, spike=1e-3, toggles=p, swaps=0, walks=1)
    ess, hats, time = _run(ours, true, 1000, draws)
    other, other_hats, other_time = _run(paper, true, reference_draws // 4, reference_draws)
    rows: list[Row] = []
    ratios = []
    for name in ess:
        ratio = (ess[name] / time) / (other[name] / other_time)
        if math.isfinite(ratio):
            ratios.append(ratio)
        rows.append({
            "what": f"p = {p}: {name}", "speed-up": ratio, "per second": ess[name] / time,
            "reference per second": other[name] / other_time, "R-hat": hats[name],
            "reference R-hat": other_hats[name],
        })  # fmt: skip
    rows.append({"what": f"p = {p}: geometric mean", "speed-up": geometric_mean(ratios)})
    return rows


@jit
def _exponentials(values, out):
    for i in range(values.shape[0]):
        out[i] = math.exp(-values[i])


@jit
def _repeat(rng, state, work, settings, times):
    for _ in range(times):
        sweep_features(rng, state, work, settings, False)


def _toggle(n: int, k: int, repeats: int) -> Row:
    sampler, _ = _sampler(n, 200, toggles=50, swaps=0, walks=1, moves=20)
    plan = Plan(repeats, 1, 1)
    chain = start_chains(sampler, plan, np.random.SeedSequence(0).spawn(1))[0]
    state = chain.state
    rng = np.random.default_rng(0)
    state.n_active[0] = k
    state.rows[:k] = rng.permutation(n)[:k]
    state.n_features[0] = 1
    work = sampler.open(state)
    only = sampler.settings._replace(walks=0)
    _repeat(rng, state, work, only, 1)

    # a sweep of features is 50 toggles and one rebuild, which costs no less than a toggle
    toggle = seconds(lambda: _repeat(rng, state, work, only, repeats)) / repeats / 51
    values, out = np.abs(rng.standard_normal(n * k)), np.empty(n * k)
    columns = np.asfortranarray(rng.standard_normal((n, k + 1)))
    gram = dsyrk(1.0, columns, trans=1, lower=1) + np.eye(k + 1)
    _exponentials(values, out)

    def floor() -> None:
        for _ in range(10 * repeats):
            _exponentials(values, out)
            dsyrk(1.0, columns, trans=1, lower=1)
            dpotrf(gram, lower=1)

    lowest = seconds(floor) / (10 * repeats)
    return {"what": f"toggle, n = {n}, k = {k}", "floors": toggle / lowest, "aim": 3}


def _sweep(n: int, p: int, sweeps: int) -> Row:
    sampler, _ = _sampler(n, p)
    plan = Plan(500, sweeps, 1)
    chain = start_chains(sampler, plan, np.random.SeedSequence(2).spawn(1))[0]
    run_chains([sampler], [chain], Plan(500, 0, 1))
    rng, leg = np.random.default_rng(3), sweeps // _LEGS
    whole = part = 0.0
    for number in range(1, _LEGS + 1):  # the number of active vectors changes on the way
        stop = Plan(500, number * leg, 1)
        whole += seconds(lambda stop=stop: run_chains([sampler], [chain], stop))
        work = sampler.open(chain.state)
        _repeat(rng, chain.state, work, sampler.settings, 1)
        part += seconds(lambda work=work: _repeat(rng, chain.state, work, sampler.settings, leg))
    return {
        "what": f"sweep over its feature moves, n = {n}, p = {p}",
        "floors": whole / part,
        "aim": 1.5,
    }


def measure(quick: bool) -> list[Row]:
    if quick:
        return [*_speed(20, 200, 40), _toggle(100, 10, 20), _sweep(100, 20, 50)]
    rows = [*_speed(200, 10_000, 2000), *_speed(20, 10_000, 5000)]
    rows += [_toggle(n, k, int(2e5 / n)) for n, k in ((100, 10), (1000, 20), (10_000, 50))]
    return [*rows, _sweep(100, 200, 4000), _sweep(1000, 200, 800)]
