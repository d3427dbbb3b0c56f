"""Executing ops: ``Nd4j.exec(op)`` and ``Nd4j.getExecutioner().exec(op)``."""
from __future__ import annotations

from typing import Any

from ..base.javanames import JavaSpelling
from ..errors import GraphError
from ..ir.argument_lists import ArgumentLists, JavaList, at
from ..ir.translate_errors import refusing
from .arguments import arrays_of
from .array_arguments import ArrayArguments


class ExecutionContext(ArgumentLists, JavaSpelling):
    """Inputs, outputs and arguments of one execution (``Nd4j.getExecutioner().buildContext()``)."""

    def __init__(self) -> None:
        self.no_arguments()
        self.inputs, self.outputs = JavaList(), JavaList()

    def op_name(self) -> str:
        """For messages."""
        return "of the context"

    def set_input_array(self, i: int, array: Any) -> None:
        """Set one input."""
        self._put(self.inputs, i, array)

    def set_output_array(self, i: int, array: Any) -> None:
        """Set one output."""
        self._put(self.outputs, i, array)

    @staticmethod
    def _put(values: list[Any], i: int, array: Any) -> None:
        values.extend([None] * (i + 1 - len(values)))
        values[i] = array

    def set_input_arrays(self, *arrays: Any) -> None:
        """Set all inputs."""
        self.inputs[:] = arrays_of(arrays)

    def set_output_arrays(self, *arrays: Any) -> None:
        """Set all outputs."""
        self.outputs[:] = arrays_of(arrays)

    def input_arrays(self) -> JavaList:
        """The inputs."""
        return JavaList(self.inputs)

    def output_arrays(self) -> JavaList:
        """The outputs."""
        return JavaList(self.outputs)

    def input_array(self, i: int) -> Any:
        """One input."""
        return at(self.inputs, i, "inputs")

    def output_array(self, i: int) -> Any:
        """One output."""
        return at(self.outputs, i, "outputs")

    def set_i_arguments(self, *values: Any) -> None:
        """Set the integer arguments."""
        self.i_arguments = [int(v) for v in arrays_of(values)]

    def set_t_arguments(self, *values: Any) -> None:
        """Set the floating arguments."""
        self.t_arguments = [float(v) for v in arrays_of(values)]

    def set_b_arguments(self, *values: Any) -> None:
        """Set the truth values."""
        self.b_arguments = [bool(v) for v in arrays_of(values)]

    def set_d_arguments(self, *values: Any) -> None:
        """Set the data types."""
        self.d_arguments = list(arrays_of(values))

    def purge(self) -> None:
        """Forget everything."""
        self.__init__()  # type: ignore[misc]  # as new


class Executioner(JavaSpelling):
    """Executes ops (``Nd4j.getExecutioner()``)."""

    def exec(self, op: Any, context: Any = None) -> Any:
        """The results of an op: a list, or one array for the classes of DL4J's older kind; they stand in its outputs too."""
        if not isinstance(op, ArrayArguments):
            raise GraphError(f"exec takes an op (DynamicCustomOp, AddOp, a UserDefinedCustomOp, ...), got {op!r:.60}")
        found = op.execute(context)
        return found[0] if op.is_legacy else JavaList(found)

    def exec_and_return(self, op: Any) -> Any:
        """Execute an op; returns the op, whose outputs are filled."""
        self.exec(op)
        return op

    def build_context(self) -> ExecutionContext:
        """A context to fill."""
        return ExecutionContext()

    def commit(self) -> None:
        """Nothing to do: what is executed is done."""

    def __repr__(self) -> str:
        return "<executes ops>"


@refusing("Nd4j")
class Executing:
    """Executing ops."""

    @staticmethod
    def exec(op: Any, context: Any = None) -> Any:
        """Execute an op: a list of its results, or one array for the classes of DL4J's older kind (``Sum``, ``Tanh`` …).

        Examples
        --------
        >>> from dl4py import Nd4j
        >>> from dl4py.samediff.nd4j.op_classes import AddOp
        >>> Nd4j.exec(AddOp(Nd4j.ones(2), Nd4j.ones(2)))[0].tolist()
        [2.0, 2.0]
        """
        return Executioner().exec(op, context)

    @staticmethod
    def get_executioner() -> Executioner:
        """The executioner of ops."""
        return Executioner()

