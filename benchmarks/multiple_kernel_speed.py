"""Speed and memory of multiple kernel learning, as ratios in one run on one thread.

`sweep`: one sweep of the model with shared vectors at N = 400, P = 6, L = 8, for outputs that share
kernel weights (a block of sample weights each) or sample weights (one block), beside its floor
(for each block of sample weights one Cholesky factorisation of order N, the inverse of its
triangle, two triangular solves of a vector, and two products of all kernels with all blocks side
by side; the aim is 3), and beside the printed algorithm, which must give the same numbers (at
least 3 times as slow); `iteration`: one evaluation of bound and gradient of the default model on
the same kernels beside its floor (Cholesky factorisation, inverse, weighted sum of the kernels and
products with them). `fit`: `BayesianMKLRegressor(candidates=500)` on P = 5 Gaussian kernels as N
grows (one start), each in a process of its own: peak memory in MB (4,096 allowed at N = 50,000),
processor seconds in the evaluations of bound and gradient and in everything else (kernels, Gram
matrix, predictions of the training rows), each beside that at N = 6,250: `evaluation` is the mean
of one, since their number hangs on the data, `rest` the sum. `growth` is the exponent between
neighbours of the two together.
"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
from literal_mkl import literal_sweep
from memory_fit import peak_megabytes
from numpy.testing import assert_allclose
from scipy.linalg import lapack, solve_triangular
from tables import Row

from sparsekern.inference.multiple_kernel.additive.forms import ColumnForm, KernelForm
from sparsekern.inference.multiple_kernel.shared.posterior import Hyperpriors
from sparsekern.inference.multiple_kernel.shared.start import start_posterior
from sparsekern.inference.multiple_kernel.shared.updates import Problem, sweep

_N, _P, _L = 400, 6, 8


def _best(action: Callable[[], object], repeats: int) -> float:
    """Return the least processor seconds of several calls: what the work itself takes."""
    action()
    least = np.inf
    for _ in range(repeats):
        begin = time.process_time()
        action()
        least = min(least, time.process_time() - begin)
    return least


def _kernels(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    features = rng.normal(0.5, 1.0, (n, _P))
    distance = (features[:, None] - features) ** 2
    kernels = np.ascontiguousarray(np.exp(-2.0 * distance).transpose(2, 0, 1))
    mixed = np.sin(2 * features) @ rng.standard_normal((_P, _L))
    return kernels, 1.0 + mixed + 0.3 * rng.standard_normal((n, _L))


def _sweep(share: str, repeats: int) -> list[Row]:
    kernels, targets = _kernels(_N)
    targets = (targets - targets.mean(axis=0)) / targets.std(axis=0)
    problem = Problem.of(kernels, targets)
    rng = np.random.default_rng(1)
    posterior = start_posterior(problem, share, Hyperpriors(), rng)
    printed = copy.deepcopy(posterior)
    for _ in range(3):
        sweep(problem, posterior)
        literal_sweep(problem, printed)
    assert_allclose(printed.kernels[0].mean, posterior.kernels[0].mean, rtol=1e-6)
    blocks = len(posterior.samples)
    ours = _best(lambda: sweep(problem, posterior), repeats)
    theirs = _best(lambda: literal_sweep(problem, printed), max(2, repeats // 4))
    matrix = problem.gram + np.eye(_N)
    vector, wide = np.ones(_N), np.ones((_P, _N, blocks))

    def floor() -> None:
        for _ in range(blocks):
            root, _ = lapack.dpotrf(matrix, lower=1, clean=0)
            lapack.dtrtri(root, lower=1)
            solve_triangular(root, solve_triangular(root, vector, lower=True), lower=True, trans=1)
        np.matmul(kernels, wide)
        np.matmul(wide[0].T, kernels)

    least = _best(floor, repeats)
    return [
        {"part": "sweep, beside its floor", "share": share, "N": _N, "ratio": ours / least,
         "aim": "at most 3"},
        {"part": "printed sweep, beside ours", "share": share, "N": _N, "ratio": theirs / ours,
         "aim": "at least 3"},
    ]  # fmt: skip


def _iteration(repeats: int) -> Row:
    kernels, targets = _kernels(_N)
    form, noise = KernelForm(kernels, 100.0), np.full(_L, 0.1)
    scales = np.full(_P, 0.2)
    ours = _best(lambda: form.evaluate(scales, noise, targets), repeats)
    flat = kernels.reshape(_P, _N * _N)

    def floor() -> None:
        matrix = (scales @ flat).reshape(_N, _N)
        matrix[np.diag_indices(_N)] += 0.1
        root, _ = lapack.dpotrf(matrix, lower=1, clean=0)
        lapack.dpotrs(root, targets, lower=1)
        inverse, _ = lapack.dpotri(root, lower=1)
        flat @ inverse.ravel()

    return {
        "part": "iteration (per kernel), beside its floor", "N": _N,
        "ratio": ours / _best(floor, repeats), "aim": "",
    }  # fmt: skip


def _large(n: int) -> dict[str, float]:
    """Fit in this process and return times and peak memory."""
    from sklearn.gaussian_process.kernels import RBF

    from sparsekern import BayesianMKLRegressor

    rng = np.random.default_rng(0)
    features = rng.normal(1.0, 1.0, (n, 5))
    y = np.sin(2 * features[:, 0]) + features[:, 1] * features[:, 2] + 0.3 * rng.standard_normal(n)
    kernels = [RBF(width) for width in (0.5, 1.0, 2.0, 4.0, 8.0)]
    model = BayesianMKLRegressor(
        kernels, candidates=500, n_init=1, max_iter=40, progress=False, random_state=0
    )
    plain, spent = ColumnForm.evaluate, []

    def timed(*arguments: np.ndarray) -> object:
        begin = time.process_time()
        found = plain(*arguments)
        spent.append(time.process_time() - begin)
        return found

    begin = time.process_time()
    with patch.object(ColumnForm, "evaluate", timed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(features, y)
    whole = time.process_time() - begin
    return {
        "evaluation": float(np.mean(spent)), "rest": whole - sum(spent), "MB": peak_megabytes(),
        "evaluations": float(len(spent)),
    }  # fmt: skip


def measure(quick: bool) -> list[Row]:
    repeats = 3 if quick else 15
    rows = [*_sweep("kernel_weights", repeats), *_sweep("sample_weights", repeats)]
    rows.append(_iteration(repeats))
    first: dict[str, float] = {}
    before: tuple[int, float] | None = None
    for n in (1000, 2000) if quick else (6250, 12_500, 25_000, 50_000):
        command = [sys.executable, str(Path(__file__)), str(n)]
        found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        first = first or found
        evaluation, rest = (found[key] / first[key] for key in ("evaluation", "rest"))
        together = found["evaluation"] * first["evaluations"] + found["rest"]
        growth = None
        if before is not None:
            growth = float(np.log(together / before[1]) / np.log(n / before[0]))
        before = (n, together)
        rows.append({
            "part": "fit, 500 candidates", "N": n, "evaluation": evaluation, "rest": rest,
            "growth": growth, "MB": found["MB"], "evaluations": found["evaluations"],
        })  # fmt: skip
    return rows


if __name__ == "__main__":
    print(json.dumps(_large(int(sys.argv[1]))))
