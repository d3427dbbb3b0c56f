"""Functions of words as builtin functions of Python, which give up Python's lock while they run."""
# mypy: ignore-errors
from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from .int_compiler import WORD

_OBJECT, _I32 = ir.IntType(8).as_pointer(), ir.IntType(32)
_FASTCALL = 0x80

_API = {"PyLong_AsLongLong": (WORD, [_OBJECT]), "PyLong_FromLongLong": (_OBJECT, [WORD]), "PyErr_Occurred": (_OBJECT, []),
        "PyErr_BadArgument": (_I32, []), "PyEval_SaveThread": (_OBJECT, []), "PyEval_RestoreThread": (ir.VoidType(), [_OBJECT])}

for _name in _API:
    llvm.add_symbol(_name, ctypes.cast(getattr(ctypes.pythonapi, _name), ctypes.c_void_p).value)


def export(module: ir.Module, function: ir.Function) -> str:
    """Add ``PyObject *f(self, arguments, count)`` around a function to its module; gives the symbol."""
    api = {n: module.globals.get(n) or ir.Function(module, ir.FunctionType(*kind), n) for n, kind in _API.items()}
    made = ir.Function(module, ir.FunctionType(_OBJECT, [_OBJECT, _OBJECT.as_pointer(), WORD]), f"{function.name}_py")
    b = ir.IRBuilder(made.append_basic_block())
    _, given, count = made.args
    none = ir.Constant(_OBJECT, None)
    with b.if_then(b.icmp_signed("!=", count, WORD(len(function.args))), likely=False):
        b.call(api["PyErr_BadArgument"], [])
        b.ret(none)
    words = [b.call(api["PyLong_AsLongLong"], [b.load(b.gep(given, [WORD(k)]))]) for k in range(len(function.args))]
    doubtful = ir.Constant(ir.IntType(1), 0)
    for word in words:
        doubtful = b.or_(doubtful, b.icmp_signed("==", word, WORD(-1)))
    with b.if_then(doubtful, likely=False), b.if_then(b.icmp_unsigned("!=", b.call(api["PyErr_Occurred"], []), none)):
        b.ret(none)
    state = b.call(api["PyEval_SaveThread"], [])
    found = b.call(function, words)
    b.call(api["PyEval_RestoreThread"], [state])
    b.ret(b.call(api["PyLong_FromLongLong"], [found]))
    return made.name


class _Definition(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


_alive: list[Any] = []


def builtins(names: Sequence[str], addresses: Sequence[int]) -> list[Any]:
    """Builtin functions with the code at these addresses."""
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    found = []
    for name, address in zip(names, addresses):
        _alive.append(_Definition(name.encode(), address, _FASTCALL, None))
        found.append(make(ctypes.addressof(_alive[-1]), None, None))
    return found
