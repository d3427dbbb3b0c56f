"""Graphs inside ops: what a lambda builds, taken out of the graph and run or differentiated by itself."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..base.lazy_property import lazy_property
from ..base.spec import Shape, TensorSpec
from ..errors import GraphError
from ..ir.node import Node, needed
from ..ir.run_context import RunContext
from ..ir.variable import SDVariable, VariableType
from .gradient import gradients

if TYPE_CHECKING:
    from ..ir.core import GraphCore
    from ..ir.op import Op


class SubGraph:
    """A graph with ordered inputs and outputs; two are equal only when they are the same.

    Attributes
    ----------
    sd : SameDiff
    inputs : tuple of str
        Placeholders.
    outputs : tuple of str
    derived : graphs, and what else was made of this one, by what and how
    """

    def __init__(self, sd: Any, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        self.sd = sd
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.derived: dict[Any, Any] = {}

    def __repr__(self) -> str:
        return f"SubGraph({len(self.sd.nodes())} ops, {', '.join(self.inputs)} -> {', '.join(self.outputs)})"

    @classmethod
    def of_nodes(cls, sd: Any, nodes: Sequence[Node], inputs: Sequence[str], outputs: Sequence[str]) -> SubGraph:
        """A sub-graph with a copy of these nodes; values that they read besides the inputs become constants."""
        made = type(sd)()
        for name in inputs:
            made.tables.add_input(name, sd.variable(name).spec)
        inner = {n for node in nodes for n in node.outputs}
        for name in dict.fromkeys([n for node in nodes for n in node.inputs if n is not None] + [*outputs]):
            if name not in inner and not made.has_variable(name):
                made.tables.add_variable(name, VariableType.CONSTANT, sd.variable(name).spec, sd.tables.store[name])
        for node in nodes:
            made.tables.put_node(node, [sd.variable(n).spec for n in node.outputs])
        return cls(made, inputs, outputs)

    def taking(self, inputs: Sequence[SDVariable]) -> SubGraph:
        """The same sub-graph with the given inputs, in this order; its own inputs keep their names."""
        for v in inputs:
            if v.name() not in self.inputs:
                self.sd.tables.add_input(v.name(), v.spec)
        return SubGraph(self.sd, [v.name() for v in inputs], self.outputs)

    def specs(self, given: Sequence[TensorSpec]) -> dict[str, TensorSpec]:
        """Specs of all values that the outputs need, for inputs of these specs."""
        known: dict[str, TensorSpec] = {v.name(): self.sd.tables.visible(v) for v in self.sd.variables() if v.is_constant()}
        known.update(zip(self.inputs, given))
        for node in needed(self.sd.nodes(), self.outputs):
            found = node.op.infer(*[None if n is None else known[n] for n in node.inputs])  # type: ignore[arg-type]
            known.update(zip(node.outputs, found if isinstance(found, tuple) else (found,)))
        return known

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """Specs of the outputs for inputs of these specs."""
        known = self.specs(specs)
        return tuple(known[n] for n in self.outputs)

    def run(self, arrays: Sequence[Any], context: RunContext) -> list[Any]:
        """Values of the outputs."""
        names = list(dict.fromkeys(self.outputs))
        own = RunContext(context.training, context.seed, context.iteration, draw=context.draw)
        values = self.sd.compute_in(own, dict(zip(self.inputs, arrays)), names)
        return [values[n] for n in self.outputs]

    @lazy_property
    def draws(self) -> bool:
        """Whether results depend on random numbers, or on what else a run tells its ops."""
        return any(n.op.stateful for n in needed(self.sd.nodes(), self.outputs))

    @lazy_property
    def at_inference(self) -> SubGraph:
        """The graph with the inference forms of its ops; itself where those are the same."""
        forms = [replace(n, op=form) for n in self.sd.nodes() if (form := n.op.at_inference()) is not n.op]
        if not forms:
            return self
        fork = self.sd.fork()
        fork.tables.nodes.update({n.name: n for n in forms})
        return SubGraph(fork, self.inputs, self.outputs)

    def plan(self, specs: Sequence[TensorSpec]) -> Any:
        """The plan for inputs of these static specs, in training; what it draws follows from words that each run brings."""
        return self.sd.plan_in(dict(zip(self.inputs, specs)), list(dict.fromkeys(self.outputs)))

    @lazy_property
    def floating(self) -> tuple[int, ...]:
        """Positions of the inputs of floating types."""
        return tuple(i for i, n in enumerate(self.inputs) if self.sd.variable(n).dtype.is_floating)

    @lazy_property
    def floating_outputs(self) -> tuple[int, ...]:
        """Positions of the outputs of floating types."""
        return tuple(i for i, n in enumerate(self.outputs) if self.sd.variable(n).dtype.is_floating)

    @lazy_property
    def gradient(self) -> SubGraph:
        """The sub-graph that maps inputs and gradients of the floating outputs to gradients of the floating inputs."""
        fork = self.sd.fork()
        given, seeds = [], {}
        totals: dict[str, SDVariable] = {}
        for i in self.floating_outputs:
            name = self.outputs[i]
            upstream = fork.tables.new_input(f"upstream_{i}", fork.variable(name).spec)
            given.append(upstream.name())
            totals[name] = totals[name] + upstream if name in totals else upstream
        seeds.update(totals)
        wanted = [fork.variable(self.inputs[i]) for i in self.floating]
        found = gradients(fork, [], wanted, seeds)
        results = []
        for v in wanted:
            made = found[v.name()]
            results.append((fork.call("base", "zeros_like", v) if made is None else made).name())
        return SubGraph(fork, (*self.inputs, *given), results)


def graphs_of(op: Op) -> list[SubGraph]:
    """The graphs that an op runs."""
    return [v for v in op.values() if isinstance(v, SubGraph)]


def relaxed(first: TensorSpec, second: TensorSpec) -> TensorSpec:
    """The most specific spec that covers both: sizes that differ become -1, shapes of different rank None."""
    shape: Shape | None = None
    if first.shape is not None and second.shape is not None and len(first.shape) == len(second.shape):
        shape = tuple(a if a == b else -1 for a, b in zip(first.shape, second.shape))
    return TensorSpec(shape, first.dtype)


def called(function: Any, *args: Any) -> Any:
    """The result of a function given for a condition or body; one without parameters may leave the arguments out."""
    if not callable(function):
        raise GraphError(f"conditions and bodies are functions; got {type(function).__name__} {function!r:.60}")
    try:
        signature = inspect.signature(function)
    except ValueError:                     # a built-in has no signature
        return function(*args)
    if not signature.parameters:
        return function()
    try:
        signature.bind(*args)
    except TypeError:
        kinds = "the graph" if len(args) == 1 else "the graph and " + ", ".join(["lists of variables"] * (len(args) - 1))
        raise GraphError(f"the function {getattr(function, '__name__', function)!r} takes {signature}; it is called with {kinds}") from None
    return function(*args)


class GraphRecorder:
    """The nodes that a lambda adds to a graph, before they are taken out of it again.

    Parameters
    ----------
    sd : the graph that the lambda works on
    """

    def __init__(self, sd: GraphCore) -> None:
        self.sd = sd
        self._variables = dict(sd.tables.variables)
        self._nodes = dict(sd.tables.nodes)
        self._losses = list(sd.tables.losses), sd.tables.losses_given
        self._dummy_inputs: set[str] = set()
        self.several = False            # whether the last function gave a list

    def dummy_input(self, base: str, spec: TensorSpec) -> SDVariable:
        """A variable for the lambda to work on in place of a value that each run or iteration brings."""
        made = self.sd.tables.new_input(base, spec)
        self._dummy_inputs.add(made.name())
        return made

    def __enter__(self) -> GraphRecorder:
        return self

    def __exit__(self, *exception: object) -> None:
        """Take out what is left: the graph is as before, but for variables and placeholders that the lambda declared."""
        for name, node in list(self.sd.tables.nodes.items()):
            if name not in self._nodes:
                del self.sd.tables.nodes[name]
                for output in node.outputs:
                    self.sd.tables.producers.pop(output, None)
        for name, v in list(self.sd.tables.variables.items()):
            inner = v.get_variable_type() in (VariableType.ARRAY, VariableType.CONSTANT) or name in self._dummy_inputs
            if name not in self._variables and (inner or exception[0] is not None):
                del self.sd.tables.variables[name]
                self.sd.tables.store.pop(name, None)
        self.sd.tables.losses[:], self.sd.tables.losses_given = self._losses
        self.sd.tables.names.released()
        self.sd.tables.changed()

    def results(self, build: Callable[..., Any], *args: Any) -> list[SDVariable]:
        """The variables that a lambda returns, as a list; GraphError for anything that is no variable of this graph."""
        made = called(build, *args)
        self.several = isinstance(made, (list, tuple))
        values = list(made) if isinstance(made, (list, tuple)) else [made]
        for v in values:
            if not isinstance(v, SDVariable):
                raise GraphError(f"the function must return variables of the graph; got {type(v).__name__} {v!r:.60}")
        return [self.sd.variable(v) for v in values]

    def captured(self, outputs: Sequence[SDVariable]) -> list[str]:
        """Names of the variables from outside that the outputs depend on."""
        nodes = self._own_nodes(outputs)
        made = {n for node in nodes for n in node.outputs}
        read = dict.fromkeys([n for node in nodes for n in node.inputs if n is not None] + [v.name() for v in outputs])
        return [n for n in read if n not in made and n not in self._dummy_inputs and not self._inside(n)]

    def _own_nodes(self, outputs: Sequence[SDVariable]) -> list[Node]:
        return needed([n for n in self.sd.tables.nodes.values() if n.name not in self._nodes], [v.name() for v in outputs])

    def _inside(self, name: str) -> bool:
        """Whether a constant is copied into the sub-graph: those made inside, and those that may be axes or shapes."""
        v = self.sd.tables.variables[name]
        return v.is_constant() and (name not in self._variables or not v.dtype.is_floating)

    def take(self, inputs: Sequence[str], outputs: Sequence[SDVariable]) -> SubGraph:
        """The sub-graph from these inputs to these outputs."""
        return SubGraph.of_nodes(self.sd, self._own_nodes(outputs), inputs, [v.name() for v in outputs])
