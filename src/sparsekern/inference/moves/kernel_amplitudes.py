r"""Metropolis moves of the amplitudes of several kernels, coefficients integrated out.

:math:`f=u+\sum_lg_lK_{l,\gamma}\beta_l` with :math:`\beta_l\sim N(0,K_{l,\gamma\gamma}^{-1})` and
:math:`g_l\sim\rho\,\delta_0+(1-\rho)Ga(a,b)`, so that the factor's prior variance of kernel l is
:math:`v_l=g_l^2`. Half of the moves propose from the prior, spike included, and are judged by the
evidence alone; the other half walk on :math:`\log g_l` where it is not zero. One evaluation is one
Cholesky factorisation from the cached Gram matrix.
"""

from __future__ import annotations

import math

from ..._jit import jit, jit_apart
from ...linalg.whitened_factor import exponent, factorize, quadratic_form, response_energy
from ...priors.scales import draw_amplitude, walk_ratio_of_amplitude


@jit
def _log_evidence(factor, root, projected, variances, energy):
    log_root, squares = factorize(factor, root, projected, variances)
    form = quadratic_form(factor, root, projected, variances, energy, squares)
    return exponent(factor.noise, form) - factor.response.shape[0] * log_root


@jit_apart
def move_amplitudes(rng, factor, prior, step, root, projected, tally, forward):
    """Try a move of every amplitude in turn, ``forward`` or from the last to the first.

    The factor's root is left stale.

    ``step`` is the standard deviation of the walk on log amplitudes; ``tally`` counts its attempts
    and acceptances. Returns the mean acceptance probability of the walks, or -1 without any.
    """
    energy = response_energy(factor)
    variances = factor.variances.copy()
    here = _log_evidence(factor, root, projected, variances, energy)
    total, walks = 0.0, 0
    for place in range(1, variances.shape[0]):
        kernel = place if forward else variances.shape[0] - place
        old = math.sqrt(variances[kernel])
        walk = rng.random() < 0.5
        ratio = 0.0
        if walk:
            if old == 0.0:
                continue
            new = old * math.exp(step * rng.standard_normal())
            ratio = walk_ratio_of_amplitude(prior, old, new)
        else:
            new = draw_amplitude(rng, prior)
        variances[kernel] = new * new
        there = _log_evidence(factor, root, projected, variances, energy)
        ratio += there - here
        taken = math.log(rng.random()) < ratio
        if taken:
            here = there
            factor.variances[kernel] = new * new
        else:
            variances[kernel] = old * old
        if walk:
            total += math.exp(min(0.0, ratio))
            walks += 1
            tally[0] += 1
            tally[1] += 1 if taken else 0
    return total / walks if walks > 0 else -1.0
