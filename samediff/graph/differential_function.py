"""Ops of a graph as DL4J's users know them: ``DifferentialFunction``, and the factory of them."""
from __future__ import annotations

import dataclasses
from abc import ABCMeta
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..base.datatype import DataType
from ..base.java.function_variables import FunctionVariables
from ..base.java_names import DifferentialFunctionNames
from ..base.javanames import JavaSpelling, to_camel, to_snake
from ..codecs.arg_slots import parse_slot
from ..codecs.flatbuffers.properties import property_value
from ..errors import GraphError, did_you_mean
from ..files.foreign_names import onnx_names, tensorflow_names
from ..files.node_args import INTERNAL, file_args, write_op
from ..ir.namespaces import NAMESPACES, MissingMethodError, bound, call_by_id, find
from ..ir.node import Node
from ..ir.op import OPS, as_tuple
from ..ir.variable import SDVariable

if TYPE_CHECKING:
    from ..base.spec import TensorSpec
    from ..ir.core import GraphCore


class DifferentialFunction(DifferentialFunctionNames, FunctionVariables, Node, metaclass=ABCMeta):
    """An op in a graph: which one, on which variables, with which properties. ``sd.ops()`` lists those of a graph.

    It shows the graph as it was when it was asked for, and changes nothing. Variables, user-defined ops and ``DynamicCustomOp`` count
    as instances of it too, as in DL4J.

    Parameters
    ----------
    sd : SameDiff
        The graph.
    node : Node
        What the graph knows of the op.

    Attributes
    ----------
    same_diff : the graph
    name, op, inputs, outputs : own name, operation, names of the inputs (None: left out) and of the results

    Examples
    --------
    >>> from dl4py.samediff import SameDiff
    >>> sd = SameDiff.create()
    >>> y = sd.nn.softmax("y", sd.var("x", [[1.0, 2.0]]))
    >>> (f,) = sd.ops()
    >>> f.opName(), f.arg().name(), f.outputVariables()[0].name(), f.propertiesForFunction()
    ('softmax', 'x', 'y', {'dimension': -1})
    """

    same_diff: GraphCore

    def __init__(self, sd: GraphCore, node: Node) -> None:
        for f in dataclasses.fields(Node):
            object.__setattr__(self, f.name, getattr(node, f.name))
        object.__setattr__(self, "same_diff", sd)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and all(getattr(self, f.name) == getattr(other, f.name) for f in dataclasses.fields(Node))

    def __hash__(self) -> int:
        return hash((self.name, self.inputs, self.outputs))

    def __reduce__(self) -> Any:
        raise GraphError(f"{self.where()} belongs to its graph: save or copy that")

    if not TYPE_CHECKING:       # else no misspelt name would be noticed
        def __getattr__(self, name: str) -> Any:
            try:
                return JavaSpelling.__getattr__(self, name)
            except AttributeError:
                return Node.__getattr__(self, name)

    # Names

    def op_name(self) -> str:
        """The name of the op in files."""
        return file_args(type(self.op)).op_name or self.op.id

    def get_own_name(self) -> str:
        """The name of this node, unique in the graph."""
        return self.name

    def tensorflow_names(self) -> list[str]:
        """TensorFlow's ops that DL4J reads as this one."""
        return tensorflow_names(self.op_name())

    def tensorflow_name(self) -> str:
        """The usual one of them; GraphError where there is none."""
        return only_name(self.tensorflow_names(), self.where(), "TensorFlow")

    def onnx_names(self) -> list[str]:
        """ONNX's operators that DL4J reads as this one."""
        return onnx_names(self.op_name())

    def onnx_name(self) -> str:
        """The usual one of them; GraphError where there is none."""
        return only_name(self.onnx_names(), self.where(), "ONNX")

    # Inputs and results

    def described(self) -> str:
        return self.where()

    def args(self) -> list[SDVariable]:
        """All input variables, without optional ones that are left out."""
        return [self.same_diff.variable(n) for n in self.inputs if n is not None]

    def output_variables(self) -> list[SDVariable]:
        """All results."""
        return [self.same_diff.variable(n) for n in self.outputs]

    def get_num_outputs(self) -> int:
        """Number of results."""
        return len(self.outputs)

    def calculate_output_shape(self) -> list[TensorSpec]:
        """Shape and type of each result, worked out anew from the inputs; -1 is an unknown size, the shape None an unknown rank."""
        specs = [None if n is None else self.same_diff.variable(n).spec for n in self.inputs]
        return list(as_tuple(self.op.infer(*specs)))  # type: ignore[arg-type]

    def calculate_output_data_types(self, input_types: Sequence[DataType] | None = None) -> list[DataType]:
        """The types of the results, of inputs as they are or of other types."""
        specs = [None if n is None else self.same_diff.variable(n).spec for n in self.inputs]
        if input_types is not None:
            given = iter(input_types)
            specs = [s and s.with_dtype(DataType.of(next(given))) for s in specs]
        return [spec.dtype for spec in as_tuple(self.op.infer(*specs))]  # type: ignore[arg-type]

    # Properties

    def properties_for_function(self) -> dict[str, Any]:
        """The attributes of the op under the names that files give them; those that files keep as arguments under their own."""
        stored = {p.name: property_value(p) for p in self._in_files()["properties"]}
        rest = {name: getattr(self.op, n) for name, n in self._others().items()}
        return rest | {n: v for n, v in stored.items() if n not in INTERNAL}

    def _in_files(self) -> dict[str, Any]:
        """The parts of a file's node that the op determines."""
        shape = self.same_diff.variable(self.inputs[0]).get_shape() if self.inputs and self.inputs[0] is not None else None
        dtype = self.same_diff.variable((self.args() or self.output_variables())[0]).dtype
        return write_op(self.op, self.inputs, dtype, shape=shape)

    def _others(self) -> dict[str, str]:
        """Attributes that files keep as arguments, by their names as properties."""
        told = set(self._slots().values())
        return {to_camel(n): n for n in self.op.attribute_names() if n not in told}

    def i_args(self) -> list[int]:
        """The whole numbers among the arguments that files have; likewise ``t_args``, ``b_args``, ``d_args`` and ``s_args``."""
        return list(self._in_files().get("extra_integer", ()))

    def t_args(self) -> list[float]:
        """The floats."""
        return list(self._in_files().get("extra_params", ()))

    def b_args(self) -> list[bool]:
        """The truth values."""
        return list(self._in_files().get("extra_bools", ()))

    def d_args(self) -> list[DataType]:
        """The data types."""
        return [DataType.from_code(code) for code in self._in_files().get("extra_types", ())]

    def s_args(self) -> list[str]:
        """The texts."""
        return list(self._in_files().get("extra_strings", ()))

    def _slots(self) -> dict[str, str]:
        """Attributes by the property that holds them."""
        args = file_args(type(self.op))
        if args.all_properties:
            return {n: n for n in self.op.attribute_names()}
        return {n: text.partition(":")[2].partition(":")[0].strip("*#~?") for n, text in args.properties.items()}

    def mappings_for_function(self) -> dict[str, dict[str, str]]:
        """The attributes of the op behind its properties: ``{op name: {property: attribute}}``; empty where there is none."""
        names = set(self.op.attribute_names())
        found = self._others() | {p: n for p, n in self._slots().items() if n in names}
        return {self.op_name(): found} if found else {}

    def attribute_adapters_for_function(self) -> dict[str, dict[str, str]]:
        """The file form of properties that are no plain numbers, in the language of ``FileArgs``: ``{op name: {property: form}}``."""
        args, others = file_args(type(self.op)), {n: p for p, n in self._others().items()}
        slots = {parse_slot(text).name: text for text in (*args.ints, *args.floats, *args.bools, *args.dtypes, *args.strings)}
        found = {others[name]: text for name, text in slots.items() if name in others and ":" in text}
        found |= {p: text for p, text in args.properties.items() if text.count(":") > 1}
        return {self.op_name(): found} if found else {}

    def properties_to_resolve(self) -> list[str]:
        """Names of properties that are resolved before an execution: none, as attributes are known when the op is added."""
        return []

    def resolve_properties_from_same_diff_before_execution(self) -> None:
        """Nothing to do: attributes are known when the op is added, and values that inputs give are inputs."""

    # Gradients

    def do_diff(self, gradients: Sequence[SDVariable]) -> list[SDVariable | None]:
        """Add the gradient of each input, from those of the results, to the graph; None: the result does not depend on it.

        Raises
        ------
        GradientError
            The op has no gradient.
        """
        given = list(gradients)
        if len(given) != len(self.outputs):
            raise GraphError(f"{self.where()} has {len(self.outputs)} results; got {len(given)} gradients")
        made = list(self.grad([None if n is None else self.same_diff.variable(n) for n in self.inputs], self.output_variables(), given))
        return [*made, *[None] * (len(self.inputs) - len(made))]

    def diff(self, gradients: Sequence[SDVariable]) -> list[SDVariable]:
        """As :meth:`do_diff`, with zeros for inputs on which the result does not depend."""
        made = zip(self.inputs, self.do_diff(gradients))
        return [self.same_diff.call("base", "zeros_like", self.same_diff.variable(n)) if g is None else g for n, g in made if n is not None]


