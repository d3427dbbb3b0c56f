"""Reductions over rows with equal ids."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import ml_dtypes
import numpy as np

from ...base.datatype import DataType, is_floating
from ...base.named_axes import expect_leading
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import OutOfRangeError, ShapeError
from ...families.indices import check_range, require_integer
from ...families.shape_inputs import ints_of
from ...ir.op import OPS, Expandable, Op, Specs, op
from ..elementwise.arithmetic import quotient
from .gather import add_rows

if TYPE_CHECKING:
    from ...ir.variable import SDVariable

Reducer = Callable[[Any, Any, Any, int], Any]  # (xp, data, ids, number of segments)


def counts(xp: Any, ids: Any, n: int, data: Any) -> Any:
    """Rows per segment, shaped to divide the segments."""
    return xp.bincount(ids, minlength=n).astype(data.dtype).reshape(-1, *[1] * (data.ndim - 1))


def _wide(data: Any, whole: bool = True) -> Any:
    """What rows are added up in: types of 16 bits as FLOAT; with ``whole``, whole numbers in 64 bits, which do not wrap around on the way
    to a mean."""
    if is_floating(data.dtype):
        return data.astype(np.result_type(data.dtype, np.float32), copy=False)
    return data.astype({"u": np.uint64, "i": np.int64, "b": np.float64}[data.dtype.kind]) if whole else data


def _added(xp: Any, data: Any, ids: Any, n: int) -> Any:
    out = xp.zeros((n, *data.shape[1:]), data.dtype)
    add_rows(xp, out, ids, data)
    return out


def _sum(xp: Any, data: Any, ids: Any, n: int) -> Any:
    return _added(xp, _wide(data, False), ids, n).astype(data.dtype, copy=False)


def _mean(xp: Any, data: Any, ids: Any, n: int) -> Any:
    wide = _wide(data)
    mean = quotient(xp, _added(xp, wide, ids, n), xp.maximum(counts(xp, ids, n, wide), wide.dtype.type(1)))
    return mean.astype(data.dtype, copy=False) if is_floating(data.dtype) else mean


def _sqrt_n(xp: Any, data: Any, ids: Any, n: int) -> Any:
    wide = _wide(data)
    found = _added(xp, wide, ids, n) / xp.sqrt(xp.maximum(counts(xp, ids, n, wide), wide.dtype.type(1)))
    return found.astype(data.dtype, copy=False) if is_floating(data.dtype) else found


def _prod(xp: Any, data: Any, ids: Any, n: int) -> Any:
    wide = _wide(data, False)
    out = xp.ones((n, *data.shape[1:]), wide.dtype)
    xp.multiply.at(out, ids, wide)
    return out.astype(data.dtype, copy=False)


def _extreme(name: str, empty_is_zero: bool) -> Reducer:
    def reduce(xp: Any, data: Any, ids: Any, n: int) -> Any:
        info: Any = np.iinfo(data.dtype) if data.dtype.kind in "iu" else ml_dtypes.finfo(data.dtype)  # type: ignore[no-untyped-call]
        out = xp.full((n, *data.shape[1:]), info.min if name == "maximum" else info.max, data.dtype)
        getattr(xp, name).at(out, ids, data)
        if empty_is_zero:
            out[counts(xp, ids, n, data).reshape(-1) == 0] = 0
        return out
    return reduce


def _rows(g: SDVariable, ids: SDVariable) -> SDVariable:
    return g.sd.call("base", "gather", g, ids, 0)  # type: ignore[no-any-return]


# Gradients of (op, inputs, result, upstream)

def _of_sum(reduction: Op, inputs: Sequence[Any], y: Any, g: Any) -> Any:
    return _rows(g, inputs[1])


def _of_mean(reduction: Op, inputs: Sequence[Any], y: Any, g: Any) -> Any:
    return _rows(g, inputs[1]) / g.sd.add_op(CountOfRow(), [inputs[1], inputs[0]])


def _of_sqrt_n(reduction: Op, inputs: Sequence[Any], y: Any, g: Any) -> Any:
    return _rows(g, inputs[1]) / g.sd.call("math", "sqrt", g.sd.add_op(CountOfRow(), [inputs[1], inputs[0]]))


def _of_prod(reduction: Op, inputs: Sequence[Any], y: Any, g: Any) -> Any:
    """Times the product of the others, of which none may be 0."""
    (data, ids, *rest), sd = inputs, g.sd
    total = OPS[reduction.id.replace("prod", "sum")](*reduction.values())
    is_zero = sd.call("base", "eq", data, 0.0)
    zero, one = (sd.constant(np.full((), v, data.dtype.numpy)) for v in (0, 1))
    others = sd.call("base", "where", one, data, is_zero)
    zeros = sd.call("base", "where", one, zero, is_zero)
    left = _rows(sd.add_op(total, [zeros, ids, *rest]), ids) - zeros
    slope = _rows(g * sd.add_op(reduction, [others, ids, *rest]), ids) / others
    return sd.call("base", "where", slope, zero, sd.call("base", "eq", left, 0.0))


def _of_extreme(reduction: Op, inputs: Sequence[Any], y: Any, g: Any) -> Any:
    """The gradient of a segment's extreme goes to the first row that holds it."""
    rows = _rows(g, inputs[1])
    return g.sd.call("base", "where", rows, g.sd.call("base", "zeros_like", rows), g.sd.add_op(FirstInSegment(), [*inputs[:2], y]))


