"""How compiled code finds functions by the type of an argument.

Likelihoods and bases keep what compiled code needs in NamedTuples; :func:`register` ties functions
to such a type, :func:`generic` makes a name that engines call. numba resolves the name when an
engine is compiled for the type: nothing is looked up at run time, and a new type needs no change
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import overload

_FUNCTIONS: dict[tuple[str, type], Callable[..., Any]] = {}
_NAMES: list[str] = []


def register(data: type, **functions: Callable[..., Any]) -> None:
    """Say which compiled functions serve arguments of type ``data``."""
    for name, function in functions.items():
        if name not in _NAMES:
            raise ValueError(f"{name!r} is not a function found by type; these are: {_NAMES}.")
        _FUNCTIONS[name, data] = function


def set_default(**functions: Callable[..., Any]) -> None:
    """Say which compiled functions serve types that register none of their own."""
    register(object, **functions)


def _lookup(name: str, data: type) -> Callable[..., Any]:
    found = _FUNCTIONS.get((name, data)) or _FUNCTIONS.get((name, object))
    if found is None:
        raise TypeError(f"{data.__name__} has no compiled function {name!r}.")
    return found


def generic(name: str) -> Callable[..., Any]:
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
