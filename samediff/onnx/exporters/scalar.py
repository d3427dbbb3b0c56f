"""Scalar functions as nodes: every elementwise op is an expression of these."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...base.datatype import DataType
from ...expressions import expression as ex
from ..export_graph import OnnxGraph, Value
from ..export_table import NotSayableError

#: Functions that are one operator.
SAME = {
    "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "sin": "Sin", "cos": "Cos", "tan": "Tan", "arcsin": "Asin", "arccos": "Acos",
    "arctan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh", "arcsinh": "Asinh", "arccosh": "Acosh", "arctanh": "Atanh",
    "erf": "Erf", "negative": "Neg", "absolute": "Abs", "sign": "Sign", "floor": "Floor", "ceil": "Ceil", "rint": "Round",
    "add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "power": "Pow", "maximum": "Max", "minimum": "Min",
    "logical_not": "Not", "logical_and": "And", "logical_or": "Or", "logical_xor": "Xor",
    "less": "Less", "less_equal": "LessOrEqual", "greater": "Greater", "greater_equal": "GreaterOrEqual", "equal": "Equal",
    "bitwise_and": "BitwiseAnd", "bitwise_or": "BitwiseOr", "bitwise_xor": "BitwiseXor", "invert": "BitwiseNot",
    "isnan": "IsNaN", "isinf": "IsInf", "where": "Where"}
#: The same of truth values.
OF_BOOL = {"bitwise_and": "And", "bitwise_or": "Or", "bitwise_xor": "Xor", "invert": "Not", "add": "Or", "multiply": "And",
           "maximum": "Or", "minimum": "And", "not_equal": "Xor", "absolute": "Identity"}
#: What leaves whole numbers as they are.
OF_WHOLE = {"floor": "Identity", "ceil": "Identity", "rint": "Identity", "trunc": "Identity"}
ORDER = ("less", "less_equal", "greater", "greater_equal")
TESTS = ("isnan", "isinf", "isfinite")


def written(g: OnnxGraph, expressions: Sequence[ex.Expr], inputs: Sequence[Value]) -> tuple[Value, ...]:
    """The values of expressions, each in the shape that all inputs have together."""
    made: dict[ex.Expr, Value] = {}
    for e in ex.nodes(expressions):
        if e.op == "input":
            made[e] = inputs[e.value]
        elif e.op == "constant":
            made[e] = g.constant(e.value, DataType.of(e.dtype))
        elif e.op == "cast":
            made[e] = g.cast(made[e.args[0]], DataType.of(e.dtype))
        else:
            made[e] = function(g, e.op, [made[a] for a in e.args], DataType.of(e.dtype))
    return tuple(_stretched(g, e, made[e], inputs) for e in expressions)


def _stretched(g: OnnxGraph, e: ex.Expr, value: Value, inputs: Sequence[Value]) -> Value:
    used = ex.inputs_of([e])
    if len(used) == len(inputs) or all(v.spec.shape == () for v in inputs):
        return value
    return g.like(value, *inputs) if not used or any(v.spec.shape != () for i, v in enumerate(inputs) if i not in used) else value


def function(g: OnnxGraph, name: str, args: list[Value], dtype: DataType) -> Value:
    """One scalar function."""
    given = args[-1].dtype
    if name in TESTS and not given.is_floating:
        return g.like(g.constant(name == "isfinite"), args[0])
    if name in ORDER and given is DataType.BOOL:
        args = [g.cast(a, DataType.INT) for a in args]
    operator = (OF_BOOL.get(name) if given is DataType.BOOL else OF_WHOLE.get(name) if given.is_integer else None) or SAME.get(name)
    if operator is not None:
        return g.node(operator, *args, dtype=dtype)  # type: ignore[no-any-return]
    if name not in COMPOSED:
        raise NotSayableError(f"ONNX has no function {name}")
    return COMPOSED[name](Scalars(g, dtype), *args)


class Scalars:
    """Arithmetic on values, with numbers in their type."""

    def __init__(self, g: OnnxGraph, dtype: DataType) -> None:
        self.g, self.dtype = g, dtype

    def __call__(self, name: str, *args: Any) -> Value:
        kind = next(a.dtype for a in reversed(args) if isinstance(a, Value))
        values = [a if isinstance(a, Value) else self.g.constant(a, kind) for a in args]
        tests = name in ("isnan", "isinf", "not_equal", "equal", *ORDER)
        return function(self.g, name, values, DataType.BOOL if tests else kind)

    def bits(self, x: Value, kind: DataType) -> Value:
        """Whole numbers in another type of the same width."""
        return self.g.cast(x, kind)


def _expm1(f: Scalars, x: Value) -> Value:
    return f("multiply", f("tanh", f("multiply", x, 0.5)), f("add", f("exp", x), 1.0))


def _log1p(f: Scalars, x: Value) -> Value:
    """Exact for small x: log(u) x / (u - 1) with u = 1 + x rounded."""
    u = f("add", x, 1.0)
    less = f("subtract", u, 1.0)
    plain = f("logical_or", f("equal", less, 0.0), f("isinf", u))
    found = f("multiply", f("log", u), f("divide", x, f("where", plain, f.g.constant(1.0, x.dtype), less)))
    return f("where", f("equal", less, 0.0), x, f("where", f("isinf", u), f("log", u), found))


def _floor_divide(f: Scalars, x: Value, y: Value) -> Value:
    if x.dtype.is_floating:
        return f("floor", f("divide", x, y))
    quotient = f("divide", x, y)
    rest = f("subtract", x, f("multiply", quotient, y))
    if not x.dtype.is_signed():
        return quotient
    lower = f("logical_and", f("not_equal", rest, 0), f("not_equal", f("less", rest, 0), f("less", y, 0)))
    return f("where", lower, f("subtract", quotient, 1), quotient)


def _remainder(f: Scalars, x: Value, y: Value) -> Value:
    if not x.dtype.is_floating:
        return f.g.node("Mod", x, y)  # type: ignore[no-any-return]
    rest = f.g.node("Mod", x, y, fmod=1)
    moved = f("logical_and", f("not_equal", rest, 0.0), f("not_equal", f("less", rest, 0.0), f("less", y, 0.0)))
    return f("where", moved, f("add", rest, y), rest)


def _arctan2(f: Scalars, y: Value, x: Value) -> Value:
    turn = f("where", f("less", y, 0.0), f.g.constant(-math.pi, y.dtype), f.g.constant(math.pi, y.dtype))
    zero = f("equal", x, 0.0)
    ratio = f("arctan", f("divide", y, f("where", zero, f.g.constant(1.0, x.dtype), x)))
    beside = f("where", f("less", x, 0.0), f("add", ratio, turn), ratio)
    return f("where", zero, f("multiply", f("sign", y), math.pi / 2), beside)


def _hypot(f: Scalars, x: Value, y: Value) -> Value:
    return f("sqrt", f("add", f("multiply", x, x), f("multiply", y, y)))


def _logaddexp(f: Scalars, x: Value, y: Value) -> Value:
    distance = f("absolute", f("subtract", x, y))
    return f("add", f("maximum", x, y), _log1p(f, f("exp", f("negative", distance))))


_UNSIGNED = {DataType.BYTE: DataType.UBYTE, DataType.SHORT: DataType.UINT16, DataType.INT: DataType.UINT32, DataType.LONG: DataType.UINT64}


def _shifted(f: Scalars, x: Value, y: Value, direction: str) -> Value:
    kind = _UNSIGNED.get(x.dtype, x.dtype)
    made = f.g.node("BitShift", f.bits(x, kind), f.bits(y, kind), direction=direction)
    return f.bits(made, x.dtype)


def _right_shift(f: Scalars, x: Value, y: Value) -> Value:
    """Ones come in from the left where the number is negative."""
    if not x.dtype.is_signed():
        return _shifted(f, x, y, "RIGHT")
    below = f("less", x, 0)
    made = _shifted(f, f("where", below, f("invert", x), x), y, "RIGHT")
    return f("where", below, f("invert", made), made)


def _either(f: Scalars, x: Value) -> Value:
    return f("logical_not", f("logical_or", f("isnan", x), f("isinf", x)))


COMPOSED: dict[str, Callable[..., Value]] = {
    "expm1": _expm1, "log1p": _log1p, "floor_divide": _floor_divide, "remainder": _remainder, "arctan2": _arctan2, "hypot": _hypot,
    "logaddexp": _logaddexp, "right_shift": _right_shift, "isfinite": _either,
    "left_shift": lambda f, x, y: _shifted(f, x, y, "LEFT"),
    "exp2": lambda f, x: f("exp", f("multiply", x, math.log(2))),
    "log2": lambda f, x: f("divide", f("log", x), math.log(2)),
    "log10": lambda f, x: f("divide", f("log", x), math.log(10)),
    "cbrt": lambda f, x: f("multiply", f("sign", x), f("power", f("absolute", x), 1 / 3)),
    "erfc": lambda f, x: f("subtract", f.g.constant(1.0, x.dtype), f("erf", x)),
    "trunc": lambda f, x: f("multiply", f("sign", x), f("floor", f("absolute", x))),
    "signbit": lambda f, x: f("less", x, 0),
    "not_equal": lambda f, x, y: f("logical_not", f("equal", x, y)),
    "fmod": lambda f, x, y: f.g.node("Mod", x, y, fmod=1),
    "copysign": lambda f, x, y: f("where", f("less", y, 0.0), f("negative", f("absolute", x)), f("absolute", x)),
}
