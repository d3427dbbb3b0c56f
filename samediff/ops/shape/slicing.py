"""Parts of arrays by begin, end and stride."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...base.datatype import DataType
from ...base.named_axes import expect
from ...base.spec import Shape, TensorSpec, normalize_axes, normalize_axis
from ...codecs.file_args import FileArgs
from ...errors import OutOfRangeError, ShapeError
from ...families.families import View
from ...families.indices import check_lengths, require_integer
from ...families.shape_inputs import ints_of
from ...ir.op import Copies, Op, Specs, op

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

#: One axis: ("point", position, keep), ("slice", begin, end, stride) or "new".
Entry = tuple[Any, ...] | str


@dataclass(frozen=True)
class IndexArgs(FileArgs):
    """Python's ``x[...]``, stored as the strided slice with the same meaning."""

    def encode(self, op_fields: Mapping[str, Any], op_name: str = "", input_dtype: DataType = DataType.FLOAT) -> dict[str, Any]:
        rows = []
        masks = dict.fromkeys(("begin", "end", "new", "shrink"), 0)
        for i, entry in enumerate(op_fields["axes"]):
            kind, begin, end, stride = ("new", 0, 0, 1) if entry == "new" else (*entry, 1)[:4]
            if kind == "point":
                masks["shrink"] |= 0 if end else 1 << i
                end = None if begin == -1 else begin + 1
            masks["new"] |= (kind == "new") << i
            masks["begin"] |= (begin is None) << i
            masks["end"] |= (end is None) << i
            rows.append((begin or 0, end or 0, 1 if kind == "point" else stride))
        columns = zip(*rows) if rows else ((), (), ())
        parts = super().encode({}, op_name, input_dtype)
        bits = (masks["begin"], 0, masks["end"], masks["new"], masks["shrink"])
        return parts | {"extra_integer": (*bits, *(n for c in columns for n in c))}


class Sliced(View):
    """A regular part of the first input; further inputs are integers that say which."""

    def entries(self, rank: int, *numbers: Sequence[int]) -> list[Entry]:
        """One slice, index or new axis for each entry of the index."""
        raise NotImplementedError

    def infer(self, *specs: TensorSpec) -> Specs:
        """The sizes of the part; unknown ones where the numbers are no constants."""
        x, numbers = specs[0], [ints_of(s) for s in specs[1:]]
        if x.shape is None:
            return TensorSpec(None, x.dtype)
        if any(n is None for n in numbers):
            return TensorSpec(self.unknown(len(x.shape), *specs[1:]), x.dtype)
        return TensorSpec(taken_shape(x.shape, self.entries(len(x.shape), *numbers)), x.dtype)  # type: ignore[arg-type]

    def unknown(self, rank: int, *numbers: TensorSpec) -> Shape | None:
        """The shape while the numbers are unknown."""
        return (-1,) * rank

    def compute(self, xp: Any, x: Any, *numbers: Any) -> Any:
        """A view; with ``...`` so that a single element is one too."""
        return x[index_of(x.shape, self.entries(x.ndim, *([int(v) for v in n.reshape(-1)] for n in numbers)))]

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The upstream gradient, put into zeros."""
        return [inputs[0].sd.add_op(SliceGrad(self), [output_grads[0], *inputs])]


def taken_shape(shape: Shape, entries: Sequence[Entry]) -> Shape:
    """Shape of the part that ``entries`` name."""
    out, axis = [], 0
    for entry in entries:
        if entry == "new":
            out.append(1)
            continue
        if axis >= len(shape):
            raise ShapeError(f"more indices than the {len(shape)} axes of shape {shape}")
        n, axis = shape[axis], axis + 1
        assert not isinstance(entry, str)
        if entry[0] == "point":
            checked(int(entry[1]), n)
            out += [1] if entry[2] else []
            continue
        _, begin, end, stride = entry
        if stride == 0:
            raise ShapeError("the stride of a slice must not be 0")
        out.append(n if n == -1 else len(range(*slice(begin, end, stride).indices(n))))
    return (*out, *shape[axis:])


def checked(position: int, n: int) -> int:
    """OutOfRangeError when a position lies outside an axis."""
    if n != -1 and not -n <= position < n:
        raise OutOfRangeError(f"position {position} is out of range for an axis of size {n}")
    return position


def index_of(shape: Sequence[int], entries: Sequence[Entry]) -> tuple[Any, ...]:
    """NumPy's index for ``entries``: a view always, also of a single element."""
    out: list[Any] = []
    axis = 0
    for entry in entries:
        if entry == "new":
            out.append(None)
            continue
        if entry[0] == "point":
            at = checked(int(entry[1]), shape[axis]) % shape[axis]
            out.append(slice(at, at + 1) if entry[2] else at)
        else:
            out.append(slice(entry[1], entry[2], entry[3]))
        axis += 1
    return (*out, ...)


