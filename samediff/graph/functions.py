"""Named sub-graphs of a graph, calls of them, and loops over them."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from ..base.names import first_free
from ..base.spec import TensorSpec
from ..errors import DL4PyError, GraphError, UnknownNameError, did_you_mean
from ..families.subgraph import SubGraph
from ..files.missing_function import MissingFunction
from ..ir.core import GraphCore
from ..ir.node import Node, needed
from ..ir.tables import owned_copy
from ..ir.variable import SDVariable, VariableType
from ..ops.control.invoking import Invoke
from .control_flow import ControlFlowMixin
from .creation import CreationMixin
from .inspection import InspectionMixin


@dataclass
class InvokeParams:
    """A call of a named function.

    Parameters
    ----------
    function_name : str
        The function, as ``define_function`` or ``put_sub_function`` named it.
    inputs : list of SDVariable, optional
        Values; without them those that ``input_var_names`` names.
    sub_graph_input_var_names, sub_graph_output_var_names : list of str, optional
        Which variables of the function these are, and which results are wanted; by default its placeholders and its outputs.
    input_var_names : list of str, optional
        Variables of the calling graph, in place of ``inputs``.
    output_var_names : list of str, optional
        Names of the results in the calling graph.
    """

    function_name: str
    inputs: Sequence[SDVariable] | None = None
    sub_graph_input_var_names: Sequence[str] | None = None
    input_var_names: Sequence[str] | None = None
    output_var_names: Sequence[str] | None = None
    sub_graph_output_var_names: Sequence[str] | None = None


@dataclass
class LoopParams:
    """A loop over a function: see :meth:`FunctionsMixin.loop_with_conditions`.

    Parameters
    ----------
    function_name : str
        The function that is repeated, as ``define_function`` or ``put_sub_function`` named it.
    loop_vars : list of SDVariable
        Counter, maximum, flag (BOOL) and others, as they are before the first iteration.
    function_body : SameDiff, optional
        A graph that is put under ``function_name`` first.
    function_body_inputs, function_body_outputs : list of str, optional
        Which variables of the function are the loop variables and their new values; by default its placeholders and its outputs.
    output_var_names : list of str, optional
        Names of the last values in the calling graph.
    loop_name : str, optional
        Name scope of the body.
    """

    function_name: str
    loop_vars: Sequence[SDVariable]
    function_body: Any = None
    function_body_inputs: Sequence[str] | None = None
    function_body_outputs: Sequence[str] | None = None
    output_var_names: Sequence[str] | None = None
    loop_name: str | None = None


class FunctionsMixin(ControlFlowMixin, CreationMixin, InspectionMixin):
    """The part of :class:`SameDiff` that holds named sub-graphs."""

    def put_sub_function(self, name: str, graph: Self) -> None:
        """Keep a graph under a name, and let the calls of a loaded file that miss it run; GraphError when another graph has that name."""
        known = self.tables.functions.setdefault(name, graph)
        if known is not graph:
            raise GraphError(f"the name {name!r} belongs to another function of this graph already")
        try:
            self.bind_calls(name)
        except DL4PyError:
            del self.tables.functions[name]
            raise

    def bind_calls(self, name: str) -> None:
        """Make every call of a function that a loaded file missed until now a node that runs it."""
        for node in self.nodes():
            if isinstance(node.op, MissingFunction) and node.op.function == name:
                try:
                    self._bind(node)
                except DL4PyError as error:
                    raise type(error)(f"node {node.name!r} of the file calls function {name!r}: {error}") from error

    def _bind(self, node: Node) -> None:
        """Put the function in place of one call; GraphError when inputs or outputs do not fit."""
        call: Any = node.op
        function = self.get_function(call.function)
        inside = list(call.names("inputs") or function.inputs())
        results = list(call.names("outputs") or function.outputs())
        if len(inside) != len(node.inputs) or len(results) < len(node.outputs):
            raise GraphError(f"it takes {len(inside)} inputs ({', '.join(inside)}) and gives {len(results)} results; the call has "
                             f"{len(node.inputs)} and {len(node.outputs)}")
        graph, trained = cut_function(function, call.function, inside, results[:len(node.outputs)])
        with self.tables.all_or_nothing():
            own = [self._shared(f"{call.function}/{n}", function.stored(n)).name() for n in trained]
            self.tables.nodes[node.name] = replace(node, op=Invoke(graph), inputs=(*node.inputs, *own))
            try:
                self.infer_again()
            except DL4PyError:
                self.tables.nodes[node.name] = node
                raise

    def define_function(self, name: str, definition: Callable[..., Any], inputs: Any = None) -> Self:
        """Build a sub-graph with a callback and keep it under a name; nothing happens when the name is known.

        Parameters
        ----------
        name : str
            Under which the graph keeps it.
        definition : function of the new graph, the input arrays and the input variables
            Builds the function and returns its results.
        inputs : mapping of name to array, or list of SDVariable, optional
            Arrays for the callback, or variables to copy into the new graph.

        Examples
        --------
        >>> import numpy as np
        >>> from dl4py.samediff import DataType, InvokeParams, SameDiff
        >>> sd = SameDiff.create()
        >>> x = sd.var("x", np.float32(3))
        >>> square = sd.define_function("square", lambda f, arrays, given: [given[0] * given[0]], [x])
        >>> (y,) = sd.invoke(InvokeParams("square", [x]))
        >>> float(y.eval())
        9.0
        """
        if name in self.tables.functions:
            return self.get_function(name)
        made = type(self)()
        arrays = dict(inputs) if isinstance(inputs, Mapping) else {}
        given = [made.placeholder(v.name(), v.dtype, v.spec.shape) for v in ([] if isinstance(inputs, Mapping) else inputs or [])]
        results = definition(made, arrays, given)
        if results is not None:
            made.set_outputs(*(results if isinstance(results, (list, tuple)) else [results]))
        self.put_sub_function(name, made)
        return made

    def get_function(self, name: str) -> Self:
        """The function of that name."""
        found: Self | None = self.tables.functions.get(name)
        if found is None:
            raise UnknownNameError(f"no function named {name!r} in this graph{did_you_mean(name, self.tables.functions)}")
        return found

    def defined_function_names(self) -> list[str]:
        """Names of the functions."""
        return list(self.tables.functions)

    def invoke_graph_on(self, other: Self) -> SDVariable:
        """Copy all variables and ops of this graph into another one, under free names; the copy of the last variable.

        A placeholder whose name is a variable there with a fitting type stands for that variable.
        """
        names: dict[str | None, str | None] = {None: None}
        for name, v in self.tables.variables.items():
            if v.is_place_holder() and other.has_variable(name) and other.variable(name).dtype is v.dtype:
                names[name] = name
            elif v.get_variable_type() is not VariableType.ARRAY:
                names[name] = first_free(name, other.tables.is_taken)
                array = None if v.is_place_holder() else owned_copy(self.tables.store[name])
                other.tables.add_variable(names[name], v.get_variable_type(), TensorSpec(v.spec.shape, v.dtype), array)  # type: ignore[arg-type]
        with other.tables.all_or_nothing():
            for node in needed(self.nodes(), list(self.tables.producers)):
                wanted = [first_free(n, other.tables.is_taken) for n in node.outputs]
                inputs = [None if (m := names[n]) is None else other.variable(m) for n in node.inputs]
                other.add_op(node.op, inputs, wanted)
                names.update(zip(node.outputs, wanted))
        if not self.tables.variables:
            raise GraphError("the graph is empty: there is nothing to copy")
        return other.variable(names[next(reversed(self.tables.variables))])  # type: ignore[arg-type]

    def invoke_function_on(self, name: str, other: Self) -> SDVariable:
        """Add the named function's nodes to another graph; the variable of its result there."""
        return self.get_function(name).invoke_graph_on(other)

    def invoke(self, *args: Any) -> list[SDVariable]:
        """Call a function as one op: ``invoke(params)`` or ``invoke(output_names, params)``; returns its results.

        Trainable variables of the function join this graph as ``function/variable``, over the same arrays: all calls
        share them, gradients reach them, and training changes the function.
        """
        params: InvokeParams = args[-1]
        names = args[0] if len(args) == 2 else params.output_var_names
        function = self.get_function(params.function_name)
        inside = list(params.sub_graph_input_var_names or function.inputs())
        given = [self.variable(v) for v in (params.inputs if params.inputs is not None else params.input_var_names or ())]
        if len(inside) != len(given):
            raise GraphError(f"function {params.function_name!r} takes {len(inside)} inputs ({', '.join(inside)}); {len(given)} were given")
        graph, trained = cut_function(function, params.function_name, inside, list(params.sub_graph_output_var_names or function.outputs()))
        with self.tables.all_or_nothing():
            own = [self._shared(f"{params.function_name}/{n}", function.stored(n)) for n in trained]
            return self.add_op(Invoke(graph), [*given, *own], None if names is None else list(names))  # type: ignore[no-any-return]

    def _shared(self, name: str, array: Any) -> SDVariable:
        if self.has_variable(name) and self.tables.store.get(name) is array:
            return self.variable(name)
        return self.attach(name, array)

    def loop_with_conditions(self, *args: Any) -> list[SDVariable]:
        """Repeat a function while a flag is true, at most so many times: ``([output_names,] params)``.

        The loop variables are the counter, the maximum, the flag (BOOL) and any others; the function takes all of them
        and gives all of them, or only those from the flag on. The loop itself counts, and the maximum stays as it is.
        Returns the last values of all loop variables.
        """
        params: LoopParams = args[-1]
        names = list(n) if (n := args[0] if len(args) == 2 else params.output_var_names) is not None else None
        if params.function_body is not None:
            self.put_sub_function(params.function_name, params.function_body)
        variables = self._listed(list(params.loop_vars))
        if len(variables) < 3:
            raise GraphError(f"the loop variables start with counter, maximum and flag; got {len(variables)} in all")
        call = InvokeParams(params.function_name, None, params.function_body_inputs, None, None, params.function_body_outputs)
        count = len(variables)
        function = self.get_function(params.function_name)
        for n in function.variable_map().values():      # these join the graph now, not inside the body
            if n.get_variable_type() is VariableType.VARIABLE:
                self._shared(f"{params.function_name}/{n.name()}", function.stored(n.name()))

        def body(sd: Any, state: list[SDVariable]) -> list[SDVariable]:
            found = sd.invoke(InvokeParams(call.function_name, state, call.sub_graph_input_var_names, None, None,
                                           call.sub_graph_output_var_names))
            if len(found) not in (count, count - 2):
                raise GraphError(f"function {call.function_name!r} gives {len(found)} results; {count} loop variables need {count}, "
                                 f"or {count - 2} without counter and maximum")
            return [state[0] + 1, state[1], *found[len(found) - count + 2:]]

        def condition(sd: Any, state: list[SDVariable]) -> SDVariable:
            return (state[0] < state[1]) & state[2]

        return self.while_loop(names, params.loop_name, variables, condition, body)


