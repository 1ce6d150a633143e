"""From what the user gives as ``kernel`` to something that can be evaluated.

Names and kernel objects of the families in :mod:`sparsekern.kernels.evaluate` compile. Every
other scikit-learn kernel object, pairwise-kernel name or callable is evaluated in Python, column
blocks at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels

from .._checks import check_positive
from .evaluate import CODES, LINEAR, TABLE, kernel_block
from .widths import distance_scale

HEURISTICS = ("mean_distance", "median_distance")
_STATIONARY = ("rbf", "laplacian", "matern12", "matern32", "matern52")
_MATERN = {0.5: "matern12", 1.5: "matern32", 2.5: "matern52", np.inf: "rbf"}
_ROWS_FOR_DEFINITENESS = 300


@dataclass(frozen=True)
class Kernel:
    """A kernel ready for use.

    Attributes
    ----------
    name : str
        For messages.
    kind : int
        Code of :mod:`sparsekern.kernels.evaluate`; ``TABLE`` when compiled code cannot evaluate it.
    amplitude : float
    length_scale : ndarray of shape (p,)
        Ones where the kernel has none; infinite for features that the kernel does not see.
    stationary : bool
        Whether the length scale is the kernel's own and can be learned.
    function : callable or None
        ``function(A, B)`` gives the matrix between rows of A and of B; None for compiled kernels
        and for precomputed ones.
    """

    name: str
    kind: int
    amplitude: float
    length_scale: np.ndarray
    stationary: bool
    function: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None

    @property
    def precomputed(self) -> bool:
        """Whether rows of the input are rows of the kernel matrix."""
        return self.kind == TABLE and self.function is None

    def with_length_scale(self, length_scale: np.ndarray) -> Kernel:
        """Return the same kernel with other length scales."""
        return replace(self, length_scale=np.asarray(length_scale, dtype=np.float64))

    def matrix(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the kernel between rows of ``left`` and rows of ``right``, C-ordered."""
        if self.precomputed:
            raise ValueError("A precomputed kernel has no values but those of the matrix given.")
        if self.function is None:
            out = np.empty((len(left), len(right)))
            columns = np.ascontiguousarray(right.T)
            points = np.ascontiguousarray(left)
            kernel_block(columns, points, 1.0 / self.length_scale, self.kind, self.amplitude, out)
            return out
        values = np.asarray(self.function(left, right))
        if values.shape != (len(left), len(right)):
            raise ValueError(
                f"kernel={self.name}: called with {len(left)} and {len(right)} rows it returned an "
                f"array of shape {values.shape}; it must return the matrix of shape "
                f"({len(left)}, {len(right)}) between all pairs of rows."
            )
        values = np.ascontiguousarray(values, dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError(
                f"kernel={self.name} returned NaN or infinity; check the kernel and the scale of X."
            )
        return values

    def diagonal(self, features: np.ndarray) -> np.ndarray:
        """Return k(x, x) for every row."""
        if self.precomputed:
            return np.ascontiguousarray(np.diag(features))
        if self.kind == LINEAR:
            seen = features[:, np.isfinite(self.length_scale)]
            return self.amplitude * np.einsum("ij,ij->i", seen, seen)
        if self.kind != TABLE:
            return np.full(len(features), self.amplitude)
        # row by row: a kernel object's own diag() would add the noise of a WhiteKernel
        return np.array([self.matrix(row[None], row[None])[0, 0] for row in features])


def resolve_kernel(kernel: Any, length_scale: Any, features: np.ndarray) -> Kernel:
    """Turn the ``kernel`` and ``length_scale`` parameters into a :class:`Kernel`.

    Parameters
    ----------
    kernel : str, kernel object, callable or "precomputed"
    length_scale : float, array of shape (p,), "mean_distance" or "median_distance"
        ``"mean_distance"`` counts as "not given" for kernels that bring their own scale.
    features : ndarray of shape (n, p)
        The training rows as the kernel will see them.
    """
    n_features = features.shape[1]
    ones = np.ones(n_features)
    if isinstance(kernel, str):
        if kernel in _STATIONARY:
            scale = _length_scale(kernel, length_scale, features)
            return Kernel(repr(kernel), CODES[kernel], 1.0, scale, True)
        _refuse_length_scale(kernel, length_scale)
        if kernel == "precomputed":
            return Kernel(repr(kernel), TABLE, 1.0, ones, False)
        if kernel == "linear":
            return Kernel(repr(kernel), CODES["linear"], 1.0, ones, False)
        if kernel in PAIRWISE_KERNEL_FUNCTIONS:
            evaluate = partial(pairwise_kernels, metric=kernel)
            return Kernel(repr(kernel), TABLE, 1.0, ones, False, evaluate)
        names = sorted({*_STATIONARY, *PAIRWISE_KERNEL_FUNCTIONS, "precomputed"})
        raise ValueError(
            f"kernel={kernel!r} is not known; use one of {', '.join(names)}, a kernel object of "
            "sklearn.gaussian_process.kernels, or a callable k(A, B)."
        )
    _refuse_length_scale(kernel, length_scale)
    if isinstance(kernel, gp.Kernel):
        return _from_object(clone(kernel), n_features)
    if callable(kernel):
        name = getattr(kernel, "__name__", repr(kernel))
        return Kernel(name, TABLE, 1.0, ones, False, partial(_call_apart, kernel))
    raise TypeError(
        "kernel must be a string, a kernel object of sklearn.gaussian_process.kernels or a "
        f"callable k(A, B); got {kernel!r} of type {type(kernel).__name__}."
    )


def _call_apart(kernel: Callable[..., Any], left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Call code of the user's so that no array is shared with it.

    It may write into its arguments, keep them, or return a matrix that it will use again. Copies
    cost little beside the kernel itself; read-only views would stop kernels that do not write but
    ask for writable memory, as compiled code often does.
    """
    return np.array(kernel(left.copy(order="K"), right.copy(order="K")), order="C")


def _length_scale(name: str, value: Any, features: np.ndarray) -> np.ndarray:
    n_features = features.shape[1]
    if isinstance(value, str):
        if value not in HEURISTICS:
            raise ValueError(
                f"length_scale={value!r} is not known; give a positive number, one per feature, "
                "'mean_distance' or 'median_distance'."
            )
        if name == "laplacian":
            return np.full(n_features, distance_scale(features, value, "cityblock"))
        # exp(-d^2 / D^2) at the typical distance D, as the models' papers set it
        return np.full(n_features, distance_scale(features, value) / np.sqrt(2.0))
    if np.ndim(value) == 0:
        return np.full(n_features, check_positive("length_scale", value))
    try:
        scales = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        scales = np.zeros(0)
    if scales.shape != (n_features,) or not (np.isfinite(scales) & (scales > 0)).all():
        raise ValueError(
            f"length_scale must be one positive number or {n_features} of them, one per feature; "
            f"got {value!r}."
        )
    return scales.copy()


def _refuse_length_scale(kernel: Any, length_scale: Any) -> None:
    if isinstance(length_scale, str) and length_scale == "mean_distance":
        return
    raise ValueError(
        f"length_scale={length_scale!r} cannot be combined with kernel={kernel!r}, which brings "
        "its own scale or has none; leave length_scale at its default, or set the scale in the "
        "kernel."
    )


def _parts(kernel: gp.Kernel) -> list[gp.Kernel]:
    children = [kernel.get_params().get(name) for name in ("k1", "k2", "kernel")]
    found = [kernel]
    for child in children:
        if isinstance(child, gp.Kernel):
            found += _parts(child)
    return found


def _from_object(kernel: gp.Kernel, n_features: int) -> Kernel:
    if any(isinstance(part, gp.WhiteKernel) for part in _parts(kernel)):
        raise ValueError(
            f"kernel={kernel} contains a WhiteKernel; the noise is part of the model here: "
            "remove the WhiteKernel."
        )
    amplitude, core = 1.0, kernel
    if isinstance(kernel, gp.Product):
        for constant, other in ((kernel.k1, kernel.k2), (kernel.k2, kernel.k1)):
            if isinstance(constant, gp.ConstantKernel):
                amplitude, core = constant.constant_value, other
                break
    name = None
    if type(core) is gp.RBF:
        name = "rbf"
    elif type(core) is gp.Matern:
        name = _MATERN.get(core.nu)
    if name is None:
        function = partial(_call_apart, kernel)
        return Kernel(str(kernel), TABLE, 1.0, np.ones(n_features), False, function)
    amplitude = check_positive(f"the constant of kernel={kernel}", amplitude)
    scale = np.atleast_1d(np.asarray(core.length_scale, dtype=np.float64))
    for value in scale:
        check_positive(f"length_scale of kernel={kernel}", float(value))
    if scale.size not in (1, n_features):
        raise ValueError(
            f"kernel={kernel} has {scale.size} length scales, but X has {n_features} features."
        )
    return Kernel(
        str(kernel), CODES[name], amplitude, np.broadcast_to(scale, n_features).copy(), True
    )


def check_positive_definite(kernel: Kernel, features: np.ndarray, jitter: float) -> np.ndarray:
    """Raise unless the kernel matrix, jitter included, is symmetric and positive definite.

    Judged on at most 300 rows. Returns the features, a precomputed matrix made exactly symmetric.
    Compiled families are positive definite by construction and are not examined.
    """
    if kernel.kind != TABLE:
        return features
    n = len(features)
    rows = np.unique(np.linspace(0, n - 1, min(n, _ROWS_FOR_DEFINITENESS)).astype(np.int64))
    if kernel.precomputed:
        gap = max(
            float(np.abs(features[start : start + 512] - features[:, start : start + 512].T).max())
            for start in range(0, n, 512)
        )
        block = features[np.ix_(rows, rows)]
    else:
        block = kernel.matrix(features[rows], features[rows])
        gap = float(np.abs(block - block.T).max())
    size = max(float(np.abs(block).max()), np.finfo(np.float64).tiny)
    if gap > 1e-5 * size:
        raise ValueError(
            f"kernel={kernel.name} gives a matrix that is not symmetric (largest difference "
            f"{gap:.3g}); a kernel must satisfy k(a, b) = k(b, a)."
        )
    mean = float(np.mean(np.diag(block)))
    diagonal = mean if mean > 0 else size
    lowest = float(np.linalg.eigvalsh(0.5 * (block + block.T))[0])
    if lowest < -0.5 * jitter * diagonal - 1e-12 * size * len(rows):
        raise ValueError(
            f"kernel={kernel.name} is not positive definite: its matrix on {len(rows)} rows has "
            f"the eigenvalue {lowest:.3g}. Use another kernel; if this is rounding (float32, few "
            f"decimals), set jitter to at least {-3 * lowest / diagonal:.1g}."
        )
    if kernel.precomputed and gap > 0:
        return 0.5 * (features + features.T)
    return features


__all__ = ["Kernel", "check_positive_definite", "resolve_kernel"]