@op("placed", inputs="x like *numbers", shape_inputs=(1,))
class SliceGrad(Op):
    """Zeros in the shape of ``like`` with x in the place that a slicing op takes (made by gradients)."""

    of: Any

    def infer(self, *specs: TensorSpec) -> Specs:
        expect("x", specs[0], self.of.infer(*specs[1:]).shape)
        return TensorSpec(specs[1].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, like: Any, *numbers: Any) -> Any:
        out = xp.zeros(like.shape, x.dtype)
        out[index_of(like.shape, self.of.entries(like.ndim, *([int(v) for v in n.reshape(-1)] for n in numbers)))] = x
        return out

    def copies(self, *specs: TensorSpec) -> Copies | None:
        numbers, shape = [ints_of(s) for s in specs[2:]], specs[1].shape or ()
        if any(n is None for n in numbers):
            return None
        index = index_of(shape, self.of.entries(len(shape), *numbers))
        return Copies(lambda x, *rest: [(x, rest[-1][index])], clears=True)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The same part of the upstream gradient."""
        return [inputs[0].sd.add_op(self.of, [output_grads[0], *inputs[2:]]), None]


@op("index", api="base.index", inputs="x", file=IndexArgs(op_name="strided_slice"))
class Index(Sliced):
    """Python's ``x[...]`` with numbers and slices."""

    axes: tuple[Any, ...]

    def entries(self, rank: int, *numbers: Sequence[int]) -> list[Entry]:
        return list(self.axes)


@op("slice", api="base.slice math.slice", inputs="x begin? size?", signatures=("x, starts, *sizes", "x, begin, size"),
    file=FileArgs(ints=("*starts", "*sizes")))
class Slice(Sliced):
    """A block from ``begin`` of ``size`` elements along each axis; a size of -1 goes to the end."""

    starts: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()

    def entries(self, rank: int, *numbers: Sequence[int]) -> list[Entry]:
        """One interval for each axis."""
        begin, sizes = numbers if numbers else (self.starts, self.sizes)
        if len(begin) != rank or len(sizes) != rank:
            raise ShapeError(f"begin {tuple(begin)} and size {tuple(sizes)} need one number for each of the {rank} axes")
        return [("slice", b, None if n == -1 else b + n, 1) for b, n in zip(begin, sizes)]

    def infer(self, *specs: TensorSpec) -> Specs:
        """The sizes; the block must lie within x."""
        found = super().infer(*specs)
        x = specs[0]
        numbers = [ints_of(s) for s in specs[1:]] or [self.starts, self.sizes]
        if x.shape is None or any(n is None for n in numbers):
            return found
        begin, sizes = numbers
        _check_block(x.shape, begin or (), sizes or ())
        return TensorSpec(tuple(n if n != -1 else -1 if w == -1 else w - b for b, n, w in zip(begin or (), sizes or (), x.shape)), x.dtype)

    def compute(self, xp: Any, x: Any, *numbers: Any) -> Any:
        """The view, once it is known to lie within x."""
        begin, sizes = ([int(v) for v in n.reshape(-1)] for n in numbers) if numbers else (self.starts, self.sizes)
        _check_block(x.shape, begin, sizes)
        return super().compute(xp, x, *numbers)


def _check_block(shape: Shape, begin: Sequence[int], sizes: Sequence[int]) -> None:
    for b, n, whole in zip(begin, sizes, shape):
        if b < 0 or n < -1 or (whole != -1 and (b > whole or b + n > whole)):
            raise ShapeError(f"a block of {n} elements from {b} does not fit into an axis of size {whole}")


