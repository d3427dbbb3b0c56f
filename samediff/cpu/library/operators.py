"""Numba source text of each scalar function, for one element type."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...expressions.scalar import BOOL, DType
from ...plans.scalar_printer import ScalarPrinter

#: Name in the generated source of each element type that kernels know.
TYPE_NAMES = {np.dtype(t): n for n, t in {
    "f4": np.float32, "f8": np.float64, "i1": np.int8, "i2": np.int16, "i4": np.int32, "i8": np.int64,
    "u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "u8": np.uint64, "b1": np.bool_}.items()}

#: Functions of mathlib and intrinsics that keep the type.
_VECTOR = {"exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "tanh": "tanh", "erf": "erf", "sqrt": "sqrt",
           "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint", "absolute": "fabs", "maximum": "vmax",
           "minimum": "vmin", "copysign": "copysign", "logaddexp": "logaddexp", "remainder": "remainder",
           "floor_divide": "floor_divide"}
#: Functions of the C library; converted back, since some are float64 only.
_LIBRARY = {**{n: f"np.{n}" for n in ("exp2", "log2", "log10", "cbrt", "sin", "cos", "tan", "arcsin", "arccos",
                                      "arctan", "sinh", "cosh", "arcsinh", "arccosh", "arctanh", "arctan2", "hypot")},
            "erfc": "math.erfc", "fmod": "np.fmod"}
#: In all tables T( is a conversion to the type.
_FLOAT = {"negative": "-{0}", "power": "T({0} ** {1})", "gammaln": "T({0} if {0} == -inf else math.lgamma({0}))",
          "sign": "T(1) if {0} > T(0) else (T(-1) if {0} < T(0) else {0})"}
_BOOL = {"add": "{0} | {1}", "multiply": "{0} & {1}", "maximum": "{0} | {1}", "minimum": "{0} & {1}",
         "bitwise_and": "{0} & {1}", "bitwise_or": "{0} | {1}", "bitwise_xor": "{0} != {1}", "invert": "not {0}", "absolute": "{0}"}
_INTEGER = {"negative": "-{0}", "absolute": "abs({0})", "sign": "({0} > 0) - ({0} < 0)", "invert": "~{0}",
            "maximum": "{0} if {0} > {1} else {1}",
            "minimum": "{0} if {0} < {1} else {1}", "floor": "{0}", "ceil": "{0}", "trunc": "{0}", "rint": "{0}",
            "floor_divide": "{0} // {1}", "remainder": "{0} % {1}",
            "left_shift": "T({0} << {1}) if 0 <= {1} < BITS else T(0)",
            "right_shift": "T({0} >> {1}) if 0 <= {1} < BITS else T(0)"}
#: Signed integers: the smallest divided by -1 is itself; a shift beyond the width leaves copies of the sign.
_SIGNED = {"floor_divide": "T(-{0}) if {1} == -1 else T({0} // {1})",
           "right_shift": "T({0} >> ({1} if 0 <= {1} < BITS else T(BITS - 1)))"}
_TESTS = {"isnan": ("{0} != {0}", "False"), "isinf": ("fabs({0}) == inf", "False"),
          "isfinite": ("fabs({0}) < inf", "True"), "signbit": ("copysign({1}(1), {0}) < {1}(0)", "{0} < 0")}


class NoKernel(Exception):
    """The expression has no compiled form here; the caller falls back to array code."""


class NumbaPrinter(ScalarPrinter):
    """Prints scalar expressions as Python source that Numba compiles."""

    symbols = {**ScalarPrinter.symbols, "logical_and": "&", "logical_or": "|"}
    choice, negation = "select({0}, {1}, {2})", "not {0}"
    boolean, tests, missing = _BOOL, _TESTS, NoKernel

    def literal(self, value: Any, dtype: DType) -> str:
        name = TYPE_NAMES[dtype]
        if dtype == BOOL:
            return str(bool(value))
        return f"{name}({float(value)!r})" if dtype.kind == "f" else f"{name}({int(value)})"

    def cast(self, source: DType, target: DType, x: str) -> str:
        name = TYPE_NAMES[target]
        if target == BOOL:
            return f"{x} != {self.literal(0, source)}"
        if source == BOOL:
            return f"{self.literal(1, target)} if {x} else {self.literal(0, target)}"
        if source.kind == "f" and target.kind == "u":
            return f"{name}({x}) if {x} >= {2.0 ** 63!r} else {name}(i8({x}))" if name == "u8" else f"{name}(i8({x}))"
        return f"{name}({x})"

    def suffix(self, dtype: DType) -> str:
        return TYPE_NAMES[dtype]

    def floating(self, op: str, dtype: DType) -> str | None:
        name = TYPE_NAMES[dtype]
        if op in ("add", "subtract", "multiply", "divide"):
            return self.between(op)
        if op in _VECTOR:
            return self.call(_VECTOR[op], op)
        if op in _LIBRARY:
            return f"{name}({self.call(_LIBRARY[op], op)})"
        found = _FLOAT.get(op)
        return None if found is None else found.replace("T(", name + "(")

    def integer(self, op: str, dtype: DType) -> str | None:
        name = TYPE_NAMES[dtype]
        text = (_SIGNED if name[0] == "i" else {}).get(op, _INTEGER.get(op))
        if text is not None:
            return f"{name}({text})".replace("T(", name + "(").replace("BITS", str(8 * int(name[1:])))
        return f"{name}({self.between(op)})" if op in self.symbols and op != "divide" else None


PRINTER = NumbaPrinter()
