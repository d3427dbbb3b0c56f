"""Blocks of any number of spatial axes against the batch axis."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...families.indices import require_integer
from ...ir.op import Op, Specs, op

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def _numbers(blocks: Any, edges: Any) -> tuple[list[int], list[list[int]]]:
    """Size of the blocks and the pairs of edges along each spatial axis."""
    sizes = [int(n) for n in blocks.reshape(-1)]
    if edges.shape != (len(sizes), 2) or any(n < 1 for n in sizes) or (edges.size and edges.min() < 0):
        raise ShapeError(f"positive block sizes, and for each a pair of edges that are not negative, are needed; got {sizes} "
                         f"and {edges.tolist()}")
    return sizes, edges.tolist()


class Blocks(Op):
    """``blocks`` (k) sizes along the k axes after the first, ``edges`` (k, 2)."""

    inputs = "x blocks edges"

    def resized(self, shape: Sequence[int], sizes: list[int], edges: list[list[int]]) -> tuple[int, ...]:
        """Shape of the result."""
        raise NotImplementedError

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape where blocks and edges are constants."""
        x, blocks, edges = specs
        require_integer("blocks", blocks)
        require_integer("edges", edges)
        if x.shape is None or blocks.value is None or edges.value is None:
            return x.with_shape(None if x.shape is None else (-1,) * len(x.shape))
        sizes, pairs = _numbers(blocks.value, edges.value)
        return x.with_shape(self.checked(x.shape, sizes, pairs))

    def checked(self, shape: Sequence[int], sizes: list[int], edges: list[list[int]]) -> tuple[int, ...]:
        """The shape of the result; ShapeError for too few axes."""
        if len(shape) < len(sizes) + 1:
            raise ShapeError(f"{len(sizes)} block sizes need at least {len(sizes) + 1} axes, got shape {tuple(shape)}")
        return self.resized(shape, sizes, edges)


def _part(n: int, by: int, what: str) -> int:
    if n != -1 and n % by:
        raise ShapeError(f"{what} of {n} is not divisible by {by}")
    return -1 if n == -1 else n // by


@op("space_to_batch_nd", inputs="x blocks edges", file=FileArgs())
class SpaceToBatchNd(Blocks):
    """Pads the spatial axes by ``edges`` and moves the cells of each block into the batch.

    Shapes: x (N, *S, …), blocks (k), edges (k, 2) -> (N * product of blocks, *(S + edges) / blocks, …).
    """

    def resized(self, shape: Sequence[int], sizes: list[int], edges: list[list[int]]) -> tuple[int, ...]:
        space = [_part(-1 if n == -1 else n + a + b, s, "padded size") for n, s, (a, b) in zip(shape[1:], sizes, edges)]
        return (-1 if shape[0] == -1 else shape[0] * math.prod(sizes), *space, *shape[1 + len(sizes):])

    def compute(self, xp: Any, x: Any, blocks: Any, edges: Any) -> Any:
        """Padding, then one transposition."""
        sizes, pairs = _numbers(blocks, edges)
        result, k = self.checked(x.shape, sizes, pairs), len(sizes)
        x = xp.pad(x, [(0, 0), *map(tuple, pairs), *[(0, 0)] * (x.ndim - 1 - k)])
        split = [n for size, s in zip(x.shape[1:], sizes) for n in (size // s, s)]
        apart = x.reshape(x.shape[0], *split, *x.shape[1 + k:])
        order = [*range(2, 2 * k + 1, 2), 0, *range(1, 2 * k + 1, 2), *range(2 * k + 1, apart.ndim)]
        return apart.transpose(order).reshape(result)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient moved back, without the padding."""
        return [inputs[0].sd.add_op(BatchToSpaceNd(), [output_grads[0], *inputs[1:]]), None, None]


@op("batch_to_space_nd", inputs="x blocks edges", file=FileArgs())
class BatchToSpaceNd(Blocks):
    """Moves blocks of the batch back into the spatial axes and crops them by ``edges``: the inverse of ``space_to_batch_nd``."""

    def resized(self, shape: Sequence[int], sizes: list[int], edges: list[list[int]]) -> tuple[int, ...]:
        if any(n != -1 and n * s < a + b for n, s, (a, b) in zip(shape[1:], sizes, edges)):
            raise ShapeError(f"edges {edges} cut off more than there is of {tuple(shape)} in blocks of {sizes}")
        space = [-1 if n == -1 else n * s - a - b for n, s, (a, b) in zip(shape[1:], sizes, edges)]
        return (_part(shape[0], math.prod(sizes), "batch"), *space, *shape[1 + len(sizes):])

    def compute(self, xp: Any, x: Any, blocks: Any, edges: Any) -> Any:
        """One transposition, then cropping."""
        sizes, pairs = _numbers(blocks, edges)
        k, whole = len(sizes), self.checked(x.shape, sizes, [[0, 0]] * len(sizes))
        self.resized(x.shape, sizes, pairs)
        apart = x.reshape(*sizes, whole[0], *x.shape[1:])
        order = [k, *(n for i in range(k) for n in (k + 1 + i, i)), *range(2 * k + 1, apart.ndim)]
        cut = tuple(slice(a, n - b) for n, (a, b) in zip(whole[1:], pairs))
        return apart.transpose(order).reshape(whole)[(slice(None), *cut)]

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient padded with zeros and moved back."""
        return [inputs[0].sd.add_op(SpaceToBatchNd(), [output_grads[0], *inputs[1:]]), None, None]