@op("strided_slice", api="base.strided_slice math.strided_slice", inputs="x begin? end? strides?", signatures=(
    "x, starts, stops, *steps", "x, starts, stops, steps, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask",
    "x, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask"),
    file=FileArgs(ints=("begin_mask", "ellipsis_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "*starts", "*stops", "*steps")))
class StridedSlice(Sliced):
    """NumPy's slicing by begin, end and strides per axis, with bit masks for open ends, ``...``, new axes and points."""

    starts: tuple[int, ...] = ()
    stops: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()
    begin_mask: int = 0
    end_mask: int = 0
    ellipsis_mask: int = 0
    new_axis_mask: int = 0
    shrink_axis_mask: int = 0

    def entries(self, rank: int, *numbers: Sequence[int]) -> list[Entry]:
        begin, end, strides = numbers if numbers else (self.starts, self.stops, self.steps)
        strides = strides if len(strides) else [1] * len(begin)
        if not len(begin) or not len(begin) == len(end) == len(strides):
            raise ShapeError(f"begin {tuple(begin)}, end {tuple(end)} and strides {tuple(strides)} need as many numbers each, at least one")
        out: list[Entry] = []
        for i, (b, e, s) in enumerate(zip(begin, end, strides)):
            bit = 1 << i
            if self.ellipsis_mask & bit:
                named = sum(1 for k in range(len(begin)) if not (self.new_axis_mask | self.ellipsis_mask) & (1 << k))
                out += [("slice", None, None, 1)] * (rank - named)
            elif self.new_axis_mask & bit:
                out.append("new")
            elif self.shrink_axis_mask & bit:
                out.append(("point", b, False))
            else:
                out.append(("slice", None if self.begin_mask & bit else b, None if self.end_mask & bit else e, s))
        return out

    def unknown(self, rank: int, *numbers: TensorSpec) -> Shape | None:
        """The shape with unknown sizes; masks change the rank, as far as there are numbers for them."""
        count = numbers[0].shape
        new, points = self.new_axis_mask & ~self.ellipsis_mask, self.shrink_axis_mask & ~(self.ellipsis_mask | self.new_axis_mask)
        if count is None or len(count) != 1 or count[0] < 0:
            return None if new or points else (-1,) * rank
        used = (1 << count[0]) - 1
        return (-1,) * (rank + (new & used).bit_count() - (points & used).bit_count())


@op("reverse", api="base.reverse math.reverse var.reverse", signatures=("x, *dimensions",), file=FileArgs(ints=("*dimensions",)))
class Reverse(View):
    """The elements in reverse order along ``dimensions`` (none: unchanged)."""

    dimensions: tuple[int, ...] = ()

    def infer(self, *specs: TensorSpec) -> Specs:
        if specs[0].shape is not None and self.dimensions:
            normalize_axes(self.dimensions, len(specs[0].shape))
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        return xp.flip(x, self.dimensions) if self.dimensions else x

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(self, [output_grads[0]])]


@op("reverse_sequence", api="base.reverse_sequence math.reverse_sequence", inputs="x lengths", file=FileArgs(ints=("seq_dim", "batch_dim")))
class ReverseSequence(Op):
    """For each entry b along ``batch_dim``, the first lengths[b] elements along ``seq_dim`` reversed; the rest stays."""

    seq_dim: int = -1
    batch_dim: int = 0

    def infer(self, *specs: TensorSpec) -> Specs:
        x, lengths = specs
        require_integer("lengths", lengths)
        if x.shape is not None:
            seq, batch = (normalize_axis(a, len(x.shape)) for a in (self.seq_dim, self.batch_dim))
            if seq == batch:
                raise ShapeError(f"seq_dim and batch_dim are both {seq}")
            if lengths.shape is not None and -1 not in (*lengths.shape, x.shape[batch]) and lengths.shape != (x.shape[batch],):
                raise ShapeError(f"one length for each of the {x.shape[batch]} entries expected, got shape {lengths.shape}")
        return TensorSpec(x.shape, x.dtype)

    def compute(self, xp: Any, x: Any, lengths: Any) -> Any:
        """Elements taken in reversed order along the sequence axis."""
        seq, batch = self.seq_dim % x.ndim, self.batch_dim % x.ndim
        check_lengths(f"{self.id}: length", lengths, x.shape[seq])
        steps = xp.arange(x.shape[seq])
        n = lengths.reshape(-1, 1).astype(steps.dtype)      # UINT64 and LONG would meet in DOUBLE
        order = xp.where(steps < n, n - 1 - steps, steps)
        order = order if batch < seq else order.T
        return xp.take_along_axis(x, order.reshape([k if i in (seq, batch) else 1 for i, k in enumerate(x.shape)]), seq)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(self, [output_grads[0], inputs[1]]), None]
