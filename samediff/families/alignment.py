"""Axes of one array placed at axes of another."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..base.spec import TensorSpec, normalize_axes
from ..ir.op import Specs, op
from .families import View

if TYPE_CHECKING:
    from ..ir.variable import SDVariable


def align(x: SDVariable, like: SDVariable, axes: tuple[int, ...]) -> SDVariable:
    """Reshape so that the axes of ``x`` stand at ``axes`` of ``like``, size 1 elsewhere."""
    return x.sd.add_op(Align(axes), [x, like])  # type: ignore[no-any-return]


def aligned(xp: Any, x: Any, axes: Sequence[int], rank: int) -> Any:
    """As :func:`align`, on arrays; ``x`` is returned as it is where it has ``rank`` axes already."""
    if x.ndim == rank and rank != len(axes):
        return x
    shape = [1] * rank
    for n, axis in zip(x.shape, normalize_axes(axes, rank)):
        shape[axis] = n
    return x.reshape(shape)


@op("align_axes", inputs="x like", shape_inputs=(1,))
class Align(View):
    """Reshape so that the axes of x stand at ``axes`` of like, size 1 elsewhere (made by gradients)."""

    axes: tuple[int, ...]

    def infer(self, *specs: TensorSpec) -> Specs:
        x, like = specs
        if like.shape is None or x.shape is None:
            return TensorSpec(None, x.dtype)
        if len(x.shape) == len(like.shape) and len(like.shape) != len(self.axes):
            return TensorSpec(x.shape, x.dtype)
        shape = [1] * len(like.shape)
        for n, axis in zip(x.shape, normalize_axes(self.axes, len(like.shape))):
            shape[axis] = n
        return TensorSpec(tuple(shape), x.dtype)

    def compute(self, xp: Any, x: Any, like: Any) -> Any:
        return aligned(xp, x, self.axes, like.ndim)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.call("base", "reshape_like", output_grads[0], inputs[0]), None]
