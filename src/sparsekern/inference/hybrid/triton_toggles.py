r"""Plug-in scores in one Triton kernel: covariance, Cholesky factor and quadratic form together.

A library factors a batch of matrices of order 100 or 200 at a small part of a GPU's speed, and what
is done to them before and after reads and writes all of them again. Here every program takes one
change after the other and keeps only its own factor, which stays in the cache:

.. math::
    L_{jj}L_{jj}'=C_{jj}-\sum_{k<j}L_{jk}L_{jk}',\quad
    L_{ij}=\Bigl(C_{ij}-\sum_{k<j}L_{ik}L_{jk}'\Bigr)L_{jj}^{-\top},\quad
    z_j=L_{jj}^{-1}\Bigl(y_j-\sum_{k<j}L_{jk}z_k\Bigr)

by blocks, left-looking, with the entries of C computed where they are needed, so that C is never
held. Rows beyond n have a one on the diagonal and change nothing. All in double precision.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl

from ...kernels import evaluate, feature_sums

_LOG_2PI = math.log(2.0 * math.pi)
_BLOCK = 16  # the least that Triton multiplies; larger ones take longer to factor than they save
_WARPS = 1  # no barrier is as cheap as none
_PROGRAMS = 12  # for each multiprocessor

_LAPLACIAN = tl.constexpr(evaluate.LAPLACIAN)
_MATERN32 = tl.constexpr(evaluate.MATERN32)
_MATERN52 = tl.constexpr(evaluate.MATERN52)
_FARTHEST = tl.constexpr(feature_sums.FARTHEST)
_FAR = tl.constexpr(feature_sums.FAR)


@triton.jit
def _distances(column, i, j, n, KIND: tl.constexpr):
    here = tl.load(column + i, mask=i < n, other=0.0)
    there = tl.load(column + j, mask=j < n, other=0.0)
    difference = here[:, None] - there[None, :]
    apart = tl.abs(difference) if KIND == _LAPLACIAN else difference * difference
    return tl.minimum(apart, _FARTHEST)


@triton.jit
def _covariance(base, leaving, entering, weights, scales, i, j, n, KIND: tl.constexpr):
    """Return the block of C at rows i and columns j."""
    inside = (i[:, None] < n) & (j[None, :] < n)
    sums = tl.load(base + i[:, None] * n + j[None, :], mask=inside, other=0.0)
    sums = tl.load(weights) * sums - tl.load(weights + 1) * _distances(leaving, i, j, n, KIND)
    sums += tl.load(weights + 2) * _distances(entering, i, j, n, KIND)
    sums = tl.maximum(sums, 0.0)
    if KIND == _MATERN32:
        r = tl.minimum(tl.sqrt(6.0 * sums), _FAR)
        kernel = (1.0 + r) * tl.exp(-r)
    elif KIND == _MATERN52:
        r = tl.minimum(tl.sqrt(10.0 * sums), _FAR)
        kernel = (1.0 + r + r * r / 3.0) * tl.exp(-r)
    else:
        kernel = tl.exp(-sums)
    diagonal = tl.where(inside, tl.load(scales + 1), 1.0)
    covariance = tl.where(inside, tl.load(scales) * kernel, 0.0)
    return covariance + tl.where(i[:, None] == j[None, :], diagonal, 0.0)


@triton.jit
def _factor_block(block, BLOCK: tl.constexpr):
    """Return the inverse of the Cholesky factor of a block, and the squares of its diagonal."""
    at = tl.arange(0, BLOCK)
    inverse = tl.where(at[:, None] == at[None, :], 1.0, 0.0).to(tl.float64)
    pivots = tl.full([BLOCK], 1.0, tl.float64)
    for c in range(BLOCK):
        row = tl.sum(tl.where(at[:, None] == c, block, 0.0), axis=0)
        column = tl.sum(tl.where(at[None, :] == c, block, 0.0), axis=1)
        pivot = tl.sum(tl.where(at == c, row, 0.0), axis=0)
        scale = 1.0 / tl.sqrt(pivot)
        pivots = tl.where(at == c, pivot, pivots)
        solved = tl.sum(tl.where(at[:, None] == c, inverse, 0.0), axis=0) * scale
        below = tl.where(at > c, column * scale, 0.0)
        block -= below[:, None] * (row * scale)[None, :]
        changed = inverse - below[:, None] * solved[None, :]
        inverse = tl.where(at[:, None] == c, solved[None, :], changed)
    return inverse, pivots


@triton.jit(do_not_specialize=["total", "n", "width"])
def _densities(
    base, columns, target, changes, weights, scales, scratch, out, total, n, width,
    KIND: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Write log N(y; 0, C) + n/2 log 2 pi after each change; NaN where C has no factor."""
    program = tl.program_id(0)
    factor = scratch + program.to(tl.int64) * (width * width + width)
    solved = factor + width * width
    at = tl.arange(0, BLOCK)
    for t in range(program, total, tl.num_programs(0)):
        leaving = columns + tl.load(changes + 2 * t) * n
        entering = columns + tl.load(changes + 2 * t + 1) * n
        weight = weights + 3 * t
        value = tl.load(weight) * 0.0
        for first in range(0, n, BLOCK):
            j = first + at
            block = _covariance(base, leaving, entering, weight, scales, j, j, n, KIND)
            y = tl.load(target + j, mask=j < n, other=0.0)
            for before in range(0, first, BLOCK):
                k = before + at
                left = tl.load(factor + j[:, None] * width + k[None, :])
                block -= tl.dot(left, tl.trans(left), out_dtype=tl.float64)
                y -= tl.sum(left * tl.load(solved + k)[None, :], axis=1)
            inverse, pivots = _factor_block(block, BLOCK)
            z = tl.sum(inverse * y[None, :], axis=1)
            # a root or a log of what is negative is NaN, and stays so
            value -= 0.5 * (tl.sum(z * z, axis=0) + tl.sum(tl.log(pivots), axis=0))
            tl.store(solved + j, z)
            for low in range(first + BLOCK, n, BLOCK):
                i = low + at
                block = _covariance(base, leaving, entering, weight, scales, i, j, n, KIND)
                for before in range(0, first, BLOCK):
                    k = before + at
                    low_left = tl.load(factor + i[:, None] * width + k[None, :])
                    left = tl.load(factor + j[:, None] * width + k[None, :])
                    block -= tl.dot(low_left, tl.trans(left), out_dtype=tl.float64)
                block = tl.dot(block, tl.trans(inverse), out_dtype=tl.float64)
                tl.store(factor + i[:, None] * width + j[None, :], block)
            tl.debug_barrier()  # what is stored here is loaded by other threads
        tl.store(out + t, value)


