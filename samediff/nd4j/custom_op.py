"""``DynamicCustomOp``: any op by name, with its inputs, outputs and arguments as lists."""
from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np

from ..arrays.computing import apply, with_inputs
from ..arrays.pairs import is_array
from ..base.bounded_cache import BoundedCache
from ..base.java.function_variables import FunctionVariables
from ..base.java.old_names import Advised
from ..base.java_names import DynamicCustomOpNames, DynamicCustomOpsBuilderNames
from ..base.javanames import to_camel
from ..base.spec import TensorSpec, spec_of
from ..codecs.file_args import FileArgs
from ..codecs.file_forms import as_custom
from ..codecs.flatbuffers.graph import FlatNode, IntPair
from ..codecs.flatbuffers.schema import OpType
from ..codecs.legacy_table import op_identity
from ..codecs.op_hash import op_hash
from ..configuration.method_builder import MethodBuilder
from ..errors import FileFormatError, GraphError, MissingOpError, did_you_mean
from ..families.backprop import KERNELS
from ..files.foreign_names import onnx_names, tensorflow_names
from ..files.node_args import OpNames, read_op, spread_inputs, takes_inputs
from ..graph.differential_function import DifferentialFunction, only_name
from ..ir.argument_lists import LISTS, ArgumentLists, JavaList, argument
from ..ir.op import OPS, Op, as_tuple
from ..ir.variable import SDVariable
from .array_arguments import ArrayArguments


def _form(cls: type[Op]) -> FileArgs | None:
    form: FileArgs | None = cls.file
    if form is not None and form.called is not None:
        return form.called
    return as_custom(form, cls.attribute_names()) if type(form) is FileArgs and (form.dimensions or form.scalar) else None


_read: BoundedCache[Any, tuple[Op, list[int | None]]] = BoundedCache(1024)


@cache
def _names() -> OpNames:
    return OpNames()


