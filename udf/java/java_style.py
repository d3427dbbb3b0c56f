"""User-defined ops in DL4J's form (its decision record 23): a class with ``op_name``, ``exec``, ``do_diff`` …"""
from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...samediff.arrays.computing import apply
from ...samediff.arrays.pairs import is_array
from ...samediff.base.datatype import DataType
from ...samediff.base.home import settle
from ...samediff.base.java.function_variables import FunctionVariables
from ...samediff.base.javanames import to_snake
from ...samediff.errors import GradientError, GraphError, RegistrationError
from ...samediff.graph.differential_function import DifferentialFunction
from ...samediff.ir.argument_lists import ArgumentLists, JavaList
from ...samediff.ir.op import Op, as_tuple
from ...samediff.ir.variable import SDVariable
from ...samediff.nd4j.array_arguments import ArrayArguments
from ..code.failure import building
from .java_names import UserDefinedCustomOpNames
from .op_context import LongShapeDescriptor, OpContext

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff

#: Attributes of the base class that belong to a graph or a run.
PASSING = frozenset({"same_diff", "_args", "_outputs", "input_arguments", "output_arguments", "_added"})


class Adapter(Protocol):
    """The class of ops behind a user's class."""

    @classmethod
    def of(cls, user: UserDefinedCustomOp) -> Op:
        """The op for a configured instance of a user's class."""


@DifferentialFunction.register
class UserDefinedCustomOp(UserDefinedCustomOpNames, FunctionVariables, ArrayArguments, ArgumentLists):
    """Base class of user-defined ops in DL4J's form; method names in snake_case or camelCase.

    Sub-classes need a constructor without arguments, and write ``op_name``, ``calculate_output_shape`` and ``exec``; besides
    ``get_num_outputs`` (1), ``calculate_output_data_types`` (that of the first input), ``do_diff``,
    ``properties_for_function`` and ``set_properties_for_function`` for fields that are to be saved,
    ``configure_from_arguments`` and ``configure_with_same_diff``. The methods that DL4J declares in two forms take either
    no argument (``self.input_arguments`` holds the arrays) or one :class:`~.op_context.OpContext`; ``exec`` may also be
    ``exec(inputs, outputs)``, and may fill the outputs or return them.

    ``Nd4j.exec(op)`` executes an op that has arrays: given in place of variables, or by ``add_input_argument``.

    Every run works on a fresh instance that is made from the saved properties, so threads never share one.

    Parameters
    ----------
    same_diff : SameDiff, optional
        The graph that the op is for; left out where inputs are arrays, also as in Java: ``super().__init__([x, y], None)``.
    args : SDVariable or array, or sequence of them
        Its inputs.
    *more : SDVariable
        Further inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.samediff import SameDiff
    >>> from dl4py.udf import UserDefinedCustomOp, user_defined_op
    >>> @user_defined_op
    ... class Plus(UserDefinedCustomOp):
    ...     def op_name(self):
    ...         return "docs_plus"
    ...     def calculate_output_shape(self, oc):
    ...         return [oc.input_array(0).shape]
    ...     def exec(self, inputs, outputs):
    ...         outputs[0][...] = inputs[0] + inputs[1]
    ...     def do_diff(self, grads):
    ...         return [grads[0], grads[0]]
    >>> sd = SameDiff.create()
    >>> x = sd.var("x", np.ones(2, np.float32))
    >>> sd.do_udf(Plus(sd, [x, x]))[0].eval()
    array([2., 2.], dtype=float32)
    """

    _adapter: type[Adapter]
    _added = False
    input_arguments: JavaList
    output_arguments: JavaList

    def __init__(self, same_diff: SameDiff | None = None, args: SDVariable | Sequence[SDVariable] = (), *more: SDVariable) -> None:
        self._args: list[SDVariable]
        self._outputs: list[SDVariable]
        if isinstance(same_diff, (list, tuple)):            # arrays, then those for the results
            same_diff, args, outputs = None, same_diff, args or ()
        else:
            outputs = ()
        given = [*(args if isinstance(args, (list, tuple)) else [args]), *more]
        arrays = [a for a in given if is_array(a) and not isinstance(a, SDVariable)]
        vars(self).update(same_diff=same_diff, _args=[] if arrays else given, _outputs=[], input_arguments=JavaList(arrays),
                          output_arguments=JavaList(outputs))
        self.no_arguments()

    def __init_subclass__(cls) -> None:
        settle(cls)
        for name, value in list(vars(cls).items()):
            snake = to_snake(name)
            if snake != name and callable(value) and snake not in vars(cls) and not name.startswith("_"):
                setattr(cls, snake, value)

    # To be defined by sub-classes

    def op_name(self) -> str:
        """Name in the registry and in files."""
        raise NotImplementedError(f"{type(self).__name__} must define op_name")

    def get_num_outputs(self) -> int:
        """Number of outputs of ``exec``."""
        return 1

    def calculate_output_shape(self, oc: OpContext) -> Sequence[Any]:
        """Shapes of the outputs: tuples, or descriptors with types."""
        raise NotImplementedError(f"{type(self).__name__} must define calculate_output_shape")

    def calculate_output_data_types(self, data_types: list[DataType]) -> Sequence[DataType]:
        """Types of the outputs."""
        return [data_types[0]] * self.get_num_outputs()

    def exec(self, oc: OpContext) -> Any:
        """Compute: fill the outputs, or return them."""
        raise NotImplementedError(f"{type(self).__name__} must define exec")

    def do_diff(self, grads: list[SDVariable]) -> Sequence[SDVariable | None]:
        """A gradient for each input, from the gradients of the outputs, built from nodes."""
        raise GradientError(f"op {self.op_name()!r} has no gradient: {type(self).__name__} does not define do_diff")

    def diff(self, grads: list[SDVariable]) -> list[SDVariable]:
        """As :meth:`do_diff`, with zeros for inputs on which the result does not depend."""
        return [x.sd.call("base", "zeros_like", x) if g is None else g for x, g in zip(self._args, self.do_diff(grads))]

    def tensorflow_name(self) -> str:
        """The op of TensorFlow that it stands for; GraphError unless the class says one."""
        raise GraphError(f"op {self.op_name()!r} has no counterpart in TensorFlow: {type(self).__name__} does not define tensorflow_name")

    def onnx_name(self) -> str:
        """The operator of ONNX that it stands for; GraphError unless the class says one."""
        raise GraphError(f"op {self.op_name()!r} has no counterpart in ONNX: {type(self).__name__} does not define onnx_name")

    def properties_for_function(self) -> dict[str, Any]:
        """Fields to save, by name."""
        return {}

    def set_properties_for_function(self, properties: dict[str, Any]) -> None:
        """Restore the fields that were saved."""

    def configure_from_arguments(self) -> None:
        """Set fields from the argument lists."""

    def configure_with_same_diff(self, same_diff: SameDiff) -> None:
        """Called when the op is added to a graph."""

    def is_inplace_call(self) -> bool:
        """Always False: inputs never change here."""
        return False

    # For use by sub-classes

    @property
    def sd(self) -> SameDiff | None:
        """The graph that the op was added to."""
        return self.same_diff

    def args(self) -> list[SDVariable]:
        """The input variables."""
        return list(self._args)

    def output_variables(self) -> list[SDVariable]:
        """The output variables; the first call adds an op to the graph of its inputs that is in none yet, as ``sd.do_udf`` does."""
        graph = next((v.sd for v in self._args if isinstance(v, SDVariable)), None)
        if not self._outputs and graph is not None:
            self.add_to(graph)
        return list(self._outputs)

    outputs = output_variables

    def stand_for(self, args: Sequence[SDVariable], outputs: Sequence[SDVariable]) -> None:
        """Set the op's arguments to the variables of the node that it differentiates."""
        self._args, self._outputs = list(args), list(outputs)

    def op_type(self) -> str:
        """The type of user-defined ops, always "UDF"."""
        return "UDF"

    def op_hash(self) -> int:
        """The hash of user-defined ops in DL4J, always 1."""
        return 1

    def add_to(self, sd: SameDiff) -> list[SDVariable]:
        """Add the op to a graph (``sd.do_udf(op)``)."""
        self.same_diff = sd
        self._registered()
        with building(f"configure_with_same_diff of op {self.op_name()!r}", self.configure_with_same_diff, GraphError):
            self.configure_with_same_diff(sd)
        made = sd.add_op(self.as_op(), self._args)
        self._outputs = made if isinstance(made, list) else [made]
        self._added = True
        return list(self._outputs)

    def _registered(self) -> type[Adapter]:
        if "_adapter" not in vars(type(self)):
            raise RegistrationError(f"{type(self).__name__} is not registered: put @user_defined_op before the class")
        return type(self)._adapter

    def as_op(self) -> Op:
        """The immutable op that graphs store."""
        return self._registered().of(self)

    def results(self, context: Any, inputs: Sequence[Any]) -> list[Any]:
        """The results of the op for arrays."""
        return list(as_tuple(apply(self.as_op(), *inputs)))

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in PASSING:
            self.still_open(name)
        super().__setattr__(name, value)

    def still_open(self, name: str) -> None:
        """GraphError once the op is in a graph, which would not notice."""
        if self._added:
            raise GraphError(f"op {self.op_name()!r} is in a graph already, which keeps it as it was: set {name!r} before do_udf, or add "
                             "another instance")


