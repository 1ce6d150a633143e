"""Effective samples per second of logit and hinge beside probit, same data, same settings.

500 rows of the generated sets, four chains on one thread in alternation, kept draws only, in
processor seconds. Followed are the log-likelihood and five predicted probabilities. `cost per
sample` is the time for one effective sample relative to probit's, geometric mean over the six
quantities (the aim for logit is at most 5); `sweep` the time of a sweep, `samples` the effective
samples of a sweep, both relative to probit.
"""

from __future__ import annotations

from measuring import effective_samples, geometric_mean, r_hats
from our_sampler import OurChains, make_sampler
from problems import GENERATORS, generate
from tables import Row

from sparsekern.likelihoods import Hinge, Logit, Probit

_CHAINS, _SLICES = 4, 10


def _compare(name: str, n_rows: int, tune: int, draws: int) -> list[Row]:
    features, side = generate(name, n_rows)
    runs = {
        likelihood.name: OurChains(
            make_sampler(features, side, likelihood=likelihood), tune, draws, _CHAINS, seed=3
        )
        for likelihood in (Probit(), Logit(), Hinge())
    }
    for _ in range(_SLICES):
        for number in range(_CHAINS):
            for chains in runs.values():
                chains.run(number, draws // _SLICES)
    base = runs["probit"]
    base_ess = effective_samples(base.series())
    rows: list[Row] = []
    for likelihood, chains in runs.items():
        ess = effective_samples(chains.series())
        samples = geometric_mean(ess[key] / base_ess[key] for key in ess)
        sweep = chains.seconds / base.seconds
        rows.append({
            "data": name, "likelihood": likelihood, "cost per sample": sweep / samples,
            "sweep": sweep, "samples": samples, "R-hat": max(r_hats(chains.series()).values()),
        })  # fmt: skip
    return rows


def measure(quick: bool) -> list[Row]:
    if quick:
        return _compare("ringnorm", n_rows=100, tune=100, draws=200)
    rows: list[Row] = []
    for name in GENERATORS:
        rows += _compare(name, n_rows=500, tune=1000, draws=5000)
    return rows
