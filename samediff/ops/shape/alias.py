"""Ops that are another op with its attributes named as a kernel of DL4J has them."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.spec import TensorSpec
from ...ir.op import Op, Specs

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class AliasOp(Op):
    """Stands for the op that :meth:`target_op` gives: shapes, values, gradients and kernels are those of that one."""

    def target_op(self) -> Op:
        """The op of which this one is an alias."""
        raise NotImplementedError(f"{type(self).__name__} must implement target_op(self)")

    def infer(self, *specs: TensorSpec) -> Specs:
        """Shape and type by the op :meth:`target_op`."""
        return self.target_op().infer(*specs)

    def compute(self, xp: Any, *inputs: Any) -> Any:
        """Values of the op :meth:`target_op`."""
        return self.target_op().compute(xp, *inputs)

    def kernel_op(self, *specs: TensorSpec) -> Op:
        """The op :meth:`target_op`."""
        return self.target_op()

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Gradients of the op :meth:`target_op`."""
        return self.target_op().grad(inputs, outputs, output_grads)
