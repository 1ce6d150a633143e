r"""Updates that the models share: precisions, the share of components, steps.

Given coefficients :math:`\beta_{lk}\sim N(0,v/\tau_{lk})` and :math:`\tau\sim\mathrm{Ga}(a,b)`
(shape, rate), :math:`\tau_{lk}\sim\mathrm{Ga}(a+\frac12,\ b+\beta_{lk}^2/2v)`.
"""

from __future__ import annotations

import math

from ..._jit import jit, jit_apart

TARGET = 0.4  # acceptance rate that the scale moves are tuned to: one direction at a time


@jit
def prior_precision(state, settings, k, component):
    r"""Return the prior precision of a coefficient, where all share the scale s.

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


@jit_apart
def draw_precisions(rng, state, settings):
    """Draw the intercepts' precisions and, where they are free, those of all coefficients."""
    classes, m = state.coefficients.shape
    for k in range(classes):
        for a in range(m):
            block = settings.block[a]
            square = state.coefficients[k, a] ** 2
            if block < 0:
                state.precisions[k, a] = draw_precision(rng, settings.intercept_prior, square, 1)
            elif settings.own_precisions:
                state.precisions[k, a] = draw_precision(
                    rng,
                    settings.precision_prior,
                    square / state.scales[block],
                    state.included[k, a],
                )


@jit
def draw_share(rng, inside, total):
    """Draw the share of included components under its uniform prior."""
    first = rng.standard_gamma(1.0 + inside)
    second = rng.standard_gamma(1.0 + total - inside)
    return min(max(first / (first + second), 1e-12), 1.0 - 1e-12)


@jit_apart
def find_included(state, work, k):
    """Write down which coefficients of a class are not zero; return their number."""
    count = 0
    for a in range(state.included.shape[1]):
        if state.included[k, a] == 1:
            work.places[count] = a
            count += 1
    return count


@jit
def use_kernel(state, settings, k, kernel, used):
    """Give a kernel a part in the latent function of a class, or take it away."""
    state.used[k, kernel] = used
    for a in range(settings.block.shape[0]):
        if settings.block[a] == kernel:
            state.included[k, a] = used


@jit
def draw_use(rng, share, gain):
    """Draw whether something is used, given the gain in log density if it is."""
    odds = math.log(share / (1.0 - share)) + gain
    return 1 if math.log(rng.random()) < -math.log1p(math.exp(min(-odds, 700.0))) else 0


@jit_apart
def draw_share_of_all(rng, state, settings):
    """Draw the share of components, or of kernels, where every class has its own."""
    inside, total = 0, 0
    if settings.select_kernels:
        for k in range(state.used.shape[0]):
            for kernel in range(state.used.shape[1]):
                if settings.sizes[kernel] > 0:
                    total += 1
                    inside += state.used[k, kernel]
        state.share[0] = draw_share(rng, inside, total)
        return
    for k in range(state.included.shape[0]):
        for a in range(state.included.shape[1]):
            if settings.block[a] >= 0:
                total += 1
                inside += state.included[k, a]
    state.share[0] = draw_share(rng, inside, total)


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