def toggled_densities(
    base: Any,
    columns: Any,
    target: Any,
    changes: Any,
    weights: Any,
    scales: Any,
    kind: int,
    memory_limit: float,
) -> Any:
    r"""Return log N(y; 0, C) after each change of the features.

    Parameters
    ----------
    base : tensor of shape (n, n)
        Sums E over the features before.
    columns : tensor of shape (p, n)
    target : tensor of shape (n,)
    changes : tensor of int64 of shape (t, 2)
        The feature that leaves and the one that comes.
    weights : tensor of shape (t, 3)
        Factor of ``base``, rate of what leaves, rate of what comes; 0 for none.
    scales : tensor of shape (2,)
        Amplitude and noise variance.
    kind : int
        Code of the kernel.
    memory_limit : float
        Gigabytes that may be held.

    Returns
    -------
    values : tensor of shape (t,)
        Not finite where C is not positive definite in double precision.
    """
    n, total = len(target), len(changes)
    width = -(-n // _BLOCK) * _BLOCK
    each = width * width + width
    programs = int(memory_limit * 2**30 / (8 * each))
    if base.is_cuda:
        properties = torch.cuda.get_device_properties(base.device)
        programs = min(programs, _PROGRAMS * properties.multi_processor_count)
    programs = max(1, min(programs, total))
    scratch = torch.empty(programs * each, dtype=torch.float64, device=base.device)
    out = torch.empty(total, dtype=torch.float64, device=base.device)
    _densities[(programs,)](
        base.contiguous(), columns.contiguous(), target.contiguous(), changes.contiguous(),
        weights.contiguous(), scales.contiguous(), scratch, out, total, n, width,
        KIND=kind, BLOCK=_BLOCK, num_warps=_WARPS, enable_fp_fusion=True,
    )  # fmt: skip
    return out - 0.5 * n * _LOG_2PI
