"""Sizes as numbers of a floating type, for formulas in which a size occurs."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base.spec import TensorSpec, normalize_axis
from ..ir.op import Op, Specs, op

if TYPE_CHECKING:
    from ..ir.variable import SDVariable


def axis_size(x: SDVariable, axis: int) -> SDVariable:
    """The size of an axis as a scalar in the type of ``x``, also where it is known only when run."""
    return x.sd.add_op(AxisSize(axis), [x])  # type: ignore[no-any-return]


@op("axis_size", gradient="zero", shape_inputs=(0,))
class AxisSize(Op):
    """Size of one axis, a scalar in the type of x (made by gradients)."""

    axis: int

    def infer(self, *specs: TensorSpec) -> Specs:
        """A scalar."""
        if specs[0].shape is not None:
            normalize_axis(self.axis, len(specs[0].shape))
        return TensorSpec((), specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        """The size."""
        return xp.asarray(x.shape[self.axis], dtype=x.dtype)
