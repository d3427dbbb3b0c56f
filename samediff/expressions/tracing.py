"""Run array code once with scalar stand-ins, to learn the expression that it computes."""
from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..base.datatype import is_floating
from ..base.source_line import user_line
from ..errors import DataTypeError, GraphError, did_you_mean
from . import scalar_node as node
from .scalar import ALIASES, BOOL, FUNCTIONS, DType, common_type, operand_type, promoted
from .scalar_node import Expr


class TraceError(GraphError):
    """Code that cannot be traced: its control flow depends on values."""


class NotElementwiseError(TraceError):
    """Code that is valid on arrays, but not element by element: it reduces, indexes or uses the shape."""


def _where() -> str:
    line = user_line()
    return f"\n  at {line}" if line else ""


def _not_elementwise(text: str) -> NotElementwiseError:
    return NotElementwiseError(text + _where())


def _branch(self: Scalar) -> Any:
    raise TraceError("the value of a traced array decides an `if`, `while`, `and`, `or` or `not`; values are not known "
                     "while tracing. Use xp.where(condition, a, b), and & | ~ for logic, or declare an explicit kernel"
                     + _where())


def _number(self: Scalar) -> Any:
    raise TraceError("a traced array is used as a Python number (float, int, math.*); values are not known while "
                     "tracing. Use the functions of xp, such as xp.exp" + _where())


def _array(self: Scalar, *args: Any, **kwargs: Any) -> Any:
    raise _not_elementwise("the code indexes, measures or converts an array, so it does not work element by element")


class Scalar:
    """Stand-in for an array while tracing: carries an expression, its type, and NumPy's operators."""

    __array_priority__ = 1000.0
    __hash__ = object.__hash__

    def __init__(self, trace: Tracer, expr: Expr) -> None:
        self._trace, self.expr = trace, expr

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.expr.dtype

    def astype(self, dtype: Any, copy: bool = True) -> Scalar:
        """Convert to a type."""
        return Scalar(self._trace, node.cast(self.expr, _dtype(dtype)))

    def copy(self) -> Scalar:
        """The same value in a new object, so that in-place changes of one do not reach the other."""
        return Scalar(self._trace, self.expr)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            raise _not_elementwise(f"np.{ufunc.__name__}{'' if method == '__call__' else '.' + method} "
                                   f"with {sorted(kwargs) or 'these arguments'} does not work element by element")
        return getattr(self._trace, ufunc.__name__)(*args)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return getattr(self._trace, function.__name__)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _not_elementwise(f"the code asks an array for {name!r}, so it does not work element by element")

    def __repr__(self) -> str:
        return f"<traced {self.dtype} {self.expr!r}>"


_LN2 = math.log(2)             # Python's, which takes the type of the array beside it

#: Functions of the operators of arrays, by the names of their methods without underscores.
BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift",
}
COMPARISONS = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}
UNARY = {"neg": "negative", "abs": "absolute", "invert": "invert", "pos": "positive"}
_REFUSED = {_branch: ["bool"], _number: ["float", "int", "complex", "index"],
            _array: ["len", "iter", "getitem", "setitem", "array"]}


def _install() -> None:
    def operator(name: str, swap: bool = False) -> Any:
        def method(self: Scalar, *other: Any) -> Any:
            return getattr(self._trace, name)(*((*other, self) if swap else (self, *other)))
        return method

    def in_place(name: str) -> Any:
        def method(self: Scalar, other: Any) -> Any:
            self.expr = node.cast(getattr(self._trace, name)(self, other).expr, self.dtype)
            return self
        return method

    for short, name in {**BINARY, **COMPARISONS, **UNARY}.items():
        setattr(Scalar, f"__{short}__", operator(name))
    for short, name in BINARY.items():
        setattr(Scalar, f"__r{short}__", operator(name, swap=True))
        setattr(Scalar, f"__i{short}__", in_place(name))
    for refuse, shorts in _REFUSED.items():
        for short in shorts:
            setattr(Scalar, f"__{short}__", refuse)


_install()


def _dtype(dtype: Any) -> DType:
    found: DType = np.dtype(getattr(dtype, "numpy", dtype))
    return found


