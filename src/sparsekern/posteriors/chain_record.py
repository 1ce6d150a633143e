"""What chains leave besides the draws of a model: how they went."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class ChainRecord:
    """How the chains of one model went.

    Attributes
    ----------
    tune, thin : int
        Sweeps before the first kept draw, and for each of them.
    traces : dict of list of ndarray
        Counts such as ``n_active`` after every sweep, tuning included, chain by chain.
    moves : tuple of str
        Kinds of moves that may be refused.
    tallies : ndarray of shape (chains, moves, 2)
        Moves tried and accepted after tuning.
    limits : dict
        The most that the chains allow of a count, where there could be more.
    """

    tune: int
    thin: int
    traces: dict[str, list[np.ndarray]]
    moves: tuple[str, ...]
    tallies: np.ndarray
    limits: dict[str, int]

    @property
    def acceptance_rates(self) -> dict[str, float]:
        """Share of accepted moves of all chains, by kind; kinds that were tried only."""
        return {
            name: float(accepted / tried)
            for name, (tried, accepted) in zip(self.moves, self.tallies.sum(axis=0), strict=True)
            if tried
        }

    def rates_by_chain(self) -> tuple[list[str], np.ndarray]:
        """Return the kinds of moves that were tried and their rates, shape (chains, kinds).

        A rate is missing where a chain has not tried what another has.
        """
        used = np.flatnonzero(self.tallies[..., 0].any(axis=0))
        tried, accepted = self.tallies[:, used, 0], self.tallies[:, used, 1]
        rates = np.full(tried.shape, np.nan)
        np.divide(accepted, tried, out=rates, where=tried > 0)
        return [self.moves[number] for number in used], rates


def joined_record(records: list[ChainRecord]) -> ChainRecord:
    """Return the record of models sampled side by side: counts and tallies added up."""
    first = records[0]
    traces = {
        name: [_total(traces) for traces in zip(*(r.traces[name] for r in records), strict=True)]
        for name in first.traces
    }
    return replace(first, traces=traces, tallies=np.sum([r.tallies for r in records], axis=0))


def _total(traces: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return the sum of traces, which differ in length after an interruption."""
    shortest = min(len(trace) for trace in traces)
    return np.sum([trace[:shortest] for trace in traces], axis=0)
