"""Ops that hold arrays: what they read, what they write into, and how they are executed."""
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..arrays.recording import state
from ..base.datatype import DataType
from ..errors import DataTypeError, GraphError, ShapeError
from ..families.array_code.symbolic_size import may_be_equal
from ..ir.argument_lists import JavaList, at
from ..ir.variable import SDVariable
from .arguments import arrays_of


class ArrayArguments:
    """Inputs and outputs of an op that ``Nd4j.exec`` executes."""

    is_legacy: ClassVar[bool] = False
    in_place = False
    #: Whether the result goes into the first input, where that has its type and shape and no output is given.
    into_first = False
    input_arguments: JavaList
    output_arguments: JavaList

    @abstractmethod
    def op_name(self) -> str:
        """Its name in messages."""

    @abstractmethod
    def results(self, context: Any, inputs: Sequence[Any]) -> list[Any]:
        """The results of the op for arrays."""

    def add_input_argument(self, *arrays: Any) -> None:
        """Add inputs."""
        self.input_arguments.extend(arrays_of(arrays))

    def add_output_argument(self, *arrays: Any) -> None:
        """Add arrays that results are written into."""
        self.output_arguments.extend(arrays_of(arrays))

    def set_input_argument(self, i: int, array: Any) -> None:
        """Set one input."""
        _put(self.input_arguments, i, array)

    def set_output_argument(self, i: int, array: Any) -> None:
        """Set one output."""
        _put(self.output_arguments, i, array)

    def set_input_arguments(self, *arrays: Any) -> None:
        """Set all inputs."""
        self.input_arguments[:] = arrays_of(arrays)

    def set_output_arguments(self, *arrays: Any) -> None:
        """Set all outputs."""
        self.output_arguments[:] = arrays_of(arrays)

    def get_input_argument(self, i: int) -> Any:
        """One input."""
        return at(self.input_arguments, i, f"the inputs of op {self.op_name()!r}")

    def get_output_argument(self, i: int) -> Any:
        """One output."""
        return at(self.output_arguments, i, f"the outputs of op {self.op_name()!r}")

    def num_input_arguments(self) -> int:
        """Number of inputs."""
        return len(self.input_arguments)

    def num_output_arguments(self) -> int:
        """Number of outputs."""
        return len(self.output_arguments)

    def clear_arrays(self) -> None:
        """Forget inputs and outputs."""
        self.input_arguments.clear()
        self.output_arguments.clear()

    def x(self) -> Any:
        """The first input."""
        return self.get_input_argument(0)

    def y(self) -> Any:
        """The second input."""
        return self.get_input_argument(1)

    def z(self) -> Any:
        """The first output."""
        return self.get_output_argument(0)

    def set_x(self, array: Any) -> None:
        """Set the first input."""
        self.set_input_argument(0, array)

    def set_y(self, array: Any) -> None:
        """Set the second input."""
        self.set_input_argument(1, array)

    def set_z(self, array: Any) -> None:
        """Set the first output."""
        self.set_output_argument(0, array)

    def remove_input_argument(self, array: Any) -> None:
        """Remove an input."""
        _remove(self.input_arguments, array, f"an input of op {self.op_name()!r}")

    def remove_output_argument(self, array: Any) -> None:
        """Remove an output."""
        _remove(self.output_arguments, array, f"an output of op {self.op_name()!r}")

    def execute(self, context: Any = None) -> list[Any]:
        """Compute on its inputs, or on those of a context; results stand in the outputs, which are made where none are given."""
        given = self.input_arguments if context is None else context.input_arrays()
        outputs = self.output_arguments if context is None else context.output_arrays()
        if any(isinstance(v, SDVariable) for v in given):
            raise GraphError(f"op {self.op_name()!r} has variables of a graph as inputs: outputs() adds it to the graph")
        results = self.results(context, given)
        targets = list(outputs) or (list(given[:len(results)]) if self.in_place else [])
        if not targets and self.into_first and _alike(results[0], given[0]):
            targets = [given[0]]
        if targets and len(targets) != len(results):
            raise ShapeError(f"op {self.op_name()!r} has {len(results)} outputs, {len(targets)} arrays were given for them")
        found = [_written(self.op_name(), r, t) for r, t in zip(results, targets)] if targets else results
        if context is None:
            self.output_arguments[:] = found
        elif not outputs:
            for i, array in enumerate(found):
                context.set_output_array(i, array)
        return found


def _alike(x: Any, y: Any) -> bool:
    return bool(x.dtype == y.dtype and may_be_equal(x.shape, y.shape))


def _written(name: str, result: Any, target: Any) -> Any:
    if not may_be_equal(target.shape, result.shape):
        raise ShapeError(f"op {name!r}: the result has shape {tuple(result.shape)}, the array given for it {tuple(target.shape)}")
    if not np.can_cast(result.dtype, target.dtype, "same_kind"):
        raise DataTypeError(f"op {name!r}: the result is {DataType.of(result.dtype).name}, the array given for it "
                            f"{DataType.of(target.dtype).name}, which does not hold it")
    if state.recorder is not None and not hasattr(result, "__array_interface__"):
        return state.recorder.record_assign(target, result)
    target[...] = result
    return target


def _put(values: list[Any], i: int, array: Any) -> None:
    if i < len(values):
        values[i] = array
    elif i == len(values):
        values.append(array)
    else:
        raise GraphError(f"arrays are set one after the other: number {len(values)} comes next, got {i}")


def _remove(values: list[Any], array: Any, what: str) -> None:
    at = next((i for i, v in enumerate(values) if v is array), None)
    if at is None:
        raise GraphError(f"the array is not {what}")
    del values[at]
