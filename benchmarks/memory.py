"""Peak resident memory of a fit and a prediction, in a fresh process.

GKMClassifier with 4 chains of 1000 draws and at most 200 active vectors, on 20,000 rows with 20
features, two chains at a time; a size prior keeps the active sets near 200. Then predicted
probabilities of 5,000 rows. Sampling is ended after ten minutes with the draws it has then; draws
that were not written yet hold no memory, so their size is added three times (the chains' arrays,
the stacked copy and a working copy while stacking). The target is a total under 1,500 MB.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tables import Row

TARGET = 1500.0
_COPIES = 3  # arrays of draws alive at the same time while a fit ends


def _fit(*arguments: float) -> dict[str, float]:
    script = Path(__file__).with_name("memory_fit.py")
    command = [sys.executable, str(script), *(str(argument) for argument in arguments)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(quick: bool) -> list[Row]:
    _fit(300, 20, 20, 60, 600)  # compiled code comes from the disk from now on
    rows, draws, limit = (2000, 100, 60) if quick else (20_000, 1000, 600)
    found = _fit(rows, 20, 200, draws, limit)
    megabytes = 2.0**20 / 1e6
    added = _COPIES * found["unwritten draws"]
    total = (max(found["after fit"], found["after prediction"]) + added) * megabytes
    return [
        {
            "n": rows,
            "p": 20,
            "max_active": 200,
            "mean k": found["mean k"],
            "draws asked": draws,
            "draws kept": found["draws kept"],
            "MB after import": found["after import"] * megabytes,
            "MB after fit": found["after fit"] * megabytes,
            "MB after prediction": found["after prediction"] * megabytes,
            "MB added for unwritten draws": added * megabytes,
            "MB in all": total,
            "target": f"under {TARGET:g} MB: {'met' if total < TARGET else 'MISSED'}",
        }
    ]
