"""The scalar functions that an expression may use, and the types of their results.

Names are NumPy's.  Types follow NumPy with weak Python numbers, with one departure that keeps float32 graphs in
float32: where NumPy would fall back to float64 only because a Python number met a bool or another Python number
(``where(x > 0, 1.0, 0.0)``, ``(x > 0) * 0.5``), the floating type of the traced inputs is taken.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.datatype import is_floating
from ..errors import DataTypeError

DType = np.dtype[Any]

BOOL: DType = np.dtype(np.bool_)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Functions of one floating argument.
UNARY_FLOAT = _names("exp expm1 exp2 log log1p log2 log10 sqrt cbrt sin cos tan arcsin arccos arctan sinh cosh tanh "
    "arcsinh arccosh arctanh erf erfc gammaln digamma")
#: Functions that keep the type of their one argument.
UNARY_SAME = _names("negative absolute sign floor ceil rint trunc invert")
#: Tests of one argument.
UNARY_TEST = _names("isnan isinf isfinite signbit logical_not")
#: Functions of two arguments of one type, with a result of that type.
BINARY = _names(
    "add subtract multiply divide power maximum minimum floor_divide remainder fmod arctan2 hypot copysign logaddexp "
    "bitwise_and bitwise_or bitwise_xor left_shift right_shift polygamma")
#: Comparisons of two arguments.
COMPARE = _names("less less_equal greater greater_equal equal not_equal")
#: Functions of two truth values.
LOGICAL = _names("logical_and logical_or logical_xor")

FUNCTIONS = UNARY_FLOAT | UNARY_SAME | UNARY_TEST | BINARY | COMPARE | LOGICAL

#: SciPy's functions: NumPy cannot say what type they give.
SPECIAL = _names("erf erfc gammaln digamma polygamma")
#: Functions that are constant wherever they have a derivative.
FLAT = _names("sign floor ceil rint trunc") | UNARY_TEST | COMPARE | LOGICAL

#: Other spellings.
ALIASES = {
    "abs": "absolute", "fabs": "absolute", "true_divide": "divide", "mod": "remainder", "pow": "power",
    "neg": "negative",
    "bitwise_not": "invert", "bitwise_invert": "invert", "fix": "trunc", "round": "rint", "around": "rint",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "psi": "digamma", "lgamma": "gammaln", "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
}

Operand = DType | type  # a type, or int / float for a Python number


def promoted(types: Sequence[DType]) -> DType:
    """NumPy's common type; beside a type with which bfloat16 has none, it counts as float32, as in NumPy's functions."""
    try:
        return np.result_type(*types)
    except np.exceptions.DTypePromotionError:
        return np.result_type(*(np.float32 if t.name == "bfloat16" else t for t in types))


def common_type(operands: list[Operand], default: DType) -> DType:
    """The type in which operands meet; ``default`` is the floating type to take when Python numbers decide alone."""
    strong = [o for o in operands if isinstance(o, np.dtype)]
    weak = [o for o in operands if not isinstance(o, np.dtype)]
    found = promoted(strong) if strong else None
    if found is not None and (not weak or is_floating(found)):
        return found
    if found is not None and found != BOOL:
        return found if float not in weak else np.result_type(found, default)
    return default


def operand_type(name: str, operands: list[Operand], default: DType) -> DType:
    """The type to which all arguments of function ``name`` are cast before it is applied."""
    if name in LOGICAL or name == "logical_not":
        return BOOL
    found = common_type(operands, default)
    if name in SPECIAL:
        return found if is_floating(found) else default
    if found.name == "bfloat16":
        return found
    function = getattr(np, name)
    try:
        resolved: DType = function.resolve_dtypes((*[found] * len(operands), None))[0]
    except TypeError:
        raise DataTypeError(f"{name} is not defined for {found}") from None
    if is_floating(resolved) and not is_floating(found):
        return default if found == BOOL else np.result_type(found, default)
    return resolved


def result_type(name: str, operand: DType) -> DType:
    """The type of the result of function ``name`` for arguments of type ``operand``."""
    return BOOL if name in UNARY_TEST or name in COMPARE or name in LOGICAL else operand
