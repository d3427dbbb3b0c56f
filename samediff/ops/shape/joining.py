"""Arrays put together and taken apart: concat, stack, split, tile, repeat."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.named_axes import expect
from ...base.spec import Shape, TensorSpec, normalize_axis
from ...codecs.file_args import FileArgs
from ...errors import GraphError, ShapeError
from ...families.in_float import in_float
from ...families.shape_inputs import ints_of
from ...ir.op import Copies, Op, Pairs, Specs, op, require_same_type

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def joined(shapes: Sequence[Shape | None], what: str, skip: int | None = None) -> Shape | None:
    """The common shape of several arrays but for one axis; ShapeError when they differ elsewhere."""
    if any(s is None for s in shapes):
        return None
    known = [s for s in shapes if s is not None]
    if len({len(s) for s in known}) > 1:
        raise ShapeError(f"{what} needs arrays of one rank, got shapes {', '.join(map(str, known))}")
    out = []
    for axis, sizes in enumerate(zip(*known)):
        fixed = set(sizes) - {-1}
        if axis != skip and len(fixed) > 1:
            raise ShapeError(f"{what} needs equal sizes along axis {axis}, got shapes {', '.join(map(str, known))}")
        out.append(max(sizes))
    return tuple(out)


def part_of(x: Any, dimension: int, position: int, parts: Sequence[Any]) -> Any:
    """The part of a joined array that came from the array at a position."""
    axis = dimension % x.ndim
    sizes = [1 if p.ndim == 0 else 0 if p.shape == (0,) else p.shape[axis] for p in parts]
    start = sum(sizes[:position])
    return x[(slice(None),) * axis + (slice(start, start + sizes[position]),)]


def _along(x: Any, axis: int, others: Sequence[Any]) -> Pairs:
    """The parts of an array along an axis, and arrays of their sizes."""
    front, start, pairs = (slice(None),) * (axis % x.ndim), 0, []
    for other in others:
        pairs.append((x[(*front, slice(start, start + other.shape[axis]))], other))
        start += other.shape[axis]
    return pairs


@op("concat", api="base.concat math.concat", inputs="*xs", signatures=("dimension, *xs", "*xs, dimension"),
    file=FileArgs(ints=("dimension",), properties={"concatDimension": "i:dimension", "isDynamicAxis": "b:=false"}))
class Concat(Op):
    """Arrays one after the other along ``dimension``; scalars count as vectors of one element."""

    flops_per_element = 0
    dimension: int = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        """The sizes along the axis add up."""
        if not specs:
            raise GraphError("concat needs at least one array")
        require_same_type("concat", *specs)
        shapes = [s.shape if s.shape != () else (1,) for s in specs]
        shapes = [s for s in shapes if s != (0,)] or shapes[:1]
        rank = next((len(s) for s in shapes if s is not None), None)
        if rank is None:
            return TensorSpec(None, specs[0].dtype)
        axis = normalize_axis(self.dimension, rank)
        whole = joined(shapes, "concat", axis)
        if whole is None:
            return TensorSpec(None, specs[0].dtype)
        sizes = [s[axis] for s in shapes if s is not None]
        return TensorSpec((*whole[:axis], -1 if -1 in sizes else sum(sizes), *whole[axis + 1:]), specs[0].dtype)

    def compute(self, xp: Any, *xs: Any) -> Any:
        parts = [xp.atleast_1d(x) for x in xs]
        return xp.concatenate([x for x in parts if x.shape != (0,)] or parts[:1], axis=self.dimension)

    def copies(self, *specs: TensorSpec) -> Copies | None:
        def pairs(*arrays: Any) -> Pairs:
            out = arrays[-1]
            parts = [x.reshape(1) if x.ndim == 0 else x for x in arrays[:-1]]
            return [(x, target) for target, x in _along(out, self.dimension, [x for x in parts if x.ndim == out.ndim])]
        return Copies(pairs) if specs else None

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        sd = inputs[0].sd
        return [sd.add_op(ConcatPart(self.dimension, i), [output_grads[0], *inputs]) for i in range(len(inputs))]


@op("concat_part", inputs="x *parts")
class ConcatPart(Op):
    """The part of a joined array that came from one input (made by gradients)."""

    flops_per_element = 0
    dimension: int
    position: int

    def infer(self, *specs: TensorSpec) -> Specs:
        whole: Any = Concat(self.dimension).infer(*specs[1:])
        expect("x", specs[0], whole.shape)
        return TensorSpec(specs[1 + self.position].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, *parts: Any) -> Any:
        part: Any = part_of(x, self.dimension, self.position, parts)
        return part.reshape(parts[self.position].shape)

    def copies(self, *specs: TensorSpec) -> Copies:
        def pairs(x: Any, *rest: Any) -> Pairs:
            part = part_of(x, self.dimension, self.position, rest[:-1])
            return [(part, rest[-1].reshape(part.shape))]
        return Copies(pairs)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        sd, parts = inputs[0].sd, list(inputs[1:])
        zeros = [output_grads[0] if i == self.position else sd.call("base", "zeros_like", p) for i, p in enumerate(parts)]
        return [sd.add_op(Concat(self.dimension), zeros)]


@op("stack", api="base.stack math.stack", inputs="*xs", signatures=("axis, *xs", "*xs, axis", "*xs"), file=FileArgs(ints=("axis",)))
class Stack(Op):
    """Arrays of one shape along a new axis."""

    flops_per_element = 0
    axis: int = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        if not specs:
            raise GraphError("stack needs at least one array")
        require_same_type("stack", *specs)
        shape = joined([s.shape for s in specs], "stack")
        if shape is None:
            return TensorSpec(None, specs[0].dtype)
        at = normalize_axis(self.axis, len(shape) + 1)
        values = [s.value for s in specs]
        value = np.stack(values, at) if all(v is not None for v in values) else None
        return TensorSpec((*shape[:at], len(specs), *shape[at:]), specs[0].dtype, value)

    def compute(self, xp: Any, *xs: Any) -> Any:
        return xp.stack(xs, axis=self.axis)

    def copies(self, *specs: TensorSpec) -> Copies | None:
        def pairs(*arrays: Any) -> Pairs:
            front = (slice(None),) * (self.axis % arrays[-1].ndim)
            return [(x, arrays[-1][(*front, i, ...)]) for i, x in enumerate(arrays[:-1])]
        return Copies(pairs) if specs else None

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return inputs[0].sd.add_op(Unstack(self.axis, len(inputs)), [output_grads[0]])  # type: ignore[no-any-return]


@op("unstack", api="base.unstack math.unstack var.unstack", file=FileArgs(ints=("axis",), properties={"num": "i:num"}))
class Unstack(Op):
    """The ``num`` arrays along an axis, which goes away."""

    flops_per_element = 0
    axis: int = 0
    num: int | None = None

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        x = specs[0]
        if x.shape is None:
            if self.num is None:
                raise ShapeError("unstack of an array of unknown rank needs num")
            return (TensorSpec(None, x.dtype),) * self.num
        at = normalize_axis(self.axis, len(x.shape))
        n = x.shape[at] if self.num is None else self.num
        if n == -1 or x.shape[at] not in (-1, n):
            raise ShapeError(f"the axis has size {x.shape[at]}, num is {self.num}; give the number of arrays that the axis holds")
        return (TensorSpec((*x.shape[:at], *x.shape[at + 1:]), x.dtype),) * n

    def compute(self, xp: Any, x: Any) -> Any:
        return tuple(xp.moveaxis(x, self.axis, 0))

    def copies(self, *specs: TensorSpec) -> Copies:
        return Copies(lambda x, *outs: [(np.moveaxis(x, self.axis, 0)[i, ...], out) for i, out in enumerate(outs)])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(Stack(self.axis), list(output_grads))]


@op("split", api="base.split math.split var.split",
    file=FileArgs(ints=("num_split", "split_dim"), properties={"numSplit": "i:num_split", "splitDim": "i:split_dim"}))
class Split(Op):
    """``num_split`` equal parts along an axis."""

    flops_per_element = 0
    num_split: int
    split_dim: int = 0

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """The size of the axis over the number."""
        x, n = specs[0], self.num_split
        if n < 1:
            raise ShapeError(f"cannot split into {n} parts")
        if x.shape is None:
            return (TensorSpec(None, x.dtype),) * n
        at = normalize_axis(self.split_dim, len(x.shape))
        if x.shape[at] != -1 and x.shape[at] % n:
            raise ShapeError(f"an axis of size {x.shape[at]} cannot be split into {n} equal parts")
        return (TensorSpec((*x.shape[:at], -1 if x.shape[at] == -1 else x.shape[at] // n, *x.shape[at + 1:]), x.dtype),) * n

    def compute(self, xp: Any, x: Any) -> Any:
        return tuple(xp.split(x, self.num_split, axis=self.split_dim))

    def copies(self, *specs: TensorSpec) -> Copies:
        return Copies(lambda x, *outs: _along(x, self.split_dim, outs))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(Concat(self.split_dim), list(output_grads))]


@op("split_v", api="base.split_v math.split_v", inputs="x sizes",
    file=FileArgs(ints=("split_dim",), properties={"numSplit": "i:num_split", "splitDim": "i:split_dim"}))
class SplitV(Op):
    """Parts of given sizes along an axis; the sizes add up to that of the axis."""

    flops_per_element = 0
    num_split: int
    split_dim: int = 0

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        x, sizes = specs[0], ints_of(specs[1])
        if x.shape is None:
            return (TensorSpec(None, x.dtype),) * self.num_split
        at = normalize_axis(self.split_dim, len(x.shape))
        if sizes is not None and (len(sizes) != self.num_split or (x.shape[at] != -1 and sum(sizes) != x.shape[at])):
            raise ShapeError(f"{self.num_split} sizes that add up to {x.shape[at]} expected, got {sizes}")
        return tuple(TensorSpec((*x.shape[:at], n, *x.shape[at + 1:]), x.dtype) for n in (sizes or (-1,) * self.num_split))

    def compute(self, xp: Any, x: Any, sizes: Any) -> Any:
        parts = [int(n) for n in sizes.reshape(-1)]
        if len(parts) != self.num_split or min(parts, default=0) < 0 or sum(parts) != x.shape[self.split_dim]:
            raise ShapeError(f"{self.num_split} sizes that add up to {x.shape[self.split_dim]} expected, got {parts}")
        ends = np.cumsum(parts)
        return tuple(xp.split(x, ends[:-1].tolist(), axis=self.split_dim))

    def copies(self, *specs: TensorSpec) -> Copies | None:
        return None if ints_of(specs[1]) is None else Copies(lambda x, sizes, *outs: _along(x, self.split_dim, outs))

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(Concat(self.split_dim), list(output_grads)), None]


@op("tile", api="base.tile math.tile var.tile", inputs="x counts?", signatures=("x, *repeat", "x, counts"),
    file=FileArgs(ints=("*repeat",)))
class Tile(Op):
    """The whole array repeated ``repeat[i]`` times along axis i."""

    flops_per_element = 0
    repeat: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        x, counts = specs[0], ints_of(specs[1]) if len(specs) > 1 else self.repeat
        if x.shape is None:
            return TensorSpec(None, x.dtype)
        if counts is None:
            if specs[1].shape is not None and specs[1].is_static and math.prod(specs[1].shape) != len(x.shape):
                raise ShapeError(f"one count for each of the {len(x.shape)} axes expected, got counts of shape {specs[1].shape}")
            return TensorSpec((-1,) * len(x.shape), x.dtype)
        self._check(counts, len(x.shape))
        return TensorSpec(tuple(-1 if n == -1 else n * c for n, c in zip(x.shape, counts)), x.dtype)

    def compute(self, xp: Any, x: Any, counts: Any = None) -> Any:
        given = self.repeat if counts is None else tuple(int(c) for c in counts.reshape(-1))
        self._check(given, x.ndim)
        return xp.tile(x, given)

    @staticmethod
    def _check(counts: Sequence[int], rank: int) -> None:
        if len(counts) != rank or any(c < 1 for c in counts):
            raise ShapeError(f"one positive count for each of the {rank} axes expected, got {tuple(counts)}")

    def copies(self, *specs: TensorSpec) -> Copies | None:
        shape, counts = specs[0].shape, ints_of(specs[1]) if len(specs) > 1 else self.repeat
        if shape is None or counts is None:
            return None
        once, often = [n for size in shape for n in (1, size)], [n for count, size in zip(counts, shape) for n in (count, size)]
        return Copies(lambda x, *rest: [(np.broadcast_to(x.reshape(once), often), rest[-1].reshape(often))])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient summed over the copies."""
        return [inputs[0].sd.add_op(TileSum(self.repeat), [output_grads[0], *inputs])]


@op("tile_sum", inputs="x like counts?", shape_inputs=(1,))
class TileSum(Op):
    """Sum over the copies that :class:`Tile` makes (made by gradients)."""

    repeat: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        x, like = specs[:2]
        if x.is_static and like.is_static and (x.rank != like.rank or any(n and m % n for m, n in zip(x.shape or (), like.shape or ()))):
            raise ShapeError(f"{x.shape} cannot be summed to {like.shape}, of which it holds no whole copies")
        return TensorSpec(like.shape, x.dtype)

    @in_float
    def compute(self, xp: Any, x: Any, like: Any, counts: Any = None) -> Any:
        """Copies as axes of their own, summed."""
        pairs = [v for whole, n in zip(x.shape, like.shape) for v in (whole // n if n else 0, n)]
        return x.reshape(pairs).sum(axis=tuple(range(0, 2 * like.ndim, 2)), dtype=x.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(Tile(self.repeat), [output_grads[0], *inputs[2:]]), None]
