"""What chains will hold, told before it is allocated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._memory import available_bytes, held_bytes, require_memory
from ...inference.chains.plan import Plan, Sampler
from ...inference.chains.runner import Chain
from ...settings.limits import MOST_SWEEPS

_LEAST_OF_A_DRAW = 100  # bytes, of any model
_COPIES = 4  # of the draws: those of each chain, all side by side, and what is made of them


def check_plan(name: str, plan: Plan, chains: int, spoken: str | None = None) -> None:
    """Refuse what no machine can hold or finish, before any data are looked at.

    ``spoken`` is what the user asked for, where that is not the plan.
    """
    least = _COPIES * _LEAST_OF_A_DRAW * plan.draws * chains
    remedy = "reduce draws, or chains; a larger thin makes each draw count for more"
    asked = _asked(name, plan, chains, spoken)
    require_memory(least, asked, "the least that draws take", remedy)
    if plan.sweeps > MOST_SWEEPS:
        asked = spoken or f"tune={plan.tune} and draws={plan.draws} with thin={plan.thin}"
        raise ValueError(
            f"{asked} are {plan.sweeps} sweeps of each chain; at most {MOST_SWEEPS} are allowed: "
            "reduce the largest of them."
        )


def require_draws(
    name: str, samplers: Sequence[Sampler], plan: Plan, chains: int, spoken: str | None = None
) -> None:
    """Raise MemoryError unless the draws of ``chains`` chains of each sampler can be held."""
    needed = _COPIES * chains * sum(bytes_of_draws(sampler, plan) for sampler in samplers)
    affordable = plan.draws * (available_bytes() or 0) // max(needed, 1)
    remedy = f"use draws={affordable} or less" if affordable > 0 else "reduce draws or tune"
    remedy += ", or fewer chains; a larger thin makes each draw count for more"
    asked = _asked(name, plan, chains, spoken)
    require_memory(needed, asked, "the draws of all chains", remedy)


def bytes_of_draws(sampler: Sampler, plan: Plan) -> int:
    """Return what the draws of one chain take, told from the arrays for one draw."""
    one: Any = sampler.allocate(Plan(tune=0, draws=1, thin=1))
    traces = {name for name in one._fields if name.endswith("_trace")}
    return sum(
        values.nbytes * (plan.sweeps if name in traces else plan.draws)
        for name, values in one._asdict().items()
    )


def require_workspaces(
    name: str, samplers: Sequence[Sampler], started: Sequence[Chain], chains: int, remedy: str
) -> None:
    """Raise MemoryError unless every chain can have its working memory.

    Pages of a new array are not taken before they are written to: opening one costs nothing.
    """
    needed = 0
    for number, sampler in enumerate(samplers):
        state = started[number * chains].state
        needed += chains * held_bytes(sampler.open(state))
    require_memory(needed, name, f"the working memory of {len(started)} chains", remedy)


def _asked(name: str, plan: Plan, chains: int, spoken: str | None) -> str:
    spoken = spoken or f"draws={plan.draws}, tune={plan.tune}, thin={plan.thin}"
    return f"{name} with {spoken}, chains={chains}"
