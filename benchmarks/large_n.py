"""Time per sweep and memory as n grows, candidates for activity restricted to 500 rows.

At most 100 active vectors, four features, 500 candidates (named rows); a size prior drives the
active set to its largest size, so that k is the same for every n. Times are processor seconds of a
sweep on one thread, divided by those at n = 1,000 in the same run; `growth` is the exponent of n
between neighbouring sizes, and linear growth is 1. Memory is what the chain holds beyond the data:
state, factors and scratch arrays, counted from the arrays themselves, per row at large n. Gaussian
noise with a fixed width is run on rotated data: its sweep must not grow at all, once the inner
products are formed (`setup`, in sweeps of the same size). A plot is written beside the table.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from measuring import seconds
from tables import Row

from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.chains.runner import start_chains
from sparsekern.inference.generalized_kernel.sampler import GeneralizedKernelSampler
from sparsekern.kernels import resolve_kernels
from sparsekern.likelihoods import Gaussian, Logit, Probit, StudentT
from sparsekern.model import generalized_kernel_model

_CANDIDATES, _MAX_ACTIVE, _TUNE = 500, 100, 30
_STRONG_SIZE_PRIOR = 1e6


def _sampler(likelihood, n: int) -> GeneralizedKernelSampler:
    rng = np.random.default_rng(0)
    features = np.asfortranarray(rng.standard_normal((n, 4)))
    signal = np.sin(2 * features[:, 0]) + features[:, 1] * features[:, 2]
    noisy = signal + 0.5 * rng.standard_normal(n)
    learned = "learned noise" in likelihood.provides
    model = generalized_kernel_model(
        likelihood, resolve_kernels("rbf", 1.5, features), scale_prior=(2.0, 0.05),
        intercept_prior=(0.5, 0.05), size_prior=(_STRONG_SIZE_PRIOR, 1.0), max_active=_MAX_ACTIVE,
        sparse=True, jitter=1e-8, noise_prior=(1.0, 0.1) if learned else None,
    )  # fmt: skip
    rows = rng.permutation(n)[:_CANDIDATES]
    response = noisy if learned else np.sign(noisy)
    return GeneralizedKernelSampler(model, features, response, candidates=rows)


def _held(*parts) -> int:
    """Return the bytes of all distinct arrays in nested tuples."""
    seen: dict[int, int] = {}

    def visit(part) -> None:
        if isinstance(part, np.ndarray):
            base = part
            while isinstance(base.base, np.ndarray):
                base = base.base
            seen[id(base)] = base.nbytes
        elif isinstance(part, tuple):
            for entry in part:
                visit(entry)

    for part in parts:
        visit(part)
    return sum(seen.values())


def _measure_one(likelihood, n: int, sweeps: int) -> tuple[float, float, float, float]:
    made: list[GeneralizedKernelSampler] = []
    setup = seconds(lambda: made.append(_sampler(likelihood, n)))
    sampler = made[0]
    plan = Plan(_TUNE, sweeps, 1)
    chain = start_chains(sampler, plan, np.random.SeedSequence(0).spawn(1))[0]
    work = sampler.open(chain.state)

    def advance(stop: int, fresh: bool) -> None:
        sampler.advance(chain.rngs, chain.state, work, chain.draws, stop, plan, fresh)

    advance(_TUNE, True)
    time = seconds(lambda: advance(plan.sweeps, False)) / sweeps
    held = _held(work, chain.state) / 2**20
    size = float(chain.draws.size_trace[_TUNE:].mean())
    return time, setup / time, held, size


def measure(quick: bool) -> list[Row]:
    sizes = [1000, 2000] if quick else [1000, 3162, 10_000, 31_623, 100_000]
    rows: list[Row] = []
    for likelihood in (Probit(), Logit(), StudentT(), Gaussian()):
        first = before = None
        for n in sizes:
            sweeps = max(20, int((40_000 if quick else 400_000) / n))
            time, setup, held, size = _measure_one(likelihood, n, sweeps)
            first = first or time
            growth = None
            if before is not None:
                growth = float(np.log(time / before[1]) / np.log(n / before[0]))
            before = (n, time)
            rows.append({
                "likelihood": likelihood.name, "n": n, "mean k": size, "time": time / first,
                "growth": growth, "MB": held, "kB per row": 1024 * held / n, "setup": setup,
            })  # fmt: skip
    if not quick:
        _plot(rows)
    return rows


def _plot(rows: list[Row]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for name in dict.fromkeys(row["likelihood"] for row in rows):
        here = [row for row in rows if row["likelihood"] == name]
        n = [row["n"] for row in here]
        axes[0].loglog(n, [row["time"] for row in here], "o-", label=name)
        axes[1].loglog(n, [row["MB"] for row in here], "o-", label=name)
    axes[0].loglog(n, [value / n[0] for value in n], "k:", label="linear")
    axes[0].set(xlabel="rows", ylabel="time of a sweep, relative to n = 1,000")
    axes[1].set(xlabel="rows", ylabel="memory of a chain, MB")
    axes[0].legend(frameon=False)
    figure.savefig(Path(__file__).parent / "results" / "large_n.png", dpi=130)
    plt.close(figure)