class Tracer:
    """The namespace ``xp`` of traced code: NumPy's elementwise functions on :class:`Scalar`."""

    pi, e, inf, nan = np.pi, np.e, np.inf, np.nan
    finfo, iinfo = np.finfo, np.iinfo
    float16, float32, float64, bool_ = np.float16, np.float32, np.float64, np.bool_
    int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
    uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64

    def __init__(self, dtypes: Sequence[DType]) -> None:
        floats = [d for d in dtypes if is_floating(d)]
        self._default = promoted(floats) if floats else np.dtype(np.float64)

    def __getattr__(self, name: str) -> Any:
        canonical = ALIASES.get(name, name)
        if canonical in COMPOSED:
            function = COMPOSED[canonical]
            return lambda *args, **kwargs: function(self, *args, **kwargs)
        if canonical not in FUNCTIONS:
            raise _not_elementwise(f"xp.{name} is not an elementwise function that can be traced"
                                   f"{did_you_mean(name, [*FUNCTIONS, *COMPOSED, *ALIASES])}")

        def call(*args: Any, **kwargs: Any) -> Scalar:
            dtype = kwargs.pop("dtype", None)
            if kwargs:
                raise _not_elementwise(f"xp.{name} with {', '.join(kwargs)} cannot be traced")
            made = self.apply(canonical, *args)
            return made if dtype is None else made.astype(dtype)
        return call

    def _types(self, args: Sequence[Any]) -> list[Any]:
        return [a.dtype if hasattr(a, "dtype") else BOOL if isinstance(a, bool) else
                float if isinstance(a, float) else int for a in args]

    def _expr(self, value: Any, dtype: DType) -> Expr:
        if isinstance(value, Scalar):
            return node.cast(value.expr, dtype)
        if getattr(value, "shape", ()) != () or not isinstance(value, (bool, int, float, np.generic, np.ndarray)):
            raise _not_elementwise(f"expected a traced array or a number, got {type(value).__name__}")
        return node.constant(value[()] if isinstance(value, np.ndarray) else value, dtype)

    def apply(self, name: str, *args: Any) -> Scalar:
        """The node of a function of :data:`~dl4py.samediff.expressions.scalar.FUNCTIONS`, applied to arguments."""
        try:
            dtype = operand_type(name, self._types(args), self._default)
        except DataTypeError as error:
            error.add_note(_where().strip())
            raise
        return Scalar(self, node.apply(name, *[self._expr(a, dtype) for a in args]))

    def where(self, condition: Any, a: Any, b: Any) -> Scalar:
        """``a`` where ``condition`` holds, else ``b``."""
        dtype = common_type(self._types((a, b)), self._default)
        return Scalar(self, node.where(self._expr(condition, BOOL), self._expr(a, dtype), self._expr(b, dtype)))

    def asarray(self, value: Any, dtype: Any = None) -> Scalar:
        """A number or traced array, converted to a type."""
        found = _dtype(dtype) if dtype is not None else common_type(self._types((value,)), self._default)
        return Scalar(self, self._expr(value, found))

    array = asanyarray = asarray

    def cast(self, value: Any, dtype: Any) -> Scalar:
        """The value converted to a type."""
        return self.asarray(value, dtype)

    astype = cast


def _power(xp: Tracer, x: Any, y: Any) -> Any:
    """Constant exponents become products and square roots."""
    exponent = y.expr.value if isinstance(y, Scalar) and y.expr.op == "constant" else y
    dtype = operand_type("power", xp._types((x, y)), xp._default)
    if isinstance(exponent, Scalar):
        return xp.apply("power", x, y)
    x, value = xp.asarray(x, dtype), float(exponent)
    if dtype.kind in "iu" and value < 0:
        raise TraceError(f"integers cannot be raised to the negative power {exponent}; use floats" + _where())
    if value in (0.5, -0.5):
        root = xp.sqrt(x)
        return root if value > 0 else 1.0 / root
    if not value.is_integer() or abs(value) > 16:
        return xp.apply("power", x, exponent)
    result, square, n = None, x, abs(int(value))
    while n:
        if n & 1:
            result = square if result is None else result * square
        n >>= 1
        square = square * square if n else square
    if result is None:
        return xp.asarray(1, dtype)
    return result if value > 0 else 1 / result


