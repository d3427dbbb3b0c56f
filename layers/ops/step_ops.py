"""Ops on the steps of time series, and masks of ones, whose sizes are known only at run time."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...samediff.base.spec import TensorSpec, may_equal
from ...samediff.errors import ShapeError
from ...samediff.expressions.arrays import norm_over
from ...samediff.families.in_float import in_float, least
from ...samediff.ir.op import Copies, Op, Pairs, Specs, op

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable

Grads = Sequence["SDVariable | None"]
Variables = Sequence["SDVariable"]


def _series(owner: str, spec: TensorSpec) -> tuple[int, ...]:
    if spec.shape is None:
        return (-1, -1, -1)
    if len(spec.shape) != 3:
        raise ShapeError(f"{owner} takes time series with three axes; got an array of shape {list(spec.shape)}")
    return spec.shape


@op("last_unmasked_step", inputs="x mask")
class LastUnmaskedStep(Op):
    """The last step whose mask is not 0; zeros for series without one.

    Shapes: x (batch, size, time), mask (batch, time) -> (batch, size).
    """

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(_series(self.id, specs[0])[:2], specs[0].dtype)

    @in_float
    def compute(self, xp: Any, x: Any, mask: Any) -> Any:
        """The sum over time of x with zeros at all other steps."""
        return xp.where(last_of(xp, mask)[:, None, :], x, x.dtype.type(0)).sum(axis=2, dtype=x.dtype)

    def grad(self, inputs: Variables, outputs: Variables, output_grads: Variables) -> Grads:
        """The gradient at the step that was taken, zeros elsewhere."""
        return [inputs[0].sd.add_op(AtLastUnmaskedStep(), [output_grads[0], inputs[1]]), None]


@op("at_last_unmasked_step", inputs="rows mask")
class AtLastUnmaskedStep(Op):
    """Series that are 0 but for the last unmasked step. Shapes: rows (batch, size), mask (batch, time) -> (batch, size, time)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """A series with the steps of the mask."""
        rows, mask = specs[0].shape or (-1, -1), specs[1].shape or (-1, -1)
        return TensorSpec((*rows, mask[1]), specs[0].dtype)

    def compute(self, xp: Any, rows: Any, mask: Any) -> Any:
        """The rows at that step, 0 at others."""
        return xp.where(last_of(xp, mask)[:, None, :], rows[:, :, None], rows.dtype.type(0))

    def grad(self, inputs: Variables, outputs: Variables, output_grads: Variables) -> Grads:
        return [inputs[0].sd.add_op(LastUnmaskedStep(), [output_grads[0], inputs[1]]), None]


def last_of(xp: Any, mask: Any) -> Any:
    """True at the last step of each row of ``mask`` that is not 0."""
    on = mask != 0
    behind = xp.cumsum(on[:, ::-1].astype(xp.int64), axis=1)[:, ::-1]     # unmasked steps from here on
    return on & (behind == 1)


@op("reverse_unmasked", inputs="x mask")
class ReverseUnmasked(Op):
    """Series whose unmasked steps are in reverse order, each at the place of another; masked steps are 0.

    Shapes: x (batch, size, time), mask (batch, time) -> (batch, size, time).
    """

    def infer(self, *specs: TensorSpec) -> Specs:
        x = _series(self.id, specs[0])
        if not may_equal((x[0], x[2]), specs[1].shape):
            raise ShapeError(f"{self.id}: a mask of shape {specs[1].shape} does not fit series of shape {list(x)}")
        return specs[0]

    def compute(self, xp: Any, x: Any, mask: Any) -> Any:
        """Step number j of k unmasked ones is taken from number k - 1 - j."""
        on = mask != 0
        places = xp.argsort(~on, axis=1, kind="stable")         # positions of the unmasked steps, then of the others
        number = xp.cumsum(on.astype(xp.int64), axis=1)
        source = xp.take_along_axis(places, xp.where(on, number[:, -1:] - number, 0), axis=1) if mask.shape[1] else places
        return xp.where(on[:, None, :], xp.take_along_axis(x, source[:, None, :], axis=2), x.dtype.type(0))

    def grad(self, inputs: Variables, outputs: Variables, output_grads: Variables) -> Grads:
        """The same reversal of the gradient."""
        return [inputs[0].sd.add_op(self, [output_grads[0], inputs[1]]), None]