DifferentialFunction.register(SDVariable)


def only_name(names: list[str], what: str, where: str) -> str:
    """The first of the names of an op elsewhere; GraphError where there is none."""
    if not names:
        raise GraphError(f"{what} has no counterpart in {where}")
    return names[0]


class DifferentialFunctionFactory:
    """Every op that can be added to a graph, by the name of its method in any namespace, else by its id: ``sd.f().sum(x, 0)``,
    ``sd.f().tanh_bp(x, g)``. Where several namespaces have a name, the graph's own comes first, then math, nn and the others.
    """

    def __init__(self, sd: GraphCore) -> None:
        self._sd = sd

    if TYPE_CHECKING:           # a name may be the id of any op, of another distribution too
        def __getattr__(self, name: str) -> Callable[..., SDVariable]: ...
    else:
        def __getattr__(self, name: str) -> Callable[..., Any]:
            for namespace in ("base", *NAMESPACES):
                method = find(namespace, name)
                if method is not None:
                    return bound(self._sd, namespace, method)
            op_id = next((n for n in (name, to_snake(name)) if OPS.get(n) is not None), None)
            if name.startswith("__") or op_id is None:
                raise MissingMethodError(f"there is no op {name!r}{did_you_mean(to_snake(name), list(OPS))}")
            return lambda *args, **kwargs: call_by_id(self._sd, op_id, args, kwargs)
