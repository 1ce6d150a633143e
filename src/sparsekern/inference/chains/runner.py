"""Run chains in parallel, in short legs, so that they can be watched, stopped and saved.

Worker threads run compiled legs without the GIL; meanwhile the calling thread reports progress,
writes checkpoints and sees Ctrl-C. Neither the number of threads nor the length of a leg touches a
draw: each chain has its own random streams.

A leg is a fraction of a second, or one sweep where that takes longer, and nothing can end a sweep
from outside: many rows, a large active set or the compiler can make it last for minutes. After
Ctrl-C nobody waits for it. The chain goes back to where its last whole leg ended, on arrays of its
own, and what the thread still writes is read by nobody. Long sweeps are told so, and end after the
move under way: the core is free again, and Python can exit.
"""

from __future__ import annotations

import copy
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._threads import count_chain_workers, single_blas_thread
from .aside import aside
from .checkpoint import Checkpoint
from .plan import Plan, Sampler
from .regroup import can_be_compared, move_those_behind, sweep_of_comparison

_LEG_SECONDS = 0.2
_BEAT_SECONDS = 1.0  # between reports, however long a leg takes
_PATIENCE_SECONDS = 1.0  # after Ctrl-C, for legs under way


@dataclass
class Chain:
    """One chain: its state, its draws and its random streams."""

    state: Any
    draws: Any
    rngs: tuple[np.random.Generator, np.random.Generator]

    @property
    def sweep(self) -> int:
        """Sweeps done."""
        return int(self.state.sweep[0])

    def snapshot(self) -> Chain:
        """Return the chain as it stands, on a state and streams of its own.

        Draws are shared: those made so far are never written again.
        """
        return Chain(copy.deepcopy(self.state), self.draws, copy.deepcopy(self.rngs))


@dataclass
class ChainRun:
    """What came of a run: the chains, how many draws all of them have, and why it ended."""

    chains: list[Chain]
    kept: int
    ended: str  # "finished", "interrupted", "stopped" by a callback, "out of time" or "of draws"


def start_chains(sampler: Sampler, plan: Plan, seeds: Sequence[np.random.SeedSequence]):
    """Return one chain per seed, not yet run.

    Some samplers look for a good start, which can take as long as many sweeps.
    """
    chains = []
    for number, seed in enumerate(seeds):
        first, second = (np.random.Generator(np.random.PCG64(s)) for s in seed.spawn(2))
        state = aside(sampler.start, first, number)
        chains.append(Chain(state, sampler.allocate(plan), (first, second)))
    return chains


def _abandon(workspace: Any) -> None:
    """Tell the compiled loops on a workspace that nobody reads what they write any more."""
    if isinstance(workspace, tuple):
        if hasattr(workspace, "abandoned"):
            workspace.abandoned[:] = 1
        for part in workspace:
            _abandon(part)


