"""Diagonals; the cross product."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.spec import TensorSpec, may_equal
from ...errors import ShapeError
from ...ir.op import Op, Specs, op

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("diag", api="linalg.diag math.diag base.diag")
class Diag(Op):
    """x on the diagonal of zeros: out[i..., i...] = x[i...].  Shapes: x (*S) of rank 1 to 3 -> (*S, *S)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        x = specs[0]
        if x.shape is not None and not 1 <= len(x.shape) <= 3:
            raise ShapeError(f"diag takes arrays of rank 1 to 3, got {x.shape}")
        return TensorSpec(None if x.shape is None else x.shape * 2, x.dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.diag(x.reshape(-1)).reshape(x.shape * 2)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(DiagPart(), [output_grads[0]])]


@op("diag_part", api="linalg.diag_part math.diag_part base.diag_part")
class DiagPart(Op):
    """The diagonal: out[i...] = x[i..., i...].  Shapes: x (*S, *S) -> (*S)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        x = specs[0]
        if x.shape is None:
            return TensorSpec(None, x.dtype)
        half = len(x.shape) // 2
        if not half or not may_equal(x.shape[:half], x.shape[half:]):
            raise ShapeError(f"diag_part needs an even rank and equal halves of the shape, got {x.shape}")
        return TensorSpec(x.shape[:half], x.dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        shape = x.shape[:x.ndim // 2]
        n = math.prod(shape)
        return xp.diagonal(x.reshape(n, n)).reshape(shape).copy()

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient on the diagonal, zeros elsewhere."""
        return [inputs[0].sd.add_op(Diag(), [output_grads[0]])]


@op("cross", api="linalg.cross math.cross base.cross", inputs="a b")
class Cross(Op):
    """Vector product along the last axis, of size 3."""

    def infer(self, *specs: TensorSpec) -> Specs:
        a, b = specs
        for spec in specs:
            if spec.shape is not None and (not spec.shape or spec.shape[-1] not in (3, -1)):
                raise ShapeError(f"the last axis of a cross product has size 3, got {spec.shape}")
        if a.is_static and b.is_static and a.shape != b.shape:
            raise ShapeError(f"cross needs equal shapes, got {a.shape} and {b.shape}")
        return TensorSpec(a.shape, a.dtype)

    def compute(self, xp: Any, a: Any, b: Any) -> Any:
        return xp.cross(a, b)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """b x g and g x a."""
        (a, b), (g,) = inputs, output_grads
        return [a.sd.add_op(self, [b, g]), a.sd.add_op(self, [g, a])]
