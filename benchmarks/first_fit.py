"""What the first fit of every estimator costs, before and after compiled code is on the disk.

Each estimator with its defaults, but for a few draws, is fitted to twenty rows in a process of its
own with an empty folder for compiled code, and again in another process that finds the folder
filled. Processor seconds, imports not counted; the number of functions that were compiled, numba's
own included; and the three that took longest, what they call not counted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tables import Row

import sparsekern

ESTIMATORS = [name for name in sparsekern.__all__ if name.endswith(("Classifier", "Regressor"))]
_QUICK = ("RVMRegressor",)


def _fit(name: str, folder: str) -> dict:
    script = Path(__file__).with_name("first_fit_child.py")
    place = os.environ | {"SPARSEKERN_CACHE_DIR": folder}
    command = [sys.executable, str(script), name]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, env=place)
    return json.loads(ran.stdout.splitlines()[-1])


def measure(quick: bool, sets: tuple[str, ...] = ()) -> list[Row]:
    rows: list[Row] = []
    for name in sets or (_QUICK if quick else ESTIMATORS):
        with tempfile.TemporaryDirectory() as folder:
            cold, warm = _fit(name, folder), _fit(name, folder)
        slowest = ", ".join(f"{function} {spent:.1f}" for spent, function in cold["slowest"])
        rows.append(
            {
                "estimator": name,
                "s, nothing compiled": round(cold["seconds"], 1),
                "s, all on disk": round(warm["seconds"], 2),
                "functions compiled": cold["compiled"],
                "compiled again": warm["compiled"],
                "slowest, s": slowest,
            }
        )
        print(rows[-1], flush=True)
    return rows
