"""Run the benchmarks: ``python benchmarks/run.py [part ...] [--quick]``.

Tables go to ``benchmarks/results`` (with ``--quick`` to ``benchmarks/results/quick``).
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

from tables import environment, markdown, open_folder, write_index, write_part
from threadpoolctl import threadpool_limits

RESULTS = Path(__file__).parent / "results"
PARTS = (
    "sweep_cost", "effective_samples", "mixing", "tuning", "memory", "accuracy", "large_n",
    "many_rows", "interrupts", "likelihoods",
    "support_vectors", "regression", "family_accuracy", "doubly_sparse_cases",
    "doubly_sparse_speed", "doubly_sparse_leukemia", "doubly_sparse_calibration",
    "doubly_sparse_slab", "doubly_sparse_inclusion", "doubly_sparse_growth", "bkmr",
    "hybrid_tables", "hybrid_speed", "hybrid_correlated", "hybrid_gpu", "interactions",
    "vector_machine_accuracy", "vector_machine_speed",
    "multiple_kernel_designs", "multiple_kernel_accuracy", "multiple_kernel_speed",
    "kernel_projection_accuracy", "kernel_projection_speed", "first_fit",
)  # fmt: skip
_WITH_JOBS = (
    "family_accuracy", "support_vectors", "doubly_sparse_cases", "doubly_sparse_leukemia",
    "doubly_sparse_calibration", "doubly_sparse_slab", "doubly_sparse_inclusion", "hybrid_tables",
    "hybrid_correlated", "interactions", "regression", "vector_machine_accuracy",
    "multiple_kernel_designs",
    "multiple_kernel_accuracy", "kernel_projection_accuracy", "mixing",
)  # fmt: skip
# part: the names that --sets may give it
_SETS: dict[str, Callable[[ModuleType], Iterable[str]]] = {
    "effective_samples": lambda part: part.GENERATORS,
    "mixing": lambda part: part.DESIGNS,
    "tuning": lambda part: part.GENERATORS,
    "family_accuracy": lambda part: [problem.name for problem in part.PROBLEMS],
    "doubly_sparse_cases": lambda part: [case for case, *_ in part.CASES],
    "doubly_sparse_slab": lambda part: ("regression", "classes"),
    "doubly_sparse_inclusion": lambda part: part.TASKS,
    "hybrid_tables": lambda part: part.SETS,
    "vector_machine_accuracy": lambda part: part.SETS,
    "kernel_projection_accuracy": lambda part: part.SETS,
    "first_fit": lambda part: part.ESTIMATORS,
}


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
    parser.add_argument("--fits", type=int, default=20, help="mixing: data sets of each kind")
    parser.add_argument("--sets", nargs="*", help=f"{', '.join(_SETS)}: only these")
    chosen = parser.parse_args(arguments)
    unknown = set(chosen.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {', '.join(sorted(unknown))}; parts: {', '.join(PARTS)}")
    parts = set(chosen.parts or PARTS)
    if chosen.sets and not parts & set(_SETS):
        parser.error(f"--sets is for {', '.join(_SETS)}, none of which is to be run")
    if chosen.paper_max_active and "accuracy" not in parts:
        parser.error("--paper-max-active is for accuracy, which is not to be run")
    return chosen


def options_of(name: str, part: ModuleType, chosen: argparse.Namespace) -> dict[str, object]:
    """Return what ``measure`` of a part is called with."""
    options: dict[str, object] = {"quick": chosen.quick}
    if name == "accuracy":
        options |= {"n_jobs": chosen.n_jobs, "paper_max_active": chosen.paper_max_active}
    if name in _WITH_JOBS:
        options["n_jobs"] = chosen.n_jobs
    if name == "mixing":
        options["fits"] = chosen.fits
    if name in _SETS and chosen.sets:
        options["sets"] = tuple(known for known in chosen.sets if known in _SETS[name](part))
    return options


def refuse_unknown_sets(parts: dict[str, ModuleType], sets: list[str] | None) -> None:
    """End with a sentence if no part to be run knows a set."""
    known = sorted({name for part in parts.keys() & _SETS for name in _SETS[part](parts[part])})
    unknown = sorted(set(sets or ()) - set(known))
    if unknown:
        sys.exit(f"--sets: unknown {', '.join(unknown)}; these parts know {', '.join(known)}.")


def main(arguments: list[str] | None = None, folder: Path = RESULTS) -> int:
    """Measure; whatever can fail without a measurement is done before the first one."""
    chosen = parse(arguments)
    folder = folder / "quick" if chosen.quick else folder
    open_folder(folder)
    where = environment()
    parts = {name: importlib.import_module(name) for name in chosen.parts or PARTS}
    refuse_unknown_sets(parts, chosen.sets)
    for name, part in parts.items():
        options = options_of(name, part, chosen)
        print(f"== {name}", flush=True)
        begin = time.monotonic()
        rows = []
        if options.get("sets", True):
            with threadpool_limits(limits=1):
                rows = part.measure(**options)
        if not rows:  # and nothing is written over results that are there
            print("nothing measured", flush=True)
            continue
        write_part(folder, name, part.__doc__ or "", rows, chosen.quick, where)
        print(markdown(rows), f"({time.monotonic() - begin:.0f} s)", sep="\n", flush=True)
    write_index(folder, list(PARTS), where)
    return 0


if __name__ == "__main__":
    sys.exit(main())
