"""Parts of arrays: slices, padding, reversals."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.enums import PadMode
from ..export_graph import OnnxGraph, Value, result_of
from ..export_table import NotSayableError, onnx_exporter

#: Ends of axes.
FIRST, LAST = -(1 << 63), (1 << 63) - 1


@onnx_exporter("index", "slice", "strided_slice", "create_view")
def sliced(g: OnnxGraph, op: Any, x: Value, *numbers: Value) -> Any:
    if any(n.known is None for n in numbers):
        return _by_values(g, op, x, *numbers)
    return taken(g, x, op.entries(x.rank, *(g.numbers(n, "positions") for n in numbers)))


def taken(g: OnnxGraph, x: Value, entries: Sequence[Any]) -> Value:
    """The part that entries of an index name."""
    begins, ends, axes, steps, gone, new, axis, place = [], [], [], [], [], [], 0, 0
    for entry in entries:
        if entry == "new":
            new.append(place)
            place += 1
            continue
        if entry[0] == "point":
            begin, end, step = entry[1], entry[1] + 1 or LAST, 1
            gone += [] if entry[2] else [axis]
            place += bool(entry[2])
        else:
            _, begin, end, step = entry
            place += 1
        if (begin, end, step) not in ((None, None, 1), (0, None, 1)):
            begins.append((0 if step > 0 else LAST) if begin is None else begin)
            ends.append((LAST if step > 0 else FIRST) if end is None else end)
            axes.append(axis)
            steps.append(step)
        axis += 1
    x = g.node("Slice", x, *(g.ints(*n) for n in (begins, ends, axes, steps))) if axes else x
    x = g.squeeze(x, *gone) if gone else x
    return g.unsqueeze(x, *new) if new else x


def _by_values(g: OnnxGraph, op: Any, x: Value, *numbers: Value) -> Any:
    """Begin and end that a run brings, without masks."""
    masks = [getattr(op, f"{n}_mask", 0) for n in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")]
    if op.id not in ("slice", "strided_slice") or any(masks):
        raise NotSayableError("positions must be constants")
    begin, end, *steps = (g.cast(g.node("Reshape", n, g.ints(-1)), DataType.LONG) for n in numbers)
    axes = g.ints(*range(numbers[0].static[0]))
    if op.id == "slice":
        whole = g.node("Less", end, g.ints(0), dtype=DataType.BOOL)
        end = g.node("Where", whole, g.ints(LAST), g.node("Add", begin, end), dtype=DataType.LONG)
    return g.node("Slice", x, begin, end, axes, *steps)


@onnx_exporter("reverse")
def reverse(g: OnnxGraph, op: Any, x: Value) -> Any:
    axes = sorted({a % x.rank for a in op.dimensions})
    return taken(g, x, [("slice", None, None, -1 if i in axes else 1) for i in range(x.rank)])


@onnx_exporter("reverse_sequence")
def reverse_sequence(g: OnnxGraph, op: Any, x: Value, lengths: Value) -> Any:
    time, batch = op.seq_dim % x.rank, op.batch_dim % x.rank
    order = [batch, time, *(i for i in range(x.rank) if i not in (batch, time))]
    made = g.node("ReverseSequence", g.transpose(x, *order), g.cast(lengths, DataType.LONG), batch_axis=0, time_axis=1)
    return g.transpose(made, *(order.index(i) for i in range(x.rank)))


@onnx_exporter("pad", "mirror_pad")
def pad(g: OnnxGraph, op: Any, x: Value, padding: Value) -> Any:
    mode = op.mode if op.id == "pad" else PadMode.SYMMETRIC if op.symmetric else PadMode.REFLECT
    if mode is PadMode.CONSTANT:
        widths = g.cast(padding, DataType.LONG)
        flat = g.reshape(g.transpose(widths, 1, 0), -1) if padding.known is None else g.ints(*np.asarray(padding.known).T.reshape(-1))
        return g.node("Pad", x, flat, g.constant(op.constant, x.dtype))
    g.numbers(padding, "paddings")
    pairs = np.asarray(padding.known)      # type: ignore[union-attr]
    how: Any = mode.name.lower()
    for axis, (before, behind) in enumerate(pairs):
        if before or behind:
            if x.shape[axis] == -1:
                raise NotSayableError("an axis that is mirrored must have a known size")
            places = np.pad(np.arange(x.shape[axis]), (int(before), int(behind)), mode=how)
            spec = x.spec
            x = g.node("Gather", x, g.ints(*places), axis=axis)
            x.spec = spec
    return x


@onnx_exporter("repeat")
def repeat(g: OnnxGraph, op: Any, x: Value, repeats: Value) -> Any:
    counts, size = g.numbers(repeats, "counts"), x.shape[op.axis]
    if size == -1:
        raise NotSayableError("an axis along which elements are repeated must have a known size")
    return g.node("Gather", x, g.ints(*np.repeat(np.arange(size), counts)), axis=op.axis % x.rank)


@onnx_exporter("roll")
def roll(g: OnnxGraph, op: Any, *inputs: Value) -> Any:
    return moved(g, op, *inputs)


#: Ops that treat every example alike: the number of these may be open.
BY_EXAMPLE = ("im2col", "unfold", "upsampling2d", "upsampling3d", "extract_image_patches", "extract_image_patches_sizes")


@onnx_exporter("placed", "concat_part", "space_to_batch_nd", "batch_to_space_nd", "diag", "matrix_diag", "diag_part", "matrix_diag_part",
               "matrix_set_diag", "triu", "matrix_band_part", "list_split", "split_list", "put_along_last", "head_rows",
               "tensor_array_kept", "tensor_array_others", "tensor_array_concat", "trace_bp", *BY_EXAMPLE,
               notes="of inputs whose sizes are known")
def moved(g: OnnxGraph, op: Any, *inputs: Value | None) -> Any:
    """Ops that put elements elsewhere and zeros where none are: the places of elements are found by the op itself."""
    if op.id in BY_EXAMPLE and inputs[0] is not None and -1 in inputs[0].shape:
        return _by_example(g, op, inputs[0])
    given: list[Any] = []
    rows, start = [], 1
    for v in inputs:
        if v is None or v.known is not None:
            given.append(None if v is None else v.known)
            continue
        count = int(np.prod(v.static))
        given.append(np.arange(start, start + count).reshape(v.static))
        start += count
        rows.append(v)
    try:
        places = op.compute(np, *given)
    except Exception as error:
        raise NotSayableError(f"its code needs values: {error}") from error
    kind = result_of(op, *inputs).dtype
    if any(v.dtype is not kind for v in rows):
        raise NotSayableError("elements of several types")
    zero = g.constant(np.zeros(1, kind.numpy))
    table = g.node("Concat", zero, *(g.reshape(v, -1) for v in rows), axis=0)
    several = isinstance(places, (tuple, list))
    made = tuple(g.node("Gather", table, g.constant(np.asarray(p, np.int64))) for p in (places if several else [places]))
    return made if several else made[0]


def _by_example(g: OnnxGraph, op: Any, x: Value) -> Value:
    """The same of any number of examples."""
    sizes = x.shape[1:]
    if -1 in sizes:
        raise NotSayableError(f"all sizes but that of the batch must be known; an input has the shape {x.shape}")
    count = int(np.prod(sizes))
    one, two = (np.asarray(op.compute(np, np.arange(1, n * count + 1).reshape(n, *sizes))) for n in (1, 2))
    second = np.where(one, one + count, 0)
    axis = next((k for k in range(one.ndim) if np.array_equal(two, np.concatenate([one, second], k))), None)
    if axis is None:
        raise NotSayableError("the number of examples must be known: the result mixes them")
    table = g.node("Pad", g.reshape(x, -1, count), g.ints(0, 1, 0, 0))
    made = g.reshape(g.node("Gather", table, g.ints(*one.reshape(-1)), axis=1), -1, *one.shape)
    if axis:
        made = g.node("Transpose", made, perm=[*range(1, axis + 1), 0, *range(axis + 1, one.ndim + 1)])
    return g.reshape(made, *one.shape[:axis], -1, *one.shape[axis + 1:])
