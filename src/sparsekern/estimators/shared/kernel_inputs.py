"""From what the user passes as X to the rows that a kernel sees."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .standardizer import Standardizer
from .validation import validate_rows


class KernelInputs:
    """Inputs of estimators with the parameters ``kernel`` and ``standardize``."""

    kernel: Any
    standardize: bool
    _mark_of_a_fit = "n_draws_"  # attribute that a fitted estimator has

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _prepare_training(self, X: np.ndarray) -> np.ndarray:
        """Return the rows as the kernel sees them, in memory that the caller has no part in.

        They stand by feature (Fortran order), as compiled kernels read the training rows.
        """
        self._standardizer = None
        if self._is_precomputed():
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    "kernel='precomputed' needs the square kernel matrix of the training rows as "
                    f"X; got the shape {X.shape}."
                )
        elif self.standardize:
            self._standardizer = Standardizer(X)
            return np.asfortranarray(self._standardizer(X))
        return np.array(X, order="F")

    def _prepare(self, X: Any, order: Literal["C", "F"] = "C") -> np.ndarray:
        """Return new rows as the kernel sees them, by row or (``"F"``) by feature."""
        check_is_fitted(self, self._mark_of_a_fit)
        X = validate_rows(self, X, order=order, reset=False)
        if self._standardizer is not None:
            X = self._standardizer(X)
        return np.require(X, requirements=[order, "A", "W"])