def arguments_of(method: Callable[..., Any]) -> int:
    """Number of arguments that a bound method takes."""
    return _bound(method.__func__) if isinstance(method, types.MethodType) else _taken(method)


@functools.lru_cache(maxsize=1024)
def _bound(function: Callable[..., Any]) -> int:
    return _taken(types.MethodType(function, object()))


def _taken(method: Callable[..., Any]) -> int:
    given = [p for p in inspect.signature(method).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in given if p.default is p.empty]
    return len(needed) or int(bool(given) and given[0].default is None)         # both of DL4J's forms in one: exec(self, oc=None)


def shapes_of(op: UserDefinedCustomOp, context: OpContext) -> list[tuple[tuple[int, ...], DataType | None]]:
    """Shape and, where told, type of each output."""
    op.input_arguments = JavaList(context.inputs)
    taken = arguments_of(op.calculate_output_shape)
    given = op.calculate_output_shape(*[context][:taken])
    return [LongShapeDescriptor.read(g) for g in ([given] if _is_shape(given) else given)]


def _is_shape(value: Any) -> bool:
    return not isinstance(value, (list, tuple)) or (isinstance(value, tuple) and all(isinstance(n, (int, np.integer)) for n in value))


def execute(op: UserDefinedCustomOp, context: OpContext) -> list[Any]:
    """Run ``exec`` in whichever form it is written."""
    op.input_arguments, op.output_arguments = JavaList(context.inputs), JavaList()
    taken = arguments_of(op.exec)
    returned = op.exec(*([context] if taken == 1 else [context.inputs, context.outputs][:taken]))
    if returned is not None:
        return list(returned) if isinstance(returned, (list, tuple)) else [returned]
    return list(op.output_arguments) or list(context.outputs)


def frozen(values: Iterable[Any]) -> tuple[Any, ...]:
    """The values as a tuple, with nested lists as tuples."""
    return tuple(frozen(v) if isinstance(v, (list, tuple)) else v for v in values)
