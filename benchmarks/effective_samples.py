"""Effective samples per second, sparsekern's sampler against the paper's own, typed in NumPy.

`reference_sweep.py` is the paper's sweep: one active-set move, one latent scan, g and eta given the
coefficients, dense factorisations. Both sample the same posterior (500 rows, kernel width at the
mean distance, at most 100 active vectors) with 4 chains on one thread, in alternation. The
reference starts from tuned states of ours, so that its long burn-in does not count against it.
Followed are the log-likelihood and the class probability of five training rows; the effective
sample size is the rank-normalised bulk one over all chains, the time that of kept draws, in
processor seconds. `speed-up` is the ratio of effective samples per second, ours over theirs;
it is the product of `samples per sweep` and `sweeps per second`, ratios too. The target is a
speed-up of at least 20. Where R-hat is well above 1.02 the effective sample size beside it is a
guess, mostly too high: the chains are as long as they are because runs of a quarter of the length
gave the reference up to six times its true figure.
"""

from __future__ import annotations

import numpy as np
from measuring import effective_samples, geometric_mean, r_hats, seconds
from our_sampler import INTERCEPT_PRIOR, JITTER, SCALE_PRIOR, OurChains, followed, make_sampler
from problems import GENERATORS, generate
from reference_sweep import ReferenceChain, ReferenceModel, ReferenceTrace
from tables import Row

TARGET = 20.0
_CHAINS = 4
_MAX_ACTIVE = 100
_SLICES = 10  # alternations


class ReferenceChains:
    """Chains of the reference that go on from the states of ours."""

    def __init__(self, ours: OurChains) -> None:
        sampler = ours.sampler
        model = ReferenceModel(
            kernel=sampler.model.kernels[0].matrix(sampler.features, sampler.features),
            side=sampler.response,
            max_active=_MAX_ACTIVE,
            scale_prior=SCALE_PRIOR,
            intercept_prior=INTERCEPT_PRIOR,
            jitter=JITTER,
        )
        self.traces = []
        for number, chain in enumerate(ours.chains):
            state = chain.state
            rows = state.rows[: state.n_active[0]]
            eta, g = 1.0 / state.variances
            start = (np.random.default_rng([7, number]), rows, state.response[0], g, eta)
            reference = ReferenceChain(model, *start)
            self.traces.append(ReferenceTrace(reference, sampler.monitored_rows))
        self.seconds = 0.0

    def seconds_per_sweep(self) -> float:
        """Try a few sweeps of every chain, without keeping them."""
        sweeps = 25
        trial = sum(seconds(lambda t=t: t.run(sweeps, keep=False)) for t in self.traces)
        return trial / (sweeps * len(self.traces))

    def run(self, number: int, sweeps: int) -> None:
        """Add ``sweeps`` kept sweeps to one chain."""
        self.seconds += seconds(lambda: self.traces[number].run(sweeps))

    def series(self) -> dict[str, np.ndarray]:
        """Return the followed quantities, each of shape (chains, draws)."""
        log_likelihood = np.array([trace.log_likelihood for trace in self.traces])
        return followed(log_likelihood, np.array([trace.monitored for trace in self.traces]))


def _compare(name: str, n_rows: int, tune: int, draws: int, budget: float) -> list[Row]:
    sampler = make_sampler(*generate(name, n_rows), max_active=_MAX_ACTIVE)
    ours = OurChains(sampler, tune, draws, _CHAINS, seed=1)
    theirs = ReferenceChains(ours)
    sweeps = max(10, int(budget / theirs.seconds_per_sweep() / _CHAINS / _SLICES))
    for _ in range(_SLICES):
        for number in range(_CHAINS):
            ours.run(number, draws // _SLICES)
            theirs.run(number, sweeps)
    ess, r_hat = effective_samples(ours.series()), r_hats(ours.series())
    ess_other, r_hat_other = effective_samples(theirs.series()), r_hats(theirs.series())
    pace = (draws / ours.seconds) / (sweeps * _SLICES / theirs.seconds)
    rows = []
    for quantity in ess:
        yield_ratio = (ess[quantity] / draws) / (ess_other[quantity] / (sweeps * _SLICES))
        rows.append({
            "data": name, "quantity": quantity, "speed-up": yield_ratio * pace,
            "samples per sweep": yield_ratio, "sweeps per second": pace,
            "ESS": ess[quantity], "R-hat": r_hat[quantity],
            "reference ESS": ess_other[quantity], "reference R-hat": r_hat_other[quantity],
        })  # fmt: skip
    speed_up = geometric_mean(row["speed-up"] for row in rows)
    verdict = f"target {TARGET:g}: {'met' if speed_up >= TARGET else 'MISSED'}"
    rows.append({
        "data": name, "quantity": f"geometric mean ({verdict})", "speed-up": speed_up,
        "samples per sweep": speed_up / pace, "sweeps per second": pace,
        "R-hat": max(r_hat.values()), "reference R-hat": max(r_hat_other.values()),
    })  # fmt: skip
    return rows


def measure(quick: bool, sets: tuple[str, ...] = tuple(GENERATORS)) -> list[Row]:
    if quick:
        return _compare(sets[0], n_rows=100, tune=200, draws=500, budget=4.0)
    rows: list[Row] = []
    for name in sets:
        rows += _compare(name, n_rows=500, tune=1000, draws=20_000, budget=500.0)
    return rows
