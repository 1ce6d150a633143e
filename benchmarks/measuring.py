"""Processor seconds and effective sample sizes.

Everything is timed in processor seconds of this process, which runs one thread: on a shared machine
they do not count the time in which somebody else had the processor.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np
from arviz_stats.base import array_stats


def seconds(action: Callable[[], object]) -> float:
    """Return the processor seconds of one call."""
    begin = time.process_time()
    action()
    return time.process_time() - begin


def effective_samples(series: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Return the rank-normalised bulk effective sample size of each (chains, draws) array."""
    return {name: float(array_stats.ess(x, method="bulk")) for name, x in series.items()}


def r_hats(series: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Return the rank-normalised R-hat of each (chains, draws) array."""
    return {name: float(array_stats.rhat(x)) for name, x in series.items()}


def geometric_mean(values) -> float:
    """Return the mean on the log scale, the one for ratios."""
    return float(np.exp(np.mean(np.log(np.asarray(list(values), dtype=np.float64)))))
