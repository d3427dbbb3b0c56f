"""Machine code of generated kernels without Numba, for those that use nothing but what is here: the compiler of :mod:`.words` with floating
numbers, truth values, 32-bit words and arrays.

Elementwise kernels and sweeps over such numbers are what a network needs first, and Numba takes longer to begin than all of them take
here. The meaning is that of Numba; it compiles every kernel that is refused here.
"""
# mypy: ignore-errors
from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from llvmlite import ir

from .. import address, intrinsics
from ..functions import ByType, Function
from . import machine
from .words import ARITHMETIC, BIT, COMPARE, WORD, Unknown, Writer, definition

_HALF, _BYTE, _FLOAT, _DOUBLE = ir.IntType(32), ir.IntType(8), ir.FloatType(), ir.DoubleType()
_TYPES = {"f4": _FLOAT, "f8": _DOUBLE, "i4": _HALF, "i8": WORD, "b1": BIT}
_REAL = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_BITS = {ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}
_SHIFT = {ast.LShift: "shl", ast.RShift: "ashr"}


class Array:
    """An array: the address of its first byte, sizes, steps in bytes and the type of its elements."""

    def __init__(self, data: Any, shape: list[Any], strides: list[Any], type: Any) -> None:
        self.data, self.shape, self.strides, self.type = data, tuple(shape), strides, type

    def pointer(self, b: Any, distance: Any) -> Any:
        stored = _BYTE if self.type == BIT else self.type
        return b.bitcast(b.gep(self.data, [distance], inbounds=True), stored.as_pointer())

    def load(self, b: Any, distance: Any) -> Any:
        found = b.load(self.pointer(b, distance))
        return b.icmp_unsigned("!=", found, _BYTE(0)) if self.type == BIT else found

    def store(self, b: Any, distance: Any, value: Any) -> None:
        b.store(b.zext(value, _BYTE) if self.type == BIT else value, self.pointer(b, distance))


class _Kernel(Writer):
    """Writes a kernel; functions of its names become part of it."""

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
        before, after = (t.width if isinstance(t, ir.IntType) else -1 if t == _FLOAT else -2 for t in (value.type, kind))
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
        kind = _FLOAT if kinds == {"f4"} else _DOUBLE if kinds & {"f4", "f8"} else WORD
        return self.convert(x, kind), self.convert(y, kind)

    @staticmethod
    def kind(value: Any) -> str:
        for name, kind in _TYPES.items():
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
        kinds = {bool: BIT, int: WORD, float: _DOUBLE}
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
        if e.attr == "shape":
            return self.value(e.value).shape
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
            x, y = self.convert(x, _DOUBLE), self.convert(y, _DOUBLE)
        if x.type in (_FLOAT, _DOUBLE):
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
        if x.type in (_FLOAT, _DOUBLE):
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

    def of_call(self, e: ast.Call) -> Any:
        if isinstance(e.func, ast.Name) and e.func.id in ("min", "max"):
            x, y = (self.word(self.value(a)) for a in e.args)
            return self.b.select(self.b.icmp_signed("<" if e.func.id == "min" else ">", y, x), y, x)
        callee = self.static(e.func)
        if isinstance(callee, type) and issubclass(callee, np.generic):
            return self.convert(self.value(e.args[0]), _type(callee))
        if callee is machine.operands:
            forms = [machine.Form.of(text) for text in e.args[0].value.split(",")]
            found = machine.laid_out(self.b, forms, *(self.value(a) for a in e.args[1:]))
            return tuple(Array(self.b.inttoptr(data, _BYTE.as_pointer()), shape, strides, _type(form.type))
                         for form, (data, shape, strides) in zip(forms, found))
        if callee is address.scratch:
            return self.scratch(e.args[0].value, _type(self.static(e.args[1])))
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
                 intrinsics.bits_of: lambda x: self.b.bitcast(self.convert(x, _FLOAT), _HALF),
                 intrinsics.float_of: lambda x: self.b.bitcast(self.convert(x, _HALF), _FLOAT)}
        if callee not in known:
            raise Unknown(str(callee))
        return known[callee](*args)

    def inlined(self, function: Function, args: list[Any]) -> Any:
        """What a function gives that consists of assignments and a result."""
        tree, fastmath = definition(function.py_func), function.options.get("fastmath", set())
        *lines, last = [s for s in tree.body if not isinstance(s, ast.Expr)]
        if not isinstance(last, ast.Return) or not all(isinstance(s, ast.Assign) for s in lines):
            raise Unknown(tree.name)
        before = self.names, self.values, self.slots, self.straight, self.fastmath
        self.names, self.values, self.slots, self.straight, self.fastmath = (
            function.py_func.__globals__, dict(zip([a.arg for a in tree.args.args], args, strict=True)), {}, True, tuple(sorted(fastmath)))
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
        memory = b.bitcast(b.alloca(ir.ArrayType(kind, count)), _BYTE.as_pointer())
        return Array(memory, [WORD(count)], [WORD(8 if kind in (WORD, _DOUBLE) else 4)], kind)


def _type(kind: Any) -> Any:
    name = kind if isinstance(kind, str) else np.dtype(kind).str[1:]
    if name not in _TYPES:
        raise Unknown(name)
    return _TYPES[name]


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
