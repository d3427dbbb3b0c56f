"""Symbolic derivatives of scalar expressions.

Conventions where the derivative does not exist: 0 where the value is finite and the slope is not (``sqrt``, ``cbrt`` and powers below 1
at 0, ``arcsin``, ``arccos`` and ``arccosh`` at 1), for ``abs``, ``hypot`` and ``arctan2`` at 0, for rounding, signs and comparisons;
``maximum`` and ``minimum`` follow their first argument where both are equal.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.datatype import is_floating
from ..errors import GradientError
from . import scalar_node as node
from .scalar import FLAT
from .scalar_node import Expr
from .tracing import Scalar, Tracer

_LN2, _LN10 = float(np.log(2)), float(np.log(10))
_TWO_OVER_ROOT_PI = 2 / float(np.sqrt(np.pi))


def _below_one(xp: Any, a: Any, b: Any, slope: Any) -> Any:
    """The slope of a power, 0 where an exponent between 0 and 1 makes it infinite; constant exponents choose here and now."""
    return xp.where(b > 0, xp.where(b < 1, xp.where(a == 0, 0, slope), slope), slope)


def _turning(xp: Any, a: Any, distance: Any) -> Any:
    """a over the square of a distance, which may leave the range of the type."""
    return xp.where(distance == 0, 0, a / distance / distance)


def _share(xp: Any, a: Any, b: Any) -> Any:
    """The share of e^a in e^a + e^b; a half for equal ones, infinite ones too."""
    return xp.where(a == b, 0.5, 1 / (1 + xp.exp(b - a)))


#: Partial derivatives by op, one for each argument, as functions of (xp, *arguments, result).
PARTIALS: dict[str, tuple[Callable[..., Any], ...]] = {
    "exp": (lambda xp, x, y: y,),
    "expm1": (lambda xp, x, y: xp.exp(x),),
    "exp2": (lambda xp, x, y: y * _LN2,),
    "log": (lambda xp, x, y: 1 / x,),
    "log1p": (lambda xp, x, y: 1 / (1 + x),),
    "log2": (lambda xp, x, y: 1 / (x * _LN2),),
    "log10": (lambda xp, x, y: 1 / (x * _LN10),),
    "sqrt": (lambda xp, x, y: xp.where(x == 0, 0, 0.5 / y),),
    "cbrt": (lambda xp, x, y: xp.where(x == 0, 0, 1 / (3 * y * y)),),
    "sin": (lambda xp, x, y: xp.cos(x),),
    "cos": (lambda xp, x, y: -xp.sin(x),),
    "tan": (lambda xp, x, y: 1 + y * y,),
    "arcsin": (lambda xp, x, y: xp.where(abs(x) == 1, 0, 1 / xp.sqrt((1 - x) * (1 + x))),),
    "arccos": (lambda xp, x, y: xp.where(abs(x) == 1, 0, -1 / xp.sqrt((1 - x) * (1 + x))),),
    "arctan": (lambda xp, x, y: 1 / (1 + x * x),),
    "sinh": (lambda xp, x, y: xp.cosh(x),),
    "cosh": (lambda xp, x, y: xp.sinh(x),),
    "tanh": (lambda xp, x, y: 1 - y * y,),
    "arcsinh": (lambda xp, x, y: 1 / xp.hypot(1, x),),
    "arccosh": (lambda xp, x, y: xp.where(x == 1, 0, 1 / (xp.sqrt(x - 1) * xp.sqrt(x + 1))),),
    "arctanh": (lambda xp, x, y: 1 / ((1 - x) * (1 + x)),),
    "erf": (lambda xp, x, y: _TWO_OVER_ROOT_PI * xp.exp(-x * x),),
    "erfc": (lambda xp, x, y: -_TWO_OVER_ROOT_PI * xp.exp(-x * x),),
    "gammaln": (lambda xp, x, y: xp.digamma(x),),
    "digamma": (lambda xp, x, y: xp.polygamma(1, x),),
    "polygamma": (lambda xp, n, x, y: 0 * n, lambda xp, n, x, y: xp.polygamma(n + 1, x)),
    "negative": (lambda xp, x, y: -1,),
    "absolute": (lambda xp, x, y: xp.sign(x),),
    "add": (lambda xp, a, b, y: 1, lambda xp, a, b, y: 1),
    "subtract": (lambda xp, a, b, y: 1, lambda xp, a, b, y: -1),
    "multiply": (lambda xp, a, b, y: b, lambda xp, a, b, y: a),
    "divide": (lambda xp, a, b, y: 1 / b, lambda xp, a, b, y: -y / b),
    "power": (lambda xp, a, b, y: xp.where(b == 0, 0, _below_one(xp, a, b, b * a ** (b - 1))),
              lambda xp, a, b, y: xp.where(a > 0, y * xp.log(a), 0)),
    "floor_divide": (lambda xp, a, b, y: 0, lambda xp, a, b, y: 0),
    "remainder": (lambda xp, a, b, y: 1, lambda xp, a, b, y: -xp.floor(a / b)),
    "fmod": (lambda xp, a, b, y: 1, lambda xp, a, b, y: -xp.trunc(a / b)),
    "arctan2": (lambda xp, a, b, y: _turning(xp, b, xp.hypot(a, b)), lambda xp, a, b, y: _turning(xp, -a, xp.hypot(a, b))),
    "hypot": (lambda xp, a, b, y: xp.where(y == 0, 0, a / y), lambda xp, a, b, y: xp.where(y == 0, 0, b / y)),
    "copysign": (lambda xp, a, b, y: xp.copysign(1, b) * xp.sign(a), lambda xp, a, b, y: 0),
    "logaddexp": (lambda xp, a, b, y: _share(xp, a, b), lambda xp, a, b, y: _share(xp, b, a)),
}


def multiply(a: Expr, b: Expr) -> Expr:
    """``a * b`` with exact zeros dropped and selects drawn outwards.

    A product with ``where(c, d, 0)`` becomes ``where(c, a * d, 0)``: the branch that is not taken stays exactly 0,
    even where ``a`` is infinite or not a number.
    """
    for x, y in ((a, b), (b, a)):
        if node.is_constant(x, 0):
            return x
        if x.op == "where":
            condition, yes, no = x.args
            if node.is_constant(no, 0):
                return node.where(condition, multiply(yes, y), no)
            if node.is_constant(yes, 0):
                return node.where(condition, yes, multiply(no, y))
    if a.op == "divide" and node.is_constant(a.args[0], 1):
        return node.apply("divide", b, a.args[1])
    if b.op == "divide" and node.is_constant(b.args[0], 1):
        return node.apply("divide", a, b.args[1])
    return node.apply("multiply", a, b)


def _add(a: Expr | None, b: Expr) -> Expr:
    if a is None or node.is_constant(a, 0):
        return b
    if node.is_constant(b, 0):
        return a
    if b.op == "negative":
        return node.apply("subtract", a, b.args[0])
    if a.op == "negative":
        return node.apply("subtract", b, a.args[0])
    return node.apply("add", a, b)


def _chain(e: Expr, parts: list[Expr | None]) -> Expr | None:
    """Derivative of ``e`` from those of its arguments (None: zero)."""
    zero = node.constant(0, e.dtype)
    if e.op == "where":
        yes, no = parts[1] or zero, parts[2] or zero
        return node.where(e.args[0], yes, no)
    if e.op in ("maximum", "minimum"):
        first = node.apply("greater_equal" if e.op == "maximum" else "less_equal", *e.args)
        return node.where(first, parts[0] or zero, parts[1] or zero)
    if e.op == "cast":
        return node.cast(parts[0], e.dtype) if parts[0] is not None else None
    if e.op not in PARTIALS:
        raise GradientError(f"{e.op} has no derivative")
    xp, total = Tracer([e.dtype]), None
    arguments = [Scalar(xp, a) for a in (*e.args, e)]
    for rule, part in zip(PARTIALS[e.op], parts):
        if part is not None:
            partial = xp.asarray(rule(xp, *arguments), e.dtype).expr
            total = _add(total, multiply(partial, part))
    return total


def derivative(expr: Expr, wrt: int) -> Expr:
    """The derivative of an expression with respect to input ``wrt``, again an expression of the same inputs.

    Taken forward, with selects applied last: what a branch that is not taken would give (NaN, infinity) never
    reaches the result.  Zero with respect to inputs that are not floating.

    Examples
    --------
    >>> x = node.input_(0, "float32")
    >>> derivative(node.apply("tanh", x), 0)
    subtract(1.0, multiply(tanh(x0), tanh(x0)))
    """
    slope: dict[Expr, Expr | None] = {}
    for e in node.nodes([expr]):
        if e.op == "input":
            slope[e] = node.constant(1, e.dtype) if e.value == wrt and is_floating(e.dtype) else None
            continue
        parts = [slope[a] for a in e.args]
        varies = any(p is not None for p in parts) and is_floating(e.dtype) and e.op not in FLAT
        found = _chain(e, parts) if varies else None
        slope[e] = None if found is None or node.is_constant(found, 0) else found
    kind = expr.dtype if is_floating(expr.dtype) else np.dtype(np.float32)
    return slope[expr] or node.constant(0, kind)
