"""Elementwise ops that have no method: DL4J's graph files hold them by number (see :mod:`dl4py.samediff.codecs.legacy_table`)."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...expressions import expression as ex
from ...families.elementwise import meeting
from ...families.families import Elementwise, Pairwise, binary, scalar_form, unary
from ...ir.op import OPS, Specs, op
from .activations import sigmoid
from .comparison import Assign

_CLOSE = 1e-12      # the kernels' bound for "equal up to rounding", for every type
_WIDEST = 3.79297773665     # the kernel's bound of "stabilize"
_SCALAR = FileArgs(scalar="scalar")


def slope(name: str, of: str, doc: str) -> None:
    """Register the derivative of an elementwise op as an op: a line per op."""

    @op(name, file=FileArgs())
    class DerivativeOf(Elementwise):
        rule = "float"

        def expressions(self, dtypes: Sequence[np.dtype[Any]]) -> tuple[ex.Expr, ...]:
            (e,) = OPS[of]().expressions(dtypes)  # type: ignore[attr-defined]
            return (ex.derivative(e, 0),)

        def compute(self, xp: Any, x: Any) -> Any:
            return ex.evaluate(self.expressions([x.dtype]), xp, [x])[0]

    DerivativeOf.__doc__ = doc
    DerivativeOf.__module__ = sys._getframe(1).f_globals["__name__"]
    DerivativeOf.__name__ = DerivativeOf.__qualname__ = "".join(p.title() for p in name.split("_"))


def _rational_tanh_slope(xp: Any, x: Any) -> Any:
    a = abs(x) * (2 / 3)
    below = 1 + a + a * a + 1.41645 * a * a * a * a
    return xp.where(below < xp.inf, 1.7159 * (2 / 3) * (1 + 2 * a + 4 * 1.41645 * a * a * a) / below / below, 0)


slope("_tanhderivative", "tanh", "1 - tanh(x)^2.")
slope("_sigmoidderivative", "sigmoid", "s (1 - s) with s = sigmoid(x).")
slope("tanderivative", "tan", "1 + tan(x)^2.")
slope("seluderivative", "selu", "scale where x > 0, else scale * alpha e^x.")
slope("_swishderivative", "swish", "Derivative of x sigmoid(x).")
slope("cubederivative", "cube", "3 x^2.")
slope("_geluderivative", "gelu", "Derivative of x sigmoid(1.702 x).")
slope("_precise_geluderivative", "precise_gelu", "Derivative of precise_gelu.")
slope("_mishderivative", "mish", "Derivative of x tanh(softplus(x)).")
# At kinks of the base ops, and at the 0 of rational_tanh, the kernels have another value than the derivative of the base.
unary("hard_sigmoidderivative", "", lambda xp, x: 0.2 * (abs(x) <= 2.5).astype(x.dtype), "0.2 within -2.5 and 2.5, else 0.",
      gradient="zero", file=FileArgs())
unary("rectified_tanh_derivative", "", lambda xp, x: xp.where(x > 0, 1 - xp.tanh(x) * xp.tanh(x), 0), "1 - tanh(x)^2 where x > 0, else 0.",
      file=FileArgs())
unary("rational_tanh_derivative", "", _rational_tanh_slope, "Derivative of rational_tanh.", file=FileArgs())

unary("timesoneminus", "", lambda xp, x: x * (1 - x), "x (1 - x).", rule="same", file=FileArgs())
unary("oneminus", "", lambda xp, x: 1 - x, "1 - x.", rule="same", file=FileArgs())
unary("bool_not", "", lambda xp, x: xp.logical_not(x), "True where x is 0 or false.", rule="bool", gradient="zero", file=FileArgs())


@op("stabilize", file=FileArgs(floats=("k",), properties={"k": "d:k"}))
class Stabilize(Elementwise):
    """x within -3.79297773665 / k and 3.79297773665 / k."""

    rule = "float"
    k: float = 1.0

    def compute(self, xp: Any, x: Any) -> Any:
        """By comparisons that keep NaN."""
        bound = _WIDEST / self.k if self.k else np.inf
        return xp.where(x * self.k > _WIDEST, bound, xp.where(x * self.k < -_WIDEST, -bound, x))


@op("setrange", file=FileArgs(floats=("min", "max"), properties={"min": "d:min", "max": "d:max"}))
class SetRange(Elementwise):
    """x within min and max; elsewhere floor(s (max - min)) + min, with s = sigmoid(x) where the range is 0 to 1, else x."""

    rule = "float"
    min: float
    max: float

    def compute(self, xp: Any, x: Any) -> Any:
        """As DL4J's kernel, which moves values outside the range further out."""
        s = sigmoid(xp, x) if (self.min, self.max) == (0, 1) else x
        return xp.where((x >= self.min) & (x <= self.max), x, xp.floor(s * (self.max - self.min)) + self.min)


@op("_powderivative", file=FileArgs(floats=("value",), scalar="value", properties={"pow": "d:value"}))
class PowDerivative(Elementwise):
    """value x^(value - 1)."""

    rule = "float"
    value: float

    def compute(self, xp: Any, x: Any) -> Any:
        """Repeated products for small integer exponents."""
        n = self.value - 1
        return self.value * x ** (int(n) if float(n).is_integer() else n)


