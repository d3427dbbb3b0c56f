"""The compiler of :mod:`.words` with floating numbers, truth values, 32-bit words and arrays.

The meaning is that of Numba: types of results, conversions, comparisons with NaN. Indices count from 0. A variable has one type. What
is not known, or has a meaning of Numba's own (division by zero, for example), raises :class:`.Unknown`.
"""
# mypy: ignore-errors
from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from llvmlite import ir

from .words import ARITHMETIC, BIT, COMPARE, WORD, Unknown, Writer

HALF, BYTE, FLOAT, DOUBLE = ir.IntType(32), ir.IntType(8), ir.FloatType(), ir.DoubleType()
TYPES = {"f4": FLOAT, "f8": DOUBLE, "i4": HALF, "i8": WORD, "b1": BIT}
_REAL = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_BITS = {ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}
_SHIFT = {ast.LShift: "shl", ast.RShift: "ashr"}


def type_of(kind: Any) -> Any:
    """LLVM's type of elements."""
    name = kind if isinstance(kind, str) else np.dtype(kind).str[1:]
    if name not in TYPES:
        raise Unknown(name)
    return TYPES[name]


class Array:
    """An array: the address of its first byte, sizes, steps in bytes and the type of its elements."""

    def __init__(self, data: Any, shape: list[Any], strides: list[Any], type: Any) -> None:
        self.data, self.shape, self.strides, self.type = data, tuple(shape), strides, type

    def pointer(self, b: Any, distance: Any) -> Any:
        stored = BYTE if self.type == BIT else self.type
        return b.bitcast(b.gep(self.data, [distance], inbounds=True), stored.as_pointer())

    def load(self, b: Any, distance: Any) -> Any:
        found = b.load(self.pointer(b, distance))
        return b.icmp_unsigned("!=", found, BYTE(0)) if self.type == BIT else found

    def store(self, b: Any, distance: Any, value: Any) -> None:
        b.store(b.zext(value, BYTE) if self.type == BIT else value, self.pointer(b, distance))