def _clip(xp: Tracer, x: Any, low: Any = None, high: Any = None) -> Any:
    x = x if low is None else xp.maximum(x, low)
    return x if high is None else xp.minimum(x, high)


def _full_like(xp: Tracer, x: Any, value: Any, dtype: Any = None) -> Any:
    return xp.asarray(value, x.dtype if dtype is None else dtype)


def _nan_to_num(xp: Tracer, x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if not is_floating(x.dtype):
        return x
    big = float(np.finfo(x.dtype).max)
    x = xp.where(xp.isnan(x), nan, x)
    x = xp.where(x == np.inf, big if posinf is None else posinf, x)
    return xp.where(x == -np.inf, -big if neginf is None else neginf, x)


#: Functions that are made of others.
COMPOSED: dict[str, Callable[..., Any]] = {
    "power": _power,
    "float_power": lambda xp, x, y: _power(xp, xp.asarray(x, np.float64), y),
    "square": lambda xp, x: x * x,
    "reciprocal": lambda xp, x: 1 / x,
    "positive": lambda xp, x: x,
    "clip": _clip,
    "fmax": lambda xp, a, b: xp.where(xp.isnan(b) | (a >= b), a, b),
    "fmin": lambda xp, a, b: xp.where(xp.isnan(b) | (a <= b), a, b),
    "heaviside": lambda xp, x, h: xp.where(xp.isnan(x), x, xp.where(x == 0, h, xp.where(x > 0, 1, 0))),
    "expit": lambda xp, x: 1 / (1 + xp.exp(-x)),
    "xlogy": lambda xp, x, y: xp.where((x == 0) & ~xp.isnan(y), 0, x * xp.log(y)),
    "deg2rad": lambda xp, x: x * (np.pi / 180),
    "rad2deg": lambda xp, x: x * (180 / np.pi),
    "logaddexp2": lambda xp, a, b: xp.logaddexp(a * _LN2, b * _LN2) / _LN2,
    "zeros_like": lambda xp, x, dtype=None: _full_like(xp, x, 0, dtype),
    "ones_like": lambda xp, x, dtype=None: _full_like(xp, x, 1, dtype),
    "full_like": _full_like,
    "nan_to_num": _nan_to_num,
}


def trace(compute: Callable[..., Any], dtypes: Sequence[Any], **attributes: Any) -> tuple[Expr, ...]:
    """The expressions that ``compute(xp, *arrays, **attributes)`` returns for inputs of the given types.

    Parameters
    ----------
    compute : callable
        Elementwise array code; called once.
    dtypes : sequence
        Type of each input.
    **attributes
        Passed on.

    Raises
    ------
    TraceError
        When a Python `if` depends on values; names the line and says what to write.
    NotElementwiseError
        (a TraceError) When the code reduces, indexes, or asks for shapes.

    Examples
    --------
    >>> trace(lambda xp, x, alpha: xp.where(x > 0, x, alpha * xp.expm1(x)), ["float32"], alpha=1.0)
    (where(greater(x0, 0.0), x0, expm1(x0)),)
    """
    types = [_dtype(d) for d in dtypes]
    xp = Tracer(types)
    result = compute(xp, *[Scalar(xp, node.input_(i, d)) for i, d in enumerate(types)], **attributes)
    outputs = result if isinstance(result, (tuple, list)) else (result,)
    return tuple(xp.asarray(r).expr for r in outputs)


def trace_by_name(compute: Callable[..., Any], types: Mapping[str, DType]) -> Expr:
    """The expression that ``compute`` returns for inputs which it chooses by the names of its parameters.

    Parameters
    ----------
    compute : callable
        Elementwise array code; a parameter ``xp`` is the namespace.
    types : mapping
        Type of each input that it may choose.

    Examples
    --------
    >>> trace_by_name(lambda xp, b, a: xp.exp(a) - b, {"a": np.dtype("float32"), "b": np.dtype("float32")})
    subtract(exp(a), b)
    """
    xp = Tracer([*types.values()])
    given = {n: xp if n == "xp" else Scalar(xp, node.input_(n, types[n])) for n in inspect.signature(compute).parameters}
    return xp.asarray(compute(**given)).expr
