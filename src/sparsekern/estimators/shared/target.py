"""Real responses: their centre and spread, and the sentences that unusable ones get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from ...predictive.law import PredictiveLaw
from ...predictive.mixture import Mixture
from .validation import refuse_dates


def measure_response(y: Any, robust: bool = False) -> tuple[np.ndarray, float, float]:
    """Return y as an array, its centre and its spread.

    Parameters
    ----------
    y : array-like of shape (n,)
    robust : bool
        Median and median deviation (times that of a Gaussian) in place of mean and standard
        deviation, so that a few gross errors do not squeeze all other responses together.
    """
    refuse_dates(y, "y")
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    largest = max(float(np.abs(y).max()), np.finfo(np.float64).tiny)
    centre = largest * float((y / largest).mean())
    spread = largest * float(((y - centre) / largest).std())
    if spread <= 1e-12 * largest:
        raise ValueError(
            f"y is constant ({float(y[0])!r} in every row up to rounding); there is nothing to "
            "learn."
        )
    if not 1e-70 < spread < 1e70:  # variances, and their variances, must be numbers
        raise ValueError(
            f"y has the standard deviation {spread:.3g}, which is out of range; "
            "rescale y, for instance by choosing another unit."
        )
    if robust:
        middle = float(np.median(y))
        typical = 1.4826 * float(np.median(np.abs(y - middle)))
        if typical > 1e-12 * abs(middle):  # zero where over half of the responses are the same
            centre, spread = middle, typical
    return y, centre, spread


@dataclass(frozen=True)
class Target:
    """Real responses as the models see them: centred and scaled, one column per output.

    Attributes
    ----------
    centre, spread : ndarray of shape (n_outputs,)
    single : bool
        Whether the user gave one output as a vector.
    """

    centre: np.ndarray
    spread: np.ndarray
    single: bool = True

    @classmethod
    def measured(cls, y: Any, robust: bool = False) -> tuple[Target, np.ndarray]:
        """Return the scale of y and y on it, one column per output."""
        y = np.asarray(y)
        columns = [measure_response(column, robust) for column in np.reshape(y, (len(y), -1)).T]
        target = cls(
            np.array([centre for _, centre, _ in columns]),
            np.array([spread for _, _, spread in columns]),
            y.ndim == 1,
        )
        return target, target.scaled(np.column_stack([column for column, _, _ in columns]))

    def scaled(self, y: np.ndarray) -> np.ndarray:
        """Return responses, the outputs last, on the scale of the models."""
        return (y - self.centre) / self.spread

    def in_units(self, values: np.ndarray) -> np.ndarray:
        """Return values of the models, the outputs last, in the units of y and as y came."""
        found = self.centre + self.spread * values
        return found[..., 0] if self.single else found

    def laws(self, outputs: list[Mixture]) -> list[PredictiveLaw]:
        """Return laws in the units of y, given one mixture per output."""
        return [
            PredictiveLaw.of_mixture(mixture, centre, spread)
            for mixture, centre, spread in zip(outputs, self.centre, self.spread, strict=True)
        ]

    @property
    def log_unit(self) -> float:
        """What a log density of all outputs is less by in the units of y."""
        return float(np.log(self.spread).sum())
