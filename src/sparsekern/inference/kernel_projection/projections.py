r"""Kernel principal components, and where new rows lie in them.

With the centred Gram matrix :math:`\tilde G=(I-A)G(I-A)=U\,\mathrm{diag}(\ell)\,U'`,
:math:`A=11'/n`, the leading components of the training rows are

.. math:: P=U_{n'}\,\mathrm{diag}(\ell)^{1/2},\qquad P'P=\mathrm{diag}(\ell_1..\ell_{n'}),\quad
          P'1=0.

A new row is centred with the *training* means, :math:`\tilde g_*=g_*-\frac1n1'G-\bar g_*1'+\bar
g1'`, and lies at :math:`p_*=\tilde g_*U_{n'}\mathrm{diag}(\ell)^{-1/2}`. What its image in feature
space has outside of the components is
:math:`\|\phi(x_*)-\bar\phi\|^2-\|p_*\|^2`, with :math:`\|\phi(x_*)-\bar\phi\|^2=k(x_*,x_*)-2\bar
g_*+\bar g`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...kernels import Kernel
from ...kernels.evaluate import LINEAR
from ...linalg.eigen import symmetric_eigen
from ..chains.aside import aside

SMALLEST_RATIO = 1e-10  # of the largest eigenvalue, times n: below, a component is rounding
_BLOCK_NUMBERS = 4_000_000  # kernel values of new rows held at once
_FEW = 0.2  # up to this share of all eigenvectors, asking for the leading ones alone is quicker


@dataclass(frozen=True)
class Projection:
    r"""Leading kernel principal components of some training rows.

    Attributes
    ----------
    kernel : Kernel
    vectors : ndarray of shape (n, p)
        Training rows (no columns for a precomputed kernel).
    training : ndarray of shape (n, m)
        Components of the training rows, :math:`P`.
    eigenvalues : ndarray of shape (m,)
        :math:`\ell`, largest first.
    weights : ndarray of shape (n, m) or (p, m)
        What a new row of centred kernel values is multiplied with; for a linear kernel with fewer
        features than rows, what its centred features are.
    column_means : ndarray of shape (n,) or (p,)
        Means of the Gram matrix's columns, or of the features.
    total : float
        Sum of all eigenvalues, those left out included.
    """

    kernel: Kernel
    vectors: np.ndarray
    training: np.ndarray
    eigenvalues: np.ndarray
    weights: np.ndarray
    column_means: np.ndarray
    total: float

    @property
    def primal(self) -> bool:
        """Whether new rows are projected by their features, without kernel values."""
        return self.kernel.kind == LINEAR and len(self.column_means) != len(self.training)

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.eigenvalues)

    def leading(self, count: int) -> Projection:
        """Return the first components only."""
        return replace(
            self,
            training=self.training[:, :count],
            eigenvalues=self.eigenvalues[:count],
            weights=self.weights[:, :count],
        )

    def _kernel_rows(self, features: np.ndarray) -> np.ndarray:
        if self.kernel.precomputed:
            return features
        # training rows as the second argument: they are what is transposed, new rows come in blocks
        return self.kernel.matrix(features, self.vectors)

    def project(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the components of new rows and their squared distances from the centre.

        Distances are None for a precomputed kernel, which does not tell :math:`k(x_*,x_*)`.
        """
        step = max(1, _BLOCK_NUMBERS // max(1, len(self.column_means)))
        blocks = range(0, max(1, len(features)), step)
        parts = [self._project_block(features[start : start + step]) for start in blocks]
        squared = [part for _, part in parts if part is not None]
        components = np.concatenate([part for part, _ in parts])
        return components, np.concatenate(squared) if squared else None

    def _project_block(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        with np.errstate(over="ignore", invalid="ignore"):  # judged once, below
            if self.primal:
                centred = (features - self.column_means) * np.sqrt(self.kernel.amplitude)
                components = centred @ self.weights
                squared = np.einsum("ij,ij->i", centred, centred)
            else:
                rows = self._kernel_rows(features)
                means = rows.mean(axis=1)
                grand = float(self.column_means.mean())
                centred = rows - self.column_means - means[:, None] + grand
                components = centred @ self.weights
                squared = None
                if not self.kernel.precomputed:
                    squared = self.kernel.diagonal(features) - 2.0 * means + grand
        if not np.isfinite(components).all():
            raise ValueError(
                f"kernel={self.kernel.name} overflows at some rows of X: their values are too "
                "large; check their units against the training data."
            )
        return components, squared


def project_training(kernel: Kernel, features: np.ndarray, most: int) -> Projection:
    """Return the leading components of training rows, at most ``most`` of them.

    Fewer are returned where the others are zero but for rounding, and all of a group of equal
    eigenvalues or none: the choice of vectors within such a group is arbitrary.

    Parameters
    ----------
    kernel : Kernel
    features : ndarray of shape (n, p)
        Training rows, or their kernel matrix if precomputed.
    most : int
    """
    n, p = features.shape
    if kernel.kind == LINEAR and p < n and np.isfinite(kernel.length_scale).all():
        return _project_features(kernel, features, most)
    gram = features.copy() if kernel.precomputed else kernel.matrix(features, features)
    _check_range(kernel, gram, features)
    means = gram.mean(axis=0)
    grand = float(means.mean())
    gram -= means
    gram -= gram.mean(axis=1)[:, None]
    values, vectors = _leading(gram, min(most, n - 1))
    total = float(np.trace(gram))
    values, vectors = _significant(values, vectors, n, most, max(total, 0.0), grand)
    root = np.sqrt(values)
    vectors = _fix_signs(vectors)
    return Projection(
        kernel=kernel,
        vectors=features[:, :0] if kernel.precomputed else features,
        training=vectors * root,
        eigenvalues=values,
        weights=vectors / root,
        column_means=means,
        total=max(total, float(values.sum())),
    )


def _project_features(kernel: Kernel, features: np.ndarray, most: int) -> Projection:
    """Linear kernel, fewer features than rows: the covariance matrix is the smaller side."""
    n, p = features.shape
    means = features.mean(axis=0)
    centred = (features - means) * np.sqrt(kernel.amplitude)
    with np.errstate(over="ignore"):
        square = centred.T @ centred
    _check_range(kernel, square, centred)
    values, vectors = _leading(square, min(most, p))
    size = float(np.abs(features).max(initial=0.0)) ** 2
    values, vectors = _significant(
        values, vectors, n, most, float(np.trace(square)), kernel.amplitude * size
    )
    scores = centred @ vectors
    signs = np.sign(scores[np.abs(scores).argmax(axis=0), np.arange(len(values))])
    return Projection(
        kernel=kernel,
        vectors=features[:, :0],
        training=scores * signs,
        eigenvalues=values,
        weights=vectors * signs,
        column_means=means,
        total=float(np.trace(square)),
    )


def _check_range(kernel: Kernel, matrix: np.ndarray, features: np.ndarray) -> None:
    if not np.isfinite(matrix).all():
        raise ValueError(
            f"kernel={kernel.name} overflows on the training rows: values of X are too large; "
            "rescale X, or set standardize=True."
        )
    if kernel.kind == LINEAR and not matrix.any() and features.any():
        raise ValueError(
            f"kernel={kernel.name} is zero on the training rows but for underflow: values of X are "
            "too small; rescale X, or set standardize=True."
        )


def _leading(matrix: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues and their vectors; one more than asked, to see a tie."""
    size = len(matrix)
    wanted = min(count + 1, size)
    subset = (size - wanted, size - 1) if wanted <= _FEW * size else None
    values, vectors = aside(symmetric_eigen, matrix, subset)
    return values[::-1][:wanted], vectors[:, ::-1][:, :wanted]


def _significant(
    values: np.ndarray, vectors: np.ndarray, n: int, most: int, total: float, grand: float
) -> tuple[np.ndarray, np.ndarray]:
    largest = float(values[0]) if len(values) else 0.0
    # centring a matrix of equal entries leaves their rounding errors: not a component
    floor = max(SMALLEST_RATIO * largest, 1e-13 * n * max(abs(grand), total / n))
    kept = int(np.count_nonzero(values > floor))
    if kept > most:  # do not cut inside a tie
        kept = most
        while kept > 0 and values[kept] > (1.0 - 1e-9) * values[kept - 1]:
            kept -= 1
        kept = kept if kept > 0 else most
    return values[:kept], vectors[:, :kept]


def _fix_signs(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors with their largest entries positive: signs are arbitrary otherwise."""
    if not vectors.size:
        return vectors
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return vectors * signs


@dataclass(frozen=True)
class KernelRows:
    """The kernel matrix itself as design: every training row is a column (BMKC).

    Attributes
    ----------
    kernel : Kernel
    vectors : ndarray of shape (n, p)
        Training rows (no columns for a precomputed kernel).
    training : ndarray of shape (n, n)
    """

    kernel: Kernel
    vectors: np.ndarray
    training: np.ndarray

    def project(self, features: np.ndarray) -> tuple[np.ndarray, None]:
        """Return the kernel between new and training rows."""
        rows = features if self.kernel.precomputed else self.kernel.matrix(features, self.vectors)
        if not np.isfinite(rows).all():
            raise ValueError(
                f"kernel={self.kernel.name} overflows at some rows of X: their values are too "
                "large; check their units against the training data."
            )
        return rows, None


def kernel_rows(kernel: Kernel, features: np.ndarray) -> KernelRows:
    """Return the kernel matrix of training rows as design."""
    gram = features.copy() if kernel.precomputed else kernel.matrix(features, features)
    _check_range(kernel, gram, features)
    return KernelRows(kernel, features[:, :0] if kernel.precomputed else features, gram)
