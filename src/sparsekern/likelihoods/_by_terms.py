"""What samplers ask of a law that they know by its terms alone (:mod:`._terms_data`)."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from ._row_weights import row_weights


class ByTerms:
    """The sampler's face of a law with terms.

    Parameters
    ----------
    offset : array of shape (n,) or None
        Added to the function at the training rows; None: zero.
    prior : (float, float)
        Shape and rate of the gamma prior of the inverse of what the law learns, if anything.
    weights : array of shape (n,) or None
        How often each training row counts; None: once.
    """

    name: ClassVar[str]
    last_parameter: ClassVar[str | None]

    def __init__(
        self,
        offset: np.ndarray | None = None,
        prior: tuple[float, float] = (1.0, 0.1),
        weights: np.ndarray | None = None,
    ) -> None:
        self.offset, self.prior, self.weights = offset, prior, weights

    def _offset(self, count: int) -> np.ndarray:
        return np.zeros(count) if self.offset is None else self.offset[:count]

    def at_rows(self, rows: np.ndarray) -> Self:
        """Return the same for some of the training rows."""
        known = (self.offset, self.weights)
        offset, weights = (None if values is None else values[rows] for values in known)
        return type(self)(offset, self.prior, weights)

    def start_parameters(self) -> np.ndarray:
        """Return one for the number that the law learns, if any."""
        return np.ones(0 if self.last_parameter is None else 1)

    def start_working(self, response: np.ndarray) -> np.ndarray:
        """Return the function that suits each response alone."""
        from .terms import CODES, likely_value  # which knows this law

        code = CODES[self.name]
        likely = [likely_value(code, y, 0.0) for y in np.asarray(response, dtype=np.float64)]
        return np.array(likely) - self._offset(len(likely))

    def compiled(self, response: np.ndarray, parameters: np.ndarray) -> Any:
        """Return the responses for compiled code."""
        from ._terms_data import TermsData
        from .terms import CODES

        response = np.asarray(response, dtype=np.float64)
        offset = np.array(self._offset(len(response)), dtype=np.float64)
        weights = row_weights(self, len(response))
        prior = np.array(self.prior)
        return TermsData(CODES[self.name], response, offset, weights, parameters, prior)
