"""Centre and spread of a response, with the sentences that an unusable one gets."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

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
