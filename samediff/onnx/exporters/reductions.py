"""Reductions over axes, and places of extremes."""
from __future__ import annotations

from typing import Any

from ...base.datatype import DataType
from ...base.spec import normalize_axes
from ...ir.op import OPS
from ..export_graph import OnnxGraph, Value, result_of
from ..export_table import NotSayableError, onnx_exporter
from .control import backwards

#: op: the function of each element before, and the operator.
OPERATORS: dict[str, tuple[str, str]] = {
    "reduce_sum": ("", "ReduceSum"), "reduce_mean": ("", "ReduceMean"), "reduce_max": ("", "ReduceMax"), "reduce_min": ("", "ReduceMin"),
    "reduce_prod": ("", "ReduceProd"), "reduce_norm1": ("", "ReduceL1"), "reduce_norm2": ("", "ReduceL2"), "asum": ("", "ReduceL1"),
    "reduce_sqnorm": ("", "ReduceSumSquare"), "reduce_logsumexp": ("", "ReduceLogSumExp"), "reduce_normmax": ("Abs", "ReduceMax"),
    "amax": ("Abs", "ReduceMax"), "amin": ("Abs", "ReduceMin"), "amean": ("Abs", "ReduceMean")}


#: Reductions of truth values by their numbers.
OF_BOOL = {"ReduceSum": "ReduceMax", "ReduceMax": "ReduceMax", "ReduceProd": "ReduceMin", "ReduceMin": "ReduceMin"}


def axes_of(g: OnnxGraph, op: Any, x: Value, axes: Value | None) -> Value:
    """The axes of a reduction as a vector."""
    if axes is not None and axes.known is None:
        return g.cast(g.node("Reshape", axes, g.ints(-1)), DataType.LONG)
    return g.ints(*normalize_axes(op.dimensions if axes is None else g.numbers(axes, "axes"), x.rank))


def reduced(g: OnnxGraph, operator: str, x: Value, axes: Value, keep_dims: bool) -> Value:
    """A reduction; of a scalar it is that of a vector of one element."""
    if axes.known is not None and not axes.known.size:
        x, axes, keep_dims = g.reshape(x, 1), g.ints(0), False
    return g.node(operator, x, axes, keepdims=int(keep_dims))  # type: ignore[no-any-return]


def _named(op_id: str) -> None:
    before, operator = OPERATORS[op_id]

    @onnx_exporter(op_id)
    def reduction(g: OnnxGraph, op: Any, x: Value, axes: Value | None = None) -> Any:
        kind = result_of(op, x, *([] if axes is None else [axes])).dtype
        if kind is DataType.BOOL:
            return _of_truth(g, OF_BOOL.get(operator), x, axes_of(g, op, x, axes), op.keep_dims)
        x = Value((y := g.cast(x, kind)).name, x.spec.with_dtype(kind), y.known)
        if before:
            x = Value(g.node(before, x).name, x.spec)
        return reduced(g, operator, x, axes_of(g, op, x, axes), op.keep_dims)


for _id in OPERATORS:
    _named(_id)


def _of_truth(g: OnnxGraph, operator: str | None, x: Value, axes: Value, keep_dims: bool) -> Value:
    """A reduction of truth values, by numbers 0 and 1."""
    if operator is None:
        raise NotSayableError("of truth values")
    flags = g.cast(g.cast(x, DataType.BOOL), DataType.INT)
    flags = Value(flags.name, x.spec.with_dtype(DataType.INT), flags.known)
    return g.cast(reduced(g, operator, flags, axes, keep_dims), DataType.BOOL)


@onnx_exporter("all", "any")
def truth(g: OnnxGraph, op: Any, x: Value, axes: Value | None = None) -> Any:
    return _of_truth(g, "ReduceMin" if op.id == "all" else "ReduceMax", x, axes_of(g, op, x, axes), op.keep_dims)


@onnx_exporter("countNonZero", "countZero", "zero_fraction")
def count(g: OnnxGraph, op: Any, x: Value, axes: Value | None = None) -> Any:
    zero = g.node("Equal", x, g.constant(0, x.dtype), dtype=DataType.BOOL)
    wanted = g.node("Not", zero) if op.id == "countNonZero" else zero
    kind = DataType.FLOAT if op.id == "zero_fraction" else DataType.LONG
    flags = Value(g.cast(wanted, kind).name, x.spec.with_dtype(kind))
    return reduced(g, "ReduceMean" if op.id == "zero_fraction" else "ReduceSum", flags, axes_of(g, op, x, axes), op.keep_dims)


