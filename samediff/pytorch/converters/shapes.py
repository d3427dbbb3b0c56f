"""Shapes, parts, and arrays of one value."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...families.array_code.symbolic_size import SymbolicSize, are_equal
from ...onnx.converters.shapes import filled
from ...onnx.node import OnnxNode
from .table import as_result, aten, cast, result_type, standard


def reshaped(node: OnnxNode, x: Any, sizes: Any) -> Any:
    """The elements in a shape; one open size follows from the others."""
    sizes = list(sizes)
    unknown = [i for i, n in enumerate(sizes) if isinstance(n, SymbolicSize)]
    if len(unknown) == 1 and -1 not in [n for n in sizes if isinstance(n, int)]:
        sizes[unknown[0]] = -1
    return node.xp.reshape(x, tuple(sizes))


@aten("view", "reshape", "_unsafe_view")
def view(node: OnnxNode, x: Any, shape: Any) -> Any:
    """Another shape."""
    return reshaped(node, x, shape)


@aten("view_as", "reshape_as")
def view_as(node: OnnxNode, x: Any, other: Any) -> Any:
    """The shape of another array."""
    return reshaped(node, x, other.shape)


@aten("flatten")
def flatten(node: OnnxNode, x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Some axes as one."""
    if not x.ndim:
        return node.xp.reshape(x, (1,))
    start, end = start_dim % x.ndim, end_dim % x.ndim
    middle = x.shape[start:end + 1]
    size: Any = -1 if any(isinstance(n, SymbolicSize) for n in middle) else math.prod(middle)
    return node.xp.reshape(x, (*x.shape[:start], size, *x.shape[end + 1:])) if size != -1 else _open_flat(node, x, start, end)


def _open_flat(node: OnnxNode, x: Any, start: int, end: int) -> Any:
    size: Any = 1
    for n in x.shape[start:end + 1]:
        size = n * size
    return reshaped(node, x, [*x.shape[:start], size, *x.shape[end + 1:]])


@aten("unflatten")
def unflatten(node: OnnxNode, x: Any, dim: int, sizes: Any) -> Any:
    """One axis as several."""
    dim, sizes = dim % x.ndim, list(sizes)
    whole = x.shape[dim]
    if -1 in [n for n in sizes if isinstance(n, int)] and isinstance(whole, int):
        sizes[sizes.index(-1)] = whole // -math.prod(sizes)
    return reshaped(node, x, [*x.shape[:dim], *sizes, *x.shape[dim + 1:]])


@aten("permute")
def permute(node: OnnxNode, x: Any, dims: Any) -> Any:
    """The axes in another order."""
    return node.xp.transpose(x, tuple(d % x.ndim for d in dims))


@aten("transpose", "swapaxes", "swapdims")
def transpose(node: OnnxNode, x: Any, dim0: int, dim1: int) -> Any:
    """Two axes exchanged."""
    return node.xp.swapaxes(x, dim0, dim1) if x.ndim > 1 else x


@aten("t", "numpy_T", "mT")
def turned(node: OnnxNode, x: Any) -> Any:
    """The last two axes exchanged."""
    return node.xp.swapaxes(x, -1, -2) if x.ndim > 1 else x


@aten("movedim", "moveaxis")
def movedim(node: OnnxNode, x: Any, source: Any, destination: Any) -> Any:
    """Axes at other places."""
    return node.xp.moveaxis(x, source, destination)


@aten("squeeze")
def squeeze(node: OnnxNode, x: Any, dim: Any = None) -> Any:
    """Without axes of size 1; others stay."""
    axes = range(x.ndim) if dim is None else [d % max(x.ndim, 1) for d in (dim if isinstance(dim, list) else [dim])]
    gone = {i for i in axes if x.ndim and isinstance(x.shape[i], int) and x.shape[i] == 1}
    return node.xp.squeeze(x, axis=tuple(sorted(gone))) if gone else x


