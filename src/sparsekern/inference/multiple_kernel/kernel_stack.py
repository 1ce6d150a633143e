"""Several kernels side by side, between any rows and the vectors of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.resolve import Kernel, resolve_kernel
from ...kernels.several import resolve_kernels
from ...kernels.widths import distance_scale

LADDER = (0.2, 3.0, 7)  # narrowest and widest in median distances, and how many widths
_ROWS_FOR_DEFINITENESS = 300


def make_kernels(
    kernel: Any, length_scale: Any, features: np.ndarray, names: np.ndarray | None
) -> tuple[Kernel, ...]:
    """Return the kernels of the parameters ``kernel`` (not "precomputed") and ``length_scale``."""
    if kernel is not None:
        return resolve_kernels(kernel, length_scale, features, names)
    if not (isinstance(length_scale, str) and length_scale == "mean_distance"):
        raise ValueError(
            f"length_scale={length_scale!r} cannot be combined with kernel=None, a ladder of "
            "widths; leave length_scale at its default, or name kernels."
        )
    typical = distance_scale(features, "median_distance")
    first = resolve_kernel("rbf", 1.0, features)
    ones = np.ones(features.shape[1])
    return tuple(first.with_length_scale(typical * c * ones) for c in np.geomspace(*LADDER))


class KernelStack:
    """Kernels between rows and vectors, each divided by its size if asked.

    Parameters
    ----------
    kernels : tuple of Kernel or None
        None: rows come with their kernel values, shape (n, training rows, P).
    features : ndarray
        Training rows.
    vectors : ndarray of int or None
        Training rows that serve as vectors; None: all.
    normalize : bool
        Divide each kernel by the mean of its diagonal at the training rows.
    """

    def __init__(
        self,
        kernels: tuple[Kernel, ...] | None,
        features: np.ndarray,
        vectors: np.ndarray | None,
        normalize: bool,
    ) -> None:
        self.kernels, self.vectors = kernels, vectors
        self.count = features.shape[2] if kernels is None else len(kernels)
        chosen = slice(None) if vectors is None else vectors
        self._places = None if kernels is not None else chosen
        self._rows = None if kernels is None else np.ascontiguousarray(features[chosen])
        self.sizes = np.ones(self.count)
        self.sizes = np.array([_size(self.diagonal(m, features, True)) for m in range(self.count)])
        self._mean_diagonal = self.sizes.copy()
        self.divisors = self.sizes.copy() if normalize else np.ones(self.count)

    def cross(self, m: int, features: np.ndarray) -> np.ndarray:
        """Return kernel m between rows and vectors."""
        if self.kernels is None:
            values = np.ascontiguousarray(features[:, self._places, m])
        else:
            assert self._rows is not None
            values = self.kernels[m].matrix(features, self._rows)
        values /= self.divisors[m]
        return values

    def diagonal(self, m: int, features: np.ndarray, training: bool = False) -> np.ndarray:
        """Return kernel m between each row and itself.

        Precomputed kernels of new rows do not hold it; the mean of the training rows stands in.
        """
        if self.kernels is not None:
            values = self.kernels[m].diagonal(features)
        elif training:
            values = np.diag(features[:, :, m])
        else:
            values = np.full(len(features), self._mean_diagonal[m])
        return values if training else values / self.divisors[m]

    def check_definite(self, features: np.ndarray) -> None:
        """Raise unless every kernel is symmetric and positive semi-definite on some rows."""
        n = len(features)
        rows = np.unique(np.linspace(0, n - 1, min(n, _ROWS_FOR_DEFINITENESS)).astype(np.int64))
        for m in range(self.count):
            if self.kernels is None:
                block, name = features[np.ix_(rows, rows)][:, :, m], f"number {m}"
            else:
                if self.kernels[m].function is None:  # positive definite by construction
                    continue
                block = self.kernels[m].matrix(features[rows], features[rows])
                name = self.kernels[m].name
            largest = max(float(np.abs(block).max()), np.finfo(np.float64).tiny)
            gap = float(np.abs(block - block.T).max())
            lowest = float(np.linalg.eigvalsh(0.5 * (block + block.T))[0])
            if gap > 1e-5 * largest or lowest < -1e-6 * largest * len(rows):
                fault = (
                    f"not symmetric (largest difference {gap:.3g})"
                    if gap > 1e-5 * largest
                    else f"not positive semi-definite (an eigenvalue of {lowest:.3g})"
                )
                raise ValueError(
                    f"kernel {name} is {fault}, but vectors='per_kernel' needs covariances; use "
                    "another kernel, or vectors='shared', which takes any similarity."
                )


def _size(diagonal: np.ndarray) -> float:
    size = float(np.mean(np.abs(diagonal)))
    return size if size > 0 else 1.0
