"""Products over axes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import is_floating
from ...base.spec import TensorSpec
from ...codecs.file_forms import REDUCTION
from ...expressions.arrays import sum_over
from ...families.broadcasting import axes_of
from ...families.families import Reduction
from ...families.in_float import in_float
from ...ir.op import Op, Specs, op

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


@op("reduce_prod", api="math.prod base.prod var.prod", file=REDUCTION)
class Product(Reduction):
    """Product over ``dimensions``; of no elements it is 1.  Shapes: x (*S) -> S without the dimensions, same type."""

    of_one_itself = True

    @in_float
    def reduce(self, xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
        return xp.prod(x, axis=axes, keepdims=self.keep_dims, dtype=x.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Upstream times the product of the other elements."""
        others = inputs[0].sd.add_op(ProductOfOthers(self.dimensions), list(inputs))
        return [self.broadcast_reduced(output_grads[0], inputs) * others]


@op("product_of_others", inputs="x axes?")
class ProductOfOthers(Op):
    """For each element the product of the others over ``dimensions``, whatever that of all of them is (made by gradients)."""

    dimensions: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, axes: Any = None) -> Any:
        """The product of those before it times that of those behind it, in float64 for floats; 0 where one of them is 0."""
        over = axes_of(self.dimensions, x.ndim, axes)
        order = [*(i for i in range(x.ndim) if i not in over), *over]
        moved = x.transpose(order)
        rows = moved.reshape(*moved.shape[:x.ndim - len(over)], -1)
        if not x.size:
            return x
        if is_floating(x.dtype):
            rows = rows.astype(np.float64)
        one = xp.ones((*rows.shape[:-1], 1), rows.dtype)
        before = xp.cumprod(xp.concatenate([one, rows[..., :-1]], -1), -1)
        behind = xp.cumprod(xp.concatenate([one, rows[..., :0:-1]], -1), -1)[..., ::-1]
        others = xp.where((before == 0) | (behind == 0), rows.dtype.type(0), before * behind).astype(x.dtype)
        return others.reshape(moved.shape).transpose([order.index(i) for i in range(x.ndim)])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """sum over i != j of upstream_i * others_i / x_j."""
        x, sd = inputs[0], inputs[0].sd
        part = output_grads[0] * outputs[0]
        total = sd.add_op(ReSpread(self.dimensions), [part, *inputs[1:]])
        return [sd.call("math", "div_no_nan", total - part, x)]


@op("sum_spread", inputs="x axes?")
class ReSpread(Op):
    """Sum over ``dimensions``, repeated to the shape of the input; its own gradient (made by gradients)."""

    dimensions: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, axes: Any = None) -> Any:
        """The sums, broadcast back to the shape of x."""
        return xp.broadcast_to(sum_over(x, axes_of(self.dimensions, x.ndim, axes), True), x.shape)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The same op on the upstream gradient, as it is symmetric."""
        return [inputs[0].sd.add_op(self, [output_grads[0], *inputs[1:]])]
