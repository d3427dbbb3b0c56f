"""Elements moved around along axes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.spec import TensorSpec, normalize_axis
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.indices import require_integer
from ...ir.op import Op, Specs, op

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("roll", inputs="x shifts? over?", signatures=("x, shift, *axes", "x, shifts, over"), file=FileArgs(ints=("shift?", "*axes")))
class Roll(Op):
    """Moved by ``shift`` places along each of ``axes`` (none: as one flat row); what leaves at one end comes in at the other.

    ``shifts`` and ``over`` give axes and places as arrays, a place for each axis.
    """

    shift: int | None = None
    axes: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        x = specs[0]
        if len(specs) == 2 or (len(specs) == 1 and self.shift is None):
            raise ShapeError("roll needs a shift, and axes where the shift is an array")
        for spec in specs[1:]:
            require_integer("shifts and axes", spec)
        given = specs[2].value.reshape(-1) if len(specs) > 2 and specs[2].value is not None else self.axes
        if x.shape is not None:
            for axis in given:
                normalize_axis(int(axis), len(x.shape))
        return TensorSpec(x.shape, x.dtype)

    def compute(self, xp: Any, x: Any, shifts: Any = None, over: Any = None) -> Any:
        if shifts is None:
            return xp.roll(x, self.shift, self.axes or None)
        places, axes = shifts.reshape(-1).tolist(), over.reshape(-1).tolist()
        if len(places) not in (1, len(axes)):
            raise ShapeError(f"{len(places)} shifts for {len(axes)} axes; one for each is needed, or one for all")
        for axis in axes:
            normalize_axis(axis, x.ndim)
        return xp.roll(x, places * len(axes) if len(places) == 1 else places, axes)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        sd, (g,) = inputs[0].sd, output_grads
        if len(inputs) > 1:
            return [sd.add_op(self, [g, sd.call("math", "neg", inputs[1]), inputs[2]]), None, None]
        return [sd.add_op(self.replace(shift=-(self.shift or 0)), [g])]