@op("first_in_segment", inputs="data ids extremes", gradient="zero")
class FirstInSegment(Expandable):
    """True at the first row of its id that is equal to the extreme of that, element by element (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, DataType.BOOL)

    def compute(self, xp: Any, data: Any, ids: Any, extremes: Any) -> Any:
        """The smallest number of such a row."""
        rows, flat = data.reshape(ids.size, *extremes.shape[1:]), ids.reshape(-1)
        numbers = xp.where(rows == extremes[flat], xp.arange(ids.size).reshape(-1, *[1] * (rows.ndim - 1)), ids.size)
        first = xp.full(extremes.shape, ids.size)
        xp.minimum.at(first, flat, numbers)
        return ((numbers == first[flat]) & (numbers < ids.size)).reshape(data.shape)

    def plan_rewrite(self, name: str) -> Expandable | None:
        return self

    def expand(self, *inputs: Any) -> Any:
        """The op as a composition of other ops, for static shapes."""
        (data, ids, extremes), sd = inputs, inputs[0].sd
        shape, count = data.spec.shape, math.prod(ids.spec.shape)
        numbers = np.arange(count, dtype=np.int32).reshape(*ids.spec.shape, *[1] * (len(shape) - len(ids.spec.shape)))
        none = sd.constant(np.full((), count, np.int32))
        found = sd.call("base", "where", sd.constant(numbers), none, sd.call("base", "eq", data, _rows(extremes, ids)))
        first = sd.call("base", "unsorted_segment_min", found, ids, extremes.spec.shape[0])
        return sd.call("base", "and_", sd.call("base", "eq", found, _rows(first, ids)), sd.call("base", "lt", found, count))


@op("count_of_row", inputs="ids like", gradient="zero", shape_inputs=(1,))
class CountOfRow(Op):
    """Number of rows that share the id of each row, in the type of ``like`` (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """One number for each row, with axes of size 1 added to broadcast over rows."""
        ids, like = specs
        rank = None if like.shape is None else len(like.shape)
        return TensorSpec(None if rank is None or ids.shape is None else (*ids.shape, *[1] * (rank - len(ids.shape))), like.dtype)

    def compute(self, xp: Any, ids: Any, like: Any) -> Any:
        check_range(f"{self.id}: segment id", ids, 2 ** 63)
        return xp.bincount(ids.reshape(-1))[ids].astype(like.dtype).reshape(*ids.shape, *[1] * (like.ndim - ids.ndim))


class Segment(Op):
    """Rows of ``data`` reduced by sorted ids.  Shapes: data (n, *R), ids (n) -> (last id + 1, *R)."""

    inputs = "data segment_ids"
    how: ClassVar[str] = ""                 # the kernels' name for the reduction: sum, mean, sqrt_n, prod, max, min
    most_axes: ClassVar[float] = 1          # largest rank of the ids

    def number(self, *specs: TensorSpec) -> int:
        """Number of segments, -1 when unknown."""
        values = ints_of(specs[1])
        return -1 if values is None else self.last(np.asarray(values, np.int64)) + 1

    def last(self, ids: Any) -> int:
        """The last id, -1 where there is none; ShapeError unless they ascend from 0."""
        if not ids.size:
            return -1
        if int(ids[0]) < 0:
            raise OutOfRangeError(f"{self.id}: segment id {int(ids[0])} is out of range (0 and above)")
        down = np.flatnonzero(ids[1:] < ids[:-1])
        if down.size:
            raise ShapeError(f"{self.id}: segment ids must be sorted, got {int(ids[down[0] + 1])} behind {int(ids[down[0]])}; "
                             f"unsorted_{self.id} takes them in any order")
        return int(ids[-1])

    def infer(self, *specs: TensorSpec) -> Specs:
        """One row for each segment."""
        data, ids = specs[:2]
        require_integer("segment ids", ids)
        if ids.rank == 0 or (ids.rank is not None and ids.rank > self.most_axes):
            raise ShapeError(f"{self.id}: one id for each row expected, got ids of shape {ids.shape}")
        expect_leading("data", data, ids.shape)
        if data.shape is None:
            return TensorSpec(None, data.dtype)
        if ids.shape is None and self.most_axes > 1:
            return TensorSpec(None, data.dtype)
        return TensorSpec((self.number(*specs), *data.shape[len(ids.shape or (0,)):]), data.dtype)


class UnsortedSegment(Segment):
    """Rows of ``data`` reduced by ids in any order.  Shapes: data (*N, *R), ids (*N) -> (num_segments, *R)."""

    inputs = "data segment_ids segments?"
    most_axes = float("inf")
    num_segments: int | None = None
    signatures = ("data, segment_ids, num_segments", "data, segment_ids, segments")

    def __init_subclass__(cls) -> None:
        cls.__annotations__ = {"num_segments": "int | None"}
        cls.num_segments = None

    def number(self, *specs: TensorSpec) -> int:
        """Number of segments, from the attribute or a constant input; -1 when unknown."""
        if self.num_segments is not None:
            return self.num_segments
        values = ints_of(specs[2]) if len(specs) > 2 else None
        return -1 if values is None else values[0]


def segment(name: str, reduce: Reducer, unsorted: Reducer, gradient: Callable[..., Any], doc: str) -> None:
    """Register ``segment_<name>`` and ``unsorted_segment_<name>``."""

    class Differentiated(Op):
        def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
                 output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
            return [gradient(self, inputs, outputs[0], output_grads[0]), None, None]

    if name != "sqrt_n":
        @op(f"segment_{name}", api=f"base.segment_{name} math.segment_{name}")
        class Sorted(Differentiated, Segment):
            def compute(self, xp: Any, data: Any, ids: Any) -> Any:
                return reduce(xp, data, ids, self.last(ids) + 1)

        Sorted.how = name
        Sorted.__doc__ = f"{doc} per id; ids are sorted, absent ones give the neutral element or 0."

    @op(f"unsorted_segment_{name}", api=f"base.unsorted_segment_{name} math.unsorted_segment_{name}",
        file=FileArgs(ints=("num_segments?",)))
    class Unsorted(Differentiated, UnsortedSegment):
        def compute(self, xp: Any, data: Any, ids: Any, segments: Any = None) -> Any:
            n = (self.num_segments if segments is None else int(segments.reshape(-1)[0])) or 0
            check_range(f"{self.id}: segment id", ids, n, "a number of segments of")
            return unsorted(xp, data.reshape(ids.size, *data.shape[ids.ndim:]), ids.reshape(-1), n)

    Unsorted.how = name
    Unsorted.__doc__ = f"{doc} per id, in any order."


segment("sum", _sum, _sum, _of_sum, "Sum of rows")
segment("mean", _mean, _mean, _of_mean, "Mean of rows")
segment("sqrt_n", _sqrt_n, _sqrt_n, _of_sqrt_n, "Sum of rows over the square root of their number")
segment("prod", _prod, _prod, _of_prod, "Product of rows")
segment("max", _extreme("maximum", True), _extreme("maximum", False), _of_extreme, "Maximum of rows")
segment("min", _extreme("minimum", True), _extreme("minimum", False), _of_extreme, "Minimum of rows")
