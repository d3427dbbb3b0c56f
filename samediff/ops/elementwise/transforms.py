"""Elementwise functions of one array."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...codecs.file_forms import operand
from ...families.families import Elementwise, unary
from ...ir.op import op


def _round(xp: Any, x: Any) -> Any:
    """The nearest integer; halves are rounded away from zero."""
    if x.dtype.kind in "iub":
        return x
    size = abs(x)
    down = xp.floor(size)
    return xp.copysign(xp.where(size - down >= 0.5, down + 1, down), x)       # size + 0.5 would be rounded itself


def _rint(xp: Any, x: Any) -> Any:
    return x if x.dtype.kind in "iub" else xp.rint(x)                         # NumPy's makes whole numbers DOUBLE


def _sign(xp: Any, x: Any) -> Any:
    return xp.where(x > 0, 1, xp.where(x < 0, -1, 0)).astype(x.dtype)


def rational_tanh(xp: Any, x: Any, scale: float = 1.7159, share: float = 1.41645) -> Any:
    """``scale sgn(t) (1 - 1 / (1 + |t| + t^2 + share t^4))`` with t = 2 x / 3: no difference cancels below 1, no power overflows above."""
    positive = x >= 0                                       # not abs and sign: the slope at 0 is 1.1439, not 0
    t = xp.where(positive, x, -x) * (2 / 3)
    low, inverse = xp.minimum(t, 1), 1 / xp.maximum(t, 1)
    above = low + low * low + share * low * low * low * low
    below = inverse * inverse * inverse * inverse / (inverse * inverse * inverse + inverse * inverse + share)
    return scale * xp.where(positive, 1, -1) * xp.where(t < 1, above / (1 + above), 1 / (1 + below))


#: Registry id -> (NumPy-like names besides the id, function, text); all need floating input and keep its type.
FLOATING: dict[str, tuple[str, Any, str]] = {
    "exp": ("", lambda xp, x: xp.exp(x), "e^x."),
    "expm1": ("", lambda xp, x: xp.expm1(x), "e^x - 1, exact near 0."),
    "log": ("ln", lambda xp, x: xp.log(x), "Natural logarithm."),
    "log1p": ("", lambda xp, x: xp.log1p(x), "ln(1 + x), exact near 0."),
    "log2": ("", lambda xp, x: xp.log2(x), "Logarithm to base 2."),
    "log10": ("", lambda xp, x: xp.log10(x), "Logarithm to base 10."),
    "sin": ("", lambda xp, x: xp.sin(x), "Sine (radians)."),
    "cos": ("", lambda xp, x: xp.cos(x), "Cosine (radians)."),
    "tan": ("", lambda xp, x: xp.tan(x), "Tangent (radians)."),
    "asin": ("arcsin", lambda xp, x: xp.arcsin(x), "Arc sine."),
    "acos": ("arccos", lambda xp, x: xp.arccos(x), "Arc cosine."),
    "atan": ("arctan", lambda xp, x: xp.arctan(x), "Arc tangent."),
    "sinh": ("", lambda xp, x: xp.sinh(x), "Hyperbolic sine."),
    "cosh": ("", lambda xp, x: xp.cosh(x), "Hyperbolic cosine."),
    "asinh": ("arcsinh", lambda xp, x: xp.arcsinh(x), "Inverse hyperbolic sine."),
    "acosh": ("arccosh", lambda xp, x: xp.arccosh(x), "Inverse hyperbolic cosine."),
    "atanh": ("arctanh", lambda xp, x: xp.arctanh(x), "Inverse hyperbolic tangent."),
    "erf": ("", lambda xp, x: xp.erf(x), "Gauss error function."),
    "erfc": ("", lambda xp, x: xp.erfc(x), "1 - erf(x)."),
    "lgamma": ("gammaln", lambda xp, x: xp.gammaln(x), "ln |Gamma(x)|."),
    "digamma": ("", lambda xp, x: xp.digamma(x), "Derivative of ln Gamma."),
    "rational_tanh": ("", rational_tanh, "Rational approximation of 1.7159 tanh(2x / 3)."),
    "rectified_tanh": ("", lambda xp, x: xp.maximum(xp.tanh(x), 0), "max(0, tanh x)."),
}

for _id, (_aliases, _function, _text) in FLOATING.items():
    unary(_id, " ".join(f"math.{m}" for m in (_id, *_aliases.split())), _function, _text)

unary("tanh", "math.tanh nn.tanh", lambda xp, x: xp.tanh(x), "Hyperbolic tangent.")
unary("sqrt", "math.sqrt var.sqrt", lambda xp, x: xp.sqrt(x), "Square root; NaN below 0.", rule="to_float")
unary("rsqrt", "math.rsqrt", lambda xp, x: 1 / xp.sqrt(x), "1 / sqrt(x).", rule="to_float")
unary("abs", "math.abs var.abs math.absolute", lambda xp, x: abs(x), "Absolute value.", rule="same")
unary("square", "math.square var.square", lambda xp, x: x * x, "x^2.", rule="same")
unary("cube", "math.cube nn.cube", lambda xp, x: x * x * x, "x^3.", rule="same")
unary("Reciprocal", "math.reciprocal", lambda xp, x: 1 / x, "1 / x.", rule="to_float")
unary("ceil", "math.ceil", lambda xp, x: xp.ceil(x), "Rounded up.", rule="same", gradient="zero")
unary("floor", "math.floor", lambda xp, x: xp.floor(x), "Rounded down.", rule="same", gradient="zero")
unary("rint", "math.rint", _rint, "Nearest integer, halves to even.", rule="same", gradient="zero")
unary("round", "math.round", _round, "Nearest integer, halves away from zero.", rule="same", gradient="zero")
unary("sign", "math.sign", _sign, "-1, 0 or 1; 0 for NaN.", rule="same", gradient="zero")
unary("isnan", "math.is_nan math.isnan math.is_na_n", lambda xp, x: xp.isnan(x), "True where x is NaN.", rule="bool", gradient="zero")
unary("isinf", "math.is_infinite math.isinf", lambda xp, x: xp.isinf(x), "True where x is infinite.", rule="bool", gradient="zero")
unary("isfinite", "math.is_finite math.isfinite", lambda xp, x: xp.isfinite(x), "True where x is neither infinite nor NaN.", rule="bool",
      gradient="zero")


@op("log_x", api="math.log", file=operand("base"))
class LogBase(Elementwise):
    """Logarithm to a base: ln(x) / ln(base)."""

    rule = "float"
    base: float

    def compute(self, xp: Any, x: Any) -> Any:
        """The quotient of two natural logarithms."""
        return xp.log(x) / float(np.log(self.base))


@op("step", api="math.step nn.step", gradient="zero", file=operand("value"))
class StepOp(Elementwise):
    """1 where x > value, else 0, in the type of x."""

    element_values = "value"
    value: float = 0.0

    def compute(self, xp: Any, x: Any) -> Any:
        return (x > xp.asarray(self.value, dtype=x.dtype)).astype(x.dtype)
