"""Likelihoods and predictions of Gaussian-process problems in compiled code, one by one."""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...kernels.feature_sums import add_feature, add_two_features, kernel_of_sums
from ...linalg.blas import cholesky_in_place, solve_lower_rows
from ...linalg.triangular import solve_lower
from ._contract import JITTERS

_LOG_2PI = math.log(2.0 * math.pi)


@jit
def add_distances(column, rows, bandwidth, kind, sums):
    """Add one feature to the packed lower triangle of sums between rows."""
    n = rows.shape[0]
    values = np.empty(n)
    for i in range(n):
        values[i] = column[rows[i]]
    start = 0
    for i in range(n):
        part = sums[start : start + i + 1]
        add_feature(values[: i + 1], values[i], bandwidth, kind, part, part)
        start += i + 1


@jit
def write_sums(batch, b, parameters, rows, sums):
    """Write the packed sums of problem ``b``."""
    n, count = rows.shape[0], batch.counts[b]
    values, rates = np.zeros((count + 1, n)), np.zeros(count + 1)  # one more makes them even
    for place in range(count):
        rates[place] = math.exp(-(parameters[1] if batch.shared else parameters[1 + place]))
        column = batch.columns[batch.features[b, place]]
        for i in range(n):
            values[place, i] = column[rows[i]]
    start = 0
    for i in range(n):
        part = sums[start : start + i + 1]
        part[:] = 0.0
        for place in range(0, count, 2):
            add_two_features(
                values[place], values[place + 1], i, rates[place], rates[place + 1], batch.kind,
                part,
            )  # fmt: skip
        start += i + 1


@jit
def _unpack_covariance(values, amplitude, noise, matrix):
    """Write the lower triangle of C from packed kernel values."""
    at = 0
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            matrix[i, j] = amplitude * values[at + j]
        matrix[i, i] += noise
        at += i + 1


@jit
def factor_covariance(values, amplitude, noise, matrix):
    """Replace ``matrix`` by the Cholesky factor of C; return whether there is one.

    Where the noise is too small for double precision a little is added, as much as it takes.
    """
    _unpack_covariance(values, amplitude, noise, matrix)
    if cholesky_in_place(matrix, matrix.shape[0]) == 0:
        return True
    for jitter in JITTERS:
        _unpack_covariance(values, amplitude, noise + jitter * amplitude, matrix)
        if cholesky_in_place(matrix, matrix.shape[0]) == 0:
            return True
    return False


@jit
def log_density(root, target, work):
    """Return log N(y; 0, C) from the factor of C, which leaves L^-1 y in ``work``."""
    n = target.shape[0]
    work[:] = target
    solve_lower(root, n, work)
    value = -0.5 * n * _LOG_2PI
    for i in range(n):
        value -= 0.5 * work[i] * work[i] + math.log(root[i, i])
    return value


@jit
def pick(array, b):
    """Return what belongs to problem ``b``, or to all of them."""
    return array[b] if array.shape[0] > 1 else array[0]


@jit
def log_likelihoods(batch, parameters, first, last, out):
    """Write l(u) of the problems from ``first`` to ``last``."""
    n, m = batch.rows.shape[1], parameters.shape[1]
    sums, values = np.empty(n * (n + 1) // 2), np.empty(n * (n + 1) // 2)
    matrix, work = np.empty((n, n)), np.empty(n)
    for b in range(first, last):
        u = parameters[b]
        write_sums(batch, b, u, pick(batch.rows, b), sums)
        kernel_of_sums(sums, batch.kind, values)
        out[b] = -math.inf
        if factor_covariance(values, math.exp(u[0]), math.exp(u[m - 1]), matrix):
            out[b] = log_density(matrix, pick(batch.targets, b), work)


@jit
def write_toggled(batch, parameters, change, bandwidth, base, sums):
    """Write the sums of problem 0 after a change (feature out, feature in) from those before."""
    rows, left = batch.rows[0], batch.counts[0]
    sums[:] = base
    for place in range(batch.counts[0]):
        if batch.features[0, place] == change[0]:
            log_scale = parameters[1] if batch.shared else parameters[1 + place]
            column = batch.columns[change[0]]
            add_distances(column, rows, -math.exp(-log_scale), batch.kind, sums)
            left -= 1
    if left == 0:  # nothing but rounding would be left
        sums[:] = 0.0
    if change[1] >= 0:
        add_distances(batch.columns[change[1]], rows, math.exp(-bandwidth), batch.kind, sums)


@jit
def toggled(batch, parameters, changes, bandwidth, first, last, out):
    """Write l(u) of problem 0 with features removed and added, parameters as they are."""
    n, m = batch.rows.shape[1], parameters.shape[0]
    rows, target = batch.rows[0], batch.targets[0]
    base = np.empty(n * (n + 1) // 2)
    sums, values = np.empty_like(base), np.empty_like(base)
    matrix, work = np.empty((n, n)), np.empty(n)
    write_sums(batch, 0, parameters, rows, base)
    for t in range(first, last):
        write_toggled(batch, parameters, changes[t], bandwidth, base, sums)
        kernel_of_sums(sums, batch.kind, values)
        out[t] = -math.inf
        amplitude, noise = math.exp(parameters[0]), math.exp(parameters[m - 1])
        if factor_covariance(values, amplitude, noise, matrix):
            out[t] = log_density(matrix, target, work)


@jit
def write_cross(batch, b, u, rows, points, sums, values):
    """Write the kernel between the rows of problem ``b`` and new points, [n, q]."""
    n, count = sums.shape
    sums[:] = 0.0
    for place in range(batch.counts[b]):
        log_scale = u[1] if batch.shared else u[1 + place]
        column = batch.columns[batch.features[b, place]]
        there = np.ascontiguousarray(points[:, place])
        for i in range(n):
            add_feature(there, column[rows[i]], math.exp(-log_scale), batch.kind, sums[i], sums[i])
    kernel_of_sums(sums.reshape(n * count), batch.kind, values.reshape(n * count))


@jit
def predict_points(batch, parameters, points, first, last, means, variances):
    """Write mean and variance of f at new points, problem by problem."""
    n, m = batch.rows.shape[1], parameters.shape[2]
    count = points.shape[1]
    size = n * (n + 1) // 2
    sums, values, matrix = np.empty(size), np.empty(size), np.empty((n, n))
    cross, kernel = np.empty((n, count)), np.empty((n, count))
    weights = np.empty((n, 1))
    for b in range(first, last):
        rows, target = pick(batch.rows, b), pick(batch.targets, b)
        for t in range(parameters.shape[1]):
            u = parameters[b, t]
            amplitude = math.exp(u[0])
            write_sums(batch, b, u, rows, sums)
            kernel_of_sums(sums, batch.kind, values)
            if not factor_covariance(values, amplitude, math.exp(u[m - 1]), matrix):
                means[b, t] = np.nan
                variances[b, t] = np.nan
                continue
            write_cross(batch, b, u, rows, points[b], cross, kernel)
            weights[:, 0] = target
            solve_lower_rows(matrix, n, weights)
            solve_lower_rows(matrix, n, kernel)
            for q in range(count):
                mean, explained = 0.0, 0.0
                for i in range(n):
                    mean += kernel[i, q] * weights[i, 0]
                    explained += kernel[i, q] * kernel[i, q]
                means[b, t, q] = amplitude * mean
                variances[b, t, q] = max(amplitude - amplitude * amplitude * explained, 0.0)
