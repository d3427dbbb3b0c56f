"""Dropout (Srivastava et al. 2014)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import GraphError
from ...families.composite import Composite
from ...ir.op import OPS, Op, Specs, op, require_floating
from ..shape.shape_info import Identity
from .dropout_mask import DropoutMask, keeps

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


FILE = FileArgs(op_type="RANDOM", floats=("p",), properties={"p": "d:p", "shape": "l[]:input_shape"})


@op("dropout", api="nn.dropout", stateful=True, file=FILE)
class DropoutOp(Op):
    """In training each element is kept with probability ``p``, else 0; outside training all are multiplied by ``p``.

    Each iteration draws a new mask; the gradient uses the mask of its forward pass.
    """

    flops_per_element = 2
    p: float
    inverted = False

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, *specs)
        if not 0 < self.p <= 1:
            raise GraphError(f"the probability of keeping an element lies above 0 and is at most 1, got {self.p}")
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, *, context: Any) -> Any:  # type: ignore[override]  # stateful ops get the context
        """The input times the mask."""
        return masked(xp, x, self.p, self.inverted, context)

    def plan_rewrite(self, name: str) -> Composite:
        """The op of the gradient, which applies the mask of this node by name; forward and backward are the same map."""
        return DropoutGrad(self.p, self.inverted, name)

    def at_inference(self) -> Op:
        return Identity() if self.inverted else OPS["mul_scalar"](self.p)  # type: ignore[call-arg]

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient times the mask that this node drew."""
        node = outputs[0].sd.producer(outputs[0].name())
        return [inputs[0].sd.add_op(DropoutGrad(self.p, self.inverted, node.name), [output_grads[0]])]  # type: ignore[union-attr]


@op("dropout_inverted", api="nn.dropout_inverted", stateful=True, file=FILE)
class DropoutInverted(DropoutOp):
    """In training each element is kept with probability ``p`` and divided by ``p``, else 0; outside training x itself.

    Each iteration draws a new mask; the gradient uses the mask of its forward pass.
    """

    p: float
    inverted = True


@op("dropout_grad", stateful=True)
class DropoutGrad(Composite):
    """Times the mask of the dropout node ``of`` (made by gradients)."""

    flops_per_element = 1
    p: float
    inverted: bool
    of: str
    inlines = True          # plans draw the mask once

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, *, context: Any) -> Any:  # type: ignore[override]  # stateful ops get the context
        """The product with the mask, drawn again from the same numbers."""
        return masked(xp, x, self.p, self.inverted, context.at(self.of))

    def expand(self, *inputs: Any) -> Any:
        """A mask node and an elementwise choice."""
        x, sd = inputs[0], inputs[0].sd
        kept = sd.add_op(DropoutMask(self.p, self.of, x.spec.shape), [])
        return sd.call("base", "where", x.div(self.p) if self.inverted else x, sd.constant(np.zeros((), x.dtype.numpy)), kept)

    def at_inference(self) -> Op:
        """The forward pass outside training: the identity, or the constant factor."""
        return Identity() if self.inverted else OPS["mul_scalar"](self.p)  # type: ignore[call-arg]

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(self, [output_grads[0]])]


def masked(xp: Any, x: Any, p: float, inverted: bool, context: Any) -> Any:
    """x where uniform numbers lie below p, over p when inverted, else 0."""
    kept = xp.asarray(keeps(context.random(), x.shape, p))
    return xp.where(kept, x / x.dtype.type(p) if inverted else x, x.dtype.type(0))
