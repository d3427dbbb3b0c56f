"""Updates put into zeros at index vectors."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.spec import TensorSpec, may_equal
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.in_float import in_float
from ...families.indices import require_integer
from ...families.shape_inputs import shape_from
from ...ir.op import Op, Specs, op
from .gather import nd_index

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("scatter_nd", inputs="indices updates shape", file=FileArgs())
class ScatterNew(Op):
    """Zeros of a shape given by a variable, with ``updates`` added at index vectors; repeated ones accumulate.

    Shapes: indices (*I, k) address the first k axes, updates (*I, *shape[k:]) -> shape.
    """

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape that the input holds; unknown unless it is a constant."""
        indices, updates, shape = specs
        require_integer("indices", indices)
        require_integer("shape", shape)
        if indices.shape == ():
            raise ShapeError("index vectors need an axis, got a scalar")
        result = shape_from(shape)
        if result is not None and indices.shape and -1 not in (indices.shape[-1], *result):
            k = indices.shape[-1]
            want = (*indices.shape[:-1], *result[k:])
            if k > len(result) or not may_equal(want, updates.shape):
                raise ShapeError(f"updates must have shape {want} for indices {indices.shape} into {result}, got {updates.shape}")
        return TensorSpec(result, updates.dtype)

    @in_float
    def compute(self, xp: Any, indices: Any, updates: Any, shape: Any) -> Any:
        out = xp.zeros(tuple(int(n) for n in shape.reshape(-1)), updates.dtype)
        k = indices.shape[-1]
        want = (*indices.shape[:-1], *out.shape[k:])
        if k > out.ndim or updates.shape != want:
            raise ShapeError(f"updates must have shape {want} for indices {indices.shape} into {out.shape}, got {updates.shape}")
        xp.add.at(out, nd_index(xp, self.id, out.shape, indices), updates)
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient's elements at the indices."""
        return [None, inputs[0].sd.call("base", "gather_nd", output_grads[0], inputs[0]), None]
