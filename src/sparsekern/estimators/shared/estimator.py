"""What every estimator of the package does the same way, however it is fitted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .standardizer import Standardizer
from .validation import validate_rows


class Estimator(BaseEstimator):
    """Rows on their way to the kernels; fits that succeed or leave no trace; a light display."""

    kernel: Any = None  # a parameter of all that are made by users
    standardize: bool
    _mark_of_a_fit = "n_draws_"  # attribute that a fitted estimator has
    _standardizer: Standardizer | None

    # inputs

    def __sklearn_tags__(self) -> Any:
        """Say that a precomputed kernel is cut by rows and columns in cross-validation."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        return tags

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

    # fitting

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Leave the estimator as it was if the block is left by an exception."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            after = dict(self.__dict__)
            self.__dict__.clear()
            self.__dict__.update(before)
            # what scikit-learn needs to take its callbacks down stays
            kept = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")
            self.__dict__.update({name: after[name] for name in kept if name in after})
            raise

    # display

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        """Return the table of fitted attributes for scikit-learn's HTML display.

        scikit-learn reads every attribute that an estimator has, properties too, each of which
        would be computed, or would raise, for a picture. A stand-in has those that fit has set.
        """
        stand_in = BaseEstimator()
        stand_in.__dict__.update(
            {name: value for name, value in vars(self).items() if not name.startswith("_")}
        )
        table = stand_in._get_fitted_attr_html(doc_link)
        table.estimator_class = type(self)
        return table
