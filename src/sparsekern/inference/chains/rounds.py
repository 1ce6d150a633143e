"""Sampling that goes on until its draws suffice.

Chains run in rounds. After each they are judged by R-hat and effective sample sizes, and if these
fall short the next round is longer, by as much as seems to be missing. A round ends at a number of
draws, never at a time: the same seed gives the same draws, however many threads there are.

No more than a thousand draws of a chain are held. When there would be more, every other one is
left out: draws that need so long a chain are much alike. Where the second half of the draws passes
and all of them do not, chains were still on their way when tuning ended: the first half goes.

Looking several times and stopping at the first that pleases is a little optimistic. The limits are
strict enough, and rounds few enough, that it does not matter.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...settings.until_converged import UntilConverged
from .checkpoint import Checkpoint
from .plan import Plan, Sampler
from .runner import Chain, ChainRun, run_chains

_FIRST = 500  # draws of the first round
_STEP = 100  # rounds end at multiples of so many draws
_MOST_HELD = 1000  # draws of a chain; arrays, files and predictions grow with them
_LEAST_GROWTH, _MOST_GROWTH = 1.25, 2.0
_LEAST_IN_TIME = 100  # draws of each chain, whatever the time


class Standing(NamedTuple):
    """How chains stand: the largest R-hat and the smallest effective sample size."""

    r_hat: float
    ess: float

    def meets(self, goal: UntilConverged) -> bool:
        """Tell whether that suffices; what is not a number does not."""
        return self.r_hat <= goal.r_hat and self.ess >= goal.ess


Judge = Callable[[ChainRun, Plan], Standing]


class Rounds:
    """The plans of the rounds.

    Parameters
    ----------
    tune : int
        Sweeps before the first draw, as asked for.
    thin : int
        Sweeps for each draw, as asked for.
    goal : UntilConverged
    most : int
        Most draws of a chain, those that are left out included, unless the goal says otherwise.
    """

    def __init__(self, tune: int, thin: int, goal: UntilConverged, most: int) -> None:
        self.goal, self._tune, self._thin = goal, tune, thin
        self.most = most if goal.max_draws is None else goal.max_draws

    @property
    def first(self) -> Plan:
        """The plan of the first round."""
        return Plan(self._tune, min(_FIRST, self.most), self._thin)

    @property
    def largest(self) -> Plan:
        """A plan of as many draws and as many sweeps as there can be."""
        held = min(_MOST_HELD, self.most)
        return Plan(self._tune, held, -(-self.most * self._thin // held))

    def share(self, plan: Plan) -> float:
        """Return what share of the longest way there can be a plan goes."""
        return plan.sweeps / max(self._tune + self.most * self._thin, plan.sweeps)

    def longer(self, plan: Plan, standing: Standing) -> Plan | None:
        """Return the plan of the next round, if there can be one.

        It makes as many draws as seem to be needed, not many more: effective sample sizes grow with
        the draws, and R-hat less one falls with them.
        """
        goal, growth = self.goal, _MOST_GROWTH
        if standing.ess > 0 and math.isfinite(standing.r_hat):
            short = (standing.r_hat - 1.0) / (goal.r_hat - 1.0)
            growth = min(max(1.1 * goal.ess / standing.ess, short, _LEAST_GROWTH), _MOST_GROWTH)
        made = (plan.sweeps - self._tune) // self._thin
        wanted = _STEP * math.ceil(growth * made / _STEP)
        sweeps = self._tune + min(wanted, self.most) * self._thin
        longer = _held(Plan(plan.tune, (sweeps - plan.tune) // plan.thin, plan.thin))
        return longer if longer.sweeps > plan.sweeps else None


def _held(plan: Plan) -> Plan:
    """Return the plan that makes as many sweeps, and holds no more draws than it may."""
    apart, sweeps = plan.thin, plan.draws * plan.thin
    while sweeps > _MOST_HELD * apart:
        apart *= 2
    return replace(plan, draws=sweeps // apart, thin=apart)


def move_chain(chain: Chain, sampler: Sampler, old: Plan, new: Plan) -> Chain:
    """Return a chain of one plan as it is by another, which keeps some of its draws or has room.

    Draw j of a plan is made by sweep ``tune + thin (j + 1)``; draws of the new plan have to be
    among those of the old. The chain that is given stays as it is.
    """
    draws = sampler.allocate(new)
    made = np.arange(min(new.kept(chain.sweep), new.draws))
    places = (new.tune - old.tune + new.thin * (made + 1)) // old.thin - 1
    for name, before, after in zip(draws._fields, chain.draws, draws, strict=True):
        if name.endswith("_trace"):
            size = min(chain.sweep, len(after))
            after[:size] = before[:size]
        else:
            after[: len(made)] = before[places]
    own = chain.snapshot()
    return Chain(own.state, draws, own.rngs)


def _second_half(run: ChainRun, plan: Plan) -> tuple[ChainRun, Plan]:
    """Return a run that is over without the first half of its draws: views, nothing is copied."""
    half = plan.draws // 2
    chains = [
        replace(
            chain,
            draws=chain.draws._make(
                values if name.endswith("_trace") else values[half:]
                for name, values in chain.draws._asdict().items()
            ),
        )
        for chain in run.chains
    ]
    shorter = replace(plan, tune=plan.tune + half * plan.thin, draws=plan.draws - half)
    return replace(run, chains=chains, kept=run.kept - half), shorter


def run_rounds(
    samplers: Sequence[Sampler],
    chains: list[Chain],
    plan: Plan,
    rounds: Rounds,
    judge: Judge,
    *,
    n_jobs: int | None = None,
    report: Any,
    checkpoint: Checkpoint | None = None,
) -> tuple[ChainRun, Plan]:
    """Advance chains until they meet the goal or its limits end them.

    Parameters
    ----------
    samplers : sequence of Sampler
        The sampler of each chain.
    chains : list of Chain
        Of ``plan``.
    plan : Plan
        Of the present round.
    rounds : Rounds
        The goal, and what follows the present round.
    judge : callable
        Tells how the draws of a run stand.
    n_jobs : int or None
    report : Reporter
        Is told about progress, rounds and where chains stand.
    checkpoint : Checkpoint, optional

    Returns
    -------
    ChainRun
        ``ended`` is ``"finished"`` where the goal is met.
    Plan
        That of its draws.
    """
    goal, begin = rounds.goal, time.monotonic()
    stopped = late = False

    def watched(number: int, fraction: float) -> bool:
        nonlocal stopped, late
        if goal.max_seconds is not None and time.monotonic() - begin > goal.max_seconds:
            late = min(plan.kept(chain.sweep) for chain in chains) >= _LEAST_IN_TIME
        stopped |= bool(report(number, fraction))
        return stopped or late

    report.say(f"wanted: R-hat {goal.r_hat:g}, ESS {goal.ess:g}")
    while True:
        report.begin_round(rounds.share(plan))
        run = run_chains(
            samplers, chains, plan, n_jobs=n_jobs, report=watched, checkpoint=checkpoint
        )
        too_early = "stopped" if stopped else "out of time" if late else None
        if run.ended != "finished":
            return replace(run, ended=too_early or run.ended), plan
        try:
            standing = judge(run, plan)
            report.say(f"R-hat {standing.r_hat:.3f}, ESS {standing.ess:.0f}")
            if standing.meets(goal):
                return run, plan
            second = _second_half(run, plan)
            if judge(*second).meets(goal):
                return second
            longer = rounds.longer(plan, standing)
            if longer is None or too_early:
                return replace(run, ended=too_early or "out of draws"), plan
            chains = [
                move_chain(chain, sampler, plan, longer)
                for chain, sampler in zip(run.chains, samplers, strict=True)
            ]
        except KeyboardInterrupt:
            return replace(run, ended="interrupted"), plan
        plan = longer