@DifferentialFunction.register
class DynamicCustomOp(Advised, DynamicCustomOpNames, FunctionVariables, ArrayArguments, ArgumentLists):
    """An op by name, to be executed by ``Nd4j.exec``, or added to the graph of its variables by ``outputs``.

    Inputs, outputs and argument lists (i integers, t floats, b truth values, d data types, s texts) are DL4J's, in its order. Outputs
    that are given are written into, others are made. :meth:`builder` builds one step by step; classes of single ops
    (``AddOp``, ``Conv2D`` …) also take inputs and options as the ops of the namespaces do.

    Classes of one's own that have this base name an op in ``op_name``, and may have a gradient of their own in ``do_diff``: it counts in
    the graph that the op was added to. Files keep the op alone.

    Parameters
    ----------
    name : str, optional
        DL4J's name of the op, such as ``"reverse"``; left out where the class has a method ``op_name``.
    inputs, outputs : list of INDArray, optional
        Arrays to read, and to write into; without outputs new arrays are made. For graphs, the graph and variables instead.
    t_arguments, i_arguments : list, optional
        Floats and integers, as DL4J's op has them.

    Examples
    --------
    >>> from dl4py import DynamicCustomOp, Nd4j
    >>> op = DynamicCustomOp.builder("reverse").addInputs(Nd4j.create([1, 2, 3])).addIntegerArguments(0).build()
    >>> Nd4j.exec(op)[0].tolist()
    [3.0, 2.0, 1.0]
    """

    advice = "custom op"
    op_id: ClassVar[str] = ""
    same_diff: Any
    is_legacy: ClassVar[bool] = False

    def __init__(self, name: Any = None, inputs: Any = (), outputs: Any = (), t_arguments: Any = (), i_arguments: Any = ()) -> None:
        if not (name is None or isinstance(name, str)):                 # Java's constructors without a name
            name, inputs, outputs, t_arguments, i_arguments = None, name, inputs, outputs, t_arguments
        self._begin(name)
        if is_graph(inputs):
            self.same_diff, inputs, outputs, t_arguments = inputs, outputs, (), ()
        self.add_input_argument(*([inputs] if _is_operand(inputs) else inputs or ()))
        self.add_output_argument(*([outputs] if _is_operand(outputs) else outputs or ()))
        self.t_arguments += [argument(self, "t_arguments", v) for v in t_arguments or ()]
        self.i_arguments += [argument(self, "i_arguments", v) for v in i_arguments or ()]

    def _begin(self, name: str | None) -> None:
        self._name = name
        self.no_arguments()
        self.input_arguments, self.output_arguments = JavaList(), JavaList()
        self.in_place = False
        self.same_diff = None
        self._op: Op | None = None
        self._placed: list[SDVariable] | None = None

    @staticmethod
    def builder(name: str) -> DynamicCustomOpsBuilder:
        """Start to build the op of that name."""
        return DynamicCustomOpsBuilder(name)

    # What it is

    def op_name(self) -> str:
        """Its name in DL4J and in files."""
        if not self._name:
            raise GraphError(f"{type(self).__name__} has no name of an op: DynamicCustomOp(name, ...), or a method op_name that gives one")
        return self._name

    def op_hash(self) -> int:
        """The number that DL4J's files have for its name."""
        return op_hash(self.op_name())

    get_hash = op_hash

    def op_type(self) -> str:
        """The kind of op in files."""
        return op_identity(self.op_name())[0].name

    def op_num(self) -> int:
        """The number in files: for the classes of DL4J's older kind their own, else :meth:`op_hash`."""
        return op_identity(self.op_name())[1]

    def tensorflow_name(self) -> str:
        """The op of TensorFlow that DL4J reads as this one; GraphError where there is none."""
        return only_name(tensorflow_names(self.op_name()), f"op {self.op_name()!r}", "TensorFlow")

    def onnx_name(self) -> str:
        """The operator of ONNX that DL4J reads as this one; GraphError where there is none."""
        return only_name(onnx_names(self.op_name()), f"op {self.op_name()!r}", "ONNX")

    def properties_for_function(self) -> dict[str, Any]:
        """The attributes of the op by name."""
        op, _ = self.as_op(self.input_arguments)
        return {to_camel(name): getattr(op, name) for name in op.attribute_names()}

    def extra_args(self) -> list[Any]:
        """The values of the attributes."""
        return list(self.properties_for_function().values())

    def assert_valid_for_execution(self) -> None:
        """GraphError, ShapeError or DataTypeError where the inputs or arguments do not fit."""
        self.calculate_output_shape()

    def configure_from_arguments(self) -> None:
        """Nothing to do: the argument lists are read when the op is executed."""

    def to_custom_op(self) -> DynamicCustomOp:
        """Itself: ops of DL4J's older kind are executed as the others."""
        return self

    def as_op(self, inputs: Sequence[Any]) -> tuple[Op, list[Any]]:
        """The op with its attributes, and the inputs in its own order."""
        lists = self.i_arguments or self.t_arguments or self.b_arguments or self.d_arguments or self.s_arguments
        if self._op is not None and not lists:
            return self._op, list(inputs)
        name = self.op_name()
        named = OPS.get(self.op_id or KERNELS.get(name, name))
        arguments = self.i_arguments, self.t_arguments, self.b_arguments, self.d_arguments, self.s_arguments
        key = named, name, len(inputs), *[(*values, *map(type, values)) for values in arguments]
        found = _read.get(key)
        if found is None:
            found = self._read_arguments(named, inputs)
            if named is not None:
                _read[key] = found
        op, places = found
        if getattr(op, "num", None) == 0 and hasattr(op, "axis"):           # of unstack: Java counts the outputs
            op = op.replace(num=int(inputs[0].shape[op.axis]))
        return op, [None if i is None else inputs[i] for i in places]

    def _read_arguments(self, named: type[Op] | None, inputs: Sequence[Any]) -> tuple[Op, list[int | None]]:
        """The op with the attributes that the argument lists hold, and the places of its inputs among those that are given."""
        node = self._node(len(inputs))
        op = self._with_arguments(named or self._op_class(), node, inputs)
        places = spread_inputs(op, node, [str(i) for i in range(len(inputs))])
        return op, [None if p is None else int(p) for p in places]

    def _node(self, inputs: int) -> FlatNode:
        """As files have it."""
        name = self.op_name()
        return FlatNode(name=name, op_type=int(OpType.CUSTOM), op_num=op_hash(name), op_name=name,
                        input_paired=tuple(IntPair(i) for i in range(inputs)), extra_integer=tuple(self.i_arguments),
                        extra_params=tuple(self.t_arguments), extra_bools=tuple(self.b_arguments),
                        extra_types=tuple(t.code for t in self.d_arguments), extra_strings=tuple(self.s_arguments))

    def _op_class(self) -> type[Op]:
        """The op of its name; MissingOpError where there is none."""
        name = self.op_name()
        found: type[Op] | None = OPS.get(self.op_id or KERNELS.get(name, name)) or _names()[self._node(0)]
        if found is None:
            raise MissingOpError(f"no op named {name!r} is known{did_you_mean(name, list(OPS))}; a new op is a UserDefinedCustomOp or has "
                                 "@user_op")
        return found

    def _with_arguments(self, cls: type[Op], node: FlatNode, inputs: Sequence[Any]) -> Op:
        """The op with the attributes that the argument lists hold; GraphError where these or the number of inputs do not fit."""
        if not takes_inputs(cls, len(inputs)):
            expected = ", ".join(cls.inputs.split()) or "none"
            raise GraphError(with_inputs(f"{self.op_name()}: expected the inputs {expected} (*: any number, ?: may be left out), "
                                         f"{len(inputs)} were given", inputs))
        try:
            return read_op(cls, node, _form(cls))
        except FileFormatError as error:
            filled = {n: values for n in LISTS if (values := getattr(self, n))}
            shown = f"argument lists {filled} do not fit" if filled else "argument lists are empty"
            raise GraphError(with_inputs(f"{self.op_name()}: the {shown}: {error}", inputs)) from error

    def set_inplace_call(self, in_place: bool) -> None:
        """Whether results are written into the inputs."""
        self.in_place = bool(in_place)

    def is_inplace_call(self) -> bool:
        """Whether results are written into the inputs."""
        return self.in_place

    def calculate_output_shape(self, context: Any = None) -> list[TensorSpec]:
        """Shapes and types of the results."""
        own = context is None
        op, inputs = (self if own else _of_context(context, self)).as_op(self.input_arguments if own else context.input_arrays())
        return list(as_tuple(op.infer(*(None if a is None else spec_of(a) for a in inputs))))  # type: ignore[arg-type]

    # In a graph

    def args(self) -> list[SDVariable]:
        """The variables among its inputs."""
        return [v for v in self.input_arguments if isinstance(v, SDVariable)]

    def outputs(self) -> list[SDVariable]:
        """The results as variables of the graph of its inputs; the op is added by the first call."""
        if self._placed is None:
            graph = next((v.sd for v in self.input_arguments if isinstance(v, SDVariable)), self.same_diff)
            if graph is None:
                raise GraphError(f"op {self.op_name()!r} has no variables as inputs; Nd4j.exec executes it on arrays")
            op, inputs = self.as_op(self.input_arguments)
            made = graph.add_op(op, inputs)
            self._placed = made if isinstance(made, list) else [made]
            if type(self).do_diff is not DynamicCustomOp.do_diff:
                tables = graph.tables
                name = tables.producers[self._placed[0].name()]
                tables.nodes[name] = replace(tables.nodes[name], differentiate=partial(self._differentiated, inputs))
        return list(self._placed)

    output_variables = outputs

    def _differentiated(self, own: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], gradients: Sequence[Any]) -> list[Any]:
        """The gradients that a sub-class gives in its ``do_diff``, for variables that stand for its ``own`` inputs, in their order."""
        other = copy(self)
        other.same_diff, other._placed = outputs[0].sd, list(outputs)
        places = [next(i for i, v in enumerate(own) if v is given) for given in self.input_arguments]
        other.input_arguments = JavaList(inputs[i] for i in places)
        made = dict(zip(places, other.do_diff(JavaList(gradients))))
        return [made.get(i) for i in range(len(inputs))]

    def _function(self) -> DifferentialFunction:
        """The op in the graph, with the gradient that it has there without this class."""
        first = self.outputs()[0]
        node = first.sd.producer(first.name())
        assert node is not None     # it was just added
        return DifferentialFunction(first.sd, replace(node, differentiate=None))

    def do_diff(self, gradients: Sequence[SDVariable]) -> list[SDVariable | None]:
        """Add the gradient of each input, from those of the results, to the graph."""
        return self._function().do_diff(gradients)

    def diff(self, gradients: Sequence[SDVariable]) -> list[SDVariable]:
        """As :meth:`do_diff`, with zeros for inputs on which the results do not depend."""
        return self._function().diff(gradients)

    # Executed

    def results(self, context: Any, inputs: Sequence[Any]) -> list[Any]:
        """What it computes, with the arguments of the context where that has some."""
        op, ordered = (self if context is None else _of_context(context, self)).as_op(inputs)
        return list(as_tuple(apply(op, *ordered)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.op_name()!r}, {len(self.input_arguments)} inputs)"


