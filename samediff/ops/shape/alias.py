"""Ops that are another op with its attributes named as a kernel of DL4J has them."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.spec import TensorSpec
from ...ir.op import Op, Specs

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class AliasOp(Op):
    """Stands for the op that :meth:`meant` gives: shapes, values, gradients and kernels are those of that one."""

    def meant(self) -> Op:
        """The op with these attributes."""
        raise NotImplementedError(f"{type(self).__name__} must implement meant(self)")

    def infer(self, *specs: TensorSpec) -> Specs:
        """As the other op."""
        return self.meant().infer(*specs)

    def compute(self, xp: Any, *inputs: Any) -> Any:
        """As the other op."""
        return self.meant().compute(xp, *inputs)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """As the other op."""
        return self.meant().grad(inputs, outputs, output_grads)