@aten("unsqueeze")
def unsqueeze(node: OnnxNode, x: Any, dim: int) -> Any:
    """An axis of size 1 more."""
    return node.xp.expand_dims(x, dim % (x.ndim + 1))


@aten("expand", "broadcast_to")
def expand(node: OnnxNode, x: Any, size: Any, implicit: bool = False) -> Any:
    """Repeated along axes of size 1; -1 is the size that is there."""
    more = len(size) - x.ndim
    sizes = [x.shape[i - more] if isinstance(n, int) and n == -1 else n for i, n in enumerate(size)]
    if all(isinstance(a, int) and isinstance(b, int) and a == b for a, b in zip(sizes, (None,) * more + x.shape)):
        return x
    return node.xp.broadcast_to(x, tuple(sizes))


@aten("expand_as")
def expand_as(node: OnnxNode, x: Any, other: Any) -> Any:
    """Repeated to the shape of another array."""
    return node.xp.broadcast_to(x, other.shape)


@aten("repeat", "tile")
def repeat(node: OnnxNode, x: Any, repeats: Any) -> Any:
    """Several copies along each axis."""
    return node.xp.tile(x, tuple(repeats))


@aten("repeat_interleave")
def repeat_interleave(node: OnnxNode, x: Any, repeats: int, dim: int | None = None, output_size: Any = None) -> Any:
    """Each element several times."""
    return node.xp.repeat(x, repeats, axis=dim)


@aten("cat", "concat", "concatenate")
def cat(node: OnnxNode, tensors: Any, dim: int = 0) -> Any:
    """Arrays one behind the other."""
    given = as_result(node, *[t for t in tensors if not (t.ndim == 1 and t.shape[0] == 0)])
    return given[0] if len(given) == 1 else node.xp.concatenate(given, axis=dim)


@aten("stack")
def stack(node: OnnxNode, tensors: Any, dim: int = 0) -> Any:
    """Arrays along an axis of their own."""
    return node.xp.stack(as_result(node, *tensors), axis=dim)