@onnx_exporter("match_condition")
def matching(g: OnnxGraph, op: Any, x: Value, axes: Value | None = None) -> Any:
    flags = g.cast(g.op(OPS["match_condition_transform"](condition=op.condition), x), DataType.LONG)
    return reduced(g, "ReduceSum", Value(flags.name, x.spec.with_dtype(DataType.LONG)), axes_of(g, op, x, axes), op.keep_dims)


@onnx_exporter("hasnan", "hasinf")
def has(g: OnnxGraph, op: Any, x: Value, axes: Value | None = None) -> Any:
    flags = g.cast(g.node("IsNaN" if op.id == "hasnan" else "IsInf", x, dtype=DataType.BOOL), DataType.INT)
    found = reduced(g, "ReduceMax", Value(flags.name, x.spec.with_dtype(DataType.INT)), axes_of(g, op, x, axes), op.keep_dims)
    return g.cast(found, DataType.BOOL)


@onnx_exporter("argmax", "argmin", "iamax", "iamin", "argamax", "argamin")
def place(g: OnnxGraph, op: Any, x: Value, axes: Value | None = None) -> Any:
    gone = normalize_axes(op.dimensions if axes is None else g.numbers(axes, "axes"), x.rank)
    kept = [i for i in range(x.rank) if i not in gone]
    rows = g.node("Abs", x) if op.absolute else x
    if x.dtype is DataType.BOOL:
        rows = g.cast(rows, DataType.INT)
    operator = "ArgMax" if op.which == "max" else "ArgMin"
    if len(gone) == 1:
        return g.node(operator, rows, axis=gone[0], keepdims=int(op.keep_dims), dtype=DataType.LONG)
    flat = g.reshape(g.transpose(rows, *kept, *gone), *(x.shape[i] for i in kept), -1)
    found = g.node(operator, flat, axis=-1, keepdims=0, dtype=DataType.LONG)
    return g.reshape(found, *(1 if i in gone else n for i, n in enumerate(x.shape))) if op.keep_dims else found


@onnx_exporter("sum_to")
def sum_to(g: OnnxGraph, op: Any, x: Value, like: Value) -> Any:
    extra = x.rank - like.rank
    open_ones = [i for i, n in enumerate(like.shape) if n == -1]
    if open_ones and not all(x.shape[i + extra] == -1 for i in open_ones):
        raise NotSayableError("which axes were stretched is known in a run only")
    axes = [*range(extra), *(i + extra for i, n in enumerate(like.shape) if n == 1 and x.shape[i + extra] != 1)]
    made = g.node("ReduceSum", x, g.ints(*axes), keepdims=1) if axes else x
    return g.squeeze(made, *range(extra)) if extra else made


@onnx_exporter("cumsum")
def cumsum(g: OnnxGraph, op: Any, x: Value) -> Any:
    for axis in normalize_axes(op.axis, x.rank):
        x = Value(g.node("CumSum", x, g.constant(axis, DataType.LONG), exclusive=int(op.exclusive), reverse=int(op.reverse)).name, x.spec)
    return x


@onnx_exporter("cumprod")
def cumprod(g: OnnxGraph, op: Any, x: Value) -> Any:
    """A scan, as the standard has no running product in this version."""
    shape, dtype = x.spec, x.dtype
    for axis in normalize_axes(op.axis, shape.rank or 0):
        order = [axis, *(i for i in range(x.rank) if i != axis)]
        x = g.transpose(x, *order)
        first = g.filled(1, dtype, g.node("Shape", g.node("Gather", x, g.constant(0, DataType.LONG)), dtype=DataType.LONG))
        state, element = (g.input(shape.with_shape(None)) for _ in range(2))
        with g.block([state, element]) as body:
            after = g.node("Mul", state, element)
            body.outputs = [after, g.node("Identity", state if op.exclusive else after)]
        made = g.node("Scan", first, backwards(g, x) if op.reverse else x, outputs=2, body=body, num_scan_inputs=1)[1]
        made = backwards(g, made) if op.reverse else made
        x = Value(g.transpose(made, *(order.index(i) for i in range(len(order)))).name, shape)
    return x


@onnx_exporter("top_k")
def top_k(g: OnnxGraph, op: Any, x: Value) -> Any:
    values, places = g.node("TopK", x, g.ints(int(op.k)), outputs=2, axis=-1, largest=1, sorted=1)
    places.spec = places.spec.with_dtype(DataType.LONG)
    if not op.sorted:
        places = g.node("TopK", places, g.ints(int(op.k)), outputs=2, axis=-1, largest=0, sorted=1)[0]
        values = g.node("GatherElements", x, places, axis=-1)
    return values, g.cast(places, DataType.INT)
