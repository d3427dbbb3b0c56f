"""Machine code of generated kernels without Numba.

Elementwise kernels and sweeps over the types of :mod:`.typed` are what a network needs first, and Numba takes longer to begin than all of
them take here. It compiles every kernel that is refused here, and the source means the same to both.
"""
# mypy: ignore-errors
from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np
from llvmlite import ir

from ..code import address, intrinsics
from ..functions import ByType, Function
from . import machine
from .typed import BYTE, DOUBLE, FLOAT, HALF, Array, TypedWriter, type_of
from .words import WORD, Unknown, definition


class _Kernel(TypedWriter):
    """Writes a kernel; functions of its names become part of it."""

    def of_call(self, e: ast.Call) -> Any:
        if isinstance(e.func, ast.Name) and e.func.id in ("min", "max"):
            x, y = (self.word(self.value(a)) for a in e.args)
            return self.b.select(self.b.icmp_signed("<" if e.func.id == "min" else ">", y, x), y, x)
        callee = self.static(e.func)
        if isinstance(callee, type) and issubclass(callee, np.generic):
            return self.convert(self.value(e.args[0]), type_of(callee))
        if callee is machine.operands:
            forms = [machine.Form.of(text) for text in e.args[0].value.split(",")]
            found = machine.laid_out(self.b, forms, *(self.value(a) for a in e.args[1:]))
            return tuple(Array(self.b.inttoptr(data, BYTE.as_pointer()), shape, strides, type_of(form.type))
                         for form, (data, shape, strides) in zip(forms, found))
        if callee is address.scratch:
            return self.scratch(e.args[0].value, type_of(self.static(e.args[1])))
        args = [self.value(a) for a in e.args]
        if isinstance(callee, ByType):
            callee = {"f4": callee.single, "f8": callee.double}.get(self.kind(args[0]))
        if isinstance(callee, Function):
            return self.inlined(callee, args)
        if hasattr(callee, "llvm"):
            name, flags = callee.llvm
            kind = ir.FunctionType(args[0].type, [args[0].type] * len(args))
            if self.kind(args[0]) not in ("f4", "f8") or any(a.type != args[0].type for a in args):
                raise Unknown(name)
            function = self.b.module.declare_intrinsic(f"llvm.{name}", [args[0].type], kind)
            return self.b.call(function, args, fastmath=(*flags, *(f for f in self.fastmath if f not in flags)))
        known = {address.at: self.at, address.put: self.put_at, address.steps: self.steps, intrinsics.select: self.select,
                 intrinsics.bits_of: lambda x: self.b.bitcast(self.convert(x, FLOAT), HALF),
                 intrinsics.float_of: lambda x: self.b.bitcast(self.convert(x, HALF), FLOAT)}
        if callee not in known:
            raise Unknown(str(callee))
        return known[callee](*args)

    def inlined(self, function: Function, args: list[Any]) -> Any:
        """What a function gives that consists of assignments and a result."""
        tree, fastmath = definition(function.py_func), function.options.get("fastmath", set())
        *lines, last = [s for s in tree.body if not isinstance(s, ast.Expr)]
        given = [a.arg for a in tree.args.args]
        if len(given) != len(args) or not isinstance(last, ast.Return) or not all(isinstance(s, ast.Assign) for s in lines):
            raise Unknown(tree.name)
        before = self.names, self.values, self.slots, self.straight, self.fastmath
        self.names, self.values, self.slots, self.straight, self.fastmath = (
            function.py_func.__globals__, dict(zip(given, args)), {}, True, tuple(sorted(fastmath)))
        self.body(lines)
        found = self.value(last.value)
        self.names, self.values, self.slots, self.straight, self.fastmath = before
        return found

    def at(self, array: Array, distance: Any) -> Any:
        return array.load(self.b, self.word(distance))

    def put_at(self, array: Array, distance: Any, value: Any) -> None:
        array.store(self.b, self.word(distance), self.convert(value, array.type))

    def steps(self, array: Array) -> Any:
        return tuple(self.b.select(self.b.icmp_signed(">", n, WORD(1)), step, WORD(0)) for n, step in zip(array.shape, array.strides))

    def select(self, test: Any, x: Any, y: Any) -> Any:
        if self.kind(x) != self.kind(y):
            raise Unknown("values of two types")
        return self.b.select(self.truth(test), x, y)

    def scratch(self, count: int, kind: Any) -> Array:
        b = self.at_entry()
        memory = b.bitcast(b.alloca(ir.ArrayType(kind, count)), BYTE.as_pointer())
        return Array(memory, [WORD(count)], [WORD(8 if kind in (WORD, DOUBLE) else 4)], kind)


def module_of(source: str, names: Mapping[str, Any], symbol: str, fastmath: set[str]) -> ir.Module:
    """LLVM code of ``entry(table, part, parts)`` as ``symbol``.

    Raises
    ------
    Unknown
        Where the source uses what is not known here.
    """
    module = ir.Module(symbol)
    made = ir.Function(module, ir.FunctionType(ir.VoidType(), [WORD] * 3), symbol)
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.FunctionDef)
    _Kernel(made, names, fastmath).write(tree)
    return module
