"""Run the benchmarks: ``python benchmarks/run.py [part ...] [--quick]``.

Tables go to ``benchmarks/results`` (with ``--quick`` to ``benchmarks/results/quick``).
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path

from tables import markdown, write_index, write_part
from threadpoolctl import threadpool_limits

PARTS = (
    "sweep_cost", "effective_samples", "tuning", "memory", "accuracy", "large_n", "likelihoods",
    "support_vectors", "regression", "family_accuracy", "doubly_sparse_cases",
    "doubly_sparse_speed", "doubly_sparse_leukemia", "doubly_sparse_calibration",
    "doubly_sparse_slab", "doubly_sparse_inclusion", "doubly_sparse_growth", "hybrid_tables",
    "hybrid_speed", "hybrid_correlated", "hybrid_gpu", "interactions", "vector_machine_accuracy",
    "vector_machine_speed",
    "multiple_kernel_designs", "multiple_kernel_accuracy", "multiple_kernel_speed",
    "kernel_projection_accuracy", "kernel_projection_speed",
)  # fmt: skip
_WITH_JOBS = (
    "family_accuracy", "support_vectors", "doubly_sparse_cases", "doubly_sparse_leukemia",
    "doubly_sparse_calibration", "doubly_sparse_slab", "doubly_sparse_inclusion", "hybrid_tables",
    "hybrid_correlated", "interactions", "regression", "vector_machine_accuracy",
    "multiple_kernel_designs",
    "multiple_kernel_accuracy", "kernel_projection_accuracy",
)  # fmt: skip
_WITH_SETS = (
    "effective_samples", "tuning", "family_accuracy", "doubly_sparse_cases", "doubly_sparse_slab",
    "doubly_sparse_inclusion", "hybrid_tables", "vector_machine_accuracy",
    "kernel_projection_accuracy",
)  # fmt: skip


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Benchmarks of sparsekern; timings are ratios.")
    parser.add_argument("parts", nargs="*", help=f"any of {', '.join(PARTS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="smoke run in seconds per part")
    parser.add_argument("--n-jobs", type=int, default=2, help="processes of accuracy (default 2)")
    parser.add_argument(
        "--paper-max-active",
        action="store_true",
        help="accuracy: the paper's largest active sets (140, 400) instead of the default 100",
    )
    parser.add_argument("--sets", nargs="*", help=f"{', '.join(_WITH_SETS)}: only these")
    chosen = parser.parse_args(arguments)
    unknown = set(chosen.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {', '.join(sorted(unknown))}; parts: {', '.join(PARTS)}")
    return chosen


def main() -> int:
    chosen = parse()
    folder = Path(__file__).parent / "results"
    folder = folder / "quick" if chosen.quick else folder
    for name in chosen.parts or PARTS:
        module = importlib.import_module(name)
        options: dict[str, object] = {"quick": chosen.quick}
        if name == "accuracy":
            options |= {"n_jobs": chosen.n_jobs, "paper_max_active": chosen.paper_max_active}
        if name in _WITH_JOBS:
            options["n_jobs"] = chosen.n_jobs
        if name in _WITH_SETS and chosen.sets:
            options["sets"] = tuple(chosen.sets)
        print(f"== {name}", flush=True)
        begin = time.monotonic()
        with threadpool_limits(limits=1):
            rows = module.measure(**options)
        write_part(folder, name, module.__doc__, rows, chosen.quick)
        print(markdown(rows), f"({time.monotonic() - begin:.0f} s)", sep="\n", flush=True)
    write_index(folder, list(PARTS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
