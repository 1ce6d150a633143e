"""DoublySparseRegressor beside R's bkmr: effective samples of the function per second.

Three effects among ten features (Case 2 of Duan 2022), n = 100, 500 and 1,000. Both packages select
features and run one thread, bkmr with the BLAS that R finds. bkmr makes one chain with its defaults
and `est.h=TRUE`, of which the second half counts; sparsekern one default fit, four chains until
they have converged. `ESS` is the smallest bulk effective sample size of the function at ten
training rows, `seconds` are processor seconds of the whole fit, tuning included; `times` is the
ratio of effective samples a second, at the worst row and as the median over the rows. `R-hat` is
the largest one of these rows (bkmr: of the halves of its chain). A bkmr chain that has not
converged overstates its effective samples.

It takes R with what bkmr needs (Debian: r-base-core r-cran-dplyr r-cran-magrittr r-cran-nlme
r-cran-fields r-cran-truncnorm r-cran-tidyr r-cran-mass r-cran-tmvtnorm) and bkmr itself: installed,
or its sources in a folder that the environment variable BKMR_SOURCE names. Without R it skips.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from arviz_stats.base import array_stats
from doubly_sparse_cases import draw_case
from measuring import seconds
from tables import Row

from sparsekern import DoublySparseRegressor
from sparsekern.inference.diagnostics import summarize_scalars

_SCRIPT = Path(__file__).with_name("bkmr_chain.R")
_FEATURES = 10
_ITERATIONS = {100: 5_000, 500: 1_000, 1_000: 300}
_SETS = 2  # of each size


def _bkmr(X: np.ndarray, y: np.ndarray, iterations: int, seed: int) -> tuple[np.ndarray, float]:
    """Return draws of the function at ten rows, one chain, and the processor seconds."""
    source = os.environ.get("BKMR_SOURCE")
    with tempfile.TemporaryDirectory() as folder:
        data, draws = Path(folder, "data.csv"), Path(folder, "draws.csv")
        header = ",".join(["y", *(f"x{j}" for j in range(X.shape[1]))])
        np.savetxt(data, np.column_stack([y, X]), delimiter=",", header=header, comments="")
        command = ["Rscript", str(_SCRIPT), str(data), str(draws), str(iterations), str(seed)]
        one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [*command, *([source] if source else [])], check=True, capture_output=True, text=True,
            env=os.environ | one_thread,
        )  # fmt: skip
        values = np.loadtxt(draws, delimiter=",", skiprows=1)
    return values.T[:, None, :], float(done.stdout.split()[-1])


def _ours(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, float]:
    model = DoublySparseRegressor(random_state=seed, progress=False, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        time = seconds(lambda: model.fit(X, y))
    return model.posterior_["posterior"]["mean"].to_numpy().transpose(2, 0, 1), time


def _row(n: int, number: int, quick: bool) -> Row:
    X, y, *_ = draw_case("2", n, _FEATURES, number)
    iterations = 100 if quick else _ITERATIONS[n]
    row: Row = {"n": n, "set": number}
    rates = {}
    for name, (draws, time) in {
        "bkmr": _bkmr(X, y, iterations, number), "sparsekern": _ours(X, y, number)
    }.items():  # fmt: skip
        ess = np.array([array_stats.ess(values, method="bulk") for values in draws])
        table = summarize_scalars({str(i): values for i, values in enumerate(draws)})
        row |= {
            f"{name} ESS": float(ess.min()), f"{name} R-hat": float(table["r_hat"].max()),
            f"{name} seconds": time,
        }  # fmt: skip
        rates[name] = ess / time
    row["times, worst row"] = float(rates["sparsekern"].min() / rates["bkmr"].min())
    row["times, median"] = float(np.median(rates["sparsekern"]) / np.median(rates["bkmr"]))
    return row


def _missing() -> str | None:
    """Return what bkmr lacks to run here."""
    if shutil.which("Rscript") is None:
        return "R is not there"
    if os.environ.get("BKMR_SOURCE") is None:
        asked = 'quit(status = !requireNamespace("bkmr", quietly = TRUE))'
        if subprocess.run(["Rscript", "-e", asked], capture_output=True).returncode != 0:
            return "it is not installed, and BKMR_SOURCE names no folder with its sources"
    return None


def measure(quick: bool) -> list[Row]:
    missing = _missing()
    if missing is not None:
        print(f"bkmr: {missing}; nothing was compared", flush=True)
        return []
    _ours(*draw_case("2", 100, _FEATURES, 99)[:2], seed=0)  # compiles
    rows = []
    for n in (100,) if quick else _ITERATIONS:
        for number in range(1 if quick else _SETS):
            rows.append(_row(n, number, quick))
            print(rows[-1], flush=True)
    return rows
