"""Growth of doubly-sparse regression with the number of features and of rows.

Case 2 of Duan (2022): three effects. `p`: 100 rows, 50 to 20,000 features, defaults (max(20, p/50)
toggles in a sweep). `n`: 20 features, 500 to 50,000 rows, a dictionary of 300 candidates beyond
2,000, all rows as data; the number k of active vectors grows too. Processor time of a sweep on one
thread, chains well under way, relative to the smallest size in the same run; `growth` is the
exponent between neighbouring sizes. `MB` is what a chain holds, data and draws included, counted
from its arrays; `start` is the time to set up the sampler (graph of correlated features up to 5,000
of them, dictionary) and to start a chain, in sweeps. A plot is written beside the table.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from large_n import _held
from measuring import seconds
from tables import Row

from sparsekern import DoublySparseRegressor
from sparsekern.datasets import make_additive
from sparsekern.estimators.doubly_sparse.model import make_samplers
from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.chains.runner import start_chains
from sparsekern.likelihoods import Gaussian

_TUNE, _DRAWS = 300, 1000


def _measure_one(n: int, p: int, sweeps: int) -> dict[str, float]:
    X, y = make_additive(n, p, random_state=0)
    model = DoublySparseRegressor(random_state=0)
    model.n_features_in_ = p
    plan = Plan(_TUNE, _DRAWS, 1)
    made = []

    def start() -> None:
        response = (y - y.mean()) / y.std()
        (sampler,), _ = make_samplers(model, X, [response], Gaussian(), (0.001, 0.001))
        made.append((sampler, start_chains(sampler, plan, np.random.SeedSequence(0).spawn(1))[0]))

    setup = seconds(start)
    sampler, chain = made[0]
    work = sampler.open(chain.state)

    def advance(stop: int) -> None:
        sampler.advance(chain.rngs, chain.state, work, chain.draws, stop, plan, False)

    advance(_TUNE)
    time = seconds(lambda: advance(_TUNE + sweeps)) / sweeps
    held = _held(work, chain.state, chain.draws, tuple(sampler.settings)) + X.nbytes
    sizes = chain.draws.size_trace[_TUNE : _TUNE + sweeps]
    return {"time": time, "start": setup / time, "MB": held / 2**20, "mean k": float(sizes.mean())}


def measure(quick: bool) -> list[Row]:
    features = [50, 200] if quick else [50, 200, 1000, 5000, 20_000]
    lengths = [500, 1000] if quick else [500, 2000, 5000, 15_000, 50_000]
    rows: list[Row] = []
    for name, shapes in (
        ("p", [(100, p) for p in features]), ("n", [(n, 20) for n in lengths]),
    ):  # fmt: skip
        first = before = None
        _measure_one(100, 20, 20)  # compiled once
        for n, p in shapes:
            found = _measure_one(n, p, max(30, 60_000 // n))
            size = p if name == "p" else n
            first = first or found["time"]
            growth = None
            if before is not None:
                growth = float(np.log(found["time"] / before[1]) / np.log(size / before[0]))
            before = (size, found["time"])
            rows.append({
                "along": name, "n": n, "p": p, "mean k": found["mean k"],
                "time": found["time"] / first, "growth": growth, "MB": found["MB"],
                "start": found["start"],
            })  # fmt: skip
            print(rows[-1], flush=True)
    if not quick:
        _plot(rows)
    return rows


def _plot(rows: list[Row]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
    for line, name in zip(axes, ("p", "n"), strict=True):
        here = [row for row in rows if row["along"] == name]
        sizes = [row[name] for row in here]
        line[0].loglog(sizes, [row["time"] for row in here], "o-")
        line[0].loglog(sizes, [size / sizes[0] for size in sizes], "k:", label="linear")
        line[1].loglog(sizes, [row["MB"] for row in here], "o-")
        label = "features (100 rows)" if name == "p" else "rows (20 features)"
        line[0].set(xlabel=label, ylabel="time of a sweep, relative")
        line[1].set(xlabel=label, ylabel="memory of a chain, MB")
        line[0].legend(frameon=False)
    figure.savefig(Path(__file__).parent / "results" / "doubly_sparse_growth.png", dpi=130)
    plt.close(figure)
