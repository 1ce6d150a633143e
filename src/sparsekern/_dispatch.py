"""How compiled code finds functions by the type of an argument.

Likelihoods and bases keep what compiled code needs in NamedTuples; :func:`register` ties functions
to such a type, :func:`generic` makes a name that engines call. numba resolves the name when an
engine is compiled for the type: nothing is looked up at run time, and a new type needs no change
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin

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

    def type_of(context, data):
        return context.resolve_value_type(_lookup(name, data.instance_class))

    class Resolve(AbstractTemplate):
        key = stub

        def generic(self, args, kws):
            args = tuple(map(types.unliteral, args))
            return self.context.resolve_function_type(type_of(self.context, args[0]), args, kws)

    infer_global(stub, types.Function(Resolve))

    @lower_builtin(stub, types.VarArg(types.Any))
    def call(context, builder, signature, arguments):
        found = type_of(context.typing_context, signature.args[0])
        return context.get_function(found, signature)(builder, arguments)

    stub.__name__ = name
    return stub
