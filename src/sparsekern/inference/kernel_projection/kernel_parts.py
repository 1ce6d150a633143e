r"""Which kernels have a part, where labels are Gaussian responses.

A kernel has a part in the functions of all classes or of none, and with its coefficients integrated
out that is decided by the evidence. Given its scale the decision would hardly ever change: the
scale of a kernel without a part wanders over its prior, and most values there are worse than none.
So a kernel is drawn together with its scale, and offered in exchange for another, with that one's.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit, jit_apart
from .moves import draw_share, draw_use, use_kernel
from .responses import log_evidence
from .scales import log_scale_prior

# values of log s that are weighed at once, their distance, and how far
# below the scale of its law they begin
_VALUES, _STEP, _BELOW = 14, 0.5, 5.0


@jit
def set_kernel(state, settings, kernel, used):
    """Give a kernel a part in the functions of all classes, or in none."""
    for k in range(state.used.shape[0]):
        use_kernel(state, settings, k, kernel, used)


@jit_apart
def select_kernel(rng, state, work, settings, kernel):
    r"""Draw whether a kernel has a part, together with its scale, coefficients integrated out.

    The values :math:`u+jh` of its log scale, :math:`j=0..M-1` modulo the width :math:`Mh` of an
    interval, are the same from whichever of them one starts; so one of them, with the kernel or
    without it, may be drawn with their probabilities. Outside of the interval nothing is done.
    """
    low = math.log(settings.scale_prior) - _BELOW
    offset = 0.5 * math.log(state.scales[kernel]) - low
    width = _VALUES * _STEP
    if settings.sizes[kernel] == 0 or not 0.0 <= offset < width:
        return
    set_kernel(state, settings, kernel, 0)
    without = log_evidence(state, work, settings)
    set_kernel(state, settings, kernel, 1)
    log_odds = math.log(state.share[0] / (1.0 - state.share[0]))
    weights = np.empty(2 * _VALUES)
    for j in range(_VALUES):
        value = low + (offset + j * _STEP) % width
        state.scales[kernel] = math.exp(2.0 * value)
        prior = log_scale_prior(settings, value)
        weights[j] = prior + log_odds + log_evidence(state, work, settings)
        weights[_VALUES + j] = prior + without
    weights -= weights.max()
    level = rng.random() * np.exp(weights).sum()
    chosen = 0
    while chosen < 2 * _VALUES - 1:
        level -= math.exp(weights[chosen])
        if level < 0.0:
            break
        chosen += 1
    state.scales[kernel] = math.exp(2.0 * (low + (offset + (chosen % _VALUES) * _STEP) % width))
    set_kernel(state, settings, kernel, 1 if chosen < _VALUES else 0)


@jit
def _exchange(state, settings, first, second):
    """Exchange scale and part of two kernels."""
    scale, used = state.scales[first], state.used[0, first]
    state.scales[first] = state.scales[second]
    set_kernel(state, settings, first, state.used[0, second])
    state.scales[second] = scale
    set_kernel(state, settings, second, used)


@jit_apart
def exchange_kernels(rng, state, work, settings, first):
    """Let a kernel without a part take the place, and the scale, of one that has, or the reverse.

    With the probability of the outcome, not the larger one of Metropolis' rule: two exchanges that
    are always accepted would cancel.
    """
    kernels = state.used.shape[1]
    second = (first + 1 + int(rng.random() * (kernels - 1))) % kernels
    same = state.used[0, first] == state.used[0, second]
    if same or settings.sizes[first] == 0 or settings.sizes[second] == 0:
        return
    current = log_evidence(state, work, settings)
    _exchange(state, settings, first, second)
    gain = log_evidence(state, work, settings) - current
    if draw_use(rng, 0.5, gain) == 0:
        _exchange(state, settings, first, second)


@jit
def select_kernels(rng, state, work, settings):
    """Move the kernels that have a part: one in turn, and in exchange for another."""
    kernel = state.sweep[0] % state.used.shape[1]
    select_kernel(rng, state, work, settings, kernel)
    if state.used.shape[1] > 1:
        exchange_kernels(rng, state, work, settings, kernel)
    inside, total = 0, 0
    for kernel in range(state.used.shape[1]):
        if settings.sizes[kernel] > 0:
            inside += state.used[0, kernel]
            total += 1
    state.share[0] = draw_share(rng, inside, total)
