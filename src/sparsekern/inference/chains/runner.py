"""Run chains in parallel, in short legs, so that they can be watched, stopped and saved.

Worker threads run compiled legs of a fraction of a second without the GIL; between legs the calling
thread reports progress, writes checkpoints and sees Ctrl-C. Neither the number of threads nor the
length of a leg touches a draw: each chain has its own random streams.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._threads import count_workers, single_blas_thread
from .checkpoint import Checkpoint
from .plan import Plan, Sampler

_LEG_SECONDS = 0.2


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


@dataclass
class ChainRun:
    """What came of a run: the chains, how many draws all of them have, and why it ended."""

    chains: list[Chain]
    kept: int
    ended: str  # "finished", "interrupted" or "stopped"


def start_chains(sampler: Sampler, plan: Plan, seeds: Sequence[np.random.SeedSequence]):
    """Return one chain per seed, not yet run."""
    chains = []
    for number, seed in enumerate(seeds):
        first, second = (np.random.Generator(np.random.PCG64(s)) for s in seed.spawn(2))
        chains.append(Chain(sampler.start(first, number), sampler.allocate(plan), (first, second)))
    return chains


def extend_chain(chain: Chain, sampler: Sampler, plan: Plan) -> Chain:
    """Return the chain with room for the draws of another plan, those it has made included."""
    draws = sampler.allocate(plan)
    for old, new in zip(chain.draws, draws, strict=True):
        size = min(len(old), len(new))
        new[:size] = old[:size]
    return Chain(chain.state, draws, chain.rngs)


class _Runner:
    """A chain on the move: its workspace, its pace, and where its next leg ends."""

    def __init__(self, chain: Chain, sampler: Sampler, plan: Plan) -> None:
        self.chain, self.sampler, self.plan = chain, sampler, plan
        self.workspace = sampler.open(chain.state)
        self.fresh = True
        self.pace = 1  # sweeps in the next leg

    def leg(self) -> None:
        sweep, block = self.chain.sweep, self.sampler.refresh_every
        stop = sweep + self.pace
        boundary = (stop // block) * block
        if boundary > sweep:  # end on a sweep from which the chain can be restored exactly
            stop = boundary
        stop = min(stop, self.plan.sweeps)
        begin = time.perf_counter()
        self.sampler.advance(
            self.chain.rngs, self.chain.state, self.workspace, self.chain.draws, stop,
            self.plan, self.fresh,
        )  # fmt: skip
        self.fresh = False
        rate = (stop - sweep) / max(time.perf_counter() - begin, 1e-9)
        self.pace = max(1, min(4 * self.pace, int(rate * _LEG_SECONDS)))

    @property
    def done(self) -> bool:
        return self.chain.sweep >= self.plan.sweeps


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
        Threads; None means one.
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
    waiting = [number for number, runner in enumerate(runners) if not runner.done]
    running: dict[Future[None], int] = {}
    ended = "finished"
    workers = count_workers(n_jobs, len(chains))
    with single_blas_thread(), ThreadPoolExecutor(workers) as pool:
        try:
            while waiting or running:
                while waiting and len(running) < workers:
                    number = waiting.pop(0)
                    running[pool.submit(runners[number].leg)] = number
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    number = running.pop(future)
                    future.result()
                    chain = chains[number]
                    if report is not None and report(number, chain.sweep / plan.sweeps):
                        ended = "stopped"
                    if checkpoint is not None:
                        every = samplers[number].refresh_every
                        checkpoint.save(number, chain, plan, every=every)
                    if not runners[number].done and ended == "finished":
                        waiting.append(number)
        except KeyboardInterrupt:
            ended = "interrupted"
        except BaseException:
            if checkpoint is not None:
                checkpoint.close(finished=False)
            raise
        # legs under way end within a fraction of a second; leaving the pool waits for them
    if all(runner.done for runner in runners):
        ended = "finished"
    if checkpoint is not None:
        checkpoint.close(finished=ended == "finished")
    return ChainRun(chains, min(plan.kept(chain.sweep) for chain in chains), ended)
