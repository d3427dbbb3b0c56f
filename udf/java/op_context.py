"""Context of DL4J's methods of an op: inputs and outputs of one run."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...samediff.arrays import INDArray
from ...samediff.base.datatype import DataType
from ...samediff.base.javanames import JavaSpelling, to_snake
from ...samediff.base.spec import TensorSpec
from ...samediff.errors import ShapeError
from ...samediff.ir.argument_lists import JavaList, at
from ..code.failure import sizes
from .java_names import LongShapeDescriptorNames, OpContextNames


@dataclass(frozen=True)
class LongShapeDescriptor(LongShapeDescriptorNames):
    """Shape and data type of an array.

    Parameters
    ----------
    shape : tuple of int
        Sizes.
    dtype : DataType or str, optional
        None takes what ``calculate_output_data_types`` says.
    """

    shape: tuple[int, ...]
    dtype: DataType | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", sizes("a shape descriptor", self.shape))
        if self.dtype is not None:
            object.__setattr__(self, "dtype", DataType.of(self.dtype))

    @staticmethod
    def from_shape(shape: Sequence[int], dtype: DataType | None = None) -> LongShapeDescriptor:
        """A descriptor of that shape and type."""
        return LongShapeDescriptor(shape, dtype)  # type: ignore[arg-type]  # becomes a tuple

    @staticmethod
    def read(value: Any) -> tuple[tuple[int, ...], DataType | None]:
        """Shape and type of a descriptor, TensorSpec, array or plain shape."""
        if hasattr(value, "shape") and not isinstance(value, (tuple, list)):
            if value.shape is None:
                raise ShapeError("the shape of an output is unknown")
            dtype = getattr(value, "dtype", None)
            return sizes("calculate_output_shape", value.shape), None if dtype is None else DataType.of(dtype)
        return sizes("calculate_output_shape", value), None


_VALUES = frozenset({"item", "tolist", "sum", "max", "min", "mean", "any", "all", "astype", "get_int", "get_double", "to_int_vector"})


class Argument(JavaSpelling):
    """An input while the graph is built: shape and type, and its values where it is a constant."""

    def __init__(self, spec: TensorSpec, read: list[Argument] | None = None) -> None:
        self.spec = spec
        self._read = [] if read is None else read

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes, -1 where unknown."""
        if self.spec.shape is None:
            raise ShapeError("the rank of an input is not known while the graph is built")
        return self.spec.shape

    @property
    def dtype(self) -> DataType:
        """Data type."""
        return self.spec.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def data_type(self) -> DataType:
        """Data type."""
        return self.spec.dtype

    def rank(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def size(self, axis: int) -> int:
        """Size of one axis."""
        return int(at(self.shape, axis, "axes"))

    if not TYPE_CHECKING:       # else no misspelt name would be noticed
        def __getattr__(self, name: str) -> Any:
            if to_snake(name) in _VALUES:
                return getattr(self._values(), name)
            return super().__getattr__(name)

    def _values(self) -> Any:
        """The values of a constant, noted as read; ShapeError for anything else."""
        self._read.append(self)
        if self.spec.value is not None:
            return INDArray.of(self.spec.value)
        raise ShapeError(f"the values of an input ({self.spec}) are not known while the graph is built: a shape rule may use shape, dtype, "
                         "rank() and size(axis). Where a size depends on values, pass the value as an argument of the op (add_i_argument)")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._values(), dtype)

    def shape_descriptor(self) -> LongShapeDescriptor:
        """Shape and type of the input."""
        return LongShapeDescriptor(self.shape, self.spec.dtype)


def _reading(name: str) -> Any:
    return lambda self, *args: getattr(self._values(), name)(*args)


for _name in ("getitem", "iter", "len", "int", "float", "index", "bool", "add", "mul"):
    setattr(Argument, f"__{_name}__", _reading(f"__{_name}__"))


class OpContext(Sequence[Any], OpContextNames):
    """Inputs and outputs of one run; as a sequence, the inputs.

    While the graph is built the inputs are :class:`Argument` objects, during a run arrays.

    Parameters
    ----------
    inputs : sequence
        The inputs.
    outputs : sequence of array
        Arrays to fill; none while the graph is built.
    """

    def __init__(self, inputs: Sequence[Any], outputs: Sequence[Any] = ()) -> None:
        self.inputs = list(inputs)
        self.outputs = list(outputs)

    def input_array(self, i: int) -> Any:
        """One input."""
        return at(self.inputs, i, "inputs")

    def input_arrays(self) -> JavaList:
        """All inputs."""
        return JavaList(self.inputs)

    def output_array(self, i: int) -> Any:
        """One output array, to be filled."""
        return at(self.outputs, i, "outputs")

    def output_arrays(self) -> JavaList:
        """All outputs, to be filled."""
        return JavaList(self.outputs)

    get_input_array, get_input_arrays, get_output_array, get_output_arrays = input_array, input_arrays, output_array, output_arrays

    def set_output_array(self, i: int, array: Any) -> None:
        """Put an array in the place of an output."""
        at(self.outputs, i, "outputs")
        self.outputs[i] = array

    def num_input_arguments(self) -> int:
        """Number of inputs."""
        return len(self.inputs)

    def __getitem__(self, i: Any) -> Any:
        return self.inputs[i] if isinstance(i, slice) else at(self.inputs, i, "inputs")

    def __len__(self) -> int:
        return len(self.inputs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.inputs)
