r"""Chains that fall hopelessly behind while they are tuned go on from the best one.

A posterior may have modes that lie tens of nats below the best, and that no move of a sweep leads
away from: with cos(x) and 1,000 rows half of the chains ended where the function bends three times
less, 43 nats lower. Halfway through tuning all chains are compared by their log posterior, and one
that lies more than 20 nats below the best takes its state. Each keeps random streams of its own,
and the other half of tuning to forget where it came from; kept draws are untouched.

Doing it again changes nothing, since nobody is behind any more: a run that was killed in between
may do it once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .plan import Plan

HOPELESS = 20.0  # nats; within one mode log posteriors differ by five or ten


def sweep_of_comparison(plan: Plan) -> int:
    """Return the number of sweeps after which chains are compared."""
    return plan.tune // 2


def can_be_compared(sampler: Any) -> bool:
    """Tell whether a sampler knows the log posterior of a state."""
    return hasattr(sampler, "log_density")


def move_those_behind(samplers: Sequence[Any], states: Sequence[Any]) -> list[int]:
    """Give the best state of a sampler's chains to those that are hopelessly behind it.

    Returns
    -------
    list of int
        Which states were changed, in place.
    """
    moved = []
    for sampler in {id(sampler): sampler for sampler in samplers}.values():
        own = [number for number, other in enumerate(samplers) if other is sampler]
        values = {number: sampler.log_density(states[number]) for number in own}
        if any(value is None for value in values.values()):
            continue
        best = max(own, key=lambda number: _comparable(values[number]))
        for number in own:
            if _comparable(values[number]) < values[best] - HOPELESS:
                for part, other in zip(states[number], states[best], strict=True):
                    np.copyto(part, other)
                moved.append(number)
    return moved


def _comparable(value: float) -> float:
    """Put a state without a density behind all others."""
    return value if np.isfinite(value) else -np.inf
