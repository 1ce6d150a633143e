"""Where a sampler's long vectors get their rows from: the data, and what must ride along.

Plainly, row i of a long vector is training row i. With Gaussian noise of a common variance and
fixed kernels only inner products of columns count, so n rows of data may be replaced by any other
rows with the same inner products: :func:`compress` rotates the columns [1, y, kernel columns of the
candidates], each row times the root of its weight, into a triangle of as many rows as there are
columns, and lets the candidates and the monitored rows ride along with zero precision, where their
values are needed. The cost of a sweep then does not depend on n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...bases.kernel_columns import KernelColumns
from ...kernels import Kernel
from ...kernels.evaluate import TABLE

_BLOCK_NUMBERS = 4_000_000  # kernel values made at once while compressing


@dataclass(frozen=True)
class Layout:
    """The rows of a sampler's long vectors.

    Attributes
    ----------
    basis : KernelColumns
    ones, response, precision : ndarray of shape (N,)
        Intercept column, response and working precision to start with.
    candidates, monitored : ndarray of int
        Where the candidates and the monitored training rows stand.
    training_row : ndarray of shape (N,)
        Training row that stands at each place (-1: none).
    data_rows : int
        Leading rows that carry data; the others ride along.
    """

    basis: KernelColumns
    ones: np.ndarray
    response: np.ndarray
    precision: np.ndarray
    candidates: np.ndarray
    monitored: np.ndarray
    training_row: np.ndarray
    data_rows: int


def relative_jitter(diagonal: np.ndarray, jitter: float) -> np.ndarray:
    """Return each kernel's jitter, relative to its size, so that amplitudes do not matter."""
    tiny = np.finfo(np.float64).tiny
    return np.array([jitter * max(float(np.mean(row)), tiny) for row in diagonal])


def plain(
    kernels: Sequence[Kernel],
    features: np.ndarray,
    response: np.ndarray,
    candidates: np.ndarray,
    monitored: np.ndarray,
    jitter: float,
    weights: np.ndarray,
    table_bytes: int,
) -> tuple[Layout, bool]:
    """Return the layout of the training rows, and whether columns must be tabulated leg by leg."""
    n = len(features)
    diagonal = np.stack([kernel.diagonal(features) for kernel in kernels])
    table, slot = np.zeros((len(kernels), 0, n)), np.zeros(0, np.int64)
    by_leg = False
    tabulated = [kernel for kernel in kernels if kernel.kind == TABLE]
    columns = features
    if tabulated:
        slot = np.full(n, -1)
        slot[candidates] = np.arange(len(candidates))
        if any(kernel.precomputed for kernel in tabulated):
            table = np.ascontiguousarray(features.T[candidates])[None]
            columns = np.zeros((n, 0))
        elif 8 * n * len(candidates) * len(kernels) <= table_bytes:
            table = tabulate(kernels, features, candidates)
        else:
            by_leg = True
    basis = KernelColumns(
        columns=np.ascontiguousarray(columns.T),  # no copy when the estimator stored it so
        kind=np.array([kernel.kind for kernel in kernels]),
        amplitude=np.array([kernel.amplitude for kernel in kernels]),
        diagonal=diagonal,
        table=table,
        slot=slot,
        jitter=relative_jitter(diagonal, jitter),
    )
    layout = Layout(
        basis=basis,
        ones=np.ones(n),
        response=response,
        precision=weights,
        candidates=candidates,
        monitored=monitored,
        training_row=np.arange(n),
        data_rows=n,
    )
    return layout, by_leg


def tabulate(kernels: Sequence[Kernel], features: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the kernel columns of ``rows``, shape (kernels, rows, n), for kernels not compiled."""
    table = np.zeros((len(kernels), len(rows), len(features)))
    for number, kernel in enumerate(kernels):
        if kernel.kind == TABLE:
            table[number] = kernel.matrix(features[rows], features)
    return table


def _kernel_values(
    kernels: Sequence[Kernel], features: np.ndarray, rows: np.ndarray, block: np.ndarray
) -> np.ndarray:
    """Return all kernels between a block of rows and the candidates, side by side."""
    values = [
        features[np.ix_(block, rows)]
        if kernel.precomputed
        else kernel.matrix(features[block], features[rows])
        for kernel in kernels
    ]
    return np.concatenate(values, axis=1)


def compress(
    kernels: Sequence[Kernel],
    features: np.ndarray,
    response: np.ndarray,
    candidates: np.ndarray,
    monitored: np.ndarray,
    jitter: float,
    weights: np.ndarray,
) -> Layout:
    """Return a layout with the same inner products; O(n c^2) time, O(c^2) memory for c columns."""
    n, m = len(features), len(candidates)
    width = 2 + m * len(kernels)
    step = max(width, _BLOCK_NUMBERS // width)
    triangle = np.zeros((0, width))
    for start in range(0, n, step):
        block = np.arange(start, min(start + step, n))
        columns = np.column_stack(
            [
                np.ones(len(block)),
                response[block],
                _kernel_values(kernels, features, candidates, block),
            ]
        )
        columns *= np.sqrt(weights[block])[:, None]
        triangle = np.asarray(np.linalg.qr(np.concatenate([triangle, columns]), mode="r"))
    riding = np.concatenate([candidates, monitored])
    values = _kernel_values(kernels, features, candidates, riding)
    top = len(triangle)
    total = top + len(riding)
    place = top + np.arange(m)
    sizes = np.stack([kernel.diagonal(features) for kernel in kernels])
    table = np.empty((len(kernels), m, total))
    diagonal = np.zeros((len(kernels), total))
    for number in range(len(kernels)):
        here = slice(number * m, (number + 1) * m)
        table[number] = np.concatenate([triangle[:, 2:][:, here], values[:, here]]).T
        diagonal[number, place] = sizes[number, candidates]
    slot = np.full(total, -1)
    slot[place] = np.arange(m)
    training_row = np.full(total, -1)
    training_row[top:] = riding
    zeros = np.zeros(len(riding))
    basis = KernelColumns(
        columns=np.zeros((0, total)),
        kind=np.full(len(kernels), TABLE),
        amplitude=np.ones(len(kernels)),
        diagonal=diagonal,
        table=table,
        slot=slot,
        jitter=relative_jitter(sizes, jitter),
    )
    return Layout(
        basis=basis,
        ones=np.concatenate([triangle[:, 0], np.ones(len(riding))]),
        response=np.concatenate([triangle[:, 1], zeros]),
        precision=np.concatenate([np.ones(top), zeros]),
        candidates=place,
        monitored=top + m + np.arange(len(monitored)),
        training_row=training_row,
        data_rows=top,
    )
