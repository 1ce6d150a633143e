"""Draws of the functions of a hybrid search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._threads import single_blas_thread
from ...inference.hybrid.function_draws import draw_functions


class FunctionDraws:
    """Draws from the posterior that a search has left; subclasses say what the points are."""

    _posterior: Any

    def _open_backend(self) -> Any:
        raise NotImplementedError

    def _points(self, X: Any) -> np.ndarray:
        """Return new rows as the models see them."""
        raise NotImplementedError

    def _latent_draws(self, X: Any, count: int) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield slices of rows, draws of the function there, and their last parameter."""
        points = self._points(X)
        with single_blas_thread():
            yield from draw_functions(self._posterior, self._open_backend(), points, count)
