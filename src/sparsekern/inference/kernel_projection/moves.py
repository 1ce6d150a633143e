r"""Updates that both models share: precisions, the share of components, steps.

Given coefficients :math:`\beta_{lk}\sim N(0,v/\tau_{lk})` and :math:`\tau\sim\mathrm{Ga}(a,b)`
(shape, rate), :math:`\tau_{lk}\sim\mathrm{Ga}(a+\frac12,\ b+\beta_{lk}^2/2v)`.
"""

from __future__ import annotations

import math

from ..._jit import jit

TARGET = 0.4  # acceptance rate that the scale moves are tuned to: one direction at a time


@jit
def prior_precision(state, settings, k, component):
    r"""Return the prior precision of a coefficient of the noise-free model.

    :math:`\tau_{lk}/s^2`, and :math:`\tau_{0k}` for the intercept, which has no part in the scale.
    """
    block = settings.block[component]
    if block < 0:
        return state.precisions[k, component]
    return state.precisions[k, component] / state.scales[block]


@jit
def draw_precision(rng, prior, square, included):
    """Draw a coefficient's precision given its squared size in units of its variance."""
    if included == 0:
        return rng.standard_gamma(prior[0]) / prior[1]
    return rng.standard_gamma(prior[0] + 0.5) / (prior[1] + 0.5 * square)


@jit
def draw_share(rng, inside, total):
    """Draw the share of included components under its uniform prior."""
    first = rng.standard_gamma(1.0 + inside)
    second = rng.standard_gamma(1.0 + total - inside)
    return min(max(first / (first + second), 1e-12), 1.0 - 1e-12)


@jit
def log_inclusion_odds(share, precision, square, right, variance):
    r"""Return the log odds that a coefficient is not zero.

    :math:`\log\frac\pi{1-\pi}+\frac12\log\frac d{g+d}+\frac{r^2}{2v(g+d)}` with prior precision d,
    information g and right side r, all in units of the variance v.
    """
    total = square + precision
    return (
        math.log(share / (1.0 - share))
        + 0.5 * math.log(precision / total)
        + 0.5 * right * right / (variance * total)
    )


@jit
def adapt(log_step, accepted, sweep):
    """Return the next log step of a random walk, tuned towards the wanted acceptance."""
    return log_step + (sweep + 1.0) ** -0.6 * (accepted - TARGET)
