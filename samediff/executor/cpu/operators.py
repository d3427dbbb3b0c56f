"""Numba source text of each scalar function, for one element type."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...scalar import BINARY, BOOL, DType
from ...scalar_node import Expr

#: Name in the generated source of each element type that kernels know.
TYPE_NAMES = {np.dtype(t): n for n, t in {
    "f4": np.float32, "f8": np.float64, "i1": np.int8, "i2": np.int16, "i4": np.int32, "i8": np.int64,
    "u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "u8": np.uint64, "b1": np.bool_}.items()}

_SYMBOLS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "less": "<", "less_equal": "<=",
            "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=", "bitwise_and": "&",
            "bitwise_or": "|", "bitwise_xor": "^", "left_shift": "<<", "right_shift": ">>", "logical_and": "&",
            "logical_or": "|", "logical_xor": "!="}
#: Functions of mathlib and intrinsics that keep the type.
_VECTOR = {"exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "tanh": "tanh", "erf": "erf", "sqrt": "sqrt",
           "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint", "absolute": "fabs", "maximum": "vmax",
           "minimum": "vmin", "copysign": "copysign", "logaddexp": "logaddexp", "remainder": "remainder",
           "floor_divide": "floor_divide"}
#: Functions of the C library; converted back, since some are float64 only.
_LIBRARY = {**{n: f"np.{n}" for n in ("exp2", "log2", "log10", "cbrt", "sin", "cos", "tan", "arcsin", "arccos",
                                      "arctan", "sinh", "cosh", "arcsinh", "arccosh", "arctanh", "arctan2", "hypot")},
            "erfc": "math.erfc", "fmod": "np.fmod"}
_BOOL = {"add": "{0} | {1}", "multiply": "{0} & {1}", "maximum": "{0} | {1}", "minimum": "{0} & {1}",
         "bitwise_xor": "{0} != {1}", "not_equal": "{0} != {1}", "equal": "{0} == {1}", "invert": "not {0}",
         "absolute": "{0}"}
_INTEGER = {"negative": "-{0}", "absolute": "abs({0})", "sign": "({0} > 0) - ({0} < 0)", "invert": "~{0}",
            "maximum": "{0} if {0} > {1} else {1}",
            "minimum": "{0} if {0} < {1} else {1}", "floor": "{0}", "ceil": "{0}", "trunc": "{0}", "rint": "{0}",
            "floor_divide": "{0} // {1}", "remainder": "{0} % {1}"}
_TESTS = {"isnan": ("{0} != {0}", "False"), "isinf": ("fabs({0}) == inf", "False"),
          "isfinite": ("fabs({0}) < inf", "True"), "signbit": ("copysign(T(1), {0}) < T(0)", "{0} < 0")}
_LOGIC = frozenset(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and", "logical_or",
                    "logical_xor"))


class NoKernel(Exception):
    """The expression has no compiled form here; the caller falls back to array code."""


def literal(value: Any, dtype: DType) -> str:
    """Source of a constant."""
    name = TYPE_NAMES[dtype]
    if dtype == BOOL:
        return str(bool(value))
    return f"{name}({float(value)!r})" if dtype.kind == "f" else f"{name}({int(value)})"


def _cast(e: Expr, x: str) -> str:
    source, target = e.args[0].dtype, e.dtype
    name = TYPE_NAMES[target]
    if target == BOOL:
        return f"{x} != {literal(0, source)}"
    if source == BOOL:
        return f"{literal(1, target)} if {x} else {literal(0, target)}"
    if source.kind == "f" and target.kind == "u":
        return f"{name}(i8({x}))"
    return f"{name}({x})"


def _float(op: str, name: str) -> str | None:
    if op in _SYMBOLS and op in ("add", "subtract", "multiply", "divide"):
        return f"{{0}} {_SYMBOLS[op]} {{1}}"
    if op in _VECTOR:
        return f"{_VECTOR[op]}({'{0}, {1}' if op in BINARY else '{0}'})"
    if op in _LIBRARY:
        return f"{name}({_LIBRARY[op]}({'{0}, {1}' if op in BINARY else '{0}'}))"
    table = {"negative": "-{0}", "power": f"{name}({{0}} ** {{1}})",
             "gammaln": f"{name}({{0}} if {{0}} == -inf else math.lgamma({{0}}))",
             "sign": f"{name}(1) if {{0}} > {name}(0) else ({name}(-1) if {{0}} < {name}(0) else {{0}})"}
    return table.get(op)


def _integer(op: str, name: str) -> str | None:
    if op in _INTEGER:
        return f"{name}({_INTEGER[op]})"
    return f"{name}({{0}} {_SYMBOLS[op]} {{1}})" if op in _SYMBOLS and op != "divide" else None


def text_of(e: Expr, ref: Callable[[Expr], str]) -> str:
    """Right-hand side of the statement that computes ``e``; ``ref`` gives the text of an argument."""
    args = [ref(a) for a in e.args]
    if e.op == "cast":
        return _cast(e, args[0])
    if e.op == "where":
        return f"select({args[0]}, {args[1]}, {args[2]})"
    if e.op == "logical_not":
        return f"not {args[0]}"
    kind = e.args[0].dtype
    name = TYPE_NAMES[kind]
    if e.op in _TESTS:
        return _TESTS[e.op][kind.kind != "f"].replace("T(", name + "(").format(*args)
    if e.op in _LOGIC:
        return f"{args[0]} {_SYMBOLS[e.op]} {args[1]}"
    if kind == BOOL:
        template = _BOOL.get(e.op, f"{{0}} {_SYMBOLS[e.op]} {{1}}" if e.op in ("bitwise_and", "bitwise_or") else None)
    else:
        template = _float(e.op, name) if kind.kind == "f" else _integer(e.op, name)
    if template is None:
        raise NoKernel(f"{e.op} of {kind}")
    return template.format(*args)