def is_graph(value: Any) -> bool:
    """Whether a value is a graph."""
    return hasattr(value, "tables")


def _is_operand(value: Any) -> bool:
    return isinstance(value, SDVariable) or is_array(value)


def _of_context(context: Any, op: DynamicCustomOp) -> DynamicCustomOp:
    """The op with the arguments of a context, where that has some."""
    if not isinstance(context, ArgumentLists):
        return op
    other = DynamicCustomOp(op.op_name())
    other._op = op._op
    for field in ("i_arguments", "t_arguments", "b_arguments", "d_arguments", "s_arguments"):
        setattr(other, field, getattr(context, field) or getattr(op, field))
    return other


class DynamicCustomOpsBuilder(MethodBuilder, DynamicCustomOpsBuilderNames):
    """Builds a :class:`DynamicCustomOp`; every method returns the builder."""

    def __init__(self, name: str) -> None:
        self._op = DynamicCustomOp(name)

    def add_inputs(self, *arrays: Any) -> DynamicCustomOpsBuilder:
        """Add inputs."""
        self._op.add_input_argument(*arrays)
        return self

    def add_outputs(self, *arrays: Any) -> DynamicCustomOpsBuilder:
        """Add arrays for the results."""
        self._op.add_output_argument(*arrays)
        return self

    def add_integer_arguments(self, *values: Any) -> DynamicCustomOpsBuilder:
        """Add integer arguments."""
        return self._add("i_arguments", values)

    def add_floating_point_arguments(self, *values: Any) -> DynamicCustomOpsBuilder:
        """Add floating arguments."""
        return self._add("t_arguments", values)

    def add_boolean_arguments(self, *values: Any) -> DynamicCustomOpsBuilder:
        """Add truth values."""
        return self._add("b_arguments", values)

    def add_string_arguments(self, *values: Any) -> DynamicCustomOpsBuilder:
        """Add texts."""
        return self._add("s_arguments", values)

    def add_data_type_arguments(self, *values: Any) -> DynamicCustomOpsBuilder:
        """Add data types."""
        return self._add("d_arguments", values)

    def add_output_shape(self, shape: Any) -> DynamicCustomOpsBuilder:
        """Nothing to do: shapes follow from the inputs."""
        return self

    def call_inplace(self, in_place: bool = True) -> DynamicCustomOpsBuilder:
        """Write results into the inputs."""
        self._op.set_inplace_call(in_place)
        return self

    def _add(self, field: str, values: Sequence[Any]) -> DynamicCustomOpsBuilder:
        given = values[0] if len(values) == 1 and isinstance(values[0], (list, tuple, np.ndarray)) else values
        getattr(self._op, field).extend(argument(self._op, field, v) for v in given)
        return self

    def build(self) -> DynamicCustomOp:
        """The op."""
        return self._op

