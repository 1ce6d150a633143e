"""Kernel columns of the candidates: held in memory where they fit, made on demand where not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

HELD_NUMBERS = 40_000_000  # 320 MB in double precision


@dataclass
class CandidateColumns:
    """Columns of the design that may become active.

    Attributes
    ----------
    make : callable
        ``make(candidates)`` returns the columns with these numbers, a row for each.
    signs : ndarray of shape (m,)
        Sign of each column.
    n_rows : int
    block_size : int
        Candidates looked at before the best of them is added.
    single : bool
        Rank candidates by columns in single precision; columns of the model are never so.
    """

    make: Callable[[np.ndarray], np.ndarray]
    signs: np.ndarray
    n_rows: int
    block_size: int
    single: bool = False
    _table: np.ndarray | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.signs) == 0:
            self._table = np.empty((0, self.n_rows))
        elif len(self.signs) * self.n_rows <= HELD_NUMBERS:
            kind = np.float32 if self.single else np.float64
            table = np.empty((len(self.signs), self.n_rows), kind)
            for number in range(self.n_blocks):  # Ctrl-C is seen between blocks
                chosen, columns = self.block(number)
                table[chosen] = columns
            self._table = table

    def _convert(self, columns: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(columns, np.float32 if self.single else np.float64)

    @property
    def n_blocks(self) -> int:
        """Blocks that cover all candidates."""
        return -(-len(self.signs) // max(1, self.block_size))

    def block(self, number: int) -> tuple[slice, np.ndarray]:
        """Return which candidates a block holds, and their columns."""
        first = number * self.block_size
        chosen = slice(first, min(first + self.block_size, len(self.signs)))
        if self._table is not None:
            return chosen, self._table[chosen]
        return chosen, self._convert(self.make(np.arange(chosen.start, chosen.stop)))

    def column(self, candidate: int) -> np.ndarray:
        """Return one column in double precision."""
        if self._table is not None and not self.single:
            return self._table[candidate]
        return np.ascontiguousarray(self.make(np.array([candidate]))[0], np.float64)
