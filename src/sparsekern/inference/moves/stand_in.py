r"""Joint moves of active set, scales and latent function through a Gaussian stand-in.

Given auxiliary variables s the active set can only go to sets that fit s within its noise,
although the labels would allow much more: where the classes are far apart, drawing sets and s in
turn is slow. Let :math:`\tilde L(f)=\prod_iN(\tilde z_i;f_i,1/\tilde w_i)` stand for the likelihood
:math:`L(f)`. The move forgets s; under :math:`\tilde L`, with the coefficients integrated out, it
slices g and eta, makes many active-set moves and slices eta and g again (a palindrome of
reversible moves, hence reversible); it draws the function :math:`f'` given the new set and scales,
and takes everything with probability

.. math:: \min\Big(1,\ \frac{L(f')\,\tilde L(f)}{\tilde L(f')\,L(f)}\Big),

after which s is drawn anew. The sites are those of a variational Gaussian approximation,
:math:`\tilde w=E[-\ell''(f)]` and :math:`\tilde z=E[f]+E[\ell'(f)]/\tilde w`, averaged over draws
of f in the tuning phase and frozen with it.
"""

from __future__ import annotations

import math

from ..._jit import jit, jit_apart
from ...likelihoods._augmented import renew_working
from ...likelihoods._compiled import add_site_terms, scaled_log_likelihood
from ...linalg.copies import copy_vector
from ...linalg.factor_columns import refresh_products
from ...linalg.whitened_factor import copy_active_set, refactor
from ...linalg.whitened_response import draw_coefficients
from .active_set import move_active_set
from .blocks import move_blocks
from .scales import DIRECTIONS, slice_scales

_LEAST_PRECISION = 1e-4  # of a site: rows far on their side have next to none
_WINDOWS = 4  # of tuning, each as long as all before it; sites are made at the end of each


@jit
def update_sites(response, precision, sums, count):
    """Turn sums over ``count`` draws (of f, its score and its curvature) into sites."""
    for i in range(response.shape[0]):
        precision[i] = max(sums[2, i] / count, _LEAST_PRECISION)
        response[i] = (sums[0, i] + sums[1, i] / precision[i]) / count


@jit_apart
def learn_sites(rng, factor, data, sites, sums, counts, sweep, tune, coefficients, fitted):
    """Add one draw of the function to the sums; now and then make new sites of them.

    ``counts`` holds the draws in the sums and the updates made.
    """
    draw_coefficients(rng, factor, 0, coefficients, fitted)
    add_site_terms(data, fitted, sums)
    counts[0] += 1
    done, window = sweep + 1, tune
    while window > 1 and done < window and window > tune >> (_WINDOWS - 1):
        window >>= 1
    if done == window:
        update_sites(sites[0], sites[1], sums, counts[0])
        sums[:] = 0.0
        counts[0] = 0
        counts[1] += 1


@jit
def _site_log_likelihood(sites, fitted):
    total = 0.0
    for i in range(fitted.shape[0]):
        total -= 0.5 * sites[1, i] * (sites[0, i] - fitted[i]) ** 2
    return total


@jit_apart
def move_through_stand_in(
    rng, factor, stand_in, basis, length_scale, prior, log_weights, candidates, moves, blocks, data,
    sites, widths, root, projected, coefficients, fitted, proposal, unused,
):  # fmt: skip
    """Try one joint move; return whether it was taken. The factor is left exact.

    Parameters
    ----------
    rng : Generator
    factor, stand_in : WhitenedFactor
        The chain's factor, and one whose response and precision are the sites.
    basis, length_scale, prior, log_weights, candidates
        As in the moves this one is made of.
    moves : int
        Active-set moves inside it.
    data : NamedTuple
        Training responses as the likelihood keeps them.
    sites : float64[2, n]
        Response and precision of the stand-in likelihood.
    widths : float64[2 or more]
        Slice widths of g and eta.
    root, projected, coefficients, fitted, proposal : float64 arrays
        Scratch memory.
    unused : int64[3, 2]
        Where active-set moves under the stand-in are counted, apart from the chain's own.
    """
    draw_coefficients(rng, factor, 0, coefficients, fitted)
    copy_active_set(factor, stand_in)
    copy_vector(factor.variances, stand_in.variances)
    refresh_products(stand_in)
    for d in range(2):  # g, eta
        slice_scales(rng, stand_in, prior, DIRECTIONS[d], widths[d], root, projected)
    refactor(stand_in)
    singles_first = rng.random() < 0.5  # in either order with equal probability: reversible
    for turn in range(2):
        if (turn == 0) == singles_first:
            move_active_set(
                rng, stand_in, basis, length_scale, log_weights, candidates, moves, candidates[:0],
                unused,
            )  # fmt: skip
        else:
            move_blocks(
                rng, stand_in, basis, length_scale, log_weights, candidates, blocks, unused[0]
            )
    for d in range(1, -1, -1):
        slice_scales(rng, stand_in, prior, DIRECTIONS[d], widths[d], root, projected)
    refactor(stand_in)
    draw_coefficients(rng, stand_in, 0, coefficients, proposal)
    ratio = scaled_log_likelihood(data, proposal, 1.0, 1.0) - _site_log_likelihood(sites, proposal)
    ratio -= scaled_log_likelihood(data, fitted, 1.0, 1.0) - _site_log_likelihood(sites, fitted)
    if not math.log(rng.random()) < ratio:
        return False
    copy_active_set(stand_in, factor)
    copy_vector(stand_in.variances, factor.variances)
    renew_working(data, rng, factor, proposal, True)
    return True
