"""Executing ops: ``Nd4j.exec(op)`` and ``Nd4j.getExecutioner().exec(op)``."""
from __future__ import annotations

import os
import platform
from typing import Any

import numpy as np

from ..arrays import INDArray
from ..base.java.old_names import Advised
from ..base.spec import TensorSpec
from ..device.devices import current_device
from ..errors import GraphError
from ..ir.argument_lists import ArgumentLists, JavaList, at
from ..ir.translate_errors import refusing
from .arguments import arrays_of
from .arranging import Arranging
from .array_arguments import ArrayArguments
from .running import plain_number


class ExecutionContext(ArgumentLists, Advised):
    """Inputs, outputs and arguments of one execution (``Nd4j.getExecutioner().buildContext()``)."""

    advice = "context"

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
        self.t_arguments = [plain_number(v) for v in arrays_of(values)]

    def set_b_arguments(self, *values: Any) -> None:
        """Set the truth values."""
        self.b_arguments = [bool(v) for v in arrays_of(values)]

    def set_d_arguments(self, *values: Any) -> None:
        """Set the data types."""
        self.d_arguments = list(arrays_of(values))

    def set_args(self, inputs: Any, i_arguments: Any = (), d_arguments: Any = (), t_arguments: Any = (), b_arguments: Any = ()) -> None:
        """Set inputs and all arguments, in DL4J's sequence."""
        self.set_input_arrays(*inputs)
        for setter, values in ((self.set_i_arguments, i_arguments), (self.set_d_arguments, d_arguments),
                               (self.set_t_arguments, t_arguments), (self.set_b_arguments, b_arguments)):
            setter(*(values or ()))

    def num_input_arguments(self) -> int:
        """Number of inputs."""
        return len(self.inputs)

    def num_output_arguments(self) -> int:
        """Number of outputs."""
        return len(self.outputs)

    def mark_inplace(self, in_place: bool) -> None:
        """Whether the results are written into the inputs."""
        self.outputs[:] = self.inputs if in_place else []

    def allow_helpers(self, allowed: bool) -> None:
        """Nothing to do: there is one implementation of each op."""

    def shape_function_override(self, overridden: bool) -> None:
        """Nothing to do: shapes follow from the inputs."""

    def purge(self) -> None:
        """Forget everything."""
        self.__init__()  # type: ignore[misc]  # as new


class Executioner(Advised):
    """Executes ops (``Nd4j.getExecutioner()``)."""

    advice = "executioner"

    def exec(self, op: Any, context: Any = None) -> Any:
        """The results of an op: a list, or one array for the classes of DL4J's older kind; they stand in its outputs too."""
        found = _op(op).execute(context)
        return found[0] if op.is_legacy else JavaList(found)

    def exec_and_return(self, op: Any) -> Any:
        """Execute an op; returns the op, whose outputs are filled."""
        self.exec(op)
        return op

    def build_context(self) -> ExecutionContext:
        """A context to fill."""
        return ExecutionContext()

    def calculate_output_shape(self, op: Any, context: Any = None) -> list[TensorSpec]:
        """Shapes and types of the results of an op, which is not executed."""
        return list(_op(op).calculate_output_shape(context))

    def allocate_output_arrays(self, op: Any) -> list[Any]:
        """New arrays for the results of an op."""
        return [INDArray.of(np.zeros(s.shape, s.dtype.numpy)) for s in self.calculate_output_shape(op)]  # type: ignore[arg-type]  # known sizes

    def scatter_update(self, how: Any, array: Any, indices: Any, updates: Any, *axes: Any) -> None:
        """As :meth:`Nd4j.scatter_update`."""
        Arranging.scatter_update(how, array, indices, updates, *axes)

    def commit(self) -> None:
        """Nothing to do: what is executed is done."""

    push = commit

    def type(self) -> str:
        """What computes."""
        return str(current_device())

    def get_environment_information(self) -> dict[str, str]:
        """Versions, and what computes."""
        return {"backend": self.type(), "python": platform.python_version(), "numpy": np.__version__, "os": platform.platform(),
                "cores": str(os.cpu_count())}

    def print_environment_information(self) -> None:
        """Print it."""
        for name, value in self.get_environment_information().items():
            print(f"{name}: {value}")

    def enable_debug_mode(self, enabled: bool) -> None:
        """Nothing to do: errors always name op, inputs and line."""

    enable_verbose_mode = enable_debug_mode

    def set_profiling_mode(self, mode: Any) -> None:
        """Nothing to do: ``sd.profile`` and ``net.profile`` say what a run does."""

    set_profiling_config = set_profiling_mode

    def is_debug(self) -> bool:
        """Always false."""
        return False

    is_verbose = is_experimental_mode = is_debug

    def __repr__(self) -> str:
        return "<executes ops>"


def _op(value: Any) -> Any:
    if not isinstance(value, ArrayArguments):
        raise GraphError(f"exec takes an op (DynamicCustomOp, AddOp, a UserDefinedCustomOp, ...), got {value!r:.60}")
    return value


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

