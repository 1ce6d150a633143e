r"""The whitened factor of a Gaussian model with an active set of basis columns.

For rows :math:`i=1..n`, latent columns :math:`z_1..z_C` with working precision
:math:`\Omega=\mathrm{diag}(w)`, an intercept column :math:`o` (ones, for data as they come) of
prior variance :math:`v_0` and, for each kernel :math:`l=1..L`, coefficients of prior covariance
:math:`v_lM_l^{-1}` at the active vectors, with :math:`M_l=L_lL_l^\top` (jitter included):

.. math::
    W_l=\Phi_lL_l^{-\top},\quad D=\Omega^{1/2}[\sqrt{v_0}\,o,\ \sqrt{v_l}\,W_l],\quad
    B=I+D^\top D=L_BL_B^\top,\quad c=L_B^{-1}D^\top\Omega^{1/2}z .

Then :math:`\log p(z\mid\text{active set})=-C\sum\log L_{B,ii}+\tfrac12\mathrm{tr}\,c^\top c` up
to terms that do not depend on the active set. Whitening keeps :math:`B` well conditioned where
:math:`\Phi^\top\Phi` is not. The Gram matrix of :math:`[o,W]` is carried along, so changing
the variances costs one small Cholesky factorisation and touches no row of the data.

Noise of unknown size. With :math:`\sigma^{-2}\sim Ga(a,b)`, everything above conditional on
:math:`\sigma^2` (precision :math:`\Omega/\sigma^2`, prior covariances times :math:`\sigma^2`) and
:math:`\sigma^2` integrated out, the exponent :math:`-\frac12q`, :math:`q=\mathrm{tr}\,z^\top
Q^{-1}z=\mathrm{tr}(z^\top\Omega z-c^\top c)`, becomes :math:`-(a+nC/2)\log(b+q/2)`. ``noise``
says which of the two holds, and one function, :func:`exponent`, knows both.

Columns of the L kernels take turns: the vector at position t has the columns tL..tL+L-1, and the
prior root of all columns is triangular with zeros between kernels. All arrays are buffers for one
vector more than the largest model, so that a swap can be valued as "newcomer added, then victim
removed" without moving anything.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import jit, jit_apart
from .blas import cholesky_in_place
from .copies import copy_vector
from .triangular import dot, solve_lower, solve_lower_transposed

# entries of ``noise``
SHAPE, RATE, VARIANCE, FORM, PENDING = range(5)
_CANCELLED = 1e-6  # share of z'z under which z'z - c'c has lost too many digits


class WhitenedFactor(NamedTuple):
    r"""Buffers of the factor; the leading columns (plus one for the intercept) hold.

    Attributes
    ----------
    n_active : int64[1]
        Number of active vectors k; there are q = kL columns.
    rows : int64[m]
        Training row at each position of the factor.
    position : int64[n]
        Position of each training row in the factor, -1 when it is not active.
    ones : float64[n]
        Intercept column.
    prior_root, whitened : float64[mL, mL], float64[mL, n]
        :math:`L_M` and :math:`W^\top`.
    gram, cross : float64[mL+1, mL+1], float64[C, mL+1]
        :math:`[o,W]^\top\Omega[o,W]` and :math:`[o,W]^\top\Omega z`.
    root, projected : float64[mL+1, mL+1], float64[C, mL+1]
        :math:`L_B` and :math:`c`.
    response, precision : float64[C, n], float64[n]
        Working response z and working precision w.
    variances : float64[1 + L]
        :math:`(v_0, v_1, ..)`.
    noise : float64[5]
        Shape :math:`a+nC/2` of :math:`\sigma^{-2}` given everything (0: :math:`\sigma^2=1` is
        known), rate b, the present :math:`\sigma^2`, the present q, and by how much a newcomer
        that is only valued yet would lower q.
    long, short : float64[2, n], float64[3, mL+1]
        Scratch memory.
    abandoned : int64[1]
        Set to 1 from outside when nobody reads on: loops of moves end before their next one.
    """

    n_active: np.ndarray
    rows: np.ndarray
    position: np.ndarray
    ones: np.ndarray
    prior_root: np.ndarray
    whitened: np.ndarray
    gram: np.ndarray
    cross: np.ndarray
    root: np.ndarray
    projected: np.ndarray
    response: np.ndarray
    precision: np.ndarray
    variances: np.ndarray
    noise: np.ndarray
    long: np.ndarray
    short: np.ndarray
    abandoned: np.ndarray


def empty_factor(
    n_rows: int, max_active: int, n_latent: int = 1, n_kernels: int = 1
) -> WhitenedFactor:
    """Allocate a factor without active vectors, unit precision, known noise and zero response."""
    m = max_active + 1
    q = m * n_kernels
    return WhitenedFactor(
        n_active=np.zeros(1, np.int64),
        rows=np.zeros(m, np.int64),
        position=np.full(n_rows, -1, np.int64),
        ones=np.ones(n_rows),
        prior_root=np.zeros((q, q)),
        whitened=np.zeros((q, n_rows)),
        gram=np.zeros((q + 1, q + 1)),
        cross=np.zeros((n_latent, q + 1)),
        root=np.zeros((q + 1, q + 1)),
        projected=np.zeros((n_latent, q + 1)),
        response=np.zeros((n_latent, n_rows)),
        precision=np.ones(n_rows),
        variances=np.ones(1 + n_kernels),
        noise=np.array([0.0, 0.0, 1.0, 0.0, 0.0]),
        long=np.zeros((2, n_rows)),
        short=np.zeros((3, q + 1)),
        abandoned=np.zeros(1, np.int64),
    )


@jit
def count_kernels(factor):
    """Return L."""
    return factor.variances.shape[0] - 1


@jit
def count_columns(factor):
    """Return the number of columns q = kL, the intercept not counted."""
    return factor.n_active[0] * (factor.variances.shape[0] - 1)


@jit
def write_column_scales(factor, variances, size, out):
    """Write the prior standard deviation of the intercept and of ``size`` columns behind it."""
    out[0] = math.sqrt(variances[0])
    kernels = variances.shape[0] - 1
    for kernel in range(kernels):
        scale = math.sqrt(variances[kernel + 1])
        for a in range(kernel, size, kernels):
            out[a + 1] = scale


@jit
def exponent(noise, form):
    """Return what the log evidence holds of q = ``form``; see the head of this file."""
    if noise[SHAPE] == 0.0:
        return -0.5 * form
    return -noise[SHAPE] * math.log(noise[RATE] + 0.5 * max(form, 0.0))


@jit_apart
def copy_active_set(source, target):
    """Copy which rows are active, and the part of the factor that knows no response; O(nq)."""
    k, q = source.n_active[0], count_columns(source)
    target.n_active[0] = k
    copy_vector(source.position, target.position)
    for a in range(k):
        target.rows[a] = source.rows[a]
    for a in range(q):
        copy_vector(source.whitened[a], target.whitened[a])
        for b in range(a + 1):
            target.prior_root[a, b] = source.prior_root[a, b]


@jit_apart
def factorize(factor, root, projected, variances):
    r"""Write :math:`L_B` and :math:`c` for the given variances into the buffers; O(q^3).

    Returns the pair :math:`(\sum\log L_{B,ii},\ \mathrm{tr}\,c^\top c)`.
    """
    size = count_columns(factor) + 1
    scale = factor.short[2]
    write_column_scales(factor, variances, size - 1, scale)
    for a in range(size):
        row, gram_row = root[a], factor.gram[a]
        for b in range(a + 1):
            row[b] = scale[a] * scale[b] * gram_row[b]
        row[a] += 1.0
    cholesky_in_place(root, size)
    log_root = 0.0
    for a in range(size):
        log_root += math.log(root[a, a])
    squares = 0.0
    for c in range(projected.shape[0]):
        vector = projected[c]
        for a in range(size):
            vector[a] = scale[a] * factor.cross[c, a]
        solve_lower(root, size, vector)
        squares += dot(vector, vector, size)
    return log_root, squares


@jit
def response_energy(factor):
    r"""Return :math:`\mathrm{tr}\,z^\top\Omega z`."""
    energy = 0.0
    for c in range(factor.response.shape[0]):
        response = factor.response[c]
        for i in range(response.shape[0]):
            energy += factor.precision[i] * response[i] * response[i]
    return energy


@jit_apart
def quadratic_form(factor, root, projected, variances, energy, squares):
    r"""Return :math:`q=\mathrm{tr}\,z^\top Q^{-1}z` from the two sums of squares.

    Their difference is the answer; where the model explains z almost exactly it is all rounding
    error, and the sum of squares :math:`|\Omega^{1/2}(z-\Phi\hat\beta)|^2+|\hat\alpha|^2`,
    :math:`\hat\alpha=L_B^{-\top}c`, which cannot cancel, is taken instead; O(nq).
    """
    difference = energy - squares
    if difference > _CANCELLED * energy:
        return difference
    q = count_columns(factor)
    alpha, scale = factor.short[0], factor.short[2]
    write_column_scales(factor, variances, q, scale)
    fitted = factor.long[0]
    total = 0.0
    for c in range(factor.response.shape[0]):
        for a in range(q + 1):
            alpha[a] = projected[c, a]
        solve_lower_transposed(root, q + 1, alpha)
        total += dot(alpha, alpha, q + 1)
        for a in range(q + 1):
            alpha[a] *= scale[a]
        fitted[:] = 0.0
        if q > 0:
            np.dot(alpha[1 : q + 1], factor.whitened[:q], fitted)
        response = factor.response[c]
        for i in range(response.shape[0]):
            residual = response[i] - alpha[0] * factor.ones[i] - fitted[i]
            total += factor.precision[i] * residual * residual
    return total


@jit_apart
def refactor(factor):
    r"""Refresh :math:`L_B`, :math:`c` and, if the noise is learned, q from the Gram matrix; O(q^3).

    Returns what :func:`factorize` returns.
    """
    log_root, squares = factorize(factor, factor.root, factor.projected, factor.variances)
    if factor.noise[SHAPE] > 0.0:
        factor.noise[FORM] = quadratic_form(
            factor, factor.root, factor.projected, factor.variances, response_energy(factor),
            squares,
        )  # fmt: skip
    return log_root, squares


@jit
def log_evidence(factor):
    r"""Return the log evidence up to a constant that no move of set, scales or kernel changes."""
    size = count_columns(factor) + 1
    value = 0.0
    for a in range(size):
        value -= math.log(factor.root[a, a])
    value *= factor.response.shape[0]
    if factor.noise[SHAPE] > 0.0:
        return value + exponent(factor.noise, factor.noise[FORM])
    for c in range(factor.response.shape[0]):
        value += 0.5 * dot(factor.projected[c], factor.projected[c], size)
    return value