@op("repeat_steps", inputs="rows like", shape_inputs=(1,))
class RepeatSteps(Op):
    """Rows repeated for every step of the series ``like``. Shapes: rows (batch, size), like (batch, any, time) -> (batch, size, time)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """A series with the steps of ``like``."""
        rows = specs[0].shape or (-1, -1)
        if len(rows) != 2:
            raise ShapeError(f"{self.id} takes rows (batch, size); got an array of shape {list(rows)}")
        return TensorSpec((*rows, _series(self.id, specs[1])[2]), specs[0].dtype)

    def compute(self, xp: Any, rows: Any, like: Any) -> Any:
        """Copies along the time."""
        return xp.repeat(rows[:, :, None], like.shape[2], axis=2)

    def copies(self, *specs: TensorSpec) -> Copies:
        return Copies(lambda rows, like, out: [(np.broadcast_to(rows[:, :, None], out.shape), out)])

    def grad(self, inputs: Variables, outputs: Variables, output_grads: Variables) -> Grads:
        """The gradient summed over the steps."""
        return [output_grads[0].sum(2), None]


@op("mask_of_ones", shape_inputs=(0,))
class MaskOfOnes(Op):
    """The mask that leaves everything as it is.

    Shapes: x (batch, size) -> (batch, 1); (batch, size, time) -> (batch, time); images and volumes (batch, 1, 1, …).
    """

    def infer(self, *specs: TensorSpec) -> Specs:
        shape = specs[0].shape
        return TensorSpec(None if shape is None else mask_shape(shape), specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.ones(mask_shape(x.shape), x.dtype)

    def grad(self, inputs: Variables, outputs: Variables, output_grads: Variables) -> Grads:
        return [None]


def mask_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of the mask of activations of that shape."""
    if not 2 <= len(shape) <= 5:
        raise ShapeError(f"activations of shape {list(shape)} have no usual mask; override ones_mask_for_input")
    return (shape[0], shape[2]) if len(shape) == 3 else (shape[0], *(1,) * (len(shape) - 1))


@op("stack_padded", inputs="*xs")
class StackPadded(Op):
    """Arrays below each other along the batch, the last axis filled with zeros up to that of the longest."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """The sum of the batches, the longest last axis."""
        shapes = [s.shape for s in specs]
        if any(s is None for s in shapes):
            return TensorSpec(None, specs[0].dtype)
        if len({len(s) for s in shapes if s}) > 1:
            raise ShapeError(f"{self.id} needs arrays of one rank; got {', '.join(map(str, shapes))}")
        batches, lasts = [s[0] for s in shapes if s], [s[-1] for s in shapes if s]
        first = next(s for s in shapes if s)
        return TensorSpec((-1 if -1 in batches else sum(batches), *first[1:-1], -1 if -1 in lasts else max(lasts)), specs[0].dtype)

    def compute(self, xp: Any, *xs: Any) -> Any:
        out = xp.zeros((sum(x.shape[0] for x in xs), *xs[0].shape[1:-1], max(x.shape[-1] for x in xs)), xs[0].dtype)
        at = 0
        for x in xs:
            out[at:at + x.shape[0], ..., :x.shape[-1]] = x
            at += x.shape[0]
        return out

    def copies(self, *specs: TensorSpec) -> Copies:
        def pairs(*arrays: Any) -> Pairs:
            ends = np.cumsum([len(x) for x in arrays[:-1]])
            return [(x, arrays[-1][end - len(x):end, ..., :x.shape[-1]]) for x, end in zip(arrays, ends)]
        return Copies(pairs, clears=True)

    def grad(self, inputs: Variables, outputs: Variables, output_grads: Variables) -> Grads:
        return [inputs[0].sd.add_op(StackedPart(i), [output_grads[0], *inputs]) for i in range(len(inputs))]


@op("stacked_part", inputs="x *parts")
class StackedPart(Op):
    """Part number ``number`` of what :class:`StackPadded` made of ``parts``, without the filling."""

    number: int

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[1 + self.number].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, *parts: Any) -> Any:
        start, part = sum(p.shape[0] for p in parts[:self.number]), parts[self.number]
        return x[start:start + part.shape[0], ..., :part.shape[-1]]

    def copies(self, *specs: TensorSpec) -> Copies:
        return Copies(lambda *arrays: [(self.compute(np, *arrays[:-1]), arrays[-1])])

    def grad(self, inputs: Variables, outputs: Variables, output_grads: Variables) -> Grads:
        sd, parts = inputs[0].sd, list(inputs[1:])
        zeros = [sd.call("base", "zeros_like", p) for p in parts]
        zeros[self.number] = output_grads[0]
        return [sd.add_op(StackPadded(), zeros), *[None] * len(parts)]


@op("l2_distance", inputs="x y")
class L2Distance(Op):
    """Euclidean distance of each pair of examples; where it is below ``eps``, the gradient is divided by ``eps`` instead.

    Shapes: x and y (batch, …) -> (batch, 1).
    """

    eps: float = 1e-8

    def infer(self, *specs: TensorSpec) -> Specs:
        """One number for each example."""
        x, y = specs[0].shape, specs[1].shape
        if not may_equal(x, y):
            raise ShapeError(f"the distance needs two arrays of one shape; got {x} and {y}")
        return TensorSpec((x[0] if x else -1, 1), specs[0].dtype)

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        """The root of the sum of squares."""
        return norm_over((x - y).reshape(x.shape[0], -1), (1,), True)

    def grad(self, inputs: Variables, outputs: Variables, output_grads: Variables) -> Grads:
        """The direction from one to the other."""
        x, y = inputs
        share = output_grads[0] / x.sd.call("base", "scalar_max", outputs[0], least(self.eps, outputs[0].dtype))
        for _ in range(2, len(x.get_shape() or ())):
            share = x.sd.call("base", "expand_dims", share, -1)
        to_x = (x - y) * share
        return [to_x, -to_x]


def ones_mask(x: SDVariable) -> SDVariable:
    """The mask of ones for activations ``x``."""
    return x.sd.add_op(MaskOfOnes(), [x])  # type: ignore[no-any-return]
