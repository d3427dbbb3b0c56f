"""Lists of arrays: stored sequences, and tensor arrays that grow while the graph runs."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..base.java_names import TensorArrayNames
from ..base.spec import TensorSpec
from ..errors import DataTypeError, GraphError, ShapeError
from ..expressions.arrays import as_array
from ..ir.variable import SDVariable, VariableType
from ..ops.control.tensor_arrays import RemainingPositions, TensorArrayConcat, TensorArrayRead, TensorArrayWrite
from .running.evaluating import EvaluationMixin


class TensorArray(TensorArrayNames):
    """A list of equally shaped arrays of one type that ops write and read; usable in loops, differentiable to any order.

    The list travels as a variable, the flow: ``write``, ``scatter``, ``unstack`` and ``remove`` give a new one and leave
    the old one as it is. A flow is the array of the entries along a first axis, so that every op works on it.

    Parameters
    ----------
    sd : SameDiff
        The graph, whose ``tensor_array(dtype)`` makes it.
    flow : SDVariable
        What the list starts with.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.samediff import DataType, SameDiff
    >>> sd = SameDiff.create()
    >>> squares = sd.tensor_array(DataType.FLOAT)
    >>> def body(sd, v):
    ...     return [v[0] + 1, squares.write(v[1], v[0], (v[0] * v[0]).cast_to(DataType.FLOAT))]
    >>> _, flow = sd.while_loop([sd.constant(np.int32(0)), squares.var], lambda sd, v: v[0] < 4, body)
    >>> squares.stack(flow).eval()
    array([0., 1., 4., 9.], dtype=float32)
    """

    def __init__(self, sd: SequencesMixin, flow: SDVariable) -> None:
        self.sd = sd
        self.var = flow                 #: the flow that the list starts with; ``read(index)`` reads the one written last
        self._last = flow

    def read(self, *args: Any) -> SDVariable:
        """The entry at an index, negative from the end: ``read(index)`` of the last flow, or ``read(flow, index)``."""
        flow, index = args if len(args) == 2 else (self._last, args[0])
        return self.sd.add_op(TensorArrayRead(), [flow, _positions(index)])  # type: ignore[no-any-return]

    def write(self, flow: SDVariable, index: Any, value: Any) -> SDVariable:
        """The flow with a value at an index; it grows as needed."""
        self._last = self.sd.add_op(TensorArrayWrite(), [flow, _positions(index), value])
        return self._last

    def gather(self, flow: SDVariable, *indices: Any) -> SDVariable:
        """Entries at several indices (integers, or one variable), stacked."""
        return self.read(flow, _several(indices))

    def scatter(self, flow: SDVariable, value: SDVariable, *indices: Any) -> SDVariable:
        """The flow with the rows of a value at several indices (integers, or one variable)."""
        return self.write(flow, _several(indices), value)

    def stack(self, flow: SDVariable) -> SDVariable:
        """All entries along a new first axis."""
        return self.sd.call("base", "identity", flow)  # type: ignore[no-any-return]

    def unstack(self, flow: SDVariable, value: SDVariable) -> SDVariable:
        """A flow of the rows of a value, which replaces all entries."""
        if flow.dtype is not value.dtype:
            raise DataTypeError(f"a list of {flow.dtype.name} cannot take {value.dtype.name}")
        self._last = self.sd.call("base", "identity", value)
        return self._last

    def concat(self, flow: SDVariable) -> SDVariable:
        """All entries joined along their first axis."""
        return self.sd.add_op(TensorArrayConcat(), [flow])  # type: ignore[no-any-return]

    def size(self, flow: SDVariable) -> SDVariable:
        """Number of entries."""
        return self.sd.call("base", "size_at", flow, 0)  # type: ignore[no-any-return]

    def remove(self, flow: SDVariable, index: Any = -1) -> SDVariable:
        """The flow without one entry, by default the last."""
        rest = self.sd.add_op(RemainingPositions(), [flow, _positions(index)])
        self._last = self.sd.add_op(TensorArrayRead(), [flow, rest])
        return self._last

    # As functions of flows

    @staticmethod
    def create_empty(sd: SequencesMixin, dtype: Any) -> SDVariable:
        """The flow variable of a new, empty list."""
        return sd.tensor_array(dtype).var

    @staticmethod
    def create_tensor_array_from(sd: SequencesMixin, inputs: Sequence[SDVariable], name: str | None = None) -> SDVariable:
        """The flow variable of a list of these variables."""
        return sd.call("base", "stack", *([] if name is None else [name]), 0, *inputs)  # type: ignore[no-any-return]

    @staticmethod
    def get_tensor_array(sd: SequencesMixin, sequence: SDVariable) -> TensorArray:
        """The tensor array that starts with a flow or sequence."""
        return sd.tensor_array(sequence)

    @staticmethod
    def item_at_index(sd: SequencesMixin, inputs: Sequence[Any], name: str | None = None) -> SDVariable:
        """The entry of a flow at an index: ``[flow, index]``."""
        return _named(sd.tensor_array(inputs[0]).read(inputs[0], inputs[1]), name)

    @staticmethod
    def remove_from_tensor_array(sd: SequencesMixin, flow: SDVariable, position: Any = -1, name: str | None = None) -> SDVariable:
        """The flow without one entry, by default the last."""
        return _named(sd.tensor_array(flow).remove(flow, position), name)

    @staticmethod
    def size_of_tensor_array(sd: SequencesMixin, flow: SDVariable, name: str | None = None) -> SDVariable:
        """Number of entries."""
        return _named(sd.tensor_array(flow).size(flow), name)


class SequencesMixin(EvaluationMixin):
    """The part of :class:`SameDiff` that stores lists of arrays; all entries have one shape and type."""

    def tensor_array(self, given: Any) -> TensorArray:
        """An empty :class:`TensorArray` of a data type, or one that starts with a sequence or another flow."""
        if isinstance(given, SDVariable):
            return TensorArray(self, self.tables.own(given))  # type: ignore[arg-type]  # every core is a SameDiff
        empty = np.zeros((0,), DataType.of(given).numpy)
        spec = TensorSpec((0,), DataType.of(given))
        flow = self.tables.add_variable(self.tables.names.unique("tensor_array"), VariableType.CONSTANT, spec, empty)
        return TensorArray(self, flow)  # type: ignore[arg-type]

    def create_sequence(self, *args: Any) -> SDVariable:
        """Store a list of arrays: ``create_sequence([name,] arrays)``. In ops it is the array of its entries, stacked.

        Examples
        --------
        >>> from dl4py.samediff import SameDiff
        >>> sd = SameDiff.create()
        >>> s = sd.create_sequence("s", [[1.0, 2.0], [3.0, 4.0]])
        >>> sd.add_item_to_sequence("s", [5.0, 6.0], 1)
        >>> sd.sum(s, 0).eval()
        array([ 9., 12.], dtype=float32)
        """
        name, arrays = args if len(args) == 2 else (self.tables.names.unique("sequence"), args[0])
        items = [as_array(a) for a in arrays]
        if not items:
            raise GraphError("a sequence needs at least one array")
        if len({a.dtype for a in items}) > 1 or len({a.shape for a in items}) > 1:
            raise ShapeError(f"the arrays of a sequence need one shape and type; got {[(str(a.dtype), a.shape) for a in items]}")
        spec = TensorSpec((-1, *items[0].shape), DataType.of(items[0].dtype))
        return self.tables.add_variable(name, VariableType.SEQUENCE, spec, np.stack(items))

    def sequence_length(self, name: str) -> int:
        """Number of entries."""
        return len(self._sequence(name))

    def item_for_sequence(self, name: str, index: int) -> Any:
        """A copy of an entry; negative indices count from the end."""
        return np.array(self._sequence(name)[self._place(name, index)])

    def add_item_to_sequence(self, name: str, item: Any, index: int) -> None:
        """Insert an entry in front of position ``index``, or at the end."""
        items = self._sequence(name)
        at = self._place(name, index, len(items) + 1)
        self._keep(name, np.insert(items, at, self._item(name, item), axis=0))

    def set_item_for_sequence_at_index(self, name: str, item: Any, index: int) -> None:
        """Replace one entry of a stored sequence."""
        items, value = np.array(self._sequence(name)), self._item(name, item)
        items[self._place(name, index)] = value
        self._keep(name, items)

    def remove_item_from_sequence(self, name: str, index: int) -> None:
        """Take an entry out; the last one cannot go."""
        items, at = self._sequence(name), self._place(name, index)
        if len(items) == 1:
            raise GraphError(f"sequence {name!r} has one entry left; a sequence cannot be empty")
        self._keep(name, np.delete(items, at, axis=0))

    def output_values(self, placeholders: Any, *args: Any) -> dict[str, Any]:
        """As ``output``: ``output_values(placeholders, [listeners,] outputs)``; a sequence is returned as the array of its entries."""
        listeners, outputs = (list(args[0]), args[1:]) if len(args) == 2 and isinstance(args[1], (list, tuple)) else ([], args)
        return self.output(placeholders, *self.tables.names_in(outputs), *listeners)  # type: ignore[no-any-return]

    def _sequence(self, name: str) -> Any:
        v = self.variable(name)
        if v.get_variable_type() is not VariableType.SEQUENCE:
            raise GraphError(f"{v!r} is no sequence")
        return self.tables.store[v.name()]

    def _place(self, name: str, index: int, count: int | None = None) -> int:
        length = count or len(self._sequence(name))
        if not -length <= index < length:
            raise GraphError(f"sequence {name!r} has {len(self._sequence(name))} entries; position {index} is out of range")
        return index % length

    def _item(self, name: str, item: Any) -> Any:
        items = self._sequence(name)
        value = as_array(item, items.dtype)
        if value.shape != items.shape[1:]:
            raise ShapeError(f"sequence {name!r} holds arrays of shape {items.shape[1:]}; got {value.shape}")
        return value

    def _keep(self, name: str, items: Any) -> None:
        self.tables.store[name] = np.array(items, order="C")
        self.tables.changed()


def _positions(index: Any) -> Any:
    return index if isinstance(index, SDVariable) else np.asarray(index, np.int32)


def _named(variable: SDVariable, name: str | None) -> SDVariable:
    return variable if name is None else variable.rename(name)


def _several(indices: Sequence[Any]) -> Any:
    return indices[0] if len(indices) == 1 and not isinstance(indices[0], int) else list(indices)