@aten("split", "split_with_sizes", "unsafe_split", "split_copy")
def split(node: OnnxNode, x: Any, size: Any, dim: int = 0) -> Any:
    """Parts of one length, or of these."""
    whole = _known(node, x, dim)
    sizes = list(size) if isinstance(size, list) else [size] * (whole // size) + ([whole % size] if whole % size else [])
    return tuple(_parts(node, x, sizes, dim))


@aten("chunk", "unsafe_chunk")
def chunk(node: OnnxNode, x: Any, chunks: int, dim: int = 0) -> Any:
    """So many parts, the last of which may be shorter."""
    whole = _known(node, x, dim)
    each_ = -(-whole // chunks)
    return tuple(_parts(node, x, [min(each_, whole - i) for i in range(0, whole, each_)], dim))


def _known(node: OnnxNode, x: Any, dim: int) -> int:
    whole = x.shape[dim]
    if not isinstance(whole, int):
        raise node.refuse(f"axis {dim} has an open size and cannot be divided; export with dynamic_shapes={{}} so that sizes are known")
    return whole


def _parts(node: OnnxNode, x: Any, sizes: list[int], dim: int) -> list[Any]:
    ends = np.cumsum(sizes).tolist()
    lead = (slice(None),) * (dim % x.ndim)
    return [x[(*lead, slice(end - n, end))] for n, end in zip(sizes, ends)]


@aten("unbind", "unbind_copy")
def unbind(node: OnnxNode, x: Any, dim: int = 0) -> Any:
    """The parts along an axis, which is gone."""
    lead = (slice(None),) * (dim % x.ndim)
    return tuple(x[(*lead, i)] for i in range(_known(node, x, dim)))


@aten("select", "select_copy")
def select(node: OnnxNode, x: Any, dim: int, index: int) -> Any:
    """One part along an axis, which is gone."""
    return x[(*(slice(None),) * (dim % x.ndim), index)]


@aten("slice", "slice_copy")
def slice_(node: OnnxNode, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """A part of an axis."""
    dim, huge = dim % x.ndim, 1 << 62
    end = None if isinstance(end, int) and end >= huge else end
    whole = x.shape[dim]
    if isinstance(end, SymbolicSize) and are_equal(end, whole):
        end = None
    if start in (None, 0) and end is None and step == 1:
        return x
    if isinstance(start, SymbolicSize) or isinstance(end, SymbolicSize):
        raise node.refuse("a part that ends at an open size; export with dynamic_shapes={} so that sizes are known")
    return x[(*(slice(None),) * dim, slice(start, end, step))]


@aten("narrow")
def narrow(node: OnnxNode, x: Any, dim: int, start: int, length: int) -> Any:
    """So many elements of an axis, from a place on."""
    return slice_(node, x, dim, start, start + length)


@aten("flip")
def flip(node: OnnxNode, x: Any, dims: Any) -> Any:
    """Axes read backwards."""
    return node.op("base.reverse", x, *(d % x.ndim for d in dims))


@aten("roll")
def roll(node: OnnxNode, x: Any, shifts: Any, dims: Any = ()) -> Any:
    """Elements moved along axes in a circle."""
    if not dims:
        return node.xp.roll(x, shifts[0])
    for shift, dim in zip(shifts, dims):
        x = node.xp.roll(x, shift, axis=dim)
    return x


@aten("tril", "triu")
def triangle(node: OnnxNode, x: Any, diagonal: int = 0) -> Any:
    """What stands below a diagonal, or above."""
    rows, columns = (_known(node, x, i) for i in (-2, -1))
    kept = np.tri(rows, columns, diagonal, dtype=bool) if node.op_type == "aten.tril" else ~np.tri(rows, columns, diagonal - 1, dtype=bool)
    return node.xp.where(kept, x, x.dtype.type(0))


@aten("diagonal", "diagonal_copy")
def diagonal(node: OnnxNode, x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A diagonal."""
    return node.xp.diagonal(x, offset, dim1, dim2)


@aten("pad", "constant_pad_nd")
def pad(node: OnnxNode, x: Any, pad: Any, mode: Any = "constant", value: Any = None) -> Any:
    """More cells around; negative numbers take some away."""
    if node.op_type == "aten.constant_pad_nd":
        mode, value = "constant", mode if not isinstance(mode, str) else value
    widths = _widths(x, pad)
    if mode != "constant":
        return _extended(node, x, widths, mode)
    cut = tuple(slice(max(0, -a), -max(0, -b) or None) for a, b in widths)
    x = x[cut] if any(a < 0 or b < 0 for a, b in widths) else x
    return filled(node, x, [(max(0, a), max(0, b)) for a, b in widths], value or 0)


def _widths(x: Any, pad: Any) -> list[tuple[int, int]]:
    pairs = list(zip(pad[::2], pad[1::2]))[::-1]
    return [(0, 0)] * (x.ndim - len(pairs)) + pairs


def _extended(node: OnnxNode, x: Any, widths: list[tuple[int, int]], mode: str) -> Any:
    """More cells that repeat those that are there."""
    for axis, (before, behind) in enumerate(widths):
        lead = (slice(None),) * axis

        def part(start: int | None, end: int | None, step: int = 1, x: Any = x, lead: Any = lead) -> Any:
            return x[(*lead, slice(start, end, step))]
        if mode == "reflect":
            ends = ([node.op("base.reverse", part(1, before + 1), axis)], [node.op("base.reverse", part(-behind - 1, -1), axis)])
        elif mode == "replicate":
            ends = ([part(0, 1)] * before, [part(-1, None)] * behind)
        else:
            ends = ([part(-before, None)], [part(0, behind)])
        parts = [*(ends[0] if before else []), x, *(ends[1] if behind else [])]
        x = node.xp.concatenate(parts, axis=axis) if len(parts) > 1 else x
    return x


@aten("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def reflection(node: OnnxNode, x: Any, padding: Any) -> Any:
    """Cells mirrored around."""
    return _extended(node, x, _widths(x, padding), "reflect")


@aten("replication_pad1d", "replication_pad2d", "replication_pad3d")
def replication(node: OnnxNode, x: Any, padding: Any) -> Any:
    """The outermost cells repeated around."""
    return _extended(node, x, _widths(x, padding), "replicate")


@aten("pixel_shuffle")
def pixel_shuffle(node: OnnxNode, x: Any, upscale_factor: int) -> Any:
    """Channels become cells."""
    return standard(node, "DepthToSpace", x, blocksize=upscale_factor, mode="CRD")


@aten("pixel_unshuffle")
def pixel_unshuffle(node: OnnxNode, x: Any, downscale_factor: int) -> Any:
    """Cells become channels."""
    r, (c, h, w) = downscale_factor, x.shape[1:]
    cells = reshaped(node, x, [x.shape[0], c, h // r, r, w // r, r])
    return reshaped(node, node.xp.transpose(cells, (0, 1, 3, 5, 2, 4)), [x.shape[0], c * r * r, h // r, w // r])


@aten("channel_shuffle")
def channel_shuffle(node: OnnxNode, x: Any, groups: int) -> Any:
    """Channels of groups one after the other."""
    parts = reshaped(node, x, [x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]])
    return reshaped(node, node.xp.swapaxes(parts, 1, 2), [x.shape[0], x.shape[1], *x.shape[2:]])


# Arrays of one value

def constant(node: OnnxNode, value: Any, sizes: Any) -> Any:
    """An array of one number."""
    if not any(isinstance(n, SymbolicSize) for n in sizes):
        return np.full(tuple(sizes), value, result_type(node))
    return node.xp.broadcast_to(cast(node, node.array(np.asarray(value, result_type(node))), result_type(node)), tuple(sizes))


@aten("zeros", "ones", "empty", "new_zeros", "new_ones", "new_empty")
def zeros(node: OnnxNode, *given: Any, **options: Any) -> Any:
    """Zeros or ones."""
    sizes = given[-1] if isinstance(given[-1], list) else next(g for g in given if isinstance(g, list))
    return constant(node, 1 if "ones" in node.op_type else 0, sizes)


@aten("full", "new_full")
def full(node: OnnxNode, *given: Any, **options: Any) -> Any:
    """One number."""
    sizes, value = given[-2:]
    return constant(node, value, sizes)


@aten("zeros_like", "ones_like", "full_like", "empty_like")
def like(node: OnnxNode, x: Any, value: Any = None, **options: Any) -> Any:
    """One number in the shape of an array."""
    number = value if node.op_type == "aten.full_like" else 1 if "ones" in node.op_type else 0
    return constant(node, number, x.shape)


@aten("scalar_tensor")
def scalar_tensor(node: OnnxNode, value: Any, **options: Any) -> Any:
    """A single number."""
    return constant(node, value, ()) if not isinstance(value, SymbolicSize) else value.number()


@aten("arange")
def arange(node: OnnxNode, *given: Any, **options: Any) -> Any:
    """Numbers of equal distance."""
    if any(isinstance(v, SymbolicSize) for v in given):
        if len(given) > 1 and (given[0] != 0 or len(given) > 2):
            raise node.refuse("numbers up to an open size begin at 0 and have the distance 1")
        count = given[-1] if len(given) > 1 else given[0]
        ones = node.xp.broadcast_to(node.array(np.asarray(1, result_type(node))), (count,))
        return node.xp.cumsum(ones, axis=0) - np.asarray(1, result_type(node))
    return np.arange(*given).astype(result_type(node))


@aten("linspace")
def linspace(node: OnnxNode, start: float, end: float, steps: int, **options: Any) -> Any:
    """Numbers of equal distance between two."""
    return np.linspace(start, end, steps).astype(result_type(node))


@aten("eye")
def eye(node: OnnxNode, n: int, m: int | None = None, **options: Any) -> Any:
    """Ones on a diagonal."""
    return np.eye(n, m, dtype=result_type(node))
