"""Elements of an array by their distance in bytes from its first one.

Numba multiplies every index by a stride that it does not know. With distances the source can spell out that neighbours of a
loop lie next to each other, which makes vector code of loops over arrays that are strided elsewhere.
"""
# mypy: ignore-errors
from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic


def _pointer(context: Any, builder: Any, kind: Any, array: Any, distance: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return cgutils.pointer_add(builder, data, distance)


@intrinsic
def at(context: Any, array: Any, distance: Any) -> Any:
    """The element ``distance`` bytes behind the first."""

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_pointer(context, builder, signature.args[0], *args))
    return array.dtype(array, types.intp), call


@intrinsic
def put(context: Any, array: Any, distance: Any, value: Any) -> Any:
    """Store an element ``distance`` bytes behind the first."""

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _pointer(context, builder, signature.args[0], args[0], args[1]))
        return context.get_dummy_value()
    return types.void(array, types.intp, array.dtype), call