class _Runner:
    """A chain on the move: its workspace, its pace, and where its next leg ends."""

    def __init__(self, chain: Chain, sampler: Sampler, plan: Plan) -> None:
        self.chain, self.sampler, self.plan = chain, sampler, plan
        self.workspace = sampler.open(chain.state)
        self.fresh = True
        self.pace = 1  # sweeps in the next leg
        self.pause: int | None = None  # sweep at which to wait for the others
        self._whole = chain.snapshot()  # after the last whole leg
        self._moving = threading.Lock()

    def leg(self) -> None:
        if not self._moving.acquire(blocking=False):  # left before it began
            return
        try:
            self._advance()
            self._whole = self.chain.snapshot()
        finally:
            self._moving.release()

    def _advance(self) -> None:
        sweep, block = self.chain.sweep, self.sampler.refresh_every
        stop = sweep + self.pace
        boundary = (stop // block) * block
        if boundary > sweep:  # end on a sweep from which the chain can be restored exactly
            stop = boundary
        stop = min(stop, self.plan.sweeps if self.pause is None else self.pause)
        begin = time.perf_counter()
        self.sampler.advance(
            self.chain.rngs, self.chain.state, self.workspace, self.chain.draws, stop,
            self.plan, self.fresh,
        )  # fmt: skip
        self.fresh = False
        rate = (stop - sweep) / max(time.perf_counter() - begin, 1e-9)
        self.pace = max(1, min(4 * self.pace, int(rate * _LEG_SECONDS)))

    def leave(self, seconds: float) -> Chain:
        """Wait so long for a leg under way, let no other begin, and return the chain.

        A leg that is not over by then, or has failed, is as if it had never begun.
        """
        self._moving.acquire(timeout=max(0.0, seconds))  # and never released: no leg begins
        whole = self._whole  # before the leg is cut short: what it makes then is no whole leg
        _abandon(self.workspace)
        return whole

    @property
    def fraction(self) -> float:
        """Share of the sweeps that is done."""
        return self.chain.sweep / self.plan.sweeps

    @property
    def waits(self) -> bool:
        """Whether it has come to where it waits for the others."""
        return self.pause is not None and self.chain.sweep >= self.pause

    def go_on(self) -> None:
        """Go on from the state of the chain, which may have been changed."""
        self.pause, self.fresh = None, True
        self.workspace = self.sampler.open(self.chain.state)
        self._whole = self.chain.snapshot()

    @property
    def done(self) -> bool:
        return self.chain.sweep >= self.plan.sweeps


def _leave(runners: list[_Runner]) -> list[Chain]:
    """Return all chains after Ctrl-C, soon, without the legs that are not over by then."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return [runner.leave(end - time.monotonic()) for runner in runners]
        except KeyboardInterrupt:  # pressed again: at once
            end = -math.inf


def _set_pauses(runners: list[_Runner]) -> None:
    """Let chains that can be compared wait for each other, unless they have been."""
    where = sweep_of_comparison(runners[0].plan)
    able = can_be_compared([runner.sampler for runner in runners])
    if able and where > 0 and all(runner.chain.sweep <= where for runner in runners):
        for runner in runners:
            runner.pause = where


def _all_wait(runners: list[_Runner]) -> bool:
    return all(runner.waits for runner in runners)


def _regroup(runners: list[_Runner]) -> None:
    for runner in runners:  # comparing takes memory, too
        runner.workspace = None
    move_those_behind(
        [runner.sampler for runner in runners], [runner.chain.state for runner in runners]
    )
    for runner in runners:
        runner.go_on()


def run_chains(
    samplers: Sequence[Sampler],
    chains: list[Chain],
    plan: Plan,
    *,
    n_jobs: int | None = None,
    report: Callable[[int, float], bool] | None = None,
    checkpoint: Checkpoint | None = None,
) -> ChainRun:
    """Advance all chains to the end of ``plan``.

    Parameters
    ----------
    samplers : sequence of Sampler
        The sampler of each chain.
    chains : list of Chain
    plan : Plan
    n_jobs : int or None
        Threads; None: as many as cores, unless something else is parallel.
    report : callable, optional
        Called as ``report(chain, fraction)`` after every leg, in the calling thread; a true return
        value ends the run with the draws so far.
    checkpoint : Checkpoint, optional
        Where to save chains between legs.

    Returns
    -------
    ChainRun
        After Ctrl-C or an early stop ``kept`` counts the draws that every chain has.
    """
    runners = [
        _Runner(chain, sampler, plan) for chain, sampler in zip(chains, samplers, strict=True)
    ]
    _set_pauses(runners)
    waiting = [n for n, runner in enumerate(runners) if not (runner.done or runner.waits)]
    running: dict[Future[None], int] = {}
    ended = "finished"
    workers = count_chain_workers(n_jobs, len(chains))
    with single_blas_thread():
        pool = ThreadPoolExecutor(workers)
        try:
            while waiting or running or (ended == "finished" and _all_wait(runners)):
                if not (waiting or running):
                    aside(_regroup, runners)
                    if checkpoint is not None:  # all, before any goes on
                        for number, chain in enumerate(chains):
                            checkpoint.save(number, chain, plan, every=1, at_once=True)
                    waiting = list(range(len(runners)))
                while waiting and len(running) < workers:
                    number = waiting.pop(0)
                    running[pool.submit(runners[number].leg)] = number
                finished, _ = wait(running, _BEAT_SECONDS, return_when=FIRST_COMPLETED)
                moved = [running.pop(future) for future in finished]
                for future in finished:
                    future.result()
                for number in moved or running.values():
                    if report is not None and report(number, runners[number].fraction):
                        ended = "stopped"
                for number in moved:
                    if checkpoint is not None:
                        every = samplers[number].refresh_every
                        checkpoint.save(number, chains[number], plan, every=every)
                    runner = runners[number]
                    if not (runner.done or runner.waits) and ended == "finished":
                        waiting.append(number)
            pool.shutdown()
        except KeyboardInterrupt:
            ended = "interrupted"
            pool.shutdown(wait=False, cancel_futures=True)
            chains = _leave(runners)
        except BaseException:
            pool.shutdown()
            raise
    if all(chain.sweep >= plan.sweeps for chain in chains):
        ended = "finished"
    return ChainRun(chains, min(plan.kept(chain.sweep) for chain in chains), ended)
