"""Numba source text of each scalar function, for one element type."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...expressions.scalar import BINARY, BOOL, DType
from ...expressions.scalar_node import Expr
from ...plans.scalar_text import Language

#: Name in the generated source of each element type that kernels know.
TYPE_NAMES = {np.dtype(t): n for n, t in {
    "f4": np.float32, "f8": np.float64, "i1": np.int8, "i2": np.int16, "i4": np.int32, "i8": np.int64,
    "u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "u8": np.uint64, "b1": np.bool_}.items()}

_SYMBOLS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "less": "<", "less_equal": "<=",
            "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=", "bitwise_and": "&",
            "bitwise_or": "|", "bitwise_xor": "^", "logical_and": "&", "logical_or": "|", "logical_xor": "!="}
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
         "bitwise_and": "{0} & {1}", "bitwise_or": "{0} | {1}", "bitwise_xor": "{0} != {1}", "invert": "not {0}", "absolute": "{0}"}
_INTEGER = {"negative": "-{0}", "absolute": "abs({0})", "sign": "({0} > 0) - ({0} < 0)", "invert": "~{0}",
            "maximum": "{0} if {0} > {1} else {1}",
            "minimum": "{0} if {0} < {1} else {1}", "floor": "{0}", "ceil": "{0}", "trunc": "{0}", "rint": "{0}",
            "floor_divide": "{0} // {1}", "remainder": "{0} % {1}",
            "left_shift": "T({0} << {1}) if 0 <= {1} < BITS else T(0)",
            "right_shift": "T({0} >> {1}) if 0 <= {1} < BITS else T(0)"}
#: Of integers with a sign: the smallest over -1 is itself, what is shifted out leaves the sign.
_SIGNED = {"floor_divide": "T(-{0}) if {1} == -1 else T({0} // {1})",
           "right_shift": "T({0} >> ({1} if 0 <= {1} < BITS else T(BITS - 1)))"}
_TESTS = {"isnan": ("{0} != {0}", "False"), "isinf": ("fabs({0}) == inf", "False"),
          "isfinite": ("fabs({0}) < inf", "True"), "signbit": ("copysign({1}(1), {0}) < {1}(0)", "{0} < 0")}


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
        return f"{name}({x}) if {x} >= {2.0 ** 63!r} else {name}(i8({x}))" if name == "u8" else f"{name}(i8({x}))"
    return f"{name}({x})"


def _float(op: str, dtype: DType) -> str | None:
    name = TYPE_NAMES[dtype]
    if op in ("add", "subtract", "multiply", "divide"):
        return f"{{0}} {_SYMBOLS[op]} {{1}}"
    if op in _VECTOR:
        return f"{_VECTOR[op]}({'{0}, {1}' if op in BINARY else '{0}'})"
    if op in _LIBRARY:
        return f"{name}({_LIBRARY[op]}({'{0}, {1}' if op in BINARY else '{0}'}))"
    table = {"negative": "-{0}", "power": f"{name}({{0}} ** {{1}})",
             "gammaln": f"{name}({{0}} if {{0}} == -inf else math.lgamma({{0}}))",
             "sign": f"{name}(1) if {{0}} > {name}(0) else ({name}(-1) if {{0}} < {name}(0) else {{0}})"}
    return table.get(op)


def _integer(op: str, dtype: DType) -> str | None:
    name = TYPE_NAMES[dtype]
    text = (_SIGNED if name[0] == "i" else {}).get(op, _INTEGER.get(op))
    if text is not None:
        return f"{name}({text})".replace("T(", name + "(").replace("BITS", str(8 * int(name[1:])))
    return f"{name}({{0}} {_SYMBOLS[op]} {{1}})" if op in _SYMBOLS and op != "divide" else None


text_of = Language(_SYMBOLS, "select({0}, {1}, {2})", "not {0}", _cast, _TESTS, TYPE_NAMES.__getitem__, _BOOL, _float, _integer,
                   NoKernel).text_of
