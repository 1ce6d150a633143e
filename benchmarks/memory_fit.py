"""One fit and one prediction in a process of its own; prints its peak memory as JSON.

``python memory_fit.py ROWS FEATURES MAX_ACTIVE DRAWS SECONDS``: sampling ends after SECONDS at the
latest, with the draws it has then.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from sparsekern import GKMClassifier
from sparsekern.settings import GKMPriors

_STRONG_SIZE_PRIOR = 1e6  # first beta shape: drives the active set to its largest size
_TUNE = 50
_MEBI = 2.0**20


def peak_megabytes() -> float:
    """Return the peak resident memory of this process since it began."""
    status = Path("/proc/self/status")
    if status.is_file():  # Linux: ru_maxrss would start at the peak of the parent process
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024.0
    unit = 1.0 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / _MEBI


class StopAfter:
    """A scikit-learn callback that ends the sampling when time is up."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def setup(self, estimator, context):
        """Nothing to prepare."""

    def teardown(self, estimator, context):
        """Nothing to close."""

    def on_fit_task_begin(self, estimator, context):
        """Let every task begin."""

    def on_fit_task_end(self, estimator, context):
        """Ask for the end once time is up."""
        return time.monotonic() > self._end


def fit_and_predict(rows: int, columns: int, max_active: int, draws: int, seconds: float) -> dict:
    """Return the peaks in MiB after import, fit and prediction, and what the fit was like."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((rows + 5000, columns))
    noisy = features[:, 0] * features[:, 1] + np.sin(2.0 * features[:, 2])
    labels = (noisy + 0.5 * rng.standard_normal(len(features)) > 0).astype(int)
    found = {"after import": peak_megabytes()}
    model = GKMClassifier(
        priors=GKMPriors(max_active=max_active, size=(_STRONG_SIZE_PRIOR, 1.0)), draws=draws,
        tune=_TUNE, chains=4, progress=False, n_jobs=2, random_state=0,
    )  # fmt: skip
    model.set_callbacks(StopAfter(seconds))
    model.fit(features[:rows], labels[:rows])
    found["after fit"] = peak_megabytes()
    found["draws kept"] = model.n_draws_
    found["mean k"] = float(model.diagnostics_.loc["n_active", "mean"])
    # arrays of draws that were never written hold no memory yet: rows (4 bytes) and coefficients
    found["unwritten draws"] = 4 * (draws - model.n_draws_) * max_active * 12 / _MEBI
    model.predict_proba(features[rows:])
    found["after prediction"] = peak_megabytes()
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    counts = [int(text) for text in sys.argv[1:5]]
    print(json.dumps(fit_and_predict(*counts, float(sys.argv[5]))))
