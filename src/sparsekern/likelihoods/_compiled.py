"""How compiled code finds the functions of a likelihood: by the type of its data.

Each likelihood has a NamedTuple that holds the training responses as its compiled functions want
them; :func:`register` ties functions to that type. Engines call the names below and know no
likelihood. numba resolves a name when an engine is compiled for the type, so nothing is looked up
at run time, and a new likelihood needs no change elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload

from .._jit import jit

_FUNCTIONS: dict[tuple[str, type], Callable[..., Any]] = {}
_NAMES: list[str] = []


def register(data: type, **functions: Callable[..., Any]) -> None:
    """Say which compiled functions serve responses of type ``data``."""
    for name, function in functions.items():
        if name not in _NAMES:
            raise ValueError(f"{name!r} is not a function of likelihoods; these are: {_NAMES}.")
        _FUNCTIONS[name, data] = function


def set_default(**functions: Callable[..., Any]) -> None:
    """Say which compiled functions serve types that register none of their own."""
    register(object, **functions)


def _lookup(name: str, data: type) -> Callable[..., Any]:
    found = _FUNCTIONS.get((name, data)) or _FUNCTIONS.get((name, object))
    if found is None:
        raise TypeError(f"{data.__name__} has no compiled function {name!r}.")
    return found


def _generic(name: str) -> Callable[..., Any]:
    """Return a name for compiled code whose meaning depends on the type of its first argument."""
    _NAMES.append(name)

    def stub(data, *rest):
        return _lookup(name, type(data))(data, *rest)

    @overload(stub)
    def resolve(data, *rest):
        found = _lookup(name, data.instance_class)

        def call(data, *rest):
            return found(data, *rest)

        return call

    stub.__name__ = name
    return stub


# (data, rng, factor, diagonal, scans, memory): renew working response and precision by a move that
# keeps the posterior, and leave the factor exact
update_working = _generic("update_working")
# (data, rng, fitted, variance, response, precision): draw auxiliary variables given the function,
# and write the working response and precision they make
draw_working = _generic("draw_working")
# (data, fitted, scale, variance): log-likelihood of all responses at ``scale`` times the function
scaled_log_likelihood = _generic("scaled_log_likelihood")
# (data, fitted, sums): add f, l'(f) and -l''(f) to the three rows of ``sums``
add_site_terms = _generic("add_site_terms")
# (data, latent): expected response at one latent value
mean_response = _generic("mean_response")
# (data, functions, variance): log-likelihood of all responses at all latent functions
total_log_likelihood = _generic("total_log_likelihood")
# (data, functions, row): what convergence is judged by at one training row
monitor = _generic("monitor")


@jit
def _total_log_likelihood(data, functions, variance):
    return scaled_log_likelihood(data, functions[0], 1.0, variance)


@jit
def _monitor(data, functions, row):
    return mean_response(data, functions[0, row])


# Engines are compiled with all their moves. A likelihood without the ability "function moves" is
# never asked for the following; they let it compile, and would spoil a chain that did ask.
@jit
def _absent_draw(data, rng, fitted, variance, response, precision):
    response[:] = np.nan
    return False


@jit
def _absent_value(data, fitted, scale, variance):
    return np.nan


@jit
def _absent_terms(data, fitted, sums):
    sums[:] = np.nan


set_default(
    total_log_likelihood=_total_log_likelihood,
    monitor=_monitor,
    draw_working=_absent_draw,
    scaled_log_likelihood=_absent_value,
    add_site_terms=_absent_terms,
)
