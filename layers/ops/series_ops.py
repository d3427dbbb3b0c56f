"""Rows, series and images of one another: changes of shape whose sizes are known only at run time."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...samediff.base.spec import TensorSpec, may_equal
from ...samediff.errors import ShapeError
from ...samediff.families.in_float import in_float
from ...samediff.ir.op import Copies, Op, Pairs, Specs, op, rearranged

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable

Grads = Sequence["SDVariable | None"]


def _product(*sizes: int) -> int:
    return -1 if -1 in sizes else math.prod(sizes)


@op("series_rows")
class SeriesRows(Op):
    """All steps of all series below each other, time-major: step t of example n is row t * batch + n.

    Shapes: x (batch, size, time), or (batch, time, size) with ``channels_last`` -> (time * batch, size).
    """

    flops_per_element = 0
    channels_last: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        """One row for each step of each example."""
        x = specs[0]
        if x.shape is not None and len(x.shape) != 3:
            raise ShapeError(f"time series have three axes; got an array of shape {list(x.shape)}")
        n, a, b = x.shape or (-1, -1, -1)
        return TensorSpec((_product(n, a), b) if self.channels_last else (_product(n, b), a), x.dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        """Time to the front, then joined with the batch."""
        steps = x.transpose(1, 0, 2) if self.channels_last else x.transpose(2, 0, 1)
        return steps.reshape(-1, steps.shape[2])

    def copies(self, *specs: TensorSpec) -> Copies:
        return rearranged(lambda x: x.transpose(1, 0, 2) if self.channels_last else x.transpose(2, 0, 1))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable], output_grads: Sequence[SDVariable]) -> Grads:
        return [inputs[0].sd.add_op(RowsSeries(self.channels_last), [output_grads[0], inputs[0]])]


@op("rows_series", inputs="x batch", shape_inputs=(1,))
class RowsSeries(Op):
    """The inverse of :class:`SeriesRows`; ``batch`` is any array whose first axis is the batch.

    Shapes: x (time * batch, size) -> (batch, size, time), or (batch, time, size) with ``channels_last``.
    """

    flops_per_element = 0
    channels_last: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        """Time series with the examples of ``batch``."""
        x, batch = specs
        if x.shape is not None and len(x.shape) != 2:
            raise ShapeError(f"the steps of time series must be rows; got an array of shape {list(x.shape)}")
        rows, size = x.shape or (-1, -1)
        n = batch.shape[0] if batch.shape else -1
        if rows != -1 and n > 0 and rows % n:
            raise ShapeError(f"{rows} rows cannot be the steps of {n} time series")
        time = rows // n if rows != -1 and n > 0 else -1
        return TensorSpec((n, time, size) if self.channels_last else (n, size, time), x.dtype)

    def compute(self, xp: Any, x: Any, batch: Any) -> Any:
        """The rows split into steps and examples."""
        steps = x.reshape(-1, batch.shape[0], x.shape[1]) if x.shape[0] else x.reshape(0, batch.shape[0], x.shape[1])
        return steps.transpose(1, 0, 2) if self.channels_last else steps.transpose(1, 2, 0)

    def copies(self, *specs: TensorSpec) -> Copies:
        (rows, size), n = specs[0].shape or (-1, -1), (specs[1].shape or (-1,))[0]
        steps = (rows // max(n, 1), n, size)
        return rearranged(lambda x: x.reshape(steps).transpose((1, 0, 2) if self.channels_last else (1, 2, 0)))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable], output_grads: Sequence[SDVariable]) -> Grads:
        return [inputs[0].sd.add_op(SeriesRows(self.channels_last), [output_grads[0]]), None]


@op("position_rows")
class PositionRows(Op):
    """The channels of every position (step, pixel, voxel) as a row, example by example.

    Shapes: x (batch, channels, *sizes), or (batch, *sizes, channels) with ``channels_last`` -> (positions, channels).
    """

    channels_last: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        """One row for each position of each example."""
        x = specs[0]
        if x.shape is None:
            return TensorSpec((-1, -1), x.dtype)
        if len(x.shape) < 3:
            raise ShapeError(f"expected series, images or volumes with three axes or more; got an array of shape {list(x.shape)}")
        sizes = x.shape[:-1] if self.channels_last else (x.shape[0], *x.shape[2:])
        return TensorSpec((_product(*sizes), x.shape[-1] if self.channels_last else x.shape[1]), x.dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        """Channels to the end, the rest joined."""
        last = x if self.channels_last else xp.moveaxis(x, 1, -1)
        return last.reshape(math.prod(last.shape[:-1]), last.shape[-1])

    def channels_behind(self, x: Any) -> Any:
        """A view with the channels as the last axis."""
        return x if self.channels_last else x.transpose(0, *range(2, x.ndim), 1)

    def copies(self, *specs: TensorSpec) -> Copies:
        return rearranged(self.channels_behind)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable], output_grads: Sequence[SDVariable]) -> Grads:
        return [inputs[0].sd.add_op(RowPositions(self.channels_last), [output_grads[0], inputs[0]])]


@op("position_mask_rows", inputs="mask like", shape_inputs=(1,), gradient="zero")
class PositionMaskRows(Op):
    """The mask of every position of ``like`` as a row.

    Shapes: mask as ``like``, with 1 or all of its channels; for volumes it may have size 1 along any axis, as in DL4J
    -> (positions, 1 or channels).
    """

    channels_last: bool = False

    def full(self, mask: tuple[int, ...], like: tuple[int, ...]) -> tuple[int, ...]:
        """The shape with a value for every position; masks of other positions are refused."""
        axis = len(like) - 1 if self.channels_last else 1
        one = tuple(1 if i == axis else n for i, n in enumerate(like))
        spread = len(like) > 4 and len(mask) == len(like) and all(m in (1, n) or -1 in (m, n) for m, n in zip(mask, like))
        if not spread and not may_equal(mask, like) and not may_equal(mask, one):
            raise ShapeError(f"a mask of shape {list(mask)} does not fit activations of shape {list(like)}; it needs shape {list(one)} "
                             f"(one value per position) or {list(like)} (one per output)")
        return tuple(mask[axis] if i == axis else n for i, n in enumerate(like))

    def infer(self, *specs: TensorSpec) -> Specs:
        """One row for each position of each example."""
        mask, like = specs
        if mask.shape is not None and like.shape is not None:
            mask = TensorSpec(self.full(mask.shape, like.shape), mask.dtype)
        return PositionRows(self.channels_last).infer(mask)

    def compute(self, xp: Any, mask: Any, like: Any) -> Any:
        """Spread over the positions, then as :class:`PositionRows`."""
        return PositionRows(self.channels_last).compute(xp, xp.broadcast_to(mask, self.full(mask.shape, like.shape)))

    def copies(self, *specs: TensorSpec) -> Copies:
        whole, rows = self.full(specs[0].shape or (), specs[1].shape or ()), PositionRows(self.channels_last)
        return rearranged(lambda mask: rows.channels_behind(np.broadcast_to(mask, whole)))


@op("row_positions", inputs="x like", shape_inputs=(1,))
class RowPositions(Op):
    """The inverse of :class:`PositionRows`, for the positions of ``like``; the number of channels is that of the rows."""

    channels_last: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        """The sizes of ``like``, with the channels of x."""
        channels = specs[0].shape[1] if specs[0].shape else -1
        like = specs[1].shape
        if like is None:
            return TensorSpec(None, specs[0].dtype)
        return TensorSpec((*like[:-1], channels) if self.channels_last else (like[0], channels, *like[2:]), specs[0].dtype)

    def compute(self, xp: Any, x: Any, like: Any) -> Any:
        """The rows split into positions, with channels at their axis."""
        if self.channels_last:
            return x.reshape(*like.shape[:-1], x.shape[1])
        return xp.moveaxis(x.reshape(like.shape[0], *like.shape[2:], x.shape[1]), -1, 1)

    def copies(self, *specs: TensorSpec) -> Copies:
        like, channels = specs[1].shape or (), (specs[0].shape or (0, 0))[1]
        if self.channels_last:
            return rearranged(lambda x: x.reshape(*like[:-1], channels))
        turned = (0, len(like) - 1, *range(1, len(like) - 1))
        return rearranged(lambda x: x.reshape(like[0], *like[2:], channels).transpose(turned))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable], output_grads: Sequence[SDVariable]) -> Grads:
        return [inputs[0].sd.add_op(PositionRows(self.channels_last), [output_grads[0]]), None]


@op("example_sums", inputs="x batch", shape_inputs=(1,))
class ExampleSums(Op):
    """Sums of the values of each example. Shapes: x (batch * k,), batch (batch, …) -> (batch,)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """One value for each example."""
        return TensorSpec((specs[1].shape[0] if specs[1].shape else -1,), specs[0].dtype)

    @in_float
    def compute(self, xp: Any, x: Any, batch: Any) -> Any:
        """Sums over pieces of equal length, one for each example."""
        n = batch.shape[0]
        return x.reshape(n, x.size // n if n else 0).sum(axis=1, dtype=x.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable], output_grads: Sequence[SDVariable]) -> Grads:
        """Each value gets the gradient of its example."""
        return [inputs[0].sd.add_op(ExampleSpread(), [output_grads[0], inputs[0]]), None]


@op("example_spread", inputs="x like", shape_inputs=(1,))
class ExampleSpread(Op):
    """The value of each example, repeated over the values of ``like`` (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[1].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, like: Any) -> Any:
        """Each value repeated for all elements of its example."""
        return xp.repeat(x, like.size // x.size if x.size else 0)

    def copies(self, *specs: TensorSpec) -> Copies:
        def pairs(x: Any, like: Any, out: Any) -> Pairs:
            rows = out.reshape(len(x), out.size // max(1, len(x)))
            return [(np.broadcast_to(x[:, None], rows.shape), rows)]
        return Copies(pairs)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable], output_grads: Sequence[SDVariable]) -> Grads:
        return [inputs[0].sd.add_op(ExampleSums(), [output_grads[0], inputs[0]]), None]


@op("reshape_examples", is_view=True)
class ReshapeExamples(Op):
    """Each example in another shape, in c order; one size may be -1. Shapes: x (batch, *given) -> (batch, *shape).

    ``given`` is what is expected: -1 for any size, None for anything; ``owner`` is named in errors.
    """

    flops_per_element = 0
    shape: tuple[int, ...]
    given: tuple[int, ...] | None = None
    owner: str = "reshape"

    def infer(self, *specs: TensorSpec) -> Specs:
        """The sizes given, as far as they are known."""
        x = specs[0].shape
        if x is None:
            return TensorSpec((-1, *self.shape), specs[0].dtype)
        if self.given is not None and not may_equal(x, (-1, *self.given)):
            wanted = ", ".join("any" if n == -1 else str(n) for n in self.given)
            raise ShapeError(f"{self.owner} expected (batch, {wanted}); got {list(x)}")
        size, fixed = _product(*x[1:]), math.prod(n for n in self.shape if n != -1)
        if size != -1 and (size % fixed if -1 in self.shape else size != fixed):
            raise ShapeError(f"{self.owner}: an example of shape {list(x[1:])} has {size} values and cannot become {list(self.shape)}")
        return TensorSpec((x[0], *(size // fixed if n == -1 and size != -1 else n for n in self.shape)), specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        """A view where possible."""
        size, fixed = math.prod(x.shape[1:]), math.prod(n for n in self.shape if n != -1)
        return x.reshape(x.shape[0], *(size // fixed if n == -1 else n for n in self.shape))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable], output_grads: Sequence[SDVariable]) -> Grads:
        """The gradient in the shape of the input."""
        return [inputs[0].sd.call("base", "reshape_like", output_grads[0], inputs[0])]


def reshaped(x: SDVariable, shape: tuple[int, ...], given: tuple[int, ...] | None = None, owner: str = "reshape") -> SDVariable:
    """Each example of ``x`` in another shape."""
    return x.sd.add_op(ReshapeExamples(tuple(shape), given, owner), [x])  # type: ignore[no-any-return]


def to_rows(x: SDVariable, channels_last: bool = False) -> SDVariable:
    """Steps of series as rows, time-major."""
    return x.sd.add_op(SeriesRows(channels_last), [x])  # type: ignore[no-any-return]


def to_series(rows: SDVariable, batch: SDVariable, channels_last: bool = False) -> SDVariable:
    """Time-major rows as series of the batch that ``batch`` has."""
    return rows.sd.add_op(RowsSeries(channels_last), [rows, batch])  # type: ignore[no-any-return]
