"""Cost of one sweep in floors, whole and step by step.

The floor is what no sweep of this model can do without: one Cholesky factorisation of a k x k
matrix, one triangular solve with n right sides and two products of an n x k matrix with a vector,
straight from LAPACK and BLAS. The sweep is the default one with a fixed width: 10 active-set moves,
3 latent scans, every other sweep the size of the function, every third a joint move; it is timed
with its share of rebuilds (one in 50 sweeps) and with a stored draw each. A size prior holds the
chain at its largest size, where 7 of 10 moves are swaps, the dearest kind. Sweeps and floors
alternate on one thread; a figure is the median over rounds of 50 sweeps, in processor time. Steps
are timed from Python, less the time of an empty call where a generator is handed over; `sum of
steps` beside `whole sweep` tells how well that works. The target, at most 3 floors, is set for n =
4000 and k = 200.
"""

from __future__ import annotations

import numpy as np
from measuring import seconds
from our_sampler import OurChains, make_sampler
from problems import generate
from scipy.linalg import blas, lapack
from sweep_steps import do_nothing, list_steps
from tables import Row

from sparsekern.bases.kernel_columns import rebuild
from sparsekern.inference.generalized_kernel.sweep import REFRESH_EVERY

TARGET, TARGET_ROWS = 3.0, 4000
_STRONG_SIZE_PRIOR = 4000.0  # first beta shape: births nearly always pass
_REBUILD = f"rebuild, 1 in {REFRESH_EVERY} sweeps"


class Floor:
    """The floor on arrays of its own."""

    def __init__(self, n: int, k: int) -> None:
        rng = np.random.default_rng(0)
        self._columns = rng.standard_normal((k, n))
        self._matrix = np.asfortranarray(np.eye(k) + self._columns @ self._columns.T / n)
        self._vector = rng.standard_normal(n)
        self._square, self._sides = self._matrix.copy(order="F"), self._columns.T.copy(order="F")

    def _work(self) -> None:
        root, _ = lapack.dpotrf(self._square, lower=1, clean=0, overwrite_a=1)
        # the faster of the two layouts: n x k sides, solved from the right
        blas.dtrsm(1.0, root, self._sides, side=1, lower=1, trans_a=1, overwrite_b=1)
        (self._columns @ self._vector) @ self._columns

    def seconds(self, times: int = 1) -> float:
        """Return the seconds of so many floors; the copies of what is overwritten do not count."""
        total = 0.0
        for _ in range(times):
            self._square[:] = self._matrix
            self._sides[:] = self._columns.T
            total += seconds(self._work)
        return total


def _time_whole_sweeps(chains: OurChains, floor: Floor, rounds: int, chunk: int) -> float:
    ratios = []
    for _ in range(rounds):
        chains.seconds, floors = 0.0, 0.0
        for _ in range(REFRESH_EVERY // chunk):
            chains.run(0, chunk)
            floors += floor.seconds(chunk)
        ratios.append(chains.seconds / floors)
    return float(np.median(ratios))


def _time_steps(chains: OurChains, floor: Floor, rounds: int) -> dict[str, float]:
    """Return the floors of every step, running them in the order of the sweep."""
    factor = chains.workspaces[0].factor
    basis, length_scale = chains.sampler.basis, chains.chains[0].state.length_scale
    rng = chains.chains[0].rngs[0]
    steps = list_steps(chains)
    for _, function, arguments, _ in steps:  # compile
        function(*arguments)
    do_nothing(rng, factor)
    rebuild(factor, basis, length_scale)
    ratios: dict[str, list[float]] = {name: [] for name in (*(step[0] for step in steps), _REBUILD)}
    for _ in range(rounds):
        floors, total = 0.0, dict.fromkeys(ratios, 0.0)
        total[_REBUILD] = seconds(lambda: rebuild(factor, basis, length_scale))
        for sweep in range(REFRESH_EVERY):
            call = seconds(lambda: do_nothing(rng, factor))
            for name, function, arguments, period in steps:
                if sweep % period:
                    continue
                total[name] += seconds(lambda f=function, a=arguments: f(*a))
                total[name] -= call if arguments[0] is rng else 0.0
            floor.seconds()  # brings its arrays back into the cache
            floors += floor.seconds()
        for name, value in total.items():
            ratios[name].append(value / floors)
    return {name: float(np.median(values)) for name, values in ratios.items()}


def _acceptance(chains: OurChains) -> str:
    tried, taken = chains.chains[0].state.tallies[:3].T
    rates = " / ".join(f"{rate:.2f}" for rate in taken / np.maximum(tried, 1))
    return f"accepted births / deaths / swaps: {rates}"


def measure(quick: bool) -> list[Row]:
    sizes = [(400, 100)] if quick else [(400, 100), (2000, 200), (4000, 200)]
    rounds = 2 if quick else 9
    rows: list[Row] = []
    for n, k in sizes:
        features, side = generate("waveform", n)
        sampler = make_sampler(features, side, max_active=k, size_prior=(_STRONG_SIZE_PRIOR, 1.0))
        chains = OurChains(sampler, 100, rounds * REFRESH_EVERY, n_chains=1, seed=0)
        floor = Floor(n, k)
        whole = _time_whole_sweeps(chains, floor, rounds, chunk=25 if n < 1000 else 5)
        trace = chains.chains[0].draws.size_trace[chains.plan.tune :]
        note = _acceptance(chains)
        if n == TARGET_ROWS:
            note += f"; target {TARGET:g}: {'met' if whole <= TARGET else 'MISSED'}"
        steps = _time_steps(chains, floor, rounds)
        figures = {"whole sweep": whole, "sum of steps": sum(steps.values()), **steps}
        for step, floors in figures.items():
            about = note if step == "whole sweep" else ""
            size = {"n": n, "mean k": float(trace.mean())}
            rows.append({**size, "step": step, "floors": floors, "note": about})
    return rows
