"""The training responses of any law by its code, for engines that know laws by their terms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._row_weights import row_weights
from ._terms_data import TermsData
from .terms import CODES


def terms_data(likelihood: Any, response: np.ndarray) -> TermsData:
    """Return the responses of a law without parameters for compiled code."""
    none = np.zeros(0)
    data = likelihood.compiled(response, none)
    if isinstance(data, TermsData):
        return data
    n = len(response)
    weights = row_weights(likelihood, n)
    response = np.asarray(response, dtype=np.float64)
    return TermsData(CODES[likelihood.name], response, np.zeros(n), weights, none, np.zeros(2))
