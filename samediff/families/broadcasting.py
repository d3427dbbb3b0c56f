"""Stretching over axes and summing them away again: what broadcasting and reductions need for their gradients."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..base.named_axes import expect, expect_broadcast
from ..base.spec import TensorSpec, may_spread, normalize_axes, size
from ..errors import ShapeError
from ..expressions.arrays import sum_over
from ..ir.op import Expandable, Op, Specs, op

if TYPE_CHECKING:
    from ..ir.variable import SDVariable


def broadcast_reduced(reduced_value: SDVariable, x: SDVariable, dimensions: tuple[int, ...] = (), keep_dims: bool = False,
           axes: SDVariable | None = None, divisor: int | None = None) -> SDVariable:
    """Broadcast the result of a reduction to the shape of the array that was reduced.

    ``divisor`` d divides by n - d, where n is the number of elements that were reduced to one.
    """
    return x.sd.add_op(BroadcastReduced(dimensions, keep_dims, divisor), [reduced_value, x] + ([axes] if axes is not None else []))  # type: ignore[no-any-return]


def axes_of(dimensions: tuple[int, ...], rank: int, axes: Any = None) -> tuple[int, ...]:
    """The reduced axes, counted from the front; an array of axes counts instead of the attribute."""
    return normalize_axes(dimensions if axes is None else [int(a) for a in axes.reshape(-1)], rank)


def _count(whole: Any, part: Any) -> int:
    """Number of elements of ``whole`` that are reduced to one element of ``part``."""
    return whole.size // part.size if part.size else 0


def _expect_reduced(dimensions: tuple[int, ...], reduced: TensorSpec, like: TensorSpec, *axes: TensorSpec) -> None:
    """ShapeError where ``reduced`` cannot be what is left of ``like`` without the axes; those in a variable are known when run."""
    if axes or not (reduced.is_static and like.is_static) or like.shape is None:
        return
    gone = axes_of(dimensions, len(like.shape))
    if size(reduced.shape) != size(tuple(1 if i in gone else n for i, n in enumerate(like.shape))):
        raise ShapeError(f"shape {reduced.shape} is not what {like.shape} leaves without the axes {gone}")


@op("spread", inputs="x like axes?", shape_inputs=(1,))
class BroadcastReduced(Expandable):
    """Repeat a reduced array along the reduced axes of ``like`` (made by gradients)."""

    flops_per_element = 0
    dimensions: tuple[int, ...] = ()
    keep_dims: bool = False
    divisor: int | None = None

    @property
    def is_view(self) -> bool:  # type: ignore[override]  # depends on the attributes here
        """True without a divisor: then nothing is computed."""
        return self.divisor is None

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of ``like``."""
        _expect_reduced(self.dimensions, *specs)
        return TensorSpec(specs[1].shape, specs[0].dtype)

    def plan_rewrite(self, name: str) -> Expandable | None:
        """With a divisor, the reduced array is divided before it is broadcast, which is little work; broadcasting is none."""
        return None if self.divisor is None else self

    def expand(self, *inputs: Any) -> SDVariable:
        """Division and view; all sizes are known."""
        x, like, *axes = inputs
        divided = x.div(size(like.spec.shape) // size(x.spec.shape) - (self.divisor or 0))
        return x.sd.add_op(BroadcastReduced(self.dimensions, self.keep_dims), [divided, like, *axes])  # type: ignore[no-any-return]

    def compute(self, xp: Any, x: Any, like: Any, axes: Any = None) -> Any:
        """A read-only view with stride 0."""
        gone = axes_of(self.dimensions, like.ndim, axes)
        if self.divisor is not None:
            x = x / x.dtype.type(_count(like, x) - self.divisor)
        return xp.broadcast_to(x.reshape([1 if i in gone else n for i, n in enumerate(like.shape)]), like.shape)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Sum over the repeated axes."""
        total = inputs[0].sd.add_op(BroadcastReducedGrad(self.dimensions, self.keep_dims, self.divisor), [output_grads[0], *inputs])
        return [total, None]


@op("spread_sum", inputs="x reduced like axes?", shape_inputs=(1, 2))
class BroadcastReducedGrad(Op):
    """Sum over the axes that :class:`BroadcastReduced` repeats, back to the shape of ``reduced`` (made by gradients)."""

    flops_per_element = 1
    dimensions: tuple[int, ...] = ()
    keep_dims: bool = False
    divisor: int | None = None

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of ``reduced``."""
        x, reduced, like, *axes = specs
        expect("x", x, like.shape)
        _expect_reduced(self.dimensions, reduced, like, *axes)
        return TensorSpec(specs[1].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, reduced: Any, like: Any, axes: Any = None) -> Any:
        """The sum, divided as in the spread."""
        total = sum_over(x, axes_of(self.dimensions, x.ndim, axes)).reshape(reduced.shape)
        return total if self.divisor is None else total / x.dtype.type(_count(like, reduced) - self.divisor)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        axes = inputs[3] if len(inputs) > 3 else None
        return [broadcast_reduced(output_grads[0], inputs[2], self.dimensions, self.keep_dims, axes, self.divisor), None, None]


def sum_to(x: SDVariable, like: SDVariable) -> SDVariable:
    """Sum a gradient over the axes along which ``like`` was broadcast."""
    a, b = x.spec, like.spec
    if a.is_static and a.shape == b.shape:
        return x
    return x.sd.add_op(SumTo(), [x, like])  # type: ignore[no-any-return]


def broadcast_axes(shape: Sequence[int], like: Sequence[int]) -> tuple[int, ...]:
    """The axes of ``shape`` along which an array of shape ``like`` is repeated."""
    extra = len(shape) - len(like)
    return tuple(range(extra)) + tuple(i + extra for i, n in enumerate(like) if n == 1 and shape[i + extra] != 1)


@op("sum_to", inputs="x like", shape_inputs=(1,))
class SumTo(Op):
    """Sum over broadcast axes, so that the result has the shape of ``like`` (made by gradients)."""

    flops_per_element = 1

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of ``like``, which must broadcast to that of x."""
        x, like = specs
        if x.is_static and like.is_static and not may_spread(like.shape, x.shape):
            raise ShapeError(f"{x.shape} cannot be summed to {like.shape}, which does not broadcast to it")
        return TensorSpec(like.shape, x.dtype)

    def same_as(self, *specs: TensorSpec) -> int | None:
        """The gradient itself when nothing was broadcast."""
        return 0 if specs[0].shape == specs[1].shape else None

    def compute(self, xp: Any, x: Any, like: Any) -> Any:
        """``x`` itself when the shapes agree."""
        if x.shape == like.shape:
            return x
        axes = broadcast_axes(x.shape, like.shape)
        return sum_over(x, axes, keepdims=True).reshape(like.shape)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(BroadcastLike(), [output_grads[0], inputs[0]]), None]


@op("broadcast_like", inputs="x like", shape_inputs=(1,), is_view=True)
class BroadcastLike(Op):
    """Broadcast to the shape of ``like`` (made by gradients)."""

    flops_per_element = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of ``like``."""
        x, like = specs
        expect_broadcast("x", x, like.shape)
        return TensorSpec(like.shape, x.dtype)

    def same_as(self, *specs: TensorSpec) -> int | None:
        """The array itself when there is nothing to repeat."""
        return 0 if specs[0].shape == specs[1].shape else None

    def compute(self, xp: Any, x: Any, like: Any) -> Any:
        return xp.broadcast_to(x, like.shape)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """Sum over the broadcast axes."""
        return [sum_to(output_grads[0], inputs[0]), None]
