"""Memory: strides, order, views, buffers, and what DL4J's workspaces ask for."""
from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..base.java_names import DataBufferNames
from ..errors import AxisError
from ..ir.translate_errors import refusing
from .methods.elements import Elements
from .methods.parts import assign, numbers
from .orders import in_columns, order_like


class DataBuffer(Elements, DataBufferNames, np.ndarray[Any, np.dtype[Any]]):
    """The elements of an array in the order of its memory, as a vector that can also be called: ``a.data`` and ``a.data()``."""

    __slots__ = ()

    def __call__(self) -> DataBuffer:
        """The buffer."""
        return self

    def length(self) -> int:
        """Number of elements."""
        return len(self)

    def data_type(self) -> DataType:
        """The data type."""
        return DataType.of(self.dtype)

    def as_double(self) -> list[float]:
        """All elements."""
        return self.to_double_vector()  # type: ignore[no-any-return]

    as_float = as_double

    def as_int(self) -> list[int]:
        """All elements, without fractions."""
        return self.to_int_vector()  # type: ignore[no-any-return]

    as_long = as_int


def _owner(x: Any) -> Any:
    """The array whose memory it is, in the end."""
    x = np.asarray(x)
    while isinstance(x.base, np.ndarray):
        x = x.base
    return np.asarray(x)


@refusing("INDArray")
class Memory:
    """The memory of an array: its buffer, strides and order."""

    __slots__ = ()

    @property
    def data(self: Any) -> DataBuffer:
        """The elements in the order of memory: a view where they lie without gaps, else a copy."""
        return np.asarray(self).ravel(order="K").view(DataBuffer)

    def stride(self: Any, dimension: int | None = None) -> Any:
        """Distances in memory between neighbours along each axis, in elements, or along one."""
        found = tuple(s // self.itemsize for s in self.strides)
        if dimension is None:
            return found
        if not -len(found) <= dimension < len(found):
            raise AxisError(f"stride: dimension {dimension} is out of range for an array of rank {len(found)}")
        return found[dimension]

    def ordering(self: Any) -> str:
        """``'f'`` where strides rise from the first axis to the last, else ``'c'``."""
        return "f" if in_columns(self) else "c"

    def element_wise_stride(self: Any) -> int:
        """The distance between neighbours where that is one number for the whole array, else 0."""
        pairs = [(s // self.itemsize, n) for s, n in zip(self.strides, self.shape) if n != 1]
        pairs = pairs if self.ordering() == "c" else pairs[::-1]
        if not pairs:
            return 1
        return pairs[-1][0] if all(a == b * n for (a, _), (b, n) in pairwise(pairs)) else 0

    def offset(self: Any) -> int:
        """Offset of the array in the memory that it is a view of, in elements."""
        start, own = (x.__array_interface__["data"][0] for x in (_owner(self), np.asarray(self)))
        return int((own - start) // self.itemsize)

    original_offset = offset

    def is_view(self: Any) -> bool:
        """True when the array is a part of another one's memory."""
        return bool(_owner(self).nbytes != self.nbytes)

    def shape_info_to_string(self: Any) -> str:
        """Rank, type, order, shape and strides as text."""
        shape, stride = (",".join(map(str, v)) for v in (self.shape, self.stride()))
        return (f"Rank: {len(self.shape)}, DataType: {self.data_type().name}, Offset: 0, Order: {self.ordering()}, "
                f"Shape: [{shape}],  Stride: [{stride}]")

    def assign(self: Any, values: Any) -> Any:
        """Take the values of an array or a number, broadcast where they are fewer. In place; the type stays."""
        return assign(self, numbers(values, "assign"), "assign")

    def close(self) -> None:
        """Nothing: memory is given back when nobody holds the array."""

    def closeable(self: Any) -> bool:
        """Whether the array is no view."""
        return not self.is_view()

    def was_closed(self) -> bool:
        """False."""
        return False

    def is_attached(self) -> bool:
        """False: there are no workspaces."""
        return False

    def is_in_scope(self) -> bool:
        """True: there are no workspaces."""
        return True

    def is_compressed(self) -> bool:
        """False: there are no compressed arrays."""
        return False

    def is_sparse(self) -> bool:
        """False: there are no sparse arrays."""
        return False

    def detach(self: Any, *workspace: Any) -> Any:
        """This array: there are no workspaces, and ``workspace`` has no effect."""
        return self

    leverage = leverage_to = leverage_or_detach = migrate = detach

    def unsafe_duplication(self: Any, blocking: bool = True) -> Any:
        """A copy; ``blocking`` has no effect."""
        return self.dup(order_like(self, self))