def cut_function(function: GraphCore, label: str, inputs: list[str], outputs: list[str]) -> tuple[SubGraph, list[str]]:
    """The part of a function from these inputs to these outputs, and the trainable variables that it takes besides."""
    for name in inputs:
        if function.variable(name).get_variable_type() is VariableType.ARRAY:
            raise GraphError(f"{name!r} of function {label!r} is the result of an op and cannot be an input")
    nodes = needed(function.nodes(), outputs)
    read = list(dict.fromkeys([*(n for node in nodes for n in node.inputs if n is not None), *outputs]))
    kinds = {n: function.variable(n).get_variable_type() for n in read if n not in inputs}
    missing = [n for n, k in kinds.items() if k is VariableType.PLACEHOLDER]
    if missing:
        raise GraphError(f"function {label!r} needs values for {', '.join(missing)}; name them among its inputs")
    trained = [n for n, k in kinds.items() if k is VariableType.VARIABLE]
    sub = type(function)()
    for name in (*inputs, *trained):
        v = function.variable(name)
        sub.tables.add_input(name, v.spec)
    for name, kind in kinds.items():
        if kind is VariableType.CONSTANT:
            sub.tables.add_variable(name, kind, function.variable(name).spec, owned_copy(function.stored(name)))
    for node in nodes:
        sub.tables.put_node(node, [function.variable(n).spec for n in node.outputs])
    return SubGraph(sub, [*inputs, *trained], outputs), trained
