"""CUDA text of each scalar function, for one element type.

Numbers of 16 bits are floats in the text; results of functions are rounded to 16 bits, as NumPy does.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...base.datatype import is_floating
from ...expressions.scalar import BOOL, DType
from ...expressions.scalar_node import Expr
from ...plans.scalar_printer import ScalarPrinter
from ..sources import type_name

#: Functions of the C library, whose form for float ends in f.
_LIBRARY = {**{n: n for n in ("exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh",
                              "tanh", "erf", "erfc", "floor", "ceil", "rint", "trunc", "fmod", "hypot", "copysign")},
            "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
            "arctan2": "atan2", "power": "pow", "absolute": "fabs"}
_OWN = {"maximum": "vmax", "minimum": "vmin", "floor_divide": "divided", "remainder": "rest", "logaddexp": "log_sum",
        "gammaln": "log_gamma", "sign": "sign_of"}
#: Functions that are computed in double, in ``kernels/special.cu``.
SPECIAL = ("digamma", "polygamma")
#: Functions that give numbers of 16 bits for numbers of 16 bits without being rounded.
_EXACT = frozenset(("negative", "absolute", "sign", "floor", "ceil", "rint", "trunc", "maximum", "minimum", "copysign"))
_INTEGER = {"negative": "negated({0})", "absolute": "{0} < 0 ? negated({0}) : {0}", "sign": "({0} > 0) - ({0} < 0)", "invert": "~{0}",
            "maximum": "vmax({0}, {1})", "minimum": "vmin({0}, {1})", "floor": "{0}", "ceil": "{0}", "trunc": "{0}", "rint": "{0}",
            "floor_divide": "int_divided({0}, {1})", "remainder": "int_rest({0}, {1})", "fmod": "int_truncated({0}, {1})",
            "power": "int_power({0}, {1})", "left_shift": "shifted_left({0}, {1})", "right_shift": "shifted_right({0}, {1})"}
_BOOL = {"add": "{0} || {1}", "multiply": "{0} && {1}", "maximum": "{0} || {1}", "minimum": "{0} && {1}", "bitwise_and": "{0} && {1}",
         "bitwise_or": "{0} || {1}", "bitwise_xor": "{0} != {1}", "invert": "!{0}",
         **dict.fromkeys(("absolute", "floor", "ceil", "trunc", "rint"), "{0}")}
_TESTS = {"isnan": ("{0} != {0}", "false"), "isinf": ("{0} == {0} && {0} - {0} != 0", "false"),
          "isfinite": ("{0} - {0} == 0", "true"), "signbit": ("copysign{1}(1.0{1}, {0}) < 0", "{0} < 0")}


class NoText(Exception):
    """A function has no CUDA text for a type; the caller runs array code."""


def work_type(dtype: DType) -> str:
    """The C type in which numbers of ``dtype`` are computed: float for 16-bit ones."""
    return "float" if dtype.itemsize == 2 and is_floating(dtype) else type_name(dtype)


def rounded(text: str, dtype: DType) -> str:
    """A float as a number of ``dtype``."""
    if work_type(dtype) != "float" or dtype.itemsize != 2:
        return text
    return f"round_{'half' if dtype == np.float16 else 'bfloat'}({text})"


class CudaPrinter(ScalarPrinter):
    """Text for the compiler of CUDA functions, and for that of the emulator."""

    symbols = {**ScalarPrinter.symbols, "logical_and": "&&", "logical_or": "||"}
    choice, negation = "{0} ? {1} : {2}", "!{0}"
    boolean, tests, missing = _BOOL, _TESTS, NoText

    def literal(self, value: Any, dtype: DType) -> str:
        if dtype == BOOL:
            return "true" if value else "false"
        if not is_floating(dtype):
            whole = int(value)
            if whole == -2**63:
                return "(-9223372036854775807LL - 1)"
            suffix = "ull" if dtype.kind == "u" and dtype.itemsize == 8 else "u" if dtype.kind == "u" else "ll"
            return f"({type_name(dtype)}){whole}{suffix}" if whole >= 0 else f"({type_name(dtype)})({whole}{suffix})"
        number, wide = float(value), dtype.itemsize == 8
        if math.isfinite(number):
            text = number.hex() + ("" if wide else "f")
            return text if number >= 0 and not text.startswith("-") else f"({text})"
        bits = "0x7fc00000" if number != number else "0x7f800000" if number > 0 else "0xff800000"
        return f"{'(double)' if wide else ''}__uint_as_float({bits}u)"

    def cast(self, source: DType, target: DType, x: str) -> str:
        if target == BOOL:
            return f"{x} != 0"
        if is_floating(target):
            return rounded(f"({work_type(target)}){x}", target)
        if is_floating(source):      # by way of the widest integers: C says nothing of numbers that do not fit
            if target == np.uint64:
                return f"{x} < 0 ? ({type_name(target)})(long long){x} : ({type_name(target)}){x}"
            return f"({type_name(target)}){'' if target.itemsize == 8 else '(long long)'}{x}"
        return f"({type_name(target)}){x}"

    def suffix(self, dtype: DType) -> str:
        return "" if dtype.itemsize == 8 else "f"

    def floating(self, op: str, dtype: DType) -> str | None:
        if op in ("add", "subtract", "multiply", "divide"):
            text = self.between(op)
        elif op == "negative":
            text = "-{0}"
        elif op in SPECIAL:
            text = f"({work_type(dtype)}){self.call(op, op)}"
        elif op in _LIBRARY:
            text = self.call(_LIBRARY[op] + self.suffix(dtype), op)
        elif op in _OWN:
            text = self.call(_OWN[op], op)
        else:
            return None
        return text if op in _EXACT else rounded(text, dtype)

    def integer(self, op: str, dtype: DType) -> str | None:
        name = type_name(dtype)
        if op in _INTEGER:
            return f"({name})({_INTEGER[op]})"
        if op in ("add", "subtract", "multiply"):       # as unsigned numbers, which wrap around
            wide = "unsigned long long" if dtype.itemsize == 8 else "unsigned int"
            return f"({name})(({wide}){{0}} {self.symbols[op]} ({wide}){{1}})"
        return f"({name})({self.between(op)})" if op.startswith("bitwise") else None

    def statements(self, order: Iterable[Expr], names: Mapping[Expr, str]) -> str:
        """Declarations of all values that are computed, one per line."""
        return "".join(f"    const {work_type(e.dtype)} {names[e]} = {text};\n" for e, text in self.values(order, names))


PRINTER = CudaPrinter()
