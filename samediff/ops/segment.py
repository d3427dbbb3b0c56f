"""Reductions over rows with equal ids."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ShapeError
from ..op import Kernel, Op, Specs, op
from ..spec import TensorSpec
from .creation import ints_of
from .gather import add_rows, or_compute, require_integer

if TYPE_CHECKING:
    from ..executor.cuda.actions import CudaKernel
    from ..variable import SDVariable

Reducer = Callable[[Any, Any, Any, int], Any]  # (xp, data, ids, number of segments)


def counts(xp: Any, ids: Any, n: int, data: Any) -> Any:
    """Rows per segment, shaped to divide the segments."""
    return xp.bincount(ids, minlength=n).astype(data.dtype).reshape(-1, *[1] * (data.ndim - 1))


def _sum(xp: Any, data: Any, ids: Any, n: int) -> Any:
    out = xp.zeros((n, *data.shape[1:]), data.dtype)
    add_rows(xp, out, ids, data)
    return out


def _mean(xp: Any, data: Any, ids: Any, n: int) -> Any:
    return _sum(xp, data, ids, n) / xp.maximum(counts(xp, ids, n, data), data.dtype.type(1))


def _sqrt_n(xp: Any, data: Any, ids: Any, n: int) -> Any:
    return _sum(xp, data, ids, n) / xp.sqrt(xp.maximum(counts(xp, ids, n, data), data.dtype.type(1)))


def _prod(xp: Any, data: Any, ids: Any, n: int) -> Any:
    out = xp.ones((n, *data.shape[1:]), data.dtype)
    xp.multiply.at(out, ids, data)
    return out


def _extreme(name: str, empty_is_zero: bool) -> Reducer:
    def reduce(xp: Any, data: Any, ids: Any, n: int) -> Any:
        info: Any = np.finfo(data.dtype) if data.dtype.kind == "f" else np.iinfo(data.dtype)
        out = xp.full((n, *data.shape[1:]), info.min if name == "maximum" else info.max, data.dtype)
        getattr(xp, name).at(out, ids, data)
        if empty_is_zero:
            out[counts(xp, ids, n, data).reshape(-1) == 0] = 0
        return out
    return reduce


def _rows(g: SDVariable, ids: SDVariable) -> SDVariable:
    return g.sd.call("base", "gather", g, ids, 0)  # type: ignore[no-any-return]


def _of_sum(data: Any, ids: Any, y: Any, g: Any) -> Any:
    return _rows(g, ids)


def _of_mean(data: Any, ids: Any, y: Any, g: Any) -> Any:
    return _rows(g, ids) / g.sd.add_op(CountOfRow(), [ids, data])


def _of_sqrt_n(data: Any, ids: Any, y: Any, g: Any) -> Any:
    return _rows(g, ids) / g.sd.call("math", "sqrt", g.sd.add_op(CountOfRow(), [ids, data]))


def _of_prod(data: Any, ids: Any, y: Any, g: Any) -> Any:
    return _rows(g * y, ids) / data


def _of_extreme(data: Any, ids: Any, y: Any, g: Any) -> Any:
    rows = _rows(g, ids)
    return g.sd.call("base", "where", rows, g.sd.call("base", "zeros_like", rows), g.sd.call("base", "eq", data, _rows(y, ids)))


def segment_kernel(op: Op, name: str, empty_is_zero: bool, *specs: TensorSpec) -> Kernel | None:
    """Rows joined in their order; ids out of range are left to ``compute``."""
    from ..executor.cpu.indexed import change
    data, ids = specs[:2]
    if not all(s.is_static for s in specs) or not data.shape:
        return None
    how: Any = {"prod": "mul", "max": "max", "min": "min"}.get(name, "add")
    inner, dtype = data.shape[len(ids.shape or ()):], data.dtype.numpy
    calls = {1: change(how, 0, TensorSpec((1, *inner), data.dtype), ids)}      # by the number of segments
    if calls[1] is None or (name in ("mean", "sqrt_n") and dtype.kind != "f"):
        return None
    made_of = data.dtype
    limits: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    start = {"prod": 1, "max": limits.min, "min": limits.max}.get(name, 0)

    def kernel(data: Any, ids: Any, *rest: Any) -> bool:
        out = rest[-1]
        out[...] = start
        n = out.shape[0]
        call = calls[n] if n in calls else calls.setdefault(n, change(how, 0, TensorSpec(out.shape, made_of), ids))
        if call is None or not call(data, ids, out):
            return False
        if name in ("mean", "sqrt_n") or empty_is_zero:
            found = counts(np, ids.reshape(-1), out.shape[0], out)
            if name in ("mean", "sqrt_n"):
                out /= np.maximum(found, 1) if name == "mean" else np.sqrt(np.maximum(found, 1))
            else:
                out[found.reshape(-1) == 0] = 0
        return True
    return Kernel(or_compute(op, kernel))


@op("count_of_row", inputs="ids like", gradient="zero")
class CountOfRow(Op):
    """How many rows share the id of each row, in the type of ``like`` (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """One number per row, with axes of size 1 after it."""
        ids, like = specs
        rank = None if like.shape is None else len(like.shape)
        return TensorSpec(None if rank is None or ids.shape is None else (*ids.shape, *[1] * (rank - len(ids.shape))), like.dtype)

    def compute(self, xp: Any, ids: Any, like: Any) -> Any:
        """Counts gathered."""
        return xp.bincount(ids.reshape(-1))[ids].astype(like.dtype).reshape(*ids.shape, *[1] * (like.ndim - ids.ndim))

    def cuda(self, *specs: TensorSpec) -> CudaKernel | None:
        """By comparison with all ids."""
        from ..executor.cuda.rows import equal_rows
        out = self.infer(*specs)
        return equal_rows(False, specs[0], out) if isinstance(out, TensorSpec) else None


class Segment(Op):
    """Rows of ``data`` reduced by sorted ids.  Shapes: data (n, *R), ids (n) -> (last id + 1, *R)."""

    inputs = "data segment_ids"

    def number(self, *specs: TensorSpec) -> int:
        """How many segments there are, -1 when unknown."""
        values = ints_of(specs[1])
        if values is not None and any(a > b for a, b in itertools.pairwise(values)):
            raise ShapeError("segment ids must be sorted; unsorted_segment_… takes them in any order")
        return -1 if values is None else max(values, default=-1) + 1

    def infer(self, *specs: TensorSpec) -> Specs:
        """One row per segment."""
        data, ids = specs[:2]
        require_integer("segment ids", ids)
        if data.shape is None:
            return TensorSpec(None, data.dtype)
        if ids.shape is not None and len(ids.shape) == 1 and -1 not in (ids.shape[0], data.shape[0]) and ids.shape[0] != data.shape[0]:
            raise ShapeError(f"one id for each of the {data.shape[0]} rows expected, got {ids.shape[0]}")
        inner = data.shape[len(ids.shape or (0,)):]
        return TensorSpec((self.number(*specs), *inner), data.dtype)


class UnsortedSegment(Segment):
    """Rows of ``data`` reduced by ids in any order.  Shapes: data (n, *R), ids (n) -> (num_segments, *R)."""

    inputs = "data segment_ids segments?"
    num_segments: int | None = None
    signatures = ("data, segment_ids, num_segments", "data, segment_ids, segments")

    def __init_subclass__(cls) -> None:
        cls.__annotations__ = {"num_segments": "int | None"}
        cls.num_segments = None

    def number(self, *specs: TensorSpec) -> int:
        """The attribute or the constant."""
        if self.num_segments is not None:
            return self.num_segments
        values = ints_of(specs[2]) if len(specs) > 2 else None
        return -1 if values is None else values[0]


def segment(name: str, reduce: Reducer, unsorted: Reducer, gradient: Callable[..., Any], doc: str) -> None:
    """Register ``segment_<name>`` and ``unsorted_segment_<name>``."""

    class Differentiated(Op):
        def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
                 output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
            return [gradient(inputs[0], inputs[1], outputs[0], output_grads[0]), None, None]

    if name != "sqrt_n":
        @op(f"segment_{name}", api=f"base.segment_{name} math.segment_{name}")
        class Sorted(Differentiated, Segment):
            def compute(self, xp: Any, data: Any, ids: Any) -> Any:
                return reduce(xp, data, ids, int(ids[-1]) + 1 if ids.size else 0)

            def cpu(self, *specs: TensorSpec) -> Kernel | None:
                return segment_kernel(self, name, name in ("max", "min"), *specs)

            def cuda(self, *specs: TensorSpec) -> CudaKernel | None:
                from ..executor.cuda.changes import segments
                return segments(name, name in ("max", "min"), True, self.number(*specs), *specs)

        Sorted.__doc__ = f"{doc} per id; ids are sorted, absent ones give the neutral element or 0."

    @op(f"unsorted_segment_{name}", api=f"base.unsorted_segment_{name} math.unsorted_segment_{name}")
    class Unsorted(Differentiated, UnsortedSegment):
        def compute(self, xp: Any, data: Any, ids: Any, segments: Any = None) -> Any:
            n = self.num_segments if segments is None else int(segments.reshape(-1)[0])
            return unsorted(xp, data.reshape(ids.size, *data.shape[ids.ndim:]), ids.reshape(-1), n or 0)

        def cpu(self, *specs: TensorSpec) -> Kernel | None:
            return segment_kernel(self, name, False, *specs) if len(specs) == 2 else None

        def cuda(self, *specs: TensorSpec) -> CudaKernel | None:
            from ..executor.cuda.changes import segments
            return segments(name, False, False, self.number(*specs), *specs) if len(specs) == 2 else None

    Unsorted.__doc__ = f"{doc} per id, in any order."


segment("sum", _sum, _sum, _of_sum, "Sum of rows")
segment("mean", _mean, _mean, _of_mean, "Mean of rows")
segment("sqrt_n", _sqrt_n, _sqrt_n, _of_sqrt_n, "Sum of rows over the square root of their number")
segment("prod", _prod, _prod, _of_prod, "Product of rows")
segment("max", _extreme("maximum", True), _extreme("maximum", False), _of_extreme, "Maximum of rows")
segment("min", _extreme("minimum", True), _extreme("minimum", False), _of_extreme, "Minimum of rows")
