"""What the chain runner asks of a sampler.

A sampler is one model on one data set. A chain's ``state`` and ``draws`` are NamedTuples of
arrays: the runner saves, restores and truncates them without knowing what they mean.
``state.sweep`` counts the sweeps done; every array of ``draws`` has the kept draw as its first
axis, but for names that end in ``_trace``, whose first axis is the sweep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np


@dataclass(frozen=True)
class Plan:
    """How long to run: ``tune`` sweeps, then ``draws`` kept draws, one every ``thin`` sweeps."""

    tune: int
    draws: int
    thin: int

    @property
    def sweeps(self) -> int:
        """Sweeps in all."""
        return self.tune + self.draws * self.thin

    def kept(self, sweep: int) -> int:
        """Draws kept once ``sweep`` sweeps are done."""
        return max(0, (sweep - self.tune) // self.thin)


class Sampler(Protocol):
    """One model on one data set, ready to run chains."""

    refresh_every: int  # a chain continued from its state at a multiple of this is bitwise the same

    @property
    def engine(self) -> str:
        """Name of the compiled code that runs it."""
        ...

    def start(self, rng: np.random.Generator, chain: int) -> NamedTuple:
        """Return the state in which chain number ``chain`` starts."""
        ...

    def allocate(self, plan: Plan) -> NamedTuple:
        """Return empty arrays for the draws of one chain."""
        ...

    def open(self, state: Any) -> Any:
        """Return the memory that a running chain needs besides its state.

        Arrays in it that are called ``abandoned`` are set to 1 when nobody waits for a leg any
        more: compiled loops that look at them end early, and free their core.
        """
        ...

    def fingerprint_parts(self) -> list[Any]:
        """Return what decides the draws: data, kernel values, settings."""
        ...

    def advance(
        self,
        rngs: tuple[np.random.Generator, np.random.Generator],
        state: Any,
        workspace: Any,
        draws: Any,
        stop: int,
        plan: Plan,
        fresh: bool,
    ) -> None:
        """Run sweeps until ``stop`` are done, changing state and draws in place."""
        ...
