"""Building a plan: simplify, lower, place buffers, write the function that does nothing but call."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..node import Node
from ..spec import TensorSpec, spec_of
from .lower import lower, stand_in_name
from .memory import Buffer, assign
from .plan import Plan, Step
from .specialise import shape_stand_in, specialise


def build_plan(nodes: Sequence[Node], feeds: Mapping[str, TensorSpec], stored: Mapping[str, Any], constants: Mapping[str, Any],
               outputs: Sequence[str], pinned: Mapping[str, Any] | None = None,
               symbolic: Mapping[str, Any] | None = None) -> Plan:
    """A plan for exactly these input shapes.

    Parameters
    ----------
    nodes : in an order in which they can run
    feeds : specs of the values given at each run
    stored, constants : arrays of trainable variables and of constants
    outputs : names to compute, in order
    pinned : outputs that are to be written into these very arrays
    symbolic : shapes of all variables with -1 where the graph leaves a size open, so that kernels serve every size
    """
    pinned = dict(pinned or {})
    specs = {**feeds, **{n: _bare(a) for n, a in {**stored, **constants}.items()}}
    graph = specialise(nodes, specs, constants, outputs)
    sources = [graph.alias.get(n, n) for n in outputs]
    steps = lower(graph, set(sources))
    kept = {**stored, **graph.constants}
    for step in steps:
        for n in step.inputs:
            if n is not None and n.startswith("~"):
                graph.specs[n] = graph.specs[n[1:]]
                kept[n] = shape_stand_in(graph.specs[n])
    read = {n for s in steps for n in s.inputs} | set(sources)
    by_source = {s: pinned[n] for n, s in reversed(list(zip(outputs, sources))) if n in pinned}
    written = {n: a for n, a in by_source.items() if any(n in s.outputs and s.kind in ("kernel", "fused") for s in steps)}
    plan = Plan(steps, graph.specs, tuple(feeds), tuple(outputs), tuple(sources), {n: a for n, a in kept.items() if n in read}, written, dict(symbolic or {}))
    _place(plan, set(sources) - set(written))
    _emit(plan, pinned)
    return plan


def _bare(array: Any) -> TensorSpec:
    spec = spec_of(array)
    return TensorSpec(spec.shape, spec.dtype)


def _place(plan: Plan, handed_out: set[str]) -> None:
    """Give an arena place to every kernel output that is not handed out, and to workspaces."""
    roots: dict[str, set[str]] = {}
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for i, step in enumerate(plan.steps):
        used = {r for n in step.inputs if n is not None for r in roots.get(n, {n})}
        for r in used:
            last[r] = i
        for n in step.outputs:
            if step.kind in ("kernel", "fused"):
                roots[n], first[n], last[n] = {n}, i, i
            else:                       # may be a view of any input
                roots[n] = used
    for n in plan.sources:
        for r in roots.get(n, {n}):
            last[r] = len(plan.steps)
    buffers = {n: Buffer(_bytes(plan.specs[n]), first[n], last[n]) for n in first
               if n not in handed_out and n not in plan.pinned and plan.specs[n].is_static}
    for i, step in enumerate(plan.steps):
        for k, spec in enumerate(step.workspace):
            buffers[f"{i}:work{k}"] = Buffer(_bytes(spec), i, i)
    plan.offsets, plan.arena = assign(buffers)


def _bytes(spec: TensorSpec) -> int:
    return int(np.prod(spec.shape or (), dtype=np.int64)) * spec.dtype.numpy.itemsize


def _emit(plan: Plan, pinned: Mapping[str, Any]) -> None:
    """Write and compile ``make(bound, calls) -> run(context, *feeds)``."""
    bound = {*plan.stored, *plan.pinned, *(n for n in plan.offsets if ":work" not in n)}
    names: dict[str, str] = {}

    def name(n: str | None) -> str:
        if n is None:
            return "None"
        return names.setdefault(n, f"{'b' if n in bound else 'v'}{len(names)}")

    body: list[tuple[str, int]] = []
    for i, step in enumerate(plan.steps):
        if step.kind == "view" and all(n is None or n in bound for n in step.inputs):
            bound.update(step.outputs)
            continue
        ins, outs = [name(n) for n in step.inputs], [name(n) for n in step.outputs]
        if step.kind in ("view", "python"):
            context = ["ctx"] if step.kind == "python" else []
            body.append((f"{', '.join(outs)}, = c{i}({', '.join(context + ins)})", i))
            continue
        for n in step.outputs:
            if n not in bound:
                body.append((f"{name(n)} = empty({plan.specs[n].shape!r}, dtype({plan.specs[n].dtype.numpy.name!r}))", i))
        if step.kind == "fused":
            operands = [n for n in (*step.inputs, *step.outputs) if n is not None]
            extra = [f"w{i}_{k}" if n in bound else f"w{i}_{k}({name(n)})" for k, n in enumerate(operands)]
            body.append((f"c{i}({', '.join(extra)})", i))
        else:
            body.append((f"c{i}({', '.join(ins + outs + [f'w{i}_{k}' for k in range(len(step.workspace))])})", i))
    results = []
    owned = {n for s in plan.steps if s.kind in ("kernel", "fused") for n in s.outputs if n not in bound}
    direct: set[str] = set()
    for asked, source in zip(plan.outputs, plan.sources):
        if asked in pinned:
            if pinned[asked] is not plan.pinned.get(source):
                body.append((f"copyto(pinned_{len(results)}, {name(source)})", len(plan.steps) - 1))
            results.append("None")
        elif source in owned and source not in direct:
            direct.add(source)
            results.append(name(source))
        else:
            results.append(f"copy({name(source)})")
    feeds = [name(n) for n in plan.feeds]
    head = ["def make(bound, calls):"]
    head += [f"    {py} = bound[{n!r}]" for n, py in names.items() if n in bound]
    for i, step in enumerate(plan.steps):
        extra_count = len(step.workspace) if step.kind != "fused" else len([n for n in (*step.inputs, *step.outputs) if n is not None])
        work = "".join(f", w{i}_{k}" for k in range(extra_count))
        head.append(f"    c{i}{work}, = calls[{i}]")
    head.append(f"    def run({', '.join(['ctx', *feeds])}):")
    text = [*head, *(f"        {line}" for line, _ in body), f"        return ({''.join(r + ', ' for r in results)})", "    return run"]
    plan.lines = [0] * len(head) + [i for _, i in body] + [max(len(plan.steps) - 1, 0)] * 2
    scope: dict[str, Any] = {"empty": np.empty, "dtype": _dtype, "copy": _copy, "copyto": np.copyto}
    scope.update({f"pinned_{k}": pinned[n] for k, n in enumerate(plan.outputs) if n in pinned})
    exec(compile("\n".join(text), "<dl4py-plan>", "exec"), scope)
    plan.code = scope["make"]


def _copy(array: Any) -> Any:
    return np.array(array, copy=True, order="C")


def _dtype(name: str) -> Any:
    from ..datatype import DataType
    return DataType.of(name).numpy


__all__ = ["Step", "build_plan", "stand_in_name"]
