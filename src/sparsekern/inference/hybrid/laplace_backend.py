"""The compiled backend for responses other than Gaussian."""

from __future__ import annotations

import numpy as np

from ...likelihoods.table import TABLE
from ...likelihoods.terms import CODES, response_slopes
from . import inner_laplace
from ._contract import Batch
from .cpu import CpuBackend

REQUIRES = (frozenset({"terms"}),)
_WIDTH = 5e-3  # of differences in log parameters: of 1e-9 in the evidence, 4e-5 are left in H


class LaplaceBackend(CpuBackend):
    """Compute inner Laplace approximations with numba and LAPACK.

    Derivatives are differences of the evidence. A likelihood without a parameter of its own leaves
    the last one to its prior: a constant factor of every model.

    Parameters
    ----------
    response : str
        Name of a likelihood with terms (:data:`sparsekern.likelihoods.terms.CODES`).
    freedom : float
        Degrees of freedom of Student's law.
    intercept : float
        Prior variance of a constant added to the function.
    n_jobs : int or None
    mean : float
        Prior mean of the function.
    offsets : ndarray or None
        What is added to it at every row of the data.

    Attributes
    ----------
    unsettled : int
        Predictions made from a function that is not the mode, because steps or digits ran out.
    """

    def __init__(
        self,
        response: str,
        freedom: float,
        intercept: float,
        n_jobs: int | None = None,
        mean: float = 0.0,
        offsets: np.ndarray | None = None,
    ) -> None:
        super().__init__(n_jobs)
        learns = getattr(TABLE[response], "last_parameter", None) is not None
        self._law = (
            CODES[response], float(freedom), float(intercept), float(mean), learns,
            np.zeros(0) if offsets is None else np.ascontiguousarray(offsets),
        )  # fmt: skip
        self.unsettled = 0

    def log_likelihood(self, batch: Batch, parameters: np.ndarray) -> np.ndarray:
        """Return l(u) of every problem."""
        out = np.empty(batch.size)
        self._share(
            batch.size,
            lambda a, b: inner_laplace.laplace_values(batch, parameters, self._law, a, b, out),
        )
        return out

    def derivatives(
        self, batch: Batch, parameters: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return l(u), its gradient and its Hessian."""
        count, m = parameters.shape
        out = np.empty(count), np.empty((count, m)), np.empty((count, m, m))
        self._share(
            count,
            lambda a, b: inner_laplace.laplace_differences(
                batch, parameters, self._law, _WIDTH, a, b, *out
            ),
        )
        lost = ~np.isfinite(out[1]).all(axis=1) | ~np.isfinite(out[2]).all(axis=(1, 2))
        out[0][lost], out[1][lost], out[2][lost] = -np.inf, 0.0, 0.0
        return out

    def toggles(
        self, batch: Batch, parameters: np.ndarray, changes: np.ndarray, bandwidth: float
    ) -> np.ndarray:
        """Return l(u) of the first problem with features removed and added."""
        out = np.empty(len(changes))
        self._share(
            len(changes),
            lambda a, b: inner_laplace.laplace_toggles(
                batch, parameters, changes, bandwidth, self._law, a, b, out
            ),
        )
        return out

    def predict(
        self, batch: Batch, parameters: np.ndarray, points: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of f at new points."""
        shape = (batch.size, parameters.shape[1], points.shape[1])
        means, variances = np.empty(shape), np.empty(shape)
        settled = np.empty(shape[:2], dtype=np.bool_)
        self._share(
            batch.size,
            lambda a, b: inner_laplace.laplace_predictions(
                batch, parameters, points, self._law, a, b, means, variances, settled
            ),
        )
        self.unsettled += int((~settled).sum())
        return means, variances

    def slope(self, targets: np.ndarray, latent: np.ndarray, last: float) -> np.ndarray:
        """Return the slope of log p(y | f) in f at all rows; ``latent`` is without offsets."""
        code, freedom = self._law[:2]
        if len(self._law[5]):
            latent = latent + self._law[5]
        return response_slopes(code, targets, latent, last, freedom)