class TypedWriter(Writer):
    """Writes one function.

    Parameters
    ----------
    made, names : as of :class:`.Writer`
    fastmath : what LLVM may do with floating numbers
    """

    def __init__(self, made: ir.Function, names: Mapping[str, Any], fastmath: set[str]) -> None:
        super().__init__(made, names)
        self.fastmath = tuple(sorted(fastmath))
        self.values: dict[str, Any] = {}        # of names that are not variables in memory
        self.straight = False                   # in a function without loops

    def convert(self, value: Any, kind: Any) -> Any:
        """A number as one of another type."""
        if not isinstance(value, ir.Value):
            raise Unknown("a number is needed")
        if value.type == kind:
            return value
        if kind == BIT:
            raise Unknown("a truth value is needed")
        if value.type == BIT:
            return self.b.zext(value, kind) if isinstance(kind, ir.IntType) else self.b.uitofp(value, kind)
        before, after = (t.width if isinstance(t, ir.IntType) else -1 if t == FLOAT else -2 for t in (value.type, kind))
        if before < 0 and after < 0:
            return self.b.fpext(value, kind) if after < before else self.b.fptrunc(value, kind)
        if before > 0 and after > 0:
            return self.b.sext(value, kind) if after > before else self.b.trunc(value, kind)
        return self.b.sitofp(value, kind) if after < 0 else self.b.fptosi(value, kind)

    def alike(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Both in the type in which they are added."""
        kinds = {self.kind(v) for v in (x, y)}
        if "b1" in kinds:
            if len(kinds) > 1:
                raise Unknown("numbers and truth values")
            return x, y
        kind = FLOAT if kinds == {"f4"} else DOUBLE if kinds & {"f4", "f8"} else WORD
        return self.convert(x, kind), self.convert(y, kind)

    @staticmethod
    def kind(value: Any) -> str:
        for name, kind in TYPES.items():
            if isinstance(value, ir.Value) and value.type == kind:
                return name
        raise Unknown("not a number")

    def word(self, value: Any) -> Any:
        if self.kind(value) not in ("i4", "i8"):
            raise Unknown("a whole number is needed")
        return self.convert(value, WORD)

    def truth(self, value: Any) -> Any:
        return self.convert(value, BIT)

    def assign(self, name: str, value: Any) -> None:
        if self.straight or not isinstance(value, ir.Value):
            if name in self.slots:
                raise Unknown(f"{name} changes its type")
            self.values[name] = value
            return
        if name not in self.slots:
            self.slots[name] = self.at_entry().alloca(value.type)
        slot = self.slots[name]
        if slot.allocated_type != value.type or name in self.values:
            raise Unknown(f"{name} changes its type")
        self.b.store(value, slot)

    def do_assign(self, s: ast.Assign) -> None:
        if isinstance(s.value, ast.Tuple):
            value: Any = tuple(self.value(v) for v in s.value.elts)
        else:
            value = self.value(s.value)
        self.put(s.targets[0], value)

    def put(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.assign(target.id, value)
        elif isinstance(target, ast.Tuple) and isinstance(value, (tuple, list)):
            for t, v in zip(target.elts, value, strict=True):
                self.put(t, v)
        elif isinstance(target, ast.Subscript):
            array, distance = self.place(target)
            array.store(self.b, distance, self.convert(value, array.type))
        else:
            raise Unknown(ast.dump(target))

    def do_augassign(self, s: ast.AugAssign) -> None:
        self.put(s.target, self.operation(s.op, self.value(s.target), self.value(s.value)))

    def do_return(self, s: ast.Return) -> None:
        if s.value is not None:
            raise Unknown("a kernel returns nothing")
        self.b.ret_void()

    def do_if(self, s: ast.If) -> None:
        raise Unknown("a branch")

    def of_constant(self, e: ast.Constant) -> Any:
        kinds = {bool: BIT, int: WORD, float: DOUBLE}
        if type(e.value) not in kinds or (abs(e.value) >= 1 << 63 and type(e.value) is int):
            raise Unknown(repr(e.value))
        return ir.Constant(kinds[type(e.value)], e.value)

    def static(self, e: ast.expr) -> Any:
        """What a name stands for outside of the kernel."""
        if isinstance(e, ast.Attribute):
            return getattr(self.static(e.value), e.attr)
        if not isinstance(e, ast.Name) or e.id not in self.names:
            raise Unknown(ast.dump(e))
        return self.names[e.id]

    def of_name(self, e: ast.Name) -> Any:
        if e.id in self.values:
            return self.values[e.id]
        if e.id in self.slots:
            return self.b.load(self.slots[e.id])
        return self.of_constant(ast.Constant(self.static(e)))

    def of_attribute(self, e: ast.Attribute) -> Any:
        if e.attr == "shape" and isinstance(array := self.value(e.value), Array):
            return array.shape
        return self.of_constant(ast.Constant(self.static(e)))

    def of_tuple(self, e: ast.Tuple) -> Any:
        return tuple(self.value(v) for v in e.elts)

    def place(self, e: ast.Subscript) -> tuple[Array, Any]:
        """An array and the distance of one of its elements."""
        array = self.value(e.value)
        index = self.value(e.slice)
        index = index if isinstance(index, tuple) else (index,)
        if not isinstance(array, Array) or len(index) != len(array.shape):
            raise Unknown("a part of an array")
        terms = [self.b.mul(self.word(i), step) for i, step in zip(index, array.strides)]
        distance = terms[0]
        for term in terms[1:]:
            distance = self.b.add(distance, term)
        return array, distance

    def of_subscript(self, e: ast.Subscript) -> Any:
        if isinstance(e.slice, ast.Constant) and isinstance(found := self.value(e.value), tuple):
            return found[e.slice.value]
        array, distance = self.place(e)
        return array.load(self.b, distance)

    def operation(self, op: ast.operator, x: Any, y: Any) -> Any:
        x, y = self.alike(x, y)
        if isinstance(op, ast.Div) and x.type == WORD:
            x, y = self.convert(x, DOUBLE), self.convert(y, DOUBLE)
        if x.type in (FLOAT, DOUBLE):
            return self.real(_REAL, op)(x, y, flags=self.fastmath)
        if type(op) in _BITS:
            return self.real(_BITS, op)(x, y)
        if x.type != WORD:
            raise Unknown("sums of truth values")
        if type(op) in _SHIFT:
            return self.real(_SHIFT, op)(x, y)
        if type(op) in ARITHMETIC or (isinstance(op, (ast.FloorDiv, ast.Mod)) and isinstance(y, ir.Constant) and y.constant > 0):
            return super().operation(op, x, y)          # by 0 Numba divides in a way of its own
        raise Unknown(ast.dump(op))

    def real(self, table: Mapping[Any, str], op: ast.operator) -> Callable[..., Any]:
        if type(op) not in table:
            raise Unknown(ast.dump(op))
        return getattr(self.b, table[type(op)])

    def of_binop(self, e: ast.BinOp) -> Any:
        return self.operation(e.op, self.value(e.left), self.value(e.right))

    def of_unaryop(self, e: ast.UnaryOp) -> Any:
        value = self.value(e.operand)
        if isinstance(e.op, ast.Not):
            return self.b.not_(self.truth(value))
        if self.kind(value) in ("f4", "f8") and isinstance(e.op, ast.USub):
            return self.b.fneg(value)
        value = self.word(value)
        return {ast.USub: self.b.neg, ast.Invert: self.b.not_, ast.UAdd: lambda v: v}[type(e.op)](value)

    def of_compare(self, e: ast.Compare) -> Any:
        if len(e.ops) != 1:
            raise Unknown("several comparisons")
        x, y = self.alike(self.value(e.left), self.value(e.comparators[0]))
        sign = COMPARE[type(e.ops[0])]
        if x.type in (FLOAT, DOUBLE):
            compare = self.b.fcmp_unordered if sign == "!=" else self.b.fcmp_ordered
            return compare(sign, x, y, flags=self.fastmath)
        if x.type == BIT and sign not in ("==", "!="):
            raise Unknown("order of truth values")
        return self.b.icmp_signed(sign, x, y)

    def of_boolop(self, e: ast.BoolOp) -> Any:
        found, *others = [self.known(v) for v in e.values]
        for v in others:
            found = self.b.and_(found, v) if isinstance(e.op, ast.And) else self.b.or_(found, v)
        return found

    def of_ifexp(self, e: ast.IfExp) -> Any:
        test = self.known(e.test)
        x, y = self.value(e.body), self.value(e.orelse)        # nothing can go wrong in the other one
        if self.kind(x) != self.kind(y):
            x, y = self.alike(x, y)
        return self.b.select(test, x, y)
