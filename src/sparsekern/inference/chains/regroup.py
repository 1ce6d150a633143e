r"""Chains that fall hopelessly behind while they are tuned go on from the best one.

A posterior may have modes that lie tens of nats below the best, and that no move of a sweep leads
away from: with cos(x) and 1,000 rows half of the chains ended where the function bends three times
less, 43 nats lower. Halfway through tuning all chains are compared by their log posterior, and one
that lies more than 20 nats below the best takes its state. Each keeps random streams of its own and
has the other half of tuning to forget where it came from; kept draws are untouched.

Doing it again changes nothing, since nobody is behind any more: a run that was killed in between
may do it once more. (Where a chain could not be saved, and the run was killed then, chains may
stand on either side of the place; those are no longer compared.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .plan import Plan

HOPELESS = 20.0  # nats; within one mode log posteriors differ by five or ten
_LEAST = 50  # sweeps; sooner chains differ because they have only just started


def sweep_of_comparison(plan: Plan) -> int:
    """Return the number of sweeps after which chains are compared; zero: they are not."""
    return plan.tune // 2 if plan.tune >= 2 * _LEAST else 0


def can_be_compared(samplers: Sequence[Any]) -> bool:
    """Tell whether every sampler has several chains and knows the log posterior of their states."""
    return all(
        getattr(sampler, "knows_log_density", False) and _own(samplers, sampler)[1:]
        for sampler in samplers
    )


def _own(samplers: Sequence[Any], sampler: Any) -> list[int]:
    """Return the numbers of the chains of one sampler."""
    return [number for number, other in enumerate(samplers) if other is sampler]


def move_those_behind(samplers: Sequence[Any], states: Sequence[Any]) -> list[int]:
    """Give the best state of a sampler's chains to those that are hopelessly behind it.

    Returns
    -------
    list of int
        Which states were changed, in place.
    """
    moved = []
    for sampler in {id(sampler): sampler for sampler in samplers}.values():
        own = _own(samplers, sampler)
        values = {number: sampler.log_density(states[number]) for number in own}
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
