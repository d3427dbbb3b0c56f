"""LLVM instructions that Numba does not offer, for float32 and float64 scalars."""
# mypy: ignore-errors
from __future__ import annotations

from typing import Any

from llvmlite import ir

from ..compiler.jit_functions import intrinsic, types


def _float_function(name: str, arity: int, flags: tuple[str, ...] = ()) -> Any:
    """Scalar function ``llvm.<name>`` of ``arity`` arguments of one floating type."""

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = args[0].type
        function = builder.module.declare_intrinsic(f"llvm.{name}", [kind], ir.FunctionType(kind, [kind] * arity))
        return builder.call(function, args, fastmath=flags)

    def resolve(*args: Any) -> Any:
        return (args[0](*args), call) if isinstance(args[0], types.Float) else None

    bodies: dict[int, Any] = {1: lambda context, x: resolve(x), 2: lambda context, x, y: resolve(x, y),
                              3: lambda context, x, y, z: resolve(x, y, z)}
    made = bodies[arity]
    made.__name__ = made.__qualname__ = "llvm_" + name
    return intrinsic(made)


rint = _float_function("rint", 1)
floor = _float_function("floor", 1)
ceil = _float_function("ceil", 1)
trunc = _float_function("trunc", 1)
fabs = _float_function("fabs", 1)
sqrt = _float_function("sqrt", 1)
copysign = _float_function("copysign", 2)
# NaN wins.  Which zero wins is left open ("nsz"): telling zeros apart takes a branch in scalar code, 5 x slower.
vmax = _float_function("maximum", 2, ("nsz",))
vmin = _float_function("minimum", 2, ("nsz",))
fma = _float_function("fma", 3)


@intrinsic
def bits_of(context: Any, x: Any) -> Any:
    """The bits of a float32 as int32, those of a float64 as int64."""
    kind = {types.float32: types.int32, types.float64: types.int64}.get(x)
    return kind and (kind(x), lambda c, builder, s, args: builder.bitcast(args[0], ir.IntType(kind.bitwidth)))


@intrinsic
def float_of(context: Any, x: Any) -> Any:
    """The float32 that has the bits of an int32, the float64 that has those of an int64."""
    kind, made = {types.int32: (types.float32, ir.FloatType()), types.int64: (types.float64, ir.DoubleType())}.get(x, (None, None))
    return kind and (kind(x), lambda c, builder, s, args: builder.bitcast(args[0], made))


@intrinsic
def select(context: Any, condition: Any, a: Any, b: Any) -> Any:
    """``a if condition else b`` without a branch: mispredicted ones cost more than computing both."""
    if condition != types.boolean or a != b:
        return None
    return a(condition, a, b), lambda c, builder, s, args: builder.select(*args)
