"""The torch backend on a CUDA device, beside the same work on its host's processors.

`search`: p = 20,000, n = 200, the moderate design, median of four after the first, beside the
compiled backend on all cores of the host (the aim is 10 times as long) and on one, and torch there;
`neighbourhood`: its 20,000 toggles beside as many bare batched Cholesky factorisations of order
200, by Triton's kernel and by torch alone; `local`: a million local models of 50 rows, one model,
mode and 15-point rule (30 seconds). Times in seconds. That the numbers are the compiled backend's
is tested in `tests/numerics/hybrid/test_evidence.py`, on the device where there is one.
"""

from __future__ import annotations

import time
from unittest import mock

import numpy as np
from hybrid_speed import _PRIOR, _scaled, make_search
from tables import Row

from sparsekern.inference.hybrid.cpu import CpuBackend
from sparsekern.inference.hybrid.posterior import LocalPosterior
from sparsekern.inference.hybrid.search import HybridSearch
from sparsekern.kernels.evaluate import RBF


def measure(quick: bool) -> list[Row]:
    try:
        import torch

        from sparsekern.inference.hybrid import fused
        from sparsekern.inference.hybrid.cuda import CudaBackend, cuda_is_available
    except ImportError:
        return [{"part": "torch is not installed"}]
    if not cuda_is_available():
        return [{"part": "no CUDA device"}]

    def clock(work) -> float:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        return time.perf_counter() - begin

    device, host = CudaBackend(40.0, "cuda"), CudaBackend(16.0, "cpu")
    rows: list[Row] = []
    orders = {}
    for n in (50, 100, 200):
        matrix = torch.randn(1000, n, n, dtype=torch.float64, device="cuda")
        matrix = matrix @ matrix.transpose(1, 2) + n * torch.eye(n, device="cuda")
        torch.linalg.cholesky_ex(matrix)
        orders[n] = min(clock(lambda m=matrix: torch.linalg.cholesky_ex(m)) for _ in range(5))
        rows.append({"part": f"1000 bare Cholesky, order {n}", "cuda": orders[n]})
    p = 1000 if quick else 20_000
    columns, response = _scaled(200, p)
    make_search(*_scaled(20, 5)).run([(0,)])  # compiled beforehand
    start = (int(np.argmax(np.abs(columns @ response))),)

    def search_times(backend, times: int) -> tuple[list[float], HybridSearch]:
        spent = []
        for _ in range(times):
            search = make_search(columns, response)
            search.backend = backend
            spent.append(clock(lambda s=search: s.run([start])))
        return spent, search

    (first, *again), search = search_times(device, 5)
    compiled = min(search_times(CpuBackend(-1), 3)[0])
    one_core = search_times(CpuBackend(1), 1)[0][0]
    by_torch = search_times(host, 1)[0][0]
    cuda = float(np.median(again))
    rows.append({"part": "the first search on the device", "cuda": first})
    rows.append({
        "part": f"search, p = {p}, n = 200", "cuda": cuda, "host, compiled, all cores": compiled,
        "ratio": compiled / cuda, "host, compiled, one core": one_core,
        "host, torch, all cores": by_torch,
    })  # fmt: skip
    best = search.best
    changes, batch = search.changes(best.features), search.describe([best.features])
    u = best.parameters
    bare = orders[200] * len(changes) / 1000
    for name, most_rows in (("one kernel", fused._MOST_ROWS), ("torch", 0)):
        with mock.patch.object(fused, "_MOST_ROWS", most_rows):
            spent = min(clock(lambda: device.toggles(batch, u, changes, u[1])) for _ in range(5))
        part = f"neighbourhood by {name} over bare Cholesky"
        rows.append({"part": part, "cuda": spent, "ratio": spent / bare})
    data, values = _scaled(100_000, 6)
    count = 20_000 if quick else 1_000_000
    points = np.random.default_rng(2).uniform(-1.7, 1.7, (count, 6))
    for composite in (False, True):
        posterior = LocalPosterior(
            data, values, RBF, True, [((0, 1, 2, 3), 1.0)], _PRIOR, 50, True, composite, False
        ).with_starts(device)
        name = "15-point rule" if composite else "mode"
        spent = clock(lambda q=posterior: [None for _ in q.blocks(device, points)])
        rows.append({"part": f"{count} local models, {name}", "cuda": spent})
    return rows
