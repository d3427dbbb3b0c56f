"""A graph for given input shapes: static specs everywhere, constants folded, equal expressions shared, dead nodes gone."""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..base.spec import TensorSpec
from ..errors import DL4PyError, ShapeError
from ..families.broadcasting import SumTo
from ..families.prunable_outputs import PrunableOutputs
from ..ir.node import Node, needed
from ..ir.run_context import RunContext
from ..ir.translate_errors import inferred, translated
from ..ops.control.control import Scan
from ..plans.backend import Backend
from ..plans.reference import as_declared, compute, raise_explained
from .inline import inlined
from .join_sums import joined
from .kept_steps import with_kept_steps
from .plan_kernels import PlanKernels

#: Folded constants larger than this are computed at run time after all.
MAX_FOLDED = 1 << 22


@dataclass
class Specialised:
    """A graph specialised for input shapes: the nodes that are left, static specs, and constants known without a run."""

    nodes: list[Node]
    specs: dict[str, TensorSpec]
    constants: dict[str, Any]
    kernels: PlanKernels
    alias: dict[str, str] = field(default_factory=dict)     # name -> name of the equal value that is computed instead
    sums: dict[str, Node] = field(default_factory=dict)     # results of gradients summed over broadcast axes
    scans_wait: bool = True                                 # until all are known, and what each of them reads of others


def specialise(nodes: Sequence[Node], specs: Mapping[str, TensorSpec], constants: Mapping[str, Any],
               outputs: Collection[str], symbolic: Mapping[str, Any] | None, backend: Backend) -> Specialised:
    """Infer static shapes from those of the inputs, then simplify.

    Parameters
    ----------
    nodes : in an order in which they can run
    specs : of feeds and stored variables
    constants : arrays of the graph's constants
    outputs : names that must be computed
    symbolic : shapes that the graph declares, with -1 for open sizes
    backend : a composition runs in place of an op that has no kernel there
    """
    done = Specialised([], dict(specs), dict(constants), PlanKernels(backend))
    seen: dict[Any, tuple[str, ...]] = {}
    for node in nodes:
        _add(node, done, seen, symbolic or {})
    if any(isinstance(n.op, Scan) for n in done.nodes):
        _with_scans(done, [done.alias.get(n, n) for n in outputs], symbolic or {})
    wanted = [done.alias.get(n, n) for n in outputs]
    done.nodes = _only_read(_pruned(done, wanted), wanted)
    return done


def _with_scans(done: Specialised, outputs: Sequence[str], symbolic: Mapping[str, Any]) -> None:
    """The graph once more, with scans as plans run them."""
    nodes, given = with_kept_steps(_pruned(done, outputs), outputs, done.specs)
    done.nodes, done.scans_wait = [], False
    seen: dict[Any, tuple[str, ...]] = {}
    for node in nodes:
        _add(node, done, seen, symbolic)
    for name, other in (done.alias | given).items():
        while other in done.alias or other in given:
            other = given.get(other) or done.alias[other]
        done.alias[name] = other


def _only_read(nodes: list[Node], outputs: Sequence[str]) -> list[Node]:
    """Nodes without the work that is for nobody."""
    read = {n for node in nodes for n in node.inputs} | set(outputs)
    return [replace(n, op=n.op.with_live_outputs([o in read for o in n.outputs])) if isinstance(n.op, PrunableOutputs) else n
            for n in nodes]


def _add(original: Node, done: Specialised, seen: dict[Any, tuple[str, ...]], symbolic: Mapping[str, Any]) -> None:
    """A node in its simplest form, or the nodes that it stands for."""
    node = replace(original, inputs=tuple(None if n is None else done.alias.get(n, n) for n in original.inputs))
    _infer(node, done, symbolic)
    same = _same(node, done)
    if same is not None:
        done.alias[node.outputs[0]] = same
        return
    if _fold(node, done):
        return
    key = _key(node)
    if key is not None and key in seen:
        done.alias.update(zip(node.outputs, [done.alias.get(n, n) for n in seen[key]]))
        return
    if key is not None:
        seen[key] = node.outputs
    pair = joined(node, done.sums, done.specs)
    if pair is not None:
        for part in pair:
            _add(part, done, seen, symbolic)
        return
    if isinstance(node.op, SumTo):
        done.sums[node.outputs[0]] = node
    if done.scans_wait and isinstance(node.op, Scan):
        done.nodes.append(node)
    else:
        _place(node, done, seen, symbolic)


