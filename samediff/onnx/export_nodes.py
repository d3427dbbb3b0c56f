"""Ops of a graph as nodes of ONNX: by their exporter, as scalar functions, or by the nodes that they stand for."""
from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.spec import TensorSpec, may_equal
from ..errors import DL4PyError
from ..expressions.tracing import TraceError
from ..families.decomposed import composition
from ..families.families import Elementwise
from ..families.followed import array_code
from ..families.subgraph import SubGraph, graphs_of
from ..ir.node import Node, needed
from ..ir.op import Expandable, Op, as_tuple
from ..ir.run_context import RunContext
from ..ir.translate_errors import inferred
from ..plans.reference import as_declared, compute
from .export_graph import OnnxGraph, Value
from .export_table import NotSayableError, exporter_of
from .exporters.scalar import written
from .values import CODES

#: Results of constants that are larger are computed by the model.
MOST_FOLDED = 1 << 22


class OpWriter(OnnxGraph):
    """Writes ops.

    Attributes
    ----------
    refused : why ONNX cannot say a node, by name of the node
    own : names of the graph's own variables
    """

    def __init__(self, taken: Sequence[str]) -> None:
        super().__init__(taken)
        self.refused: dict[str, str] = {}
        self.own = set(taken)
        self._within: list[type[Op]] = []

    def run(self, sd: Any, outputs: Sequence[str], given: Mapping[str, Value]) -> dict[str, Value]:
        """Write the nodes that ``outputs`` need: all values by name; ``given`` are those of inputs."""
        scope = dict(given)
        for variable in sd.variables():
            if variable.is_constant() and variable.name() not in scope:
                scope[variable.name()] = self.constant(np.asarray(sd.stored(variable.name())))
                if not self._within and variable.name() in self.own:
                    scope[variable.name()].wanted = variable.name()
        nodes = needed(sd.nodes(), outputs)
        read = {n for node in nodes for n in node.inputs} | set(outputs)
        for node in nodes:
            self.read = [n in read for n in node.outputs]
            scope.update(zip(node.outputs, self._node(node, [None if n is None else scope[n] for n in node.inputs])))
        return scope

    def graph(self, graph: SubGraph, inputs: Sequence[Value]) -> list[Value]:
        """The nodes of a graph that an op runs: its results."""
        scope = self.run(graph.sd, graph.outputs, dict(zip(graph.inputs, inputs)))
        return [scope[n] for n in graph.outputs]

    def block_of(self, graph: SubGraph, inputs: list[Value], given: Sequence[Value]) -> Any:
        """A block that runs a graph on ``given``; its own inputs are ``inputs``."""
        with self.block(inputs) as made:
            made.outputs = [self.node("Identity", v) for v in self.graph(graph, given)]
        return made

    def op(self, op: Op, *inputs: Value | None) -> Any:
        """The nodes of one op: its result, or a tuple of several."""
        read, self.read = self.read, [True] * 16
        made = self._emitted(op, inputs)
        self.read = read
        return made[0] if len(made) == 1 else made

    def _node(self, node: Node, inputs: list[Value | None]) -> list[Value]:
        op = node.op.at_inference()
        specs = [None if v is None else v.seen for v in inputs]
        promised = as_tuple(inferred(op, specs))
        folded = self._folded(op, node.name, inputs, promised)
        if folded is not None:
            return folded
        try:
            made = self._emitted(op, inputs)
        except NotSayableError as error:
            if self._within:
                raise
            self.refused[node.where()] = str(error)
            made = tuple(Value(self.fresh("nothing"), s) for s in promised)
        return [Value(v.name, s, v.known) for v, s in zip(made, promised, strict=True)]

    def _folded(self, op: Op, name: str, inputs: Sequence[Value | None], promised: Sequence[TensorSpec]) -> list[Value] | None:
        """The results where they depend on constants alone."""
        shapes = [v is None or v.known is not None or (i in op.shape_inputs and v.spec.is_static) for i, v in enumerate(inputs)]
        sizes = [int(np.prod(s.shape)) if s.is_static else 0 for s in promised]  # type: ignore[arg-type]
        if not all(shapes) or op.stateful or max(sizes, default=0) > MOST_FOLDED or not all(s.dtype.is_numeric for s in promised):
            return None
        arrays = [None if v is None else v.known if v.known is not None else np.broadcast_to(np.zeros((), v.dtype.numpy), v.static)
                  for v in inputs]
        found = as_declared(compute(op, arrays, RunContext(), name), list(promised))
        return [self.constant(np.array(a)) for a in found]

    def _emitted(self, op: Op, inputs: Sequence[Value | None]) -> tuple[Value, ...]:
        """By the exporter, else as scalar functions, else by what the op stands for."""
        for v in inputs:
            if v is not None and v.dtype not in CODES:
                raise NotSayableError(f"an input is of type {v.dtype.name}")
        found = exporter_of(op)
        made = None if found is None else found.export(self, op, *inputs)
        if made is not None:
            return as_tuple(made)
        scalar = self._scalar(op, inputs) if isinstance(op, Elementwise) else None
        if scalar is not None:
            return scalar
        if op.stateful and not graphs_of(op):
            raise NotSayableError("it draws random numbers")
        if type(op) in self._within:
            raise NotSayableError("ONNX has no operator for it")
        self._within.append(type(op))
        try:
            return self._composed(op, inputs)
        finally:
            self._within.pop()

    def _scalar(self, op: Elementwise, inputs: Sequence[Value | None]) -> tuple[Value, ...] | None:
        """As scalar functions; None where its code is none of these."""
        given = [v for v in inputs if v is not None]
        try:
            expressions = op.expressions([v.dtype.numpy for v in given])
        except TraceError:
            return None
        return written(self, expressions, given)

    def _composed(self, op: Op, inputs: Sequence[Value | None]) -> tuple[Value, ...]:
        """The nodes of its composition, or of its array code."""
        specs = tuple(None if v is None else TensorSpec(v.spec.shape, v.dtype) for v in inputs)
        promised = as_tuple(inferred(op, [None if v is None else v.seen for v in inputs]))
        problem = "ONNX has no operator for it"
        plan_rewrite = op.plan_rewrite("node")            # others have a composition for their gradients' sake
        whole = plan_rewrite or op
        seen = [None if v is None else v.seen for v in inputs]
        ways: list[Any] = [functools.partial(composition, whole, specs)] if isinstance(whole, Expandable) else []
        ways.insert(1 if plan_rewrite else 0, functools.partial(array_code, op, seen))
        for way in ways:
            before = len(self.nodes)
            try:
                sd, outputs = way()
                if not all(o.dtype is s.dtype and may_equal(o.spec.shape, s.shape) for o, s in zip(outputs, promised)):
                    raise NotSayableError("ONNX has no operator for it")
                scope = self.run(sd, [o.name() for o in outputs], {f"in{i}": v for i, v in enumerate(inputs) if v is not None})
                return tuple(scope[o.name()] for o in outputs)
            except NotSayableError as error:
                problem = str(error)
            except (DL4PyError, NotImplementedError, TypeError, ValueError, AttributeError) as error:
                problem = problem if isinstance(error, NotImplementedError) else f"its code cannot be followed: {error}".split("\n")[0]
            del self.nodes[before:]
        raise NotSayableError(problem)

