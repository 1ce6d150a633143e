r"""Random-walk Metropolis on the kernel's length scales, coefficients integrated out.

The prior is uniform on a box, :math:`\ell_l\sim U(a_l,b_l)`; the walk is on :math:`\log\ell`, so
the acceptance ratio carries :math:`\prod\ell_l^*/\ell_l`, and a proposal outside the box is
rejected (clipping it would put mass on the bounds). One common step for a shared width; a random
block of features for one width each. The step size adapts while the chain is tuned, :math:`\log
c\leftarrow\log c+t^{-0.6}(\alpha_t-\alpha^*)`.
"""

from __future__ import annotations

import math

from ..._jit import jit, jit_apart
from ...bases.kernel_columns import rebuild
from ...linalg.copies import copy_matrix
from ...linalg.whitened_factor import FORM, count_columns, log_evidence

FIXED, SHARED, PER_FEATURE = range(3)
_BLOCK = 3  # features moved together; more lowers the acceptance faster than it saves rebuilds


@jit
def _copy_rows(source, target, rows, columns):
    for a in range(rows):
        for b in range(columns):
            target[a, b] = source[a, b]


@jit
def _copy_factor(source, target):
    """Copy the live part of a factor."""
    k = count_columns(source)
    _copy_rows(source.prior_root, target.prior_root, k, k)
    _copy_rows(source.whitened, target.whitened, k, source.whitened.shape[1])
    _copy_rows(source.gram, target.gram, k + 1, k + 1)
    _copy_rows(source.root, target.root, k + 1, k + 1)
    _copy_rows(source.cross, target.cross, source.cross.shape[0], k + 1)
    _copy_rows(source.projected, target.projected, source.cross.shape[0], k + 1)
    target.noise[FORM] = source.noise[FORM]


@jit_apart
def move_length_scale(rng, factor, spare, basis, length_scale, box, mode, log_step):
    """Try one move; return the acceptance probability and whether the move was taken.

    Parameters
    ----------
    rng : Generator
    factor, spare : WhitenedFactor
        The factor, and a second one that shares its rows, response and variances.
    basis : KernelColumns
    length_scale : float64[L, p]
        Changed in place; one kernel, drawn at random, moves.
    box : float64[L, p, 2]
        Lowest and highest value of each length scale; infinite for features that a kernel does not
        see, and equal to each other for a width that is fixed.
    mode : int
        ``SHARED`` or ``PER_FEATURE``.
    log_step : float
        Log standard deviation of the walk on log length scales.
    """
    kernels, p = length_scale.shape
    kernel = rng.integers(0, kernels) if kernels > 1 else 0
    proposal = length_scale.copy()
    widths, limits = proposal[kernel], box[kernel]
    step = math.exp(log_step)
    log_jacobian = 0.0
    if mode == SHARED:  # one parameter, however many features carry it
        log_jacobian = step * rng.standard_normal()
        widths *= math.exp(log_jacobian)
    else:
        for _ in range(min(p, _BLOCK)):
            feature = rng.integers(0, p)
            change = step * rng.standard_normal()
            if math.isinf(limits[feature, 1]):  # not seen by this kernel
                continue
            log_jacobian += change
            widths[feature] *= math.exp(change)
    for j in range(p):
        if not limits[j, 0] <= widths[j] <= limits[j, 1]:
            return 0.0, False
    spare.n_active[0] = factor.n_active[0]
    rebuild(spare, basis, proposal)
    ratio = log_evidence(spare) - log_evidence(factor) + log_jacobian
    probability = math.exp(min(0.0, ratio))
    if rng.random() >= probability:
        return probability, False
    _copy_factor(spare, factor)
    copy_matrix(proposal, length_scale)
    return probability, True


@jit
def adapt_step(log_step, probability, mode, sweep):
    """Return the log step size after one Robbins-Monro update (tuning only)."""
    target = 0.44 if mode == SHARED else 0.23
    return log_step + (sweep + 1.0) ** -0.6 * (probability - target)