def _place(node: Node, done: Specialised, seen: dict[Any, tuple[str, ...]], symbolic: Mapping[str, Any]) -> None:
    """A node, or those of its composition."""
    given, made = [visible(n, done) for n in node.inputs], [done.specs[n] for n in node.outputs]
    served = node.op.plan_rewrite(node.name) is None and done.kernels.of(node, given, made) is not None
    try:
        parts = None if served else inlined(node, given, made, done.kernels.backend.kernels)
    except DL4PyError as error:
        raise_explained(error, node, given)
    if parts is None:
        done.nodes.append(node)
        return
    done.constants.update(parts.constants)
    done.specs.update({n: TensorSpec(tuple(a.shape), DataType.of(a.dtype)) for n, a in parts.constants.items()})
    for part in parts.nodes:
        _add(part, done, seen, symbolic)
    done.alias.update(zip(node.outputs, [done.alias.get(n, n) for n in parts.results]))


def _infer(node: Node, done: Specialised, symbolic: Mapping[str, Any]) -> None:
    try:
        made = inferred(node.op, [visible(n, done) for n in node.inputs])
    except Exception as error:
        known = error if isinstance(error, DL4PyError) else translated(node.op, error)
        if known is None:
            raise
        given = ", ".join(f"{n} {done.specs[n]}" for n in node.inputs if n is not None)
        raise type(known)(f"{node.where()}: {known}; inputs: {given or 'none'}") from error
    found = made if isinstance(made, tuple) else (made,)
    if len(found) != len(node.outputs):
        raise ShapeError(f"{node.where()}: {len(node.outputs)} results were expected, inputs of these shapes give {len(found)}")
    for name, spec in zip(node.outputs, found):
        declared = symbolic.get(name)
        if declared is not None and spec.is_static and not TensorSpec(tuple(declared), spec.dtype).accepts(spec.shape):  # type: ignore[arg-type]
            raise ShapeError(f"{node.where()}: a result of shape {tuple(declared)} was expected, inputs of these shapes give {spec.shape}")
        done.specs[name] = spec


def visible(name: str | None, done: Specialised) -> TensorSpec | None:
    """The spec of an input of a node, with the value of a small constant."""
    if name is None:
        return None
    spec = done.specs[name]
    if name in done.constants and spec.value is None and done.constants[name].size <= 4096:
        return TensorSpec(spec.shape, spec.dtype, done.constants[name])
    return spec


def _fold(node: Node, done: Specialised) -> bool:
    """Compute a node now when its inputs are constant, as far as it looks at them."""
    ignored = node.op.shape_inputs
    fixed = all(n is None or n in done.constants or (i in ignored and done.specs[n].is_static) for i, n in enumerate(node.inputs))
    sizes = [int(np.prod(done.specs[n].shape)) if done.specs[n].is_static else 0 for n in node.outputs]  # type: ignore[arg-type]
    if not fixed or node.op.stateful or max(sizes, default=0) > MAX_FOLDED:
        return False
    inputs = [None if n is None else done.constants[n] if n in done.constants else shape_only(done.specs[n]) for n in node.inputs]
    try:
        results = as_declared(compute(node.op, inputs, RunContext(), node.name), [done.specs[n] for n in node.outputs])
    except Exception as error:
        raise_explained(error, node, inputs)
    for name, result in zip(node.outputs, results):
        done.constants[name] = result
        done.specs[name] = TensorSpec(tuple(result.shape), DataType.of(result.dtype))
    return True


def shape_only(spec: TensorSpec) -> Any:
    """An array of that shape that holds one element only, for ops that look at nothing but the shape."""
    return np.broadcast_to(np.zeros((), spec.dtype.numpy), spec.shape)  # type: ignore[arg-type]


def _same(node: Node, done: Specialised) -> str | None:
    specs = [None if n is None else done.specs[n] for n in node.inputs]
    if not all(s is None or s.is_static for s in specs):
        return None
    index = node.op.same_as(*specs)  # type: ignore[arg-type]
    return None if index is None else node.inputs[index]


def _key(node: Node) -> Any:
    if node.op.stateful and not node.op.is_shared:
        return None
    try:
        hash(node.op)
    except TypeError:
        return None
    return type(node.op), node.op, node.inputs


def _pruned(done: Specialised, outputs: Sequence[str]) -> list[Node]:
    """Only what the outputs need, where inputs that matter by shape alone need nothing."""
    trimmed = []
    for node in done.nodes:
        kept = [None if n is None or (i in node.op.shape_inputs and done.specs[n].is_static) else n for i, n in enumerate(node.inputs)]
        trimmed.append(replace(node, inputs=tuple(kept)))
    names = {n.name for n in needed(trimmed, outputs)}
    order = {n.name: i for i, n in enumerate(needed(done.nodes, outputs))}
    return sorted((n for n in done.nodes if n.name in names), key=lambda n: order[n.name])
