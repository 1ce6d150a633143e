r"""Derivatives of Gaussian-process likelihoods in compiled code, one problem after the other.

With :math:`\alpha=C^{-1}y`, :math:`M=\alpha\alpha^\top-C^{-1}` and :math:`C_m=\partial C/\partial
u_m`:

.. math::
    \partial_m\ell=\tfrac12\sum M\circ C_m,\qquad
    \partial_{ml}\ell=\tfrac12\sum M\circ C_{ml}+\tfrac12tr(C^{-1}C_mC^{-1}C_l)
    -\alpha^\top C_mC^{-1}C_l\alpha .

:math:`C_\lambda=K` and :math:`C_{\sigma^2}=\sigma^2I` need no product of matrices, since
:math:`C^{-1}K=I-\sigma^2C^{-1}`; a bandwidth needs one, :math:`P_b=C^{-1}C_b`. Sums over
matrices are inner products of flat arrays: a loop that adds up waits for every addition.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...kernels.sum_derivatives import kernel_derivatives
from ...linalg.blas import CHAR, DOUBLE, INT, external
from .compiled import add_distances, factor_covariance, log_density, pick, write_sums

_SMALL = 128  # order up to which inverses are not LAPACK's
_dpotri = external("cython_lapack", "dpotri", CHAR, INT, DOUBLE, INT, INT)


@jit
def _invert_lower(root, out):
    """Write L^-1, zeros above the diagonal included; four rows above go into a row at a time."""
    for i in range(root.shape[0]):
        here, row = root[i], out[i]
        row[:] = 0.0
        whole = i - i % 4
        for k in range(0, whole, 4):
            a, b, c, d = here[k], here[k + 1], here[k + 2], here[k + 3]
            first, second, third, fourth = out[k], out[k + 1], out[k + 2], out[k + 3]
            for j in range(k + 4):
                row[j] += (a * first[j] + b * second[j]) + (c * third[j] + d * fourth[j])
        for k in range(whole, i):
            a, first = here[k], out[k]
            for j in range(k + 1):
                row[j] += a * first[j]
        scale = 1.0 / here[i]
        for j in range(i):
            row[j] *= -scale
        row[i] = scale


@jit
def _invert(root, work):
    r"""Replace the factor L of C by C^-1, whole.

    LAPACK works on small matrices number by number; :math:`L^{-\top}L^{-1}` as a product of whole
    matrices takes three times as many operations and half the time.
    """
    n = root.shape[0]
    if n <= _SMALL:
        _invert_lower(root, work)
        np.dot(work.T, work, root)
        return
    letter = np.empty(1, np.uint8)
    letter[0] = 85  # "U": the lower triangle of a C-ordered array is LAPACK's upper one
    numbers = np.empty(3, np.int32)
    numbers[0] = n
    numbers[1] = n
    numbers[2] = 0
    _dpotri(letter.ctypes, numbers[0:].ctypes, root.ctypes, numbers[1:].ctypes, numbers[2:].ctypes)
    for i in range(n):
        for j in range(i):
            root[j, i] = root[i, j]


@jit
def _write_weights(alpha, inverse, weights):
    """Write M as a packed triangle, what is off the diagonal twice: sums over it are over all M."""
    at = 0
    for i in range(alpha.shape[0]):
        double = 2.0 * alpha[i]
        for j in range(i + 1):
            weights[at + j] = double * alpha[j] - 2.0 * inverse[i, j]
        weights[at + i] *= 0.5
        at += i + 1


@jit
def _unpack(packed, matrix):
    at = 0
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            matrix[i, j] = packed[at + j]
        for j in range(i):
            matrix[j, i] = packed[at + j]
        at += i + 1


@jit
def _trace_of_product(one, other, turned):
    """Return tr(AB)."""
    n = one.shape[0]
    for i in range(n):
        for j in range(n):
            turned[i, j] = other[j, i]
    return np.dot(one.reshape(n * n), turned.reshape(n * n))


@jit
def _differentiate(batch, b, u, rows, target, memory, gradient, hessian):
    """Return l(u) of one problem; write gradient and Hessian."""
    n, m = rows.shape[0], u.shape[0]
    groups = m - 2
    amplitude, noise = math.exp(u[0]), math.exp(u[m - 1])
    sums, values, first, second, weights, work, parts = memory[:7]
    inverse, turned, slopes, products, vectors = memory[7:]
    gradient[:] = 0.0
    hessian[:] = 0.0
    write_sums(batch, b, u, rows, sums)
    kernel_derivatives(sums, batch.kind, values, first, second)
    if not factor_covariance(values, amplitude, noise, inverse):
        return -math.inf
    value = log_density(inverse, target, vectors[0])
    _invert(inverse, turned)
    alpha = vectors[1]
    np.dot(inverse, target, alpha)
    if groups == 1 and batch.shared:
        parts[0] = sums
    else:
        for g in range(groups):
            parts[g] = 0.0
            column = batch.columns[batch.features[b, g]]
            add_distances(column, rows, math.exp(-u[1 + g]), batch.kind, parts[g])
    # 1/2 sum M o C_m, and of 1/2 sum M o C_ml what is not one of these
    _write_weights(alpha, inverse, weights)
    gradient[0] = 0.5 * amplitude * np.dot(weights, values)
    for g in range(groups):
        for h in range(g + 1):
            for at in range(work.shape[0]):
                work[at] = parts[g, at] * (parts[h, at] * (amplitude * second[at]))  # may be huge
            hessian[1 + g, 1 + h] = 0.5 * np.dot(weights, work)
        for at in range(work.shape[0]):
            work[at] = -parts[g, at] * amplitude * first[at]
        gradient[1 + g] = 0.5 * np.dot(weights, work)
        _unpack(work, slopes[g])
        hessian[1 + g, 1 + g] -= gradient[1 + g]
        hessian[1 + g, 0] = gradient[1 + g]
    trace = 0.0
    for i in range(n):
        trace += inverse[i, i]
    flat = inverse.reshape(n * n)
    square = np.dot(flat, flat)
    gradient[m - 1] = 0.5 * noise * (np.dot(alpha, alpha) - trace)
    hessian[0, 0] += gradient[0]
    hessian[m - 1, m - 1] += gradient[m - 1]
    # vectors 2.. hold C_m alpha: K alpha = y - sigma^2 alpha, C_b alpha, sigma^2 alpha
    for i in range(n):
        vectors[2, i] = target[i] - noise * alpha[i]
        vectors[2 + m - 1, i] = noise * alpha[i]
    for g in range(groups):
        np.dot(slopes[g], alpha, vectors[3 + g])
        np.dot(inverse, slopes[g], products[g])
    # 1/2 tr(C^-1 C_m C^-1 C_l)
    hessian[0, 0] += 0.5 * (n - 2.0 * noise * trace + noise * noise * square)
    hessian[m - 1, m - 1] += 0.5 * noise * noise * square
    hessian[m - 1, 0] += 0.5 * noise * (trace - noise * square)
    for g in range(groups):
        own = 0.0
        for i in range(n):
            own += products[g, i, i]
        with_inverse = np.dot(flat, products[g].reshape(n * n))
        hessian[1 + g, 0] += 0.5 * (own - noise * with_inverse)
        hessian[m - 1, 1 + g] += 0.5 * noise * with_inverse
        for h in range(g + 1):
            hessian[1 + g, 1 + h] += 0.5 * _trace_of_product(products[g], products[h], turned)
    # - alpha' C_m C^-1 C_l alpha
    solved = vectors[0]
    for a in range(m):
        np.dot(inverse, vectors[2 + a], solved)
        for c in range(a + 1):
            hessian[a, c] -= np.dot(solved, vectors[2 + c])
    for a in range(m):
        for c in range(a):
            hessian[c, a] = hessian[a, c]
    return value


@jit
def differentiate(batch, parameters, first, last, values, gradients, hessians):
    """Write l(u), gradient and Hessian of the problems from ``first`` to ``last``."""
    n, m = batch.rows.shape[1], parameters.shape[1]
    size, groups = n * (n + 1) // 2, m - 2
    memory = (
        np.empty(size), np.empty(size), np.empty(size), np.empty(size), np.empty(size),
        np.empty(size), np.empty((groups, size)), np.empty((n, n)), np.empty((n, n)),
        np.empty((groups, n, n)), np.empty((groups, n, n)), np.empty((2 + m, n)),
    )  # fmt: skip
    for b in range(first, last):
        values[b] = _differentiate(
            batch, b, parameters[b], pick(batch.rows, b), pick(batch.targets, b), memory,
            gradients[b], hessians[b],
        )  # fmt: skip
