r"""Sweeps under a Gaussian stand-in for a likelihood, corrected as a whole.

A likelihood :math:`L(f)` that is not Gaussian given anything has a stand-in
:math:`S(f)=\prod_i\exp(-\frac12w_i(z_i-f_i)^2)`. Let :math:`\theta` be the active set, features,
scales and widths. A sweep makes its moves of :math:`\theta` under S, with the coefficients
integrated out, draws a function :math:`f'` given the new :math:`\theta'` and S, and takes both with
probability

.. math:: \min\Big(1,\ \frac{L(f')\,S(f)}{S(f')\,L(f)}\Big);

otherwise everything is as it was before. This is exact: each move is reversible under the posterior
of S, and so is a sweep that makes them in order or, by a fair coin, in reverse order (the mixture
of a product of reversible kernels and its reverse); in Metropolis' rule for a reversible proposal
only the ratio of the targets is left, L/S. It is generic: L enters through its value alone.

The sites z, w are those of a variational Gaussian approximation, made of draws of f in three
windows that end at an eighth, a quarter and half of the tuning phase. Up to there everything is
taken; then the sites stay, and the second half of the tuning phase finds the right posterior.
"""

from __future__ import annotations

import math

from ..._jit import jit
from ...likelihoods._compiled import add_site_terms, scaled_log_likelihood
from .stand_in import update_sites


@jit
def is_free(sweep, tune):
    """Tell whether a sweep is taken as it is: the first, and while the sites are learned."""
    return sweep == 0 or sweep < tune >> 1


@jit
def _stand_in(response, precision, fitted):
    total = 0.0
    for i in range(fitted.shape[0]):
        total -= 0.5 * precision[i] * (response[i] - fitted[i]) ** 2
    return total


@jit
def is_taken(rng, data, response, precision, fitted, proposal):
    """Tell whether a sweep is taken that led from the function ``fitted`` to ``proposal``."""
    ratio = scaled_log_likelihood(data, proposal, 1.0, 1.0)
    ratio -= scaled_log_likelihood(data, fitted, 1.0, 1.0)
    ratio += _stand_in(response, precision, fitted) - _stand_in(response, precision, proposal)
    return math.log(rng.random()) < ratio


@jit
def write_function(function, intercept, coefficients, fitted):
    """Remember a function: intercept, coefficients, values at the training rows."""
    largest = function.shape[0] - 1 - fitted.shape[0]
    function[0] = intercept
    function[1 : 1 + largest] = coefficients[:largest]
    function[1 + largest :] = fitted


@jit
def learn_stand_in(data, fitted, response, precision, sums, sweep, tune):
    """Add a function to the sums; at the end of a window make new sites. Returns whether so."""
    done = sweep + 1
    if done > tune >> 1:
        return False
    add_site_terms(data, fitted, sums)
    if done != tune >> 3 and done != tune >> 2 and done != tune >> 1:
        return False
    window = done - (done >> 1 if done > tune >> 3 else 0)
    update_sites(response, precision, sums, window)
    sums[:] = 0.0
    return True
