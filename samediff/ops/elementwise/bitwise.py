"""Operations on the bits of integers."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec, size
from ...errors import DataTypeError, ShapeError
from ...families.families import Pairwise
from ...ir.op import Op, Specs, op, require_same_type


class Bits(Pairwise):
    """A bitwise operation on two integer arrays of one type, with broadcasting."""

    gradient = "zero"

    def result_type(self, *specs: TensorSpec) -> DataType:
        """The common integer type."""
        for spec in specs:
            if not spec.dtype.is_integer:
                raise DataTypeError(f"{self.id} needs integers, got {spec.dtype.name}")
        require_same_type(self.id, *specs)
        return specs[0].dtype


def bits(name: str, api: str, function: Callable[..., Any], doc: str) -> None:
    """Register a bitwise operation."""

    @op(name, api=api)
    class Declared(Bits):
        def compute(self, xp: Any, x: Any, y: Any) -> Any:
            return function(xp, x, y)

    Declared.__doc__ = doc
    Declared.__name__ = Declared.__qualname__ = "".join(p.title() for p in name.split("_"))


def _shift(left: bool) -> Callable[..., Any]:
    def shift(xp: Any, x: Any, y: Any) -> Any:
        inside = (y >= 0) & (y < 8 * x.dtype.itemsize)          # processors do what they like with other counts
        by = xp.where(inside, y, y.dtype.type(0))
        if left:
            return xp.where(inside, x << by, x.dtype.type(0))
        return xp.where(inside, x >> by, xp.where(x < 0, x.dtype.type(-1), x.dtype.type(0)) if x.dtype.kind == "i" else x.dtype.type(0))
    return shift


def _rotate(left: bool) -> Callable[..., Any]:
    def rotate(xp: Any, x: Any, y: Any) -> Any:
        width = 8 * x.dtype.itemsize
        pattern = x.astype(np.dtype(f"u{x.dtype.itemsize}"))
        by = (y % width).astype(pattern.dtype)
        back = (width - by) % width
        out = (pattern << (by if left else back)) | (pattern >> (back if left else by))
        return out.astype(x.dtype)
    return rotate


bits("bitwise_and", "bitwise.and_", lambda xp, x, y: x & y, "Bits that both have.")
bits("bitwise_or", "bitwise.or_", lambda xp, x, y: x | y, "Bits that one has.")
bits("bitwise_xor", "bitwise.xor", lambda xp, x, y: x ^ y, "Bits that differ.")
bits("shift_bits", "bitwise.left_shift bitwise.bit_shift math.bit_shift", _shift(True),
     "Bits shifted left by y; nothing is left of them where y is negative or not less than the number of bits.")
bits("rshift_bits", "bitwise.right_shift bitwise.bit_shift_right math.bit_shift_right", _shift(False),
     "Bits shifted right by y; the sign stays, alone where y is negative or not less than the number of bits.")
bits("cyclic_shift_bits", "bitwise.left_shift_cyclic bitwise.bit_rotl math.bit_shift_rotl", _rotate(True), "Bits rotated left by y.")
bits("cyclic_rshift_bits", "bitwise.right_shift_cyclic bitwise.bit_rotr math.bit_shift_rotr", _rotate(False), "Bits rotated right by y.")


@op("bits_hamming_distance", api="bitwise.bits_hamming_distance math.bits_hamming_distance", inputs="x y", gradient="zero")
class BitsHammingDistance(Op):
    """Number of differing bits over all elements, LONG scalar."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """A scalar; shapes of equally many elements."""
        Bits().result_type(*specs)
        x, y = (size(s.shape) for s in specs)
        if x != y and -1 not in (x, y):
            raise ShapeError(f"{self.id} compares as many elements of x as of y; got shapes {specs[0].shape} and {specs[1].shape}")
        return TensorSpec((), DataType.LONG)

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        different = xp.ascontiguousarray(x.reshape(-1) ^ y.reshape(-1)).view(xp.uint8)
        return xp.unpackbits(different).sum()


@op("toggle_bits", api="bitwise.toggle_bits bitwise.bits_invert", gradient="zero")
class ToggleBits(Op):
    """All bits inverted."""

    def infer(self, *specs: TensorSpec) -> Specs:
        Bits().result_type(specs[0])
        return specs[0].with_shape(specs[0].shape)

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.invert(x)
