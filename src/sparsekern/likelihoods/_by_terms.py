"""What samplers ask of a law that they know by its terms alone (:mod:`._terms_data`)."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np


class ByTerms:
    """The sampler's face of a law with terms.

    Parameters
    ----------
    offset : array of shape (n,) or None
        Added to the function at the training rows; None: zero.
    prior : (float, float)
        Shape and rate of the gamma prior of the inverse of what the law learns, if anything.
    """

    name: ClassVar[str]
    last_parameter: ClassVar[str | None]

    def __init__(
        self, offset: np.ndarray | None = None, prior: tuple[float, float] = (1.0, 0.1)
    ) -> None:
        self.offset, self.prior = offset, prior

    def _offset(self, count: int) -> np.ndarray:
        return np.zeros(count) if self.offset is None else self.offset[:count]

    def at_rows(self, rows: np.ndarray) -> Self:
        """Return the same for some of the training rows."""
        return type(self)(None if self.offset is None else self.offset[rows], self.prior)

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
        return TermsData(CODES[self.name], response, offset, parameters, np.array(self.prior))
