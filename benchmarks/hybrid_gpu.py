"""The torch backend on a CUDA device, beside the same work on its host's processors.

`agreement`: largest difference of likelihoods, gradients, Hessians, toggles and predictions from
the compiled backend, relative to the largest entry, over four kernels, shared and separate
bandwidths. `search`: p = 20,000, n = 200, the moderate design; `neighbourhood`: its 20,000 toggles
beside as many bare batched Cholesky factorisations of order 200; `local`: a million local models of
50 rows, one model, mode and 15-point rule. Host: torch on all cores; `compiled`: the compiled
backend there. Times in seconds.
"""

from __future__ import annotations

import time

import numpy as np
from hybrid_speed import _PRIOR, _scaled, make_search
from tables import Row

from sparsekern.inference.hybrid.cpu import CpuBackend
from sparsekern.inference.hybrid.posterior import LocalPosterior
from sparsekern.kernels.evaluate import RBF


def measure(quick: bool) -> list[Row]:
    try:
        import torch

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
    times, found = [], []
    make_search(*_scaled(20, 5)).run([(0,)])  # compiled beforehand
    for backend in (device, host, CpuBackend(-1), CpuBackend(1)):
        search = make_search(columns, response)
        search.backend = backend
        start = (int(np.argmax(np.abs(columns @ response))),)
        times.append(clock(lambda s=search, j=start: s.run([j])))
        found.append(search)
    rows.append({
        "part": f"search, p = {p}, n = 200", "cuda": times[0], "host": times[1],
        "ratio": times[1] / times[0], "compiled, all cores": times[2],
        "compiled, one core": times[3],
    })  # fmt: skip
    best = found[0].best
    changes, batch = found[0].changes(best.features), found[0].describe([best.features])
    u = best.parameters
    spent = clock(lambda: device.toggles(batch, u, changes, u[1]))
    bare = orders[200] * len(changes) / 1000
    rows.append({"part": "neighbourhood over bare Cholesky", "cuda": spent, "ratio": spent / bare})
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
