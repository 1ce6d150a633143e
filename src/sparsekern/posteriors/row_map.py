"""Rows of the user and rows of a model, where these are not the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RowMap:
    """Which rows of the user a model was fitted to, and how often each of them counts.

    Rows of weight zero are in no model. A row of weight three is one row that counts three times
    or, where no row can, three rows.

    Attributes
    ----------
    taken : ndarray of shape (m,)
        For every row of the model its number among the rows of the user.
    alike : ndarray of shape (n,)
        For every row of the user the first one that holds the same; -1 where the weight is zero.
    weights : ndarray of shape (m,) or None
        How often each row of the model counts; None: once.
    response : ndarray of shape (n,) or (n, outputs)
        y of every row as it was given.
    """

    taken: np.ndarray
    alike: np.ndarray
    weights: np.ndarray | None
    response: np.ndarray

    def seen(self, used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the user's rows that some rows of the model stand for.

        Parameters
        ----------
        used : ndarray of shape (q,)
            Numbers of rows of the model.

        Returns
        -------
        numbers : ndarray of int
            Rows of the user, in their order.
        places : ndarray of int
            For each of them the place in ``used`` of a row that holds the same.
        """
        place = np.full(len(self.alike) + 1, -1)  # the last one: rows of weight zero
        place[self.alike[self.taken[used]]] = np.arange(len(used))
        places = place[self.alike]
        numbers = np.flatnonzero(places >= 0)
        return numbers, places[numbers]

    def named(self, numbers: np.ndarray) -> np.ndarray:
        """Return the rows of the model that hold the same as rows of the user."""
        return np.flatnonzero(np.isin(self.alike[self.taken], self.alike[numbers]))

    def count(self, used: np.ndarray) -> float:
        """Return how many responses some rows of the model stand for."""
        return float(len(used) if self.weights is None else self.weights[used].sum())
