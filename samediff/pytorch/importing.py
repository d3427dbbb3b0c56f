"""A program of PyTorch as a graph: the walk of ONNX models, with converters of another domain."""
from __future__ import annotations

import operator
from types import SimpleNamespace
from typing import Any

from ..base.datatype import DataType
from ..base.names import first_free
from ..errors import GraphError
from ..families.array_code.symbolic_size import SymbolicSize
from ..ir.variable import SDVariable
from ..onnx.importing import rename
from ..onnx.node import OnnxNode
from ..onnx.registry import converter_of
from ..onnx.values import Held
from ..onnx.walk import Walk
from . import converters  # noqa: F401 - fills the table
from .converters.table import SIZES, TorchArguments
from .torch_graph import DOMAIN, Reference, TorchCall, TorchGraph


def fill(sd: Any, graph: TorchGraph) -> None:
    """Add a program to an empty graph: parameters become variables of their names, buffers constants."""
    _Filling(sd, graph).run()


class _Filling:
    """The work of :func:`fill`."""

    def __init__(self, sd: Any, graph: TorchGraph) -> None:
        model = SimpleNamespace(opset_import=[SimpleNamespace(domain=DOMAIN, version=1), SimpleNamespace(domain="", version=20)],
                                functions=[])
        self.sd, self.graph = sd, graph
        self.walk = Walk(sd, model, "", {}, None, "PyTorch")
        self.values: dict[str, Any] = {}                # variables, known values, sizes, lists of these

    def run(self) -> None:
        taken = {*(a.key for a in self.graph.arrays), *(i.name for i in self.graph.inputs), *(n for n, _ in self.graph.outputs)}
        for given in self.graph.inputs:
            self.values[given.name] = self.sd.placeholder(given.name, DataType.of(given.dtype), shape=given.shape)
        for array in self.graph.arrays:
            train = array.trainable and DataType.of(array.array.dtype).is_floating
            self.values[array.name] = Held(array.array, array.key, train)
        for call in self.graph.calls:
            self.values[call.name] = made = self.called(call)
            if isinstance(made, SDVariable) and made.get_variable_type().name == "ARRAY" and made.name() not in self.walk.names:
                self.walk.names[made.name()] = name = first_free(call.name, taken.__contains__)
                taken.add(name)
        for array in self.graph.arrays:                 # also those that only known values came of
            if self.values[array.name].trainable:
                self.walk.variable(self.values[array.name])
        outputs = [self.output(name, source) for name, source in self.graph.outputs]
        rename(self.sd, self.walk.names)
        self.sd.set_outputs(*outputs)

    def output(self, name: str, source: str) -> str:
        """A result under its own name."""
        value = self.values[source]
        if isinstance(value, list):
            raise GraphError(f"output {name!r} of the program is a list")
        variable = value.number().variable if isinstance(value, SymbolicSize) else self.walk.variable(value)
        named = self.walk.names.get(variable.name())
        if variable.get_variable_type().name != "ARRAY" or named in {n for n, _ in self.graph.outputs}:
            variable = self.sd.call("base", "identity", variable)
        self.walk.names[variable.name()] = name
        return name

    def called(self, call: TorchCall) -> Any:
        """The results of a call."""
        if call.op_type == "getitem":
            return self.values[call.args[0].name][call.args[1]]
        if call.op_type in SIZES:
            return self.size(call)
        inputs: list[Any] = []
        given = TorchArguments(self.placed(call.args, inputs), self.placed(call.options, inputs), call.dtype)
        proto = SimpleNamespace(op_type=call.op_type, domain=DOMAIN, name=call.name, input=[f"argument {i}" for i in range(len(inputs))],
                                output=[call.name], attributes={"arguments": given})
        if given.has_sizes:                             # which belong to this graph
            found = converter_of(call.op_type, DOMAIN, 1)
            assert found is not None
            made = self.walk.placed(found.convert, OnnxNode(self.walk, proto, 1, inputs, proto.attributes))
        else:
            made = self.walk.converted(proto, inputs)
        return list(made) if call.several else made[0]

    def placed(self, value: Any, inputs: list[Any]) -> Any:
        """Arguments with a number for each array, which joins ``inputs``; known sizes and lists stand in place of references."""
        if isinstance(value, Reference):
            found = self.values[value.name]
            if isinstance(found, list):
                return [self.placed_value(v, inputs) for v in found]
            return self.placed_value(found, inputs)
        if isinstance(value, list):
            return [self.placed(v, inputs) for v in value]
        return {k: self.placed(v, inputs) for k, v in value.items()} if isinstance(value, dict) else value

    def placed_value(self, value: Any, inputs: list[Any]) -> Any:
        """A number of an array, or the size itself."""
        if isinstance(value, (SDVariable, Held)):
            inputs.append(value)
            return Reference(str(len(inputs) - 1))
        return value

    def size(self, call: TorchCall) -> Any:
        """A size, or arithmetic of sizes."""
        given = [self.values[a.name] if isinstance(a, Reference) else a for a in call.args]
        if call.op_type == "aten.sym_size":
            return self.walk.array(OnnxNode(self.walk, SimpleNamespace(op_type="", domain=DOMAIN, name=""), 1, [], {}).xp,
                                   given[0]).shape[given[1]]
        kind = call.op_type.rpartition(".")[2]
        if not hasattr(operator, kind):
            raise GraphError(f"PyTorch node {call.name!r}: {call.op_type} of sizes that are open; give dynamic_shapes={{}} so that all "
                             "sizes are those of the example")
        return getattr(operator, kind)(*given)
