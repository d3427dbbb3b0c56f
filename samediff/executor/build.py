"""Building a plan: simplify, lower, place buffers, write the function that does nothing but call."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..base.datatype import DataType
from ..base.spec import TensorSpec, spec_of
from ..ir.node import Node
from ..ir.run_context import WORD_COUNT
from ..plans.backend import Backend
from ..plans.memory import Buffer, assign, bytes_of
from ..plans.plan import Plan
from ..plans.plan_data import PlanStep, RngState, ShapeSource, StepKind, Value, Workspace
from .lower import lower
from .memory_format import orders
from .specialise import shape_only, specialise


def build_plan(nodes: Sequence[Node], feeds: Mapping[str, TensorSpec], stored: Mapping[str, Any], constants: Mapping[str, Any],
               outputs: Sequence[str], pinned: Mapping[str, Any] | None, symbolic: Mapping[str, Any] | None, backend: Backend) -> Plan:
    """A plan for exactly these input shapes.

    Parameters
    ----------
    nodes : in an order in which they can run
    feeds : specs of the values given at each run
    stored, constants : arrays of trainable variables and of constants
    outputs : names to compute, in order
    pinned : outputs that are to be written into these very arrays
    symbolic : shapes of all variables with -1 where the graph leaves a size open, so that kernels serve every size
    backend : of the device that is to run it
    """
    pinned = dict(pinned or {})
    specs = {**feeds, **{n: _bare(a) for n, a in {**stored, **constants}.items()}}
    graph = specialise(nodes, specs, constants, outputs, symbolic, backend)
    sources = [graph.alias.get(n, n) for n in outputs]
    steps = lower(graph, set(sources), symbolic, backend)
    read: dict[Value | None, None] = dict.fromkeys([n for s in steps for n in s.inputs])
    read.update(dict.fromkeys(sources))
    kept = dict[Value, Any]()
    for arrays in (stored, graph.constants):
        kept.update(arrays)
    known: dict[Value, TensorSpec] = dict(graph.specs.items())
    rng_state = RngState() if RngState() in read else None
    if rng_state is not None:
        known[rng_state] = TensorSpec((WORD_COUNT,), DataType.LONG)
    for n in read:
        if isinstance(n, ShapeSource):
            known[n] = known[n.name]
            kept[n] = shape_only(known[n])
    by_source = {s: pinned[n] for n, s in reversed(list(zip(outputs, sources))) if n in pinned}
    producers = {n: s for s in steps for n in s.outputs}
    written = {n: a for n, a in by_source.items() if n in producers and _takes(producers[n], a)}
    plan = backend.plan(steps=steps, specs=known, feeds=tuple(feeds), outputs=tuple(outputs), sources=tuple(sources),
                        stored={n: a for n, a in kept.items() if n in read}, pinned=written, handed_in=pinned,
                        symbolic=dict(symbolic or {}), rng_state=rng_state, orders=orders(steps, known, {*sources, *written}))
    _place(plan, set(sources) - set(written) if backend.hands_out else set())
    return plan


def _takes(step: PlanStep, array: Any) -> bool:
    """Whether a step can write into an array of that layout; loops are compiled for dense ones."""
    return step.kind is StepKind.KERNEL or (step.kind is StepKind.FUSED and array.flags.c_contiguous)


def _bare(array: Any) -> TensorSpec:
    spec = spec_of(array)
    return TensorSpec(spec.shape, spec.dtype)


def _place(plan: Plan, handed_out: set[str]) -> None:
    """Give an arena place to every kernel output that is not handed out, and to workspaces."""
    roots: dict[Value, set[Value]] = {}
    first: dict[str, int] = {}
    last: dict[Value, int] = {}
    for i, step in enumerate(plan.steps):
        used = {r for n in step.inputs if n is not None for r in roots.get(n, {n})}
        for r in used:
            last[r] = i
        for n in step.outputs:
            if step.writes:
                roots[n], first[n], last[n] = {n}, i, i
            else:                       # may be a view of any input
                roots[n] = used
    for n in plan.sources:
        for r in roots.get(n, {n}):
            last[r] = len(plan.steps)
    buffers: dict[str | Workspace, Buffer] = {n: Buffer(bytes_of(plan.specs[n]), first[n], last[n]) for n in first
               if n not in handed_out and n not in plan.pinned and plan.specs[n].is_static}
    for i, step in enumerate(plan.steps):
        for k, spec in enumerate(step.workspace):
            buffers[Workspace(i, k)] = Buffer(bytes_of(spec), i, i)
    offsets, plan.arena = assign(buffers)
    plan.offsets = {n: at for n, at in offsets.items() if isinstance(n, str)}
    plan.workspaces = {n: at for n, at in offsets.items() if isinstance(n, Workspace)}
