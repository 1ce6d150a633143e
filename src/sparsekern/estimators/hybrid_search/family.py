"""What the hybrid-search Gaussian processes share: selected features, and parts of predictions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ..._threads import single_blas_thread
from ...inference.hybrid._contract import Backend
from ...inference.hybrid.cpu import CpuBackend
from ...inference.hybrid.function_draws import draw_functions
from ...inference.hybrid.posterior import Components, LocalPosterior
from ..shared.estimator import Estimator
from ..shared.progress import watch_search
from .fitting import Report
from .models import warn_unless_settled


class HybridSearchEstimator(SelectorMixin, Estimator):
    """Selection, and the laws that predictions are mixed of; subclasses fit and predict."""

    feature_inclusion_: np.ndarray
    _law: Any  # of the response
    _screened: np.ndarray  # features that models are made of
    _unit = 1.0  # what one of the models' response is in the units of the user

    def _open_backend(self, rows: Any = slice(None)) -> Backend:
        """Return what computes, for some of the training rows."""
        raise NotImplementedError

    def _watch(self) -> AbstractContextManager[Report]:
        """Return the context of a search that tells everybody where it is."""
        backend = self._open_backend()
        engines = [type(backend).__name__] if isinstance(backend, CpuBackend) else []
        return watch_search(self, engines)

    # selection

    @property
    def selected_features_(self) -> np.ndarray:
        """Sorted indices of the features whose inclusion probability reaches the threshold."""
        return np.flatnonzero(self._get_support_mask())

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.feature_inclusion_ >= self._group("selection").threshold

    # prediction

    def _points(self, X: Any) -> np.ndarray:
        """Return new rows as the models see them."""
        return np.ascontiguousarray(self._prepare(X)[:, self._screened])

    def _components(self, points: np.ndarray) -> Iterator[tuple[slice, Components]]:
        """Yield slices of points and the normal laws to be mixed there, in scaled units."""
        backend = self._open_backend()
        with single_blas_thread():
            yield from self._posterior.blocks(backend, points)
        if isinstance(self._posterior, LocalPosterior):  # its models are new to us
            warn_unless_settled(backend)

    def _latent_draws(
        self, points: np.ndarray, count: int
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield slices of points, draws of the function there, and their last parameter."""
        with single_blas_thread():
            yield from draw_functions(self._posterior, self._open_backend(), points, count)

    def _count_draws(self, thin: int) -> int:
        """Return how many draws of the function ``thin`` leaves."""
        return -(-self._group("prediction").draws // thin)
