"""Numbers rounded as if they were held in few bits."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...base.datatype import DataType
from ...base.named_axes import expect
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import GraphError, ShapeError
from ...families.broadcasting import sum_to
from ...families.elementwise import Elementwise
from ...ir.op import Op, Specs, attributes, op

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@attributes
class Levels(Elementwise):
    """``2 ** num_bits`` levels between two bounds, which are moved so that 0 is one of them; ``narrow`` leaves out the lowest."""

    rule = "float"
    num_bits: int = 8
    narrow: bool = False

    def bounds(self, xp: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
        """The lowest and the highest level, and their distance."""
        first, last = int(self.narrow), 2 ** self.num_bits - 1
        step = (high - low) / (last - first)
        zero = xp.minimum(xp.maximum(xp.floor(first - low / step + 0.5), first), last)
        return (first - zero) * step, (last - zero) * step, step


@op("fake_quant_with_min_max_vars", inputs="x min max", api="math.fake_quant_with_min_max_vars", gradient="surrogate",
    file=FileArgs(ints=("num_bits",), bools=("narrow",), aliases=("fake_quant_with_min_max_args",)))
class FakeQuant(Levels):
    """x rounded to the nearest of the levels between ``min`` and ``max``.

    The gradient is that of a clip: it passes between the bounds and goes to a bound beyond it.

    Shapes: x (*S) floating, min and max one number each, below and above 0 -> (*S).
    """

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of x."""
        if not 2 <= self.num_bits <= 16:
            raise GraphError(f"num_bits lies within 2 and 16, got {self.num_bits}")
        self.check(*specs)
        return TensorSpec(specs[0].shape, self.result_type(*specs))

    def check(self, *specs: TensorSpec) -> None:
        """ShapeError for bounds that are no single numbers."""
        for name, spec in zip(("min", "max"), specs[1:]):
            if spec.shape not in (None, (), (1,), (-1,)):
                raise ShapeError(f"{name} is one number, got shape {spec.shape}")

    def compute(self, xp: Any, x: Any, low: Any, high: Any) -> Any:
        """Steps counted from the lowest level."""
        least, most, step = self.bounds(xp, low, high)
        return xp.floor((xp.minimum(xp.maximum(x, least), most) - least) / step + 0.5) * step + least

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The share of the gradient that belongs to x, to the lower and to the upper bound."""
        def share(part: Literal[0, 1, 2]) -> SDVariable:
            op = QuantShare(num_bits=self.num_bits, narrow=self.narrow, part=part)
            return sum_to(inputs[0].sd.add_op(op, [output_grads[0], *inputs]), inputs[part])
        return [share(0), share(1), share(2)]


@op("fake_quant_with_min_max_vars_per_channel", inputs="x min max", api="math.fake_quant_with_min_max_vars_per_channel",
    gradient="surrogate",
    file=FileArgs(ints=("num_bits",), bools=("narrow",), aliases=("fake_quant_with_min_max_args_per_channel",)))
class FakeQuantPerChannel(FakeQuant):
    """As ``fake_quant_with_min_max_vars``, with bounds for each index of the last axis.  Shapes: x (…, C), min and max (C) -> (…, C)."""

    def check(self, *specs: TensorSpec) -> None:
        """ShapeError for bounds that do not fit the last axis."""
        shape = specs[0].shape
        if shape is not None and not shape:
            raise ShapeError("x has no axis of channels, its shape is ()")
        for name, spec in zip(("min", "max"), specs[1:]):
            expect(name, spec, (-1,) if shape is None else shape[-1:])


@op("fake_quant_share", inputs="g x min max")
class QuantShare(Levels):
    """The gradient ``g`` where x lies between the bounds (part 0), below (1) or above them (2), else 0 (made by gradients)."""

    part: Literal[0, 1, 2] = 0

    def compute(self, xp: Any, g: Any, x: Any, low: Any, high: Any) -> Any:
        least, most, _ = self.bounds(xp, low, high)
        where = ((x >= least) & (x <= most), x < least, x > most)[self.part]
        return xp.where(where, g, 0)


@op("compare_and_bitpack", inputs="x threshold", api="math.compare_and_bitpack", gradient="zero", file=FileArgs())
class CompareAndBitpack(Op):
    """Whether elements exceed the threshold, eight neighbours on the last axis in one number, the first in its highest bit.

    Shapes: x (…, 8 n) numbers or BOOL, threshold () -> UBYTE (…, n).
    """

    def infer(self, *specs: TensorSpec) -> Specs:
        shape, threshold = specs[0].shape, specs[1].shape
        if threshold is not None and any(n >= 0 and n != 1 for n in threshold):
            raise ShapeError(f"the threshold is one number, got shape {threshold}")
        if shape is not None and (not shape or (shape[-1] > 0 and shape[-1] % 8)):
            raise ShapeError(f"the size of the last axis is a multiple of 8, got shape {shape}")
        return TensorSpec(None if shape is None else (*shape[:-1], shape[-1] // 8 if shape[-1] > 0 else shape[-1]), DataType.UBYTE)

    def compute(self, xp: Any, x: Any, threshold: Any) -> Any:
        above = x if x.dtype == np.bool_ else x > threshold.reshape(())
        return xp.packbits(above, axis=-1)