@op("replace_nans", file=FileArgs(scalar="replacement", properties={"set": "d:replacement"}))
class ReplaceNans(Elementwise):
    """The replacement where x is NaN, else x."""

    replacement: float = 0.0

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.where(xp.isnan(x), xp.asarray(self.replacement, dtype=x.dtype), x)


def _ieee_remainder(xp: Any, x: Any, y: Any) -> Any:
    """x - y n with n the integer nearest to x / y, the even one of two; exact, as fmod is."""
    a, b = abs(x), abs(y)
    r = xp.fmod(a, b)
    up = (r > b - r) | ((r == b - r) & (xp.fmod(a, 2 * b) >= b))
    r = xp.where(up, r - b, r)
    return xp.where(x < 0, -r, r)


def _larger(xp: Any, x: Any, y: Any) -> Any:
    return xp.where(abs(x) > abs(y), x, y)


def _smaller(xp: Any, x: Any, y: Any) -> Any:
    return xp.where(abs(x) < abs(y), x, y)


def _relative_error(xp: Any, x: Any, y: Any) -> Any:
    total = abs(x) + abs(y)
    return xp.where(total == 0, x * 0, abs(x - y) / xp.where(total == 0, 1, total))


binary("remainder", "", _ieee_remainder, "Remainder x - y n, with n the integer nearest to x / y.", scalar="remainder_scalar")
binary("fmod", "", lambda xp, x, y: xp.fmod(x, y), "Remainder with the sign of x (C's fmod).", file=FileArgs())
binary("amax_pairwise", "", _larger, "The one of x and y with the larger absolute value, y where both are equal.", rule="match")
binary("amin_pairwise", "", _smaller, "The one of x and y with the smaller absolute value, y where both are equal.", rule="match")
binary("eps", "", lambda xp, x, y: abs(x - y) <= _CLOSE, "True where |x - y| is at most 1e-12.", rule="compare", scalar="eps_scalar",
       gradient="zero")
binary("RelativeError", "", _relative_error, "|x - y| / (|x| + |y|), 0 where both are 0.")
OPS["remainder_scalar"].file = OPS["eps_scalar"].file = _SCALAR


class _Both(Pairwise):
    """True where x and y are not 0."""

    rule = "bool"

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return (x != 0) & (y != 0)


class _Either(Pairwise):
    """True where x or y is not 0."""

    rule = "bool"

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return (x != 0) | (y != 0)


class _One(Pairwise):
    """True where exactly one of x and y is not 0."""

    rule = "bool"

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return (x != 0) ^ (y != 0)


class _Unequal(Pairwise):
    """True where x is not y: the kernel of this name compares."""

    rule = "bool"

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return x != y


for _id, _of in (("and_scalar", _Both), ("or_scalar", _Either), ("xor_scalar", _One), ("not_scalar", _Unequal)):
    scalar_form(_id, "", _of, gradient="zero", file=_SCALAR)


@op("not", inputs="x y?", gradient="zero", file=FileArgs(floats=("=0.0",), properties={"comparable": "d:=0.0"}))
class Not(Elementwise):
    """True where x is 0 or false; with two arrays, where they differ, which is what the kernel of this name computes."""

    rule = "bool"

    def compute(self, xp: Any, x: Any, y: Any = None) -> Any:
        return x == 0 if y is None else x != y


@op("axpy", inputs="x y", file=FileArgs(floats=("p",), properties={"p": "d:p"}))
class Axpy(Pairwise):
    """p x + y."""

    element_values = "p"
    p: float = 1.0

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return xp.asarray(self.p, dtype=x.dtype) * x + meeting(x, y)


@op("BinaryRelativeError", gradient="zero", file=FileArgs(floats=("threshold",), properties={"threshold": "d:threshold"}))
class BinaryRelativeError(Pairwise):
    """1 where the relative error |x - y| / (|x| + |y|) exceeds the threshold, else 0, in the type of x."""

    threshold: float = 0.0

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return (_relative_error(xp, x, y) > self.threshold).astype((x + y).dtype)


@op("BinaryMinimalRelativeError", gradient="zero", file=FileArgs(floats=("threshold_relative", "threshold_absolute"), properties={
    "thresholdRelative": "d:threshold_relative", "thresholdAbsolute": "d:threshold_absolute"}))
class BinaryMinimalRelativeError(Pairwise):
    """1 where the relative error exceeds its threshold and |x - y| reaches the absolute one, else 0, in the type of x."""

    threshold_relative: float = 0.0
    threshold_absolute: float = 0.0

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        found = (_relative_error(xp, x, y) > self.threshold_relative) & (abs(x - y) >= self.threshold_absolute)
        return found.astype((x + y).dtype)


class _Copied(Assign):
    """The values of y in the shape and type of x; x itself without y."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return super().infer(*specs) if len(specs) > 1 and specs[1] is not None else TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, y: Any = None) -> Any:
        return x if y is None else xp.broadcast_to(y, x.shape).astype(x.dtype)

    def grad(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]) -> Sequence[Any]:
        """Only y matters, where there is one."""
        return super().grad(inputs, outputs, output_grads) if len(inputs) > 1 and inputs[1] is not None else [output_grads[0]]


@op("copy", inputs="x y?", file=FileArgs())
class Copy(_Copied):
    """The values of y in the shape and type of x; x itself without y."""


@op("old_assign", inputs="x y?", file=FileArgs())
class OldAssign(_Copied):
    """The values of y in the shape and type of x; x itself without y."""
