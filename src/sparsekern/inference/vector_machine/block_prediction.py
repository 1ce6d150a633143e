r"""Class probabilities of many rows, a block of them at a time, so that all stays in the cache.

The normal distribution function is :math:`\Phi(-x)=e^{-x^2/2}\,s(u)/(x+4)`, :math:`x\ge0`,
with s a polynomial of degree 20 in :math:`u=(x-4)/(x+4)` (Chebyshev interpolation of
:math:`\frac12(x+4)e^{x^2/2}\mathrm{erfc}(x/\sqrt2)`, relative error below 1e-14). There is no
branch, so that the compiler works on several numbers at a time.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...kernels.evaluate import kernel_against
from ...kernels.exponential import exp_of_negative
from ...likelihoods.scaled_logit import PROBIT_SLOPE
from ...likelihoods.terms import PROBIT, SCALED_LOGIT

_ROWS = 512
_C = (
    0.7552851304157504,
    -0.6078966419718811,
    0.3871374007424928,
    -0.18652185796069495,
    0.06039657487951071,
    -0.007540188941470282,
    -0.0034796921889222523,
    0.0016308181893227448,
    0.00013334289700753818,
    -0.00023109341448002702,
    -1.9017398302540339e-06,
    3.5139645288703104e-05,
    6.979627112323302e-07,
    -5.910091440554133e-06,
    -5.951332069493058e-07,
    1.0097172181131295e-06,
    2.3050784277683832e-07,
    -1.4802262033227022e-07,
    -5.444873469085406e-08,
    1.3051477219068438e-08,
    6.30609246696847e-09,
)


@jit
def _normal_distribution(x, work, out):
    """Write the normal distribution function of every x; ``x`` and ``work`` are overwritten."""
    for i in range(x.shape[0]):
        work[i] = 0.5 * x[i] * x[i]
    exp_of_negative(work, out)
    for i in range(x.shape[0]):
        far = abs(x[i])
        inverse = 1.0 / (far + 4.0)
        u = 1.0 - 8.0 * inverse
        series = _C[20] * u + _C[19]
        series = series * u + _C[18]
        series = series * u + _C[17]
        series = series * u + _C[16]
        series = series * u + _C[15]
        series = series * u + _C[14]
        series = series * u + _C[13]
        series = series * u + _C[12]
        series = series * u + _C[11]
        series = series * u + _C[10]
        series = series * u + _C[9]
        series = series * u + _C[8]
        series = series * u + _C[7]
        series = series * u + _C[6]
        series = series * u + _C[5]
        series = series * u + _C[4]
        series = series * u + _C[3]
        series = series * u + _C[2]
        series = series * u + _C[1]
        series = series * u + _C[0]
        tail = out[i] * series * inverse
        out[i] = 1.0 - tail if x[i] > 0.0 else tail


@jit
def _logistic(x, work, out):
    """Write the logistic function of every x; ``work`` is overwritten."""
    for i in range(x.shape[0]):
        work[i] = abs(x[i])
    exp_of_negative(work, out)
    for i in range(x.shape[0]):
        out[i] = (1.0 if x[i] > 0.0 else out[i]) / (1.0 + out[i])


@jit
def block_probabilities(
    columns, vectors, inverse_scale, kind, amplitude, mean, inverse, likelihood, out
):
    r"""Write the probability of +1 at every row; return whether all latent moments are numbers.

    ``columns`` holds the rows by feature, shape (p, n); ``mean`` and ``inverse`` are those of
    a design without signs: latent means
    :math:`\mu^\top\phi`, variances :math:`|C^{-1}\phi|^2`.
    """
    p, n = columns.shape
    size = mean.shape[0]
    rows, design = np.empty((p, _ROWS)), np.ones((size, _ROWS))
    projected = np.empty((size, _ROWS))
    latent, variance, found = np.empty(_ROWS), np.empty(_ROWS), np.empty(_ROWS)
    slope, share = 1.0, 1.0
    if likelihood == SCALED_LOGIT:
        slope = PROBIT_SLOPE
    elif likelihood != PROBIT:
        share = math.pi / 8.0
    bad = 0
    for start in range(0, n, _ROWS):
        count = min(_ROWS, n - start)
        for j in range(p):
            rows[j, :count] = columns[j, start : start + count]
            rows[j, count:] = rows[j, 0]  # the last block is filled up
        for a in range(1, size):
            kernel_against(rows, vectors[a - 1], inverse_scale, kind, amplitude, design[a])
        np.dot(inverse, design, projected)
        latent[:] = 0.0
        variance[:] = 0.0
        for a in range(size):
            weight = mean[a]
            for i in range(_ROWS):
                latent[i] += weight * design[a, i]
                variance[i] += projected[a, i] * projected[a, i]
        for i in range(_ROWS):
            bad += 0 if abs(latent[i]) + variance[i] < math.inf else 1  # a count needs no branch
        for i in range(_ROWS):
            latent[i] *= slope / math.sqrt(1.0 + share * variance[i])
        if likelihood == PROBIT:
            _normal_distribution(latent, variance, found)
        else:
            _logistic(latent, variance, found)
        for i in range(count):
            out[start + i] = found[i]
    return bad == 0
