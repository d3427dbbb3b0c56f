"""Arithmetic of two arrays, and of an array with a number."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...codecs.file_args import FileArgs
from ...codecs.file_forms import SCALAR, operand
from ...families.families import Elementwise, binary, scalar_form, unary
from ...ir.op import op


def _places(*methods: str) -> str:
    return " ".join(f"{space}.{m}" for m in methods for space in ("math", "base", "var"))


def _power(xp: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind not in "iu":
        return x ** y
    y = y.astype(x.dtype)                                # DL4J takes the exponent in the type of x
    if x.dtype.kind == "u":
        return x ** y
    inverse = xp.where(x == -1, xp.where(y % 2 == 0, 1, -1), x == 1).astype(x.dtype)         # 1 / x^-y: 0 but for 1 and -1
    return xp.where(y < 0, inverse, x ** xp.where(y < 0, 0, y))


def quotient(xp: Any, x: Any, y: Any) -> Any:
    """x / y; of whole numbers truncated toward zero, 0 where y is 0, and the smallest number over -1 is itself."""
    if x.dtype.kind not in "iub" or y.dtype.kind not in "iub":
        return x / y
    x = x.astype(y.dtype) if x.dtype.kind == "b" else x
    down = x // y
    if down.dtype.kind == "u":
        return down
    return xp.where((x % y != 0) & ((x < 0) != (y < 0)), down + 1, down)


def _without_nan(xp: Any, x: Any, y: Any) -> Any:
    return xp.where(y == 0, 0, quotient(xp, x, xp.where(y == 0, 1, y)))


def _rounded_quotient(how: str) -> Callable[..., Any]:
    def rounded(xp: Any, x: Any, y: Any) -> Any:
        found = quotient(xp, x, y)
        return found if found.dtype.kind in "iu" else getattr(xp, how)(found)
    return rounded


def _angle(xp: Any, y: Any, x: Any) -> Any:
    return xp.arctan2(y, x)


def _modulo(xp: Any, x: Any, y: Any) -> Any:
    return xp.fmod(x, y) if x.dtype.kind in "iu" and y.dtype.kind in "iu" else x % y


Add = binary("add", _places("add", "plus"), lambda xp, x, y: x + y, "x + y.", scalar="add_scalar")
binary("subtract", _places("sub", "minus", "subtract"), lambda xp, x, y: x - y, "x - y.", scalar="sub_scalar")
binary("multiply", _places("mul", "times", "multiply"), lambda xp, x, y: x * y, "x * y.", scalar="mul_scalar")
binary("divide", _places("div", "divide"), quotient, "x / y; integers truncate toward zero.", scalar="div_scalar",
       file=FileArgs(aliases=("realdiv",)))
binary("reversesubtract", _places("rsub"), lambda xp, x, y: y - x, "y - x.", scalar="rsub_scalar")
binary("reversedivide", _places("rdiv"), lambda xp, x, y: quotient(xp, y, x), "y / x; integers truncate toward zero.",
       scalar="rdiv_scalar")
binary("divide_no_nan", _places("div_no_nan"), _without_nan, "x / y, 0 where y is 0.")
binary("floordiv", _places("floor_div", "fdiv", "floor_divide"), _rounded_quotient("floor"), "floor(x / y); integers truncate toward zero.",
       scalar="floordiv_scalar",
       gradient="zero")
binary("truncatediv", "", _rounded_quotient("trunc"), "x / y truncated toward zero.", gradient="zero", file=FileArgs())
binary("floormod", _places("floor_mod", "remainder"), lambda xp, x, y: x % y, "Remainder with the sign of y: x - floor(x / y) * y.")
binary("mod", "math.mod base.mod var.mod", _modulo, "Remainder: with the sign of y for floats, with that of x for integers.",
       scalar="mod_scalar")
binary("squaredsubtract", _places("squared_difference"), lambda xp, x, y: (x - y) * (x - y), "(x - y)^2.", scalar="squaredsubtract_scalar")
binary("Pow", _places("pow", "power"), _power, "x^y in the type of x; 0^0 = 1.", rule="same")
maximum = binary("maximum", "base.max math.max var.maximum math.maximum base.maximum", lambda xp, x, y: xp.maximum(x, y),
                 "The larger of x and y.", rule="match")
minimum = binary("minimum", "base.min math.min var.minimum math.minimum base.minimum", lambda xp, x, y: xp.minimum(x, y),
                 "The smaller of x and y.", rule="match")
scalar_form("max_scalar", "base.scalar_max math.scalar_max math.max base.maximum math.maximum var.maximum", maximum)
scalar_form("scalar_min", "base.scalar_min math.scalar_min math.min base.minimum math.minimum var.minimum", minimum)
binary("tf_atan2", "math.atan2 base.atan2 math.arctan2", _angle, "Angle of the point (x, y), from (y, x); integers give FLOAT.",
       rule="match_float", inputs="y x")
unary("neg", _places("neg", "negative"), lambda xp, x: -x, "-x.", rule="same")


@op("pow", api=_places("pow", "power"), file=operand("value"))
class PowerScalar(Elementwise):
    """x to the power of a number."""

    element_values = "value"
    value: float

    def compute(self, xp: Any, x: Any) -> Any:
        """Repeated products for small integer exponents."""
        if x.dtype.kind in "iu" and self.value < 0:
            return _power(xp, x, xp.asarray(int(self.value), dtype=x.dtype))
        return x ** (int(self.value) if float(self.value).is_integer() else self.value)


@op("fmod_scalar", api="base.scalar_floor_mod math.floor_mod base.floor_mod var.floor_mod", file=SCALAR)
class FloorModScalar(Elementwise):
    """Remainder by a number, with the sign of x (C's fmod)."""

    element_values = "scalar"
    scalar: float

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.fmod(x, xp.asarray(self.scalar, dtype=x.dtype))
