"""Calls from one compiled function to another by address.

numba copies the code of every function that is called into the binary of the caller and optimises
it there again, at every level up to the engine: a large engine costs many times its own length.
Here the caller keeps only a slot for an address. The first call fills it: it asks for the callee
by name and types, which comes from the disk cache or is compiled, once for all its callers.
"""

from __future__ import annotations

import ctypes
import pickle
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin

_RESOLVER = "sparsekern_resolve"
_FUNCTIONS: dict[str, Any] = {}


def _name(function: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}"


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)
def _resolve(request: bytes) -> int:
    """Return the address of a function, compiled if need be; compiled code calls this."""
    name, arguments = pickle.loads(bytes.fromhex(request.decode()))
    function = _FUNCTIONS[name]
    function.compile(arguments)
    found = function.overloads[arguments]
    return found.library.get_pointer_to_function(found.fndesc.llvm_func_name)


llvm.add_symbol(_RESOLVER, ctypes.cast(_resolve, ctypes.c_void_p).value)


def call_by_address(function: Any) -> None:
    """Let compiled code call ``function``, a dispatcher, through a slot for its address.

    The dispatcher has to name its Python function as the key of its implementation.
    """
    name = _name(function)
    _FUNCTIONS[name] = function

    @lower_builtin(function.py_func, types.VarArg(types.Any))
    def lower(context, builder, signature, arguments):
        module, pointer = builder.module, cgutils.voidptr_t
        slot = ir.GlobalVariable(module, pointer, module.get_unique_name("sparsekern.slot"))
        slot.linkage, slot.initializer = "internal", ir.Constant(pointer, None)
        with builder.if_then(cgutils.is_null(builder, builder.load(slot)), likely=False):
            resolver = cgutils.get_or_insert_function(
                module, ir.FunctionType(pointer, [pointer]), _RESOLVER
            )
            request = pickle.dumps((name, signature.args)).hex()
            found = builder.call(resolver, [context.insert_const_string(module, request)])
            with builder.if_then(cgutils.is_null(builder, found), likely=False):
                context.call_conv.return_user_exc(
                    builder, RuntimeError, (f"{name} could not be compiled.",)
                )
            builder.store(found, slot)
        kind = context.call_conv.get_function_type(signature.return_type, signature.args)
        address = builder.bitcast(builder.load(slot), kind.as_pointer())
        status, result = context.call_conv.call_function(
            builder, address, signature.return_type, signature.args, arguments
        )
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result
