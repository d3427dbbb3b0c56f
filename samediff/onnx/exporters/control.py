"""Branches, loops and scans."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ..export_graph import OnnxGraph, Value
from ..export_table import onnx_exporter


@onnx_exporter("if")
def branch(g: OnnxGraph, op: Any, condition: Value, *values: Value) -> Any:
    count = len(op.yes.outputs)
    dtypes = [op.yes.sd.variable(n).dtype for n in op.yes.outputs]
    made = g.node("If", g.reshape(condition, 1), outputs=count, then_branch=g.block_of(op.yes, [], values),
                  else_branch=g.block_of(op.no, [], values))
    return _typed(made, dtypes)


def _typed(made: Any, dtypes: Sequence[DataType]) -> tuple[Value, ...]:
    values = made if isinstance(made, tuple) else (made,)
    return tuple(Value(v.name, TensorSpec(v.spec.shape, t)) for v, t in zip(values, dtypes))


@onnx_exporter("while")
def loop(g: OnnxGraph, op: Any, *values: Value) -> Any:
    state, outside = list(values[:op.count]), values[op.count:]
    (first,) = g.graph(op.condition, [*state, *outside])
    inner = [g.input(s) for s in op.infer(*[v.seen for v in values])]
    step, goes_on = g.input(TensorSpec((), DataType.LONG)), g.input(TensorSpec((), DataType.BOOL))
    with g.block([step, goes_on, *inner]) as body:
        after = [g.node("Identity", v) for v in g.graph(op.body, [*inner, *outside])]
        after = [Value(v.name, i.spec) for v, i in zip(after, inner)]
        (again,) = g.graph(op.condition, [*after, *outside])
        body.outputs = [g.reshape(again, 1) if again.spec.shape not in ((), (1,)) else g.node("Identity", again), *after]
    made = g.node("Loop", None, first, *state, outputs=op.count, body=body)
    return _typed(made, [v.dtype for v in inner])


def backwards(g: OnnxGraph, x: Value, axis: int = 0) -> Value:
    """The elements along an axis from the last to the first."""
    made = g.node("Slice", x, g.ints(-1), g.ints(-(1 << 63)), g.ints(axis), g.ints(-1))
    return Value(made.name, x.spec)


@onnx_exporter("scan")
def scan(g: OnnxGraph, op: Any, *values: Value) -> Any:
    carries, split = op.carries, op.carries + op.sequences
    state, rows, outside = values[:carries], values[carries:split], values[split:]
    before = [g.input(v.spec) for v in state]
    elements = [g.input(TensorSpec(None if r.spec.shape is None else r.spec.shape[1:], r.dtype)) for r in rows]
    wanted = g.read
    if op.reverse:                      # not every runtime goes through sequences backwards
        rows = tuple(backwards(g, r) for r in rows)
    with g.block([*before, *elements]) as body:
        results = g.graph(op.body, [*before, *elements, *outside])
        body.outputs = [g.node("Identity", v) for v in (*results, *before)]
    produced = len(op.body.outputs)
    kept = [i for i in range(len(body.outputs)) if i < carries or wanted[i]]
    body.outputs = [body.outputs[i] for i in kept]
    made = g.node("Scan", *state, *rows, outputs=len(kept), body=body, num_scan_inputs=len(rows))
    found = _typed(made, [v.dtype for v in body.outputs])
    typed = {i: backwards(g, v) if op.reverse and i >= carries else v for i, v in zip(kept, found)}
    whole = [*op.body.outputs, *[None] * carries]
    return tuple(typed.get(i) or Value("nothing", TensorSpec(None, state[i - produced].dtype if i >= produced else DataType.FLOAT))
                 for i in range(len(whole)))


@onnx_exporter("call_graph")
def call(g: OnnxGraph, op: Any, *values: Value) -> Any:
    return tuple(g.graph(op.graph, values))
