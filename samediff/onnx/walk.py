"""The walk along the nodes of an ONNX graph, which makes those of a graph here."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..base.spec import size
from ..errors import DL4PyError, GraphError, ValueNeededError
from ..expressions.tracing import TraceError
from ..families.array_code.graph_array import GraphArray
from ..families.array_code.symbolic_size import SymbolicSize
from ..ir.node import needed
from ..ir.run_context import RunContext
from ..ir.variable import SDVariable, VariableType
from ..plans.reference import compute
from .functions import body_of, with_attributes
from .held_array import HeldArray
from .node import OnnxNode
from .open_sizes import follow
from .protos import attributes_of, declared, given, unknown_operator
from .registry import converter_of, plain_domain
from .values import NARROW, Dead, Held, array_of

#: Operators whose result has the type of the first input, whatever that is.
SAME_TYPE = frozenset((
    "Identity", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Gather", "Concat", "Split", "Expand", "Tile", "Pad"))

#: The most elements of values that are taken, and of those that are made, where something is computed while the graph is built.
MOST_FOLDED = 1 << 16
MOST_COMPUTED = 1 << 20


class Walk:
    """Converts graphs node by node; names of values are looked up in a chain of scopes.

    Parameters
    ----------
    sd : SameDiff
        The graph that is made.
    model : ModelProto
        Where functions and versions stand.
    file : str
        The path of the model, beside which external data lies; empty where there is none.
    given : mapping
        Values of inputs that are known.
    trainable : function of a name and an array, optional
        Whether an initializer is trained; by default all floating ones but single numbers.
    library : str
        Where the model is from, for messages.
    """

    def __init__(self, sd: Any, model: Any, file: str, given: Mapping[str, Any], trainable: Callable[[str, Any], bool] | None,
                 library: str = "ONNX") -> None:
        self.sd, self.model, self.file, self.given = sd, model, file, dict(given)
        self.trainable = trainable or (lambda name, array: array.ndim > 0)
        self.library = library
        self.scopes: list[dict[str, Any]] = [{}]
        self.versions = [{plain_domain(o.domain): o.version for o in model.opset_import}]
        self.functions = {(plain_domain(f.domain), f.name, getattr(f, "overload", "")): f for f in model.functions}
        self.parts: dict[str, Any] = {}                 # of variables made of sizes
        self.codes: dict[str, int] = {}                 # of variables that stand for narrower types
        self.names: dict[str, str] = {}                 # of variables, to those in the file
        self.made: list[Held] = []                      # values that have become variables
        self.depth = 0

    # Values by name

    def find(self, name: str) -> Any:
        """The value of a name; None where there is none."""
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def look_up(self, name: str) -> Any:
        """The value of a name; None for an input left out."""
        if not name:
            return None
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        raise GraphError(f"the {self.library} graph uses {name!r} before anything gives it")

    def variable(self, value: Any) -> SDVariable:
        """The variable of a value, made when it is first asked for, and once more behind a graph that was recorded and taken out again."""
        if not isinstance(value, Held):
            return value  # type: ignore[no-any-return]
        if value.variable is None or self.sd.tables.variables.get(value.variable.name()) is not value.variable:
            make = self.sd.var if value.trainable else self.sd.constant
            value.variable = make(self.sd.tables.names.unique("held"), value.array)
            self.made.append(value)
            if value.name and len(self.scopes) == 1:
                self.names[value.variable.name()] = value.name
        return value.variable  # type: ignore[no-any-return]

    def inner_variable(self, value: Any) -> SDVariable:
        """The variable of a result of a graph that is recorded, made in that graph."""
        return self.sd.constant(value.array) if isinstance(value, Held) and value.variable is None else self.variable(value)

    @contextmanager
    def trial(self) -> Iterator[None]:
        """What is added in here is taken out again."""
        tables, count = self.sd.tables, len(self.made)
        nodes, variables = len(tables.nodes), len(tables.variables)
        yield
        for held in self.made[count:]:
            held.variable = None
        del self.made[count:]
        if len(tables.nodes) == nodes and len(tables.variables) == variables:
            return
        while len(tables.nodes) > nodes:                # the last ones
            for output in tables.nodes.popitem()[1].outputs:
                tables.producers.pop(output, None)
        while len(tables.variables) > variables:
            tables.store.pop(tables.variables.popitem()[0], None)
        tables.names.released()
        tables.changed()

    def code_of(self, value: Any) -> int:
        """The type of ONNX that a value stands for where arrays here have none like it, else 0."""
        return value.code if isinstance(value, Held) else self.codes.get(value.name(), 0) if isinstance(value, SDVariable) else 0

    def placeholders(self, values: Sequence[Any]) -> list[str]:
        """The placeholders that values depend on."""
        names = [v.name() for v in values if isinstance(v, SDVariable)]
        read = [n for node in needed(self.sd.nodes(), names) for n in node.inputs if n is not None]
        return [n for n in dict.fromkeys([*names, *read]) if self.sd.variable(n).get_variable_type() is VariableType.PLACEHOLDER]

    def variable_of(self, array: Any) -> SDVariable:
        """A trainable variable for an array that stands in a node."""
        return self.variable(Held(array, "", self.trainable("", array)))

    def known(self, value: Any) -> Any:
        """The value where it is known while the graph is built, else None."""
        return value.array if isinstance(value, Held) else None

    def array(self, xp: Any, value: Any) -> Any:
        """A value as a graph array (a sequence: a list of them)."""
        if value is None:
            return None
        if isinstance(value, Held):
            return HeldArray(self.variable, xp, value)
        if isinstance(value, Dead):
            return value
        return [self.array(xp, v) for v in value] if isinstance(value, list) else xp.wrap(value)

    # Graphs

    def enter(self, graph: Any, trained: bool) -> None:
        """Declare the initializers of a graph in the innermost scope."""
        for tensor in graph.initializer:
            array = array_of(tensor, self.file, f"initializer {tensor.name!r}")
            train = trained and DataType.of(array.dtype).is_floating and self.trainable(tensor.name, array)
            narrow = tensor.data_type if tensor.data_type in NARROW else 0
            self.scopes[-1][tensor.name] = Held(array, tensor.name, train, code=narrow)
        if len(graph.sparse_initializer):
            raise GraphError(f"the ONNX graph {graph.name!r} has sparse initializers, which are not supported")

    def graph_inputs(self, graph: Any) -> list[str]:
        """Make placeholders of the inputs that have no value."""
        made = []
        for value in graph.input:
            if value.name in self.scopes[-1] and value.name not in self.given:
                continue
            code = value.type.tensor_type.elem_type
            if value.name in self.given:
                self.scopes[-1][value.name] = given(self.given[value.name], value.name, code if code in NARROW else 0)
                continue
            dtype, shape = declared(value.type, f"input {value.name!r}", value.name)
            self.scopes[-1][value.name] = self.sd.placeholder(value.name, dtype, shape=shape)
            if code in NARROW:
                self.codes[value.name] = code
            made.append(value.name)
        return made

    def nodes(self, nodes: Sequence[Any]) -> None:
        """Convert nodes in their order."""
        for proto in nodes:
            self.node(proto)

    def node(self, proto: Any) -> None:
        """Convert one node and name its outputs."""
        inputs = [self.look_up(n) for n in proto.input]
        for name, value in zip(proto.output, self.converted(proto, inputs)):
            if not name:
                continue
            if isinstance(value, SDVariable) and len(self.scopes) == 1:
                if value.name() in self.names or value.get_variable_type() is not VariableType.ARRAY:
                    value = self.sd.call("base", "identity", value)
                self.names[value.name()] = name
            self.scopes[-1][name] = value

    def converted(self, proto: Any, inputs: list[Any]) -> list[Any]:
        """The outputs of a node."""
        domain = plain_domain(proto.domain)
        version = self.versions[-1].get(domain, 1 if not domain else 0)
        function = self.functions.get((domain, proto.op_type, getattr(proto, "overload", "")))
        if function is not None:
            return self.called(function, proto, inputs)
        found = converter_of(proto.op_type, domain, version)
        if found is None:
            function = body_of(proto, version, inputs) if self.library == "ONNX" else None
            if function is not None:
                return self.called(function, proto, inputs)
            raise unknown_operator(proto, version, self.library)
        node = OnnxNode(self, proto, version, inputs, attributes_of(proto))
        if self._folds(node):
            return self._folded(found.convert, node)
        return follow(node, self.placed(found.convert, node))

    def placed(self, convert: Callable[..., Any], node: OnnxNode) -> list[Any]:
        """The outputs of a converter in the graph."""
        try:
            made = convert(node, *(self.array(node.xp, v) for v in node.inputs))
        except TraceError as error:
            whole = [n for n in self.placeholders(node.inputs) if self.sd.variable(n).dtype.is_integer]
            if not whole:
                raise GraphError(f"{node!r}: {error}") from error
            raise ValueNeededError(f"{node!r}: {error}. It depends on {', '.join(whole)}; give values, "
                                   f"dynamic_variables={{{whole[0]!r}: array}}", tuple(whole)) from error
        except DL4PyError as error:
            raise error if self.library in str(error) else type(error)(f"{node!r}: {error}") from error
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError) as error:
            raise GraphError(f"{node!r}: {type(error).__name__}: {error}") from error
        return self.results(node, made)

    def results(self, node: OnnxNode, made: Any) -> list[Any]:
        """The results of a converter as variables; results that are inputs themselves get a node of their own."""
        taken = {id(v) for v in node.inputs} | {id(v.variable) for v in node.inputs if isinstance(v, Held)}

        def one(value: Any) -> Any:
            if value is None or isinstance(value, (Held, Dead)):
                return value
            if isinstance(value, list):
                return [one(v) for v in value]
            if isinstance(value, (np.ndarray, np.generic)):
                return Held(np.asarray(value))
            if isinstance(value, SymbolicSize):
                value = value.number()
            variable = value.variable if isinstance(value, GraphArray) else value
            narrow = node.code(0) if node.op_type in SAME_TYPE else 0
            alias = id(variable) in taken or variable.get_variable_type() is not VariableType.ARRAY or variable.name() in self.names
            variable = self.sd.call("base", "identity", variable) if alias else variable
            if narrow:
                self.codes[variable.name()] = narrow
            return variable

        return [one(v) for v in (made if isinstance(made, tuple) else (made,))]

    # Values that are known

    def _folds(self, node: OnnxNode) -> bool:
        """Whether all inputs are known, and none of them is trained."""
        if not all(v is None or (isinstance(v, Held) and not v.trainable and v.array.size <= MOST_FOLDED) for v in node.inputs):
            return False
        if any(v is not None and v.code for v in node.inputs):
            return False
        return bool(node.inputs) and not any(hasattr(v, "node") for v in node.attributes.values())

    def _folded(self, convert: Callable[..., Any], node: OnnxNode) -> list[Any]:
        """The outputs as values, computed in a graph of their own; as nodes where that draws random numbers."""
        inner = Walk(type(self.sd)(), self.model, self.file, {}, None, self.library)
        inner.versions, inner.functions = self.versions, self.functions
        copies = [Held(v.array) if isinstance(v, Held) else v for v in node.inputs]
        found = inner.placed(convert, OnnxNode(inner, node.proto, node.version, copies, node.attributes))
        wanted = [v.name() for v in found if isinstance(v, SDVariable)]
        steps = needed(inner.sd.nodes(), wanted)
        large = any(size(inner.sd.variable(o).spec.shape) > MOST_COMPUTED for n in steps for o in n.outputs)
        if large or any(isinstance(v, list) for v in found) or any(n.op.stateful for n in steps):
            return self.placed(convert, node)
        values = {v.name(): inner.sd.tables.store[v.name()] for v in inner.sd.variables() if v.name() in inner.sd.tables.store}
        with np.errstate(all="ignore"):
            for step in steps:
                made = compute(step.op, [None if n is None else values[n] for n in step.inputs], RunContext(), step.name)
                values.update(zip(step.outputs, made))
        return [Held(np.asarray(values[v.name()], v.dtype.numpy)) if isinstance(v, SDVariable) else v for v in found]

    # Functions

    def called(self, function: Any, call: Any, inputs: list[Any]) -> list[Any]:
        """The outputs of a function of the model, or of the body of an operator that is one."""
        if self.depth > 50:
            raise GraphError(f"functions of the ONNX model call each other without an end: {function.name!r}")
        given = {a.name: a for a in (*function.attribute_proto, *call.attribute)}
        self.scopes.append(dict(zip(function.input, [*inputs, *[None] * len(function.input)])))
        self.versions.append({**self.versions[-1], **{plain_domain(o.domain): o.version for o in function.opset_import}})
        self.depth += 1
        try:
            for proto in function.node:
                self.node(with_attributes(proto, given))
            return [self.scopes[-1].get(n) for n in function.output]
        finally:
            self.depth -= 1
            self.scopes.pop()
            self.versions.pop()
