"""What the posteriors of all engines take from a run in the same way."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...posteriors.chain_record import ChainRecord
from .plan import Plan
from .runner import ChainRun

_TRACES = {"size_trace": "n_active", "features_trace": "n_features"}  # counts of every sweep


def stacked(run: ChainRun, name: str) -> np.ndarray:
    """Return the kept draws of all chains, shape (chains, draws, ..)."""
    return np.stack([getattr(chain.draws, name)[: run.kept] for chain in run.chains])


def make_record(
    run: ChainRun, plan: Plan, moves: tuple[str, ...], limits: dict[str, int]
) -> ChainRecord:
    """Return how the chains went; ``moves`` names the rows of their tallies."""
    return ChainRecord(
        tune=plan.tune,
        thin=plan.thin,
        traces={
            name: [getattr(chain.draws, part)[: chain.sweep].copy() for chain in run.chains]
            for part, name in _TRACES.items()
            if part in run.chains[0].draws._fields
        },
        moves=moves,
        tallies=np.stack([chain.state.tallies for chain in run.chains]),
        limits=limits,
    )


def expansion_parts(run: ChainRun, training_rows: np.ndarray, n_kernels: int = 1) -> dict[str, Any]:
    """Return what every expansion keeps but its likelihood and vectors.

    ``training_rows`` are the numbers of the active vectors of the stacked draws.
    """
    counts = stacked(run, "n_active")
    width = max(1, int(counts.max()))
    training_rows = training_rows[..., :width]
    held = np.arange(width) < counts[..., None]
    active = training_rows[held]
    used = np.zeros(active.max(initial=-1) + 1, bool)  # to sort millions of numbers takes seconds
    used[active] = True
    rows = np.flatnonzero(used)
    slots = np.zeros(training_rows.shape, np.int32)
    slots[held] = (np.cumsum(used) - 1)[active]
    coefficients = stacked(run, "coefficients")[..., : width * n_kernels]
    return {
        "rows": rows.astype(np.int64),
        "counts": counts,
        "slots": slots,
        "coefficients": coefficients.reshape(*coefficients.shape[:3], width, n_kernels),
        "intercepts": stacked(run, "intercept"),
        "noise_variances": stacked(run, "noise_variance"),
        "parameters": stacked(run, "parameters"),
    }
