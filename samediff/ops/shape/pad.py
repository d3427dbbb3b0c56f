"""Padding."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.enums import PadMode
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError, ShapeError
from ...ir.op import Copies, Op, Specs, op

if TYPE_CHECKING:
    from ...ir.variable import SDVariable



def _inner(widths: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The part of the padded array that the original occupies, as slices."""
    return (*(slice(int(before), int(before) + n) for (before, _), n in zip(widths, shape)), ...)


@op("pad", api="nn.pad image.pad base.pad", inputs="x padding", signatures=("x, padding, mode, constant", "x, padding, constant"),
    file=FileArgs(ints=("mode:CONSTANT|REFLECT|SYMMETRIC",), floats=("constant",),
                  properties={"mode": "l:mode:CONSTANT|REFLECT|SYMMETRIC", "padValue": "d:constant"}))
class Pad(Op):
    """Lengthen each axis by padding[axis, 0] elements before and padding[axis, 1] behind.

    ``mode`` CONSTANT fills with ``constant``, REFLECT mirrors without the border element, SYMMETRIC with it.

    Shapes: x (*S), padding (rank, 2) integer -> S plus both paddings, same type.
    """

    flops_per_element = 0
    element_values = "constant"
    mode: PadMode = PadMode.CONSTANT
    constant: float = 0.0

    def infer(self, *specs: TensorSpec) -> Specs:
        x, padding = specs
        if not padding.dtype.is_integer:
            raise DataTypeError(f"padding must be integers, got {padding.dtype.name}")
        if x.shape is None:
            return TensorSpec(None, x.dtype)
        rank, pairs = len(x.shape), padding.shape
        if pairs is not None and (len(pairs) != 2 or pairs[0] not in (-1, rank) or pairs[1] not in (-1, 2)):
            raise ShapeError(f"padding must have the shape ({len(x.shape)}, 2) for x {x.shape}, got {padding.shape}")
        if padding.value is None:
            return TensorSpec((-1,) * len(x.shape), x.dtype)
        most = {PadMode.REFLECT: 1, PadMode.SYMMETRIC: 0}.get(self.mode)
        for n, (before, behind) in zip(x.shape, padding.value):
            if min(before, behind) < 0 or (most is not None and n != -1 and max(before, behind) > n - most):
                raise ShapeError(f"padding ({before}, {behind}) of an axis of size {n} is not possible in mode {self.mode.name}")
        return TensorSpec(tuple(n if n == -1 else n + int(a) + int(b) for n, (a, b) in zip(x.shape, padding.value)), x.dtype)

    def compute(self, xp: Any, x: Any, padding: Any) -> Any:
        width = [(int(a), int(b)) for a, b in padding]
        if self.mode is PadMode.CONSTANT:
            return xp.pad(x, width, constant_values=x.dtype.type(self.constant))
        return xp.pad(x, width, mode=self.mode.name.lower())

    def copies(self, *specs: TensorSpec) -> Copies | None:
        widths, shape = specs[1].value, specs[0].shape
        if widths is None or shape is None or self.mode is not PadMode.CONSTANT or self.constant:
            return None
        return Copies(lambda x, padding, out: [(x, out[_inner(widths, shape)])], clears=True)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The inner part, with the mirrored parts added."""
        return [inputs[0].sd.add_op(PadSum(self.mode), [output_grads[0], inputs[1], inputs[0]]), None]


@op("pad_sum", inputs="x padding like", shape_inputs=(2,))
class PadSum(Op):
    """Each padded element added to the one that it was copied from (made by gradients)."""

    mode: PadMode

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[2].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, padding: Any, like: Any) -> Any:
        for axis, ((before, behind), n) in enumerate(zip(padding, like.shape)):
            before, behind = int(before), int(behind)
            moved = xp.moveaxis(x, axis, 0)
            inner = moved[before:before + n]
            if self.mode is not PadMode.CONSTANT and (before or behind):
                skip = 1 if self.mode is PadMode.REFLECT else 0
                inner = inner.copy()
                inner[skip:skip + before] += moved[:before][::-1]
                inner[n - skip - behind:n - skip] += moved[before + n:][::-1]
            x = xp.moveaxis(inner, 0, axis)
        return x

    def copies(self, *specs: TensorSpec) -> Copies | None:
        widths, shape = specs[1].value, specs[2].shape
        if widths is None or shape is None or self.mode is not PadMode.CONSTANT:
            return None
        return Copies(lambda x, padding, like, out: [(x[_inner(widths, shape)], out)])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient padded in the same mode."""
        return [inputs[0].sd.add_op(Pad(self.mode, 0.0), [output_grads[0], inputs[1]]), None, None]
