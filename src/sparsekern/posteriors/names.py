"""What the user calls things, so that posteriors speak of them in the same words and units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .row_map import RowMap


@dataclass(frozen=True)
class Names:
    r"""Names of features, rows and classes, and the units of the response.

    Attributes
    ----------
    response : ndarray of shape (n,)
        y of every training row as it was given: class labels, or numbers in the user's units.
    rows : ndarray of shape (n,) or None
        Labels of the training rows; None: 0, 1, ..
    features : ndarray of shape (p,) or None
        Names of the features; None: 0, 1, ..
    classes : ndarray or None
        Sorted class labels; None in regression.
    centre, spread : float
        A response is :math:`y=centre+spread\cdot z` with z what the model sees.
    row_map : RowMap or None
        Which of the training rows those of the model are; None: all, in their order.
    """

    response: np.ndarray
    rows: np.ndarray | None = None
    features: np.ndarray | None = None
    classes: np.ndarray | None = None
    centre: float = 0.0
    spread: float = 1.0
    row_map: RowMap | None = None

    def feature(self, number: Any) -> str:
        """Return the name of a feature, or its number."""
        return str(number) if self.features is None else str(self.features[number])

    def feature_labels(self, count: int) -> np.ndarray:
        """Return the names of all features, or their numbers."""
        return np.arange(count) if self.features is None else np.asarray(self.features)

    def row_numbers(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers of training rows given by their place in the model."""
        return rows if self.row_map is None else self.row_map.taken[rows]

    def row_labels(self, numbers: np.ndarray) -> np.ndarray:
        """Return the labels of training rows given by number."""
        return numbers if self.rows is None else self.rows[numbers]

    def seen_rows(self, used: np.ndarray) -> tuple[np.ndarray, np.ndarray | slice]:
        """Return the numbers of the training rows that rows of a model stand for.

        And for each of them the place in ``used``, where these are numbers in the model.
        """
        return (used, slice(None)) if self.row_map is None else self.row_map.seen(used)

    def count_responses(self, used: np.ndarray) -> float:
        """Return how many responses rows of a model stand for, weights counted."""
        return float(len(used)) if self.row_map is None else self.row_map.count(used)

    def of_class(self, label: Any) -> Names:
        """Return the names in a model of one class against the rest."""
        return Names(
            response=self.response == label,
            rows=self.rows,
            features=self.features,
            classes=np.array([False, True]),
            row_map=self.row_map,
        )


def row_labels(table: Any) -> np.ndarray | None:
    """Return the index of a pandas table, in a form that files can keep; None: it has none.

    Labels that are no numbers, strings or dates (tuples of a hierarchy, say) become strings.
    """
    if not hasattr(table, "iloc"):  # a list has an ``index`` too
        return None
    labels = np.array(table.index)  # a copy: the user may change theirs
    if labels.ndim == 1 and labels.dtype.kind in "iufM":
        return labels
    return np.array([str(label) for label in table.index])
