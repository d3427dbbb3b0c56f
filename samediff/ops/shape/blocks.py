"""Moving blocks of space into batch or channels and back, and repeating cells."""
from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...base.named_axes import expect_at_least
from ...base.spec import Shape, TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.in_float import in_float
from ...ir.op import Copies, Op, Specs, op

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def _divided(n: int, by: int, what: str) -> int:
    if n != -1 and n % by:
        raise ShapeError(f"{what} of size {n} is not divisible by {by}")
    return -1 if n == -1 else n // by


def _times(n: int, by: int) -> int:
    return -1 if n == -1 else n * by


def _rank4(shape: Shape | None) -> Shape:
    if shape is None:
        return (-1,) * 4
    if len(shape) != 4:
        raise ShapeError(f"images need rank 4; got {shape}")
    return shape


class ChannelBlocks(Op):
    """Base of ops that move squares of ``block_size`` cells to channels and back."""

    block_size: int
    data_format: str

    def nhwc(self, xp: Any, x: Any) -> Any:
        """A view of the images with channels last."""
        return x if self.data_format.upper() == "NHWC" else xp.moveaxis(x, 1, -1)

    def back(self, xp: Any, x: Any) -> Any:
        """A view of images with channels last, in the op's own format."""
        return x if self.data_format.upper() == "NHWC" else xp.moveaxis(x, -1, 1)

    def sizes(self, shape: Shape | None) -> Shape:
        """The sizes of images as N, H, W, C."""
        expect_at_least(1, block_size=self.block_size)
        shape = _rank4(shape)
        return shape if self.data_format.upper() == "NHWC" else (shape[0], *shape[2:], shape[1])

    def shape(self, n: int, h: int, w: int, c: int) -> Shape:
        """These sizes in the op's own format."""
        return (n, h, w, c) if self.data_format.upper() == "NHWC" else (n, c, h, w)

    def cells(self, wide: Any, deep: Any) -> tuple[Any, Any]:
        """Views of both as (N, H / b, W / b, b, b, C)."""
        b, (n, h, w, c) = self.block_size, self.sizes(wide.shape)
        if self.data_format.upper() == "NHWC":
            return wide.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5), deep.reshape(n, h // b, w // b, b, b, c)
        apart = deep.reshape(n, b, b, c, h // b, w // b).transpose(0, 4, 5, 1, 2, 3)
        return wide.reshape(n, c, h // b, b, w // b, b).transpose(0, 2, 4, 3, 5, 1), apart


_BLOCKS = FileArgs(ints=("block_size", "data_format:NCHW|NHWC"),
                   properties={"block_size": "l:block_size", "isNHWC": "l:data_format:NCHW|NHWC"})


@op("space_to_depth", api="cnn.space_to_depth", file=_BLOCKS)
class SpaceToDepth(ChannelBlocks):
    """Blocks of space become channels: channel (dy * block + dx) * C + c.

    Shapes: x (N, C, H, W) -> (N, C * b^2, H / b, W / b), or in NHWC.
    """

    block_size: int
    data_format: str = "NCHW"

    def infer(self, *specs: TensorSpec) -> Specs:
        n, h, w, c = self.sizes(specs[0].shape)
        b = self.block_size
        return TensorSpec(self.shape(n, _divided(h, b, "height"), _divided(w, b, "width"), _times(c, b * b)), specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        n, h, w, c = self.nhwc(xp, x).shape
        b = self.block_size
        blocks = self.nhwc(xp, x).reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5)
        return self.back(xp, blocks.reshape(n, h // b, w // b, b * b * c))

    def copies(self, *specs: TensorSpec) -> Copies:
        return Copies(lambda x, out: [self.cells(x, out)])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(DepthToSpace(self.block_size, self.data_format), [output_grads[0]])]


@op("depth_to_space", api="cnn.depth_to_space", file=_BLOCKS)
class DepthToSpace(ChannelBlocks):
    """Channels become blocks of space: the inverse of ``space_to_depth``.

    Shapes: x (N, C, H, W) -> (N, C / b^2, H * b, W * b), or in NHWC.
    """

    block_size: int
    data_format: str = "NCHW"

    def infer(self, *specs: TensorSpec) -> Specs:
        n, h, w, c = self.sizes(specs[0].shape)
        b = self.block_size
        return TensorSpec(self.shape(n, _times(h, b), _times(w, b), _divided(c, b * b, "channels")), specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        n, h, w, c = self.nhwc(xp, x).shape
        b = self.block_size
        cells = self.nhwc(xp, x).reshape(n, h, w, b, b, c // (b * b)).transpose(0, 1, 3, 2, 4, 5)
        return self.back(xp, cells.reshape(n, h * b, w * b, c // (b * b)))

    def copies(self, *specs: TensorSpec) -> Copies:
        return Copies(lambda x, out: [self.cells(out, x)[::-1]])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(SpaceToDepth(self.block_size, self.data_format), [output_grads[0]])]


class BatchBlocks(Op):
    """Blocks of NHWC images against the batch axis; ``edges`` holds ((top, bottom), (left, right))."""

    block_size: int
    blocks: tuple[int, ...]

    def sides(self) -> tuple[int, int]:
        """Height and width of a block."""
        sides = self.blocks or (self.block_size, self.block_size)
        if len(sides) != 2:
            raise ShapeError(f"blocks need two numbers, height and width; got {sides}")
        expect_at_least(1, blocks=sides)
        return sides

    def cells(self, images: Any, blocks: Any, edges: Any) -> list[tuple[Any, Any]]:
        """The cells of images that are those of blocks (a view of both), for each place in a block."""
        (a, b), (t, _, le, _) = self.sides(), (int(n) for n in edges.reshape(-1))
        apart = blocks.reshape(a, b, images.shape[0], *blocks.shape[1:])
        found = []
        for i, j in itertools.product(range(a), range(b)):
            (rows, high), (columns, wide) = (_every(step, shift, size, count) for step, shift, size, count in zip(
                (a, b), (t - i, le - j), images.shape[1:3], blocks.shape[1:3]))
            found.append((images[:, rows, columns], apart[i, j][:, high, wide]))
        return [pair for pair in found if pair[0].size]

    def inferred(self, x: TensorSpec, edges: TensorSpec, grown: bool) -> Specs:
        """Sizes where the edges are known, which are added before blocks are taken, or cut off after."""
        n, h, w, c = _rank4(x.shape)
        a, b = self.sides()
        value = edges.value
        if value is not None and value.size != 4:
            raise ShapeError(f"edges need shape (2, 2): (top, bottom) and (left, right); got {value.shape}")
        known = value is not None
        if value is not None:
            expect_at_least(0, edges=value.reshape(-1).tolist())
        (t, d), (le, r) = value.reshape(2, 2).tolist() if known else ((0, 0), (0, 0))
        if grown:
            high = _divided(-1 if h == -1 or not known else h + t + d, a, "padded height")
            wide = _divided(-1 if w == -1 or not known else w + le + r, b, "padded width")
            return TensorSpec((_times(n, a * b), high, wide, c), x.dtype)
        high = -1 if h == -1 or not known else h * a - t - d
        wide = -1 if w == -1 or not known else w * b - le - r
        return TensorSpec((_divided(n, a * b, "batch"), high, wide, c), x.dtype)


def _every(step: int, shift: int, size: int, count: int) -> tuple[slice, slice]:
    """Cells ``k * step - shift`` of an axis of that size for k below ``count``, as far as they exist, and the range of k."""
    low, high = max(0, -(-shift // step)), min(count, (size - 1 + shift) // step + 1)
    return slice(low * step - shift, max(0, (high - 1) * step - shift + 1), step), slice(low, max(low, high))


_BATCH_BLOCKS = FileArgs(ints=("block_size",), properties={"blocks": "i[]:blocks"})


@op("space_to_batch", inputs="x edges",
    file=FileArgs(ints=("block_size",), properties={"blocks": "i[]:blocks", "padding": "i[][]:padding"}))
class SpaceToBatch(BatchBlocks):
    """The node behind ``sd.cnn.space_to_batch``; ``padding`` tells files what the constant ``edges`` holds."""

    block_size: int = 2
    blocks: tuple[int, ...] = ()
    padding: Any = ((0, 0), (0, 0))

    def infer(self, *specs: TensorSpec) -> Specs:
        return self.inferred(specs[0], specs[1], True)

    def compute(self, xp: Any, x: Any, edges: Any) -> Any:
        """Padding, then one transposition."""
        (a, b), (t, d, le, r) = self.sides(), (int(n) for n in edges.reshape(-1))
        x = xp.pad(x, ((0, 0), (t, d), (le, r), (0, 0)))
        n, h, w, c = x.shape
        return x.reshape(n, h // a, a, w // b, b, c).transpose(2, 4, 0, 1, 3, 5).reshape(n * a * b, h // a, w // b, c)

    def copies(self, *specs: TensorSpec) -> Copies | None:
        known = specs[1].value
        return None if known is None else Copies(lambda x, edges, out: self.cells(x, out, known), clears=True)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient moved back, without the padding."""
        return [inputs[0].sd.add_op(BatchToSpace(self.block_size, self.blocks), [output_grads[0], inputs[1]]), None]


@op("batch_to_space", inputs="x edges", file=_BATCH_BLOCKS)
class BatchToSpace(BatchBlocks):
    """The node behind ``sd.cnn.batch_to_space``."""

    block_size: int = 2
    blocks: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        return self.inferred(specs[0], specs[1], False)

    def compute(self, xp: Any, x: Any, edges: Any) -> Any:
        """One transposition, then cropping."""
        (a, b), (t, d, le, r) = self.sides(), (int(n) for n in edges.reshape(-1))
        n, h, w, c = x.shape
        y = x.reshape(a, b, n // (a * b), h, w, c).transpose(2, 3, 0, 4, 1, 5).reshape(n // (a * b), h * a, w * b, c)
        return y[:, t:h * a - d, le:w * b - r]

    def copies(self, *specs: TensorSpec) -> Copies | None:
        known = specs[1].value
        return None if known is None else Copies(lambda x, edges, out: [pair[::-1] for pair in self.cells(out, x, known)])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient padded with zeros and moved back."""
        return [inputs[0].sd.add_op(SpaceToBatch(self.block_size, self.blocks), [output_grads[0], inputs[1]]), None]


class BatchBlocksCall(Op):
    """A call that puts the edges into a constant."""

    signatures = ("x, blocks, top, *bottom",)
    node: ClassVar[type[SpaceToBatch] | type[BatchToSpace]]
    blocks: tuple[int, ...]
    top: tuple[int, ...]
    bottom: tuple[int, ...]

    def place(self, sd: Any, inputs: Sequence[Any], names: Sequence[str] | None) -> Any:
        """Add the op and a constant with its edges."""
        if any(len(v) != 2 for v in (self.blocks, self.top, self.bottom)):
            raise ShapeError(f"blocks, (top, bottom) and (left, right) need two numbers each; got {self.blocks}, {self.top}, {self.bottom}")
        edges = np.array([self.top, self.bottom], np.int32)
        made = self.node(self.blocks[0], self.blocks)
        if isinstance(made, SpaceToBatch):
            made = SpaceToBatch(made.block_size, made.blocks, (self.top, self.bottom))
        return sd.add_op(made, [*inputs, edges], names)


@op("space_to_batch_call", api="cnn.space_to_batch")
class SpaceToBatchCall(BatchBlocksCall):
    """Pads NHWC images and moves blocks of space into the batch.

    Shapes: x (N, H, W, C) -> (N * bh * bw, (H + top + bottom) / bh, (W + left + right) / bw, C).

    Parameters
    ----------
    blocks : (bh, bw)
    top : (top, bottom)
        Padding of the height.
    bottom : (left, right)
        Padding of the width.
    """

    node = SpaceToBatch
    blocks: tuple[int, ...]
    top: tuple[int, ...] = (0, 0)
    bottom: tuple[int, ...] = (0, 0)


@op("batch_to_space_call", api="cnn.batch_to_space")
class BatchToSpaceCall(BatchBlocksCall):
    """Moves blocks of the batch back into space and crops: the inverse of ``space_to_batch``, with its parameters.

    Shapes: x (N, H, W, C) -> (N / (bh * bw), H * bh - top - bottom, W * bw - left - right, C).
    """

    node = BatchToSpace
    blocks: tuple[int, ...]
    top: tuple[int, ...] = (0, 0)
    bottom: tuple[int, ...] = (0, 0)


@op("repeat_cells")
class RepeatBlocks(Op):
    """Every cell ``factors[i]`` times along axis i (made by upsampling)."""

    factors: tuple[int, ...]

    def infer(self, *specs: TensorSpec) -> Specs:
        shape = specs[0].shape
        expect_at_least(1, factors=self.factors)
        if shape is not None and len(shape) != len(self.factors):
            raise ShapeError(f"images need rank {len(self.factors)}; got {shape}")
        return TensorSpec(None if shape is None else tuple(map(_times, shape, self.factors)), specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        for axis, factor in enumerate(self.factors):
            x = x if factor == 1 else xp.repeat(x, factor, axis=axis)
        return x

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient summed over the copies of each cell."""
        return [inputs[0].sd.add_op(SumBlocks(self.factors), [output_grads[0]])]


@op("sum_cells")
class SumBlocks(Op):
    """Sums of ``factors[i]`` neighbours along axis i (made by gradients)."""

    factors: tuple[int, ...]

    def infer(self, *specs: TensorSpec) -> Specs:
        shape = specs[0].shape
        if shape is not None and len(shape) != len(self.factors):
            raise ShapeError(f"images need rank {len(self.factors)}; got {shape}")
        return TensorSpec(None if shape is None else tuple(_divided(n, f, "an axis") for n, f in zip(shape, self.factors)), specs[0].dtype)

    @in_float
    def compute(self, xp: Any, x: Any) -> Any:
        """The sum over each block, by splitting the axes."""
        split = [n for size, f in zip(x.shape, self.factors) for n in (size // f, f)]
        return x.reshape(split).sum(axis=tuple(range(1, len(split), 2)), dtype=x.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(RepeatBlocks(self.factors), [output_grads[0]])]


class Upsampling(Op):
    """Base of upsampling by repeating cells."""

    def repeat(self) -> RepeatBlocks:
        """The op with factors for every axis."""
        raise NotImplementedError

    def infer(self, *specs: TensorSpec) -> Specs:
        return self.repeat().infer(*specs)

    def compute(self, xp: Any, x: Any) -> Any:
        return self.repeat().compute(xp, x)

    def kernel_op(self, *specs: TensorSpec) -> Op:
        """The op :meth:`repeat`."""
        return self.repeat()

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient summed over the copies of each cell."""
        return self.repeat().grad(inputs, outputs, output_grads)


@op("upsampling2d", api="cnn.upsampling2d", signatures=("x, scale_h, scale_w, nchw", "x, scale_h"), file=FileArgs(
    ints=("scale_h", "scale_w", "nchw:int"), properties={"factorH": "l:scale_h", "factorW": "l:scale_w", "isNCHW": "l:nchw:int"}))
class Upsampling2DOp(Upsampling):
    """Every cell repeated ``scale_h`` by ``scale_w`` times; one number serves both.

    Shapes: x (N, C, H, W), or (N, H, W, C) with ``nchw=False`` -> the same with H * scale_h and W * scale_w.
    """

    scale_h: int
    scale_w: int = 0
    nchw: bool = True

    def place(self, sd: Any, inputs: Sequence[Any], names: Sequence[str] | None) -> Any:
        """Add the op; one number serves both axes."""
        return sd.add_op(self.replace(scale_w=self.scale_w or self.scale_h), inputs, names)

    def repeat(self) -> RepeatBlocks:
        factors = (self.scale_h, self.scale_w or self.scale_h)
        return RepeatBlocks((1, 1, *factors) if self.nchw else (1, *factors, 1))


@op("upsampling3d", api="cnn.upsampling3d", file=FileArgs(
    ints=("scale_d", "scale_h", "scale_w", "scale_d?", "ncdhw:int"), properties={"ncdhw": "b:ncdhw"}))
class Upsampling3DOp(Upsampling):
    """Every cell repeated along depth, height and width.

    Shapes: x (N, C, D, H, W), or (N, D, H, W, C) with ``ncdhw=False`` -> the same with larger sizes.
    """

    ncdhw: bool
    scale_d: int
    scale_h: int
    scale_w: int

    def repeat(self) -> RepeatBlocks:
        """The op with factors for depth, height and width."""
        factors = (self.scale_d, self.scale_h, self.scale_w)
        return RepeatBlocks((1, 1, *factors) if self.ncdhw else (1, *factors, 1))
