"""What DL4J's methods of an op get: inputs and outputs of one run."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from ..samediff.base.datatype import DataType
from ..samediff.base.javanames import JavaSpelling
from ..samediff.base.spec import TensorSpec
from ..samediff.errors import ShapeError


@dataclass(frozen=True)
class LongShapeDescriptor(JavaSpelling):
    """Shape and data type of an array."""

    shape: tuple[int, ...]
    dtype: DataType | None = None

    @staticmethod
    def from_shape(shape: Sequence[int], dtype: DataType | None = None) -> LongShapeDescriptor:
        """A descriptor of that shape and type."""
        return LongShapeDescriptor(tuple(shape), dtype)

    @staticmethod
    def read(value: Any) -> tuple[tuple[int, ...], DataType | None]:
        """Shape and type of a descriptor, TensorSpec, array or plain shape."""
        if hasattr(value, "shape") and not isinstance(value, (tuple, list)):
            if value.shape is None:
                raise ShapeError("the shape of an output is unknown")
            dtype = getattr(value, "dtype", None)
            return tuple(int(n) for n in value.shape), None if dtype is None else DataType.of(dtype)
        if isinstance(value, (tuple, list)):
            return tuple(int(n) for n in value), None
        raise ShapeError(f"calculate_output_shape must return shapes or shape descriptors, got {value!r}")


_VALUES = frozenset({"item", "tolist", "sum", "max", "min", "mean", "any", "all", "astype", "get_int", "get_double", "to_int_vector"})


class Argument(JavaSpelling):
    """An input whose values are not known yet: shape and type."""

    def __init__(self, spec: TensorSpec) -> None:
        self.spec = spec

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
        """One size."""
        return self.shape[axis]

    def __getattr__(self, name: str) -> Any:
        if name in _VALUES:
            self._refuse()
        return super().__getattr__(name)

    def _refuse(self, *_: Any) -> NoReturn:
        raise ShapeError(f"the values of an input ({self.spec}) are not known while the graph is built: a shape rule may use shape, dtype, "
                         "rank() and size(axis). Where a size depends on values, pass the value as an argument of the op (add_i_argument)")

    __getitem__ = __iter__ = __len__ = __array__ = __int__ = __float__ = __index__ = __bool__ = __add__ = __mul__ = _refuse

    def shape_descriptor(self) -> LongShapeDescriptor:
        """Shape and type."""
        return LongShapeDescriptor(self.shape, self.spec.dtype)


class OpContext(Sequence[Any], JavaSpelling):
    """Inputs and outputs of one run; as a sequence, the inputs.

    While the graph is built the inputs are :class:`Argument` objects, during a run NumPy arrays.
    """

    def __init__(self, inputs: Sequence[Any], outputs: Sequence[Any] = ()) -> None:
        self.inputs = list(inputs)
        self.outputs = list(outputs)

    def input_array(self, i: int) -> Any:
        """One input."""
        return self.inputs[i]

    def input_arrays(self) -> list[Any]:
        """All inputs."""
        return list(self.inputs)

    def output_array(self, i: int) -> Any:
        """One output, to be filled."""
        return self.outputs[i]

    def output_arrays(self) -> list[Any]:
        """All outputs, to be filled."""
        return list(self.outputs)

    get_input_array, get_input_arrays, get_output_array, get_output_arrays = input_array, input_arrays, output_array, output_arrays

    def set_output_array(self, i: int, array: Any) -> None:
        """Put an array in the place of an output."""
        self.outputs[i] = array

    def num_input_arguments(self) -> int:
        """Number of inputs."""
        return len(self.inputs)

    def __getitem__(self, i: Any) -> Any:
        return self.inputs[i]

    def __len__(self) -> int:
        return len(self.inputs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.inputs)
