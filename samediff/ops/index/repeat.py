"""Elements repeated along an axis."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.datatype import DataType
from ...base.spec import TensorSpec, normalize_axis, size
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.shape_inputs import ints_of
from ...ir.op import Op, Specs, op
from .gather import gather_gradient

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("repeat", api="base.repeat math.repeat", inputs="x repeats", file=FileArgs(ints=("axis",)))
class Repeat(Op):
    """Each element repeated along an axis; one count for all or one per element."""

    flops_per_element = 0
    axis: int = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        """The axis has the sum of the counts."""
        x, counts = specs[0], ints_of(specs[1])
        if x.shape is None:
            return TensorSpec(None, x.dtype)
        at = normalize_axis(self.axis, len(x.shape))
        given = size(specs[1].shape)
        if given not in (-1, 1, x.shape[at]) and x.shape[at] != -1:
            raise ShapeError(f"one count for all, or one for each of the {x.shape[at]} along axis {at} expected, got {given}")
        n = -1
        if counts is not None and (len(counts) > 1 or x.shape[at] != -1):
            n = counts[0] * x.shape[at] if len(counts) == 1 else sum(counts)
        return TensorSpec((*x.shape[:at], n, *x.shape[at + 1:]), x.dtype)

    def compute(self, xp: Any, x: Any, repeats: Any) -> Any:
        return xp.repeat(x, repeats.reshape(-1), axis=self.axis)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient summed over the copies."""
        positions = inputs[0].sd.add_op(RepeatPositions(self.axis), list(inputs))
        return [gather_gradient(output_grads[0], positions, inputs[0], self.axis), None]


@op("repeat_positions", inputs="x repeats", gradient="zero")
class RepeatPositions(Op):
    """The position of the original of each repeated element (made by gradients)."""

    axis: int

    def infer(self, *specs: TensorSpec) -> Specs:
        """One position for each element."""
        return TensorSpec((-1,), DataType.LONG)

    def compute(self, xp: Any, x: Any, repeats: Any) -> Any:
        return xp.repeat(xp.arange(x.shape[self.axis]), repeats.reshape(-1))
