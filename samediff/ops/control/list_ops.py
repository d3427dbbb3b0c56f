"""DL4J's ops on lists of arrays. A list is a handle and a flow; the flow, the array of the entries, holds what was written."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...codecs.flatbuffers.graph import FlatNode
from ...errors import GraphError, ShapeError
from ...families.composite import Composite
from ...families.indices import require_integer
from ...ir.op import Op, Specs, op
from ..shape.reshaping import reshape_like
from .tensor_arrays import TensorArrayConcat, TensorArrayRead, TensorArrayWrite

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


class _CreateArgs(FileArgs):
    """File form with the type of the entries, which DL4J stores as the type of the flow."""

    def decode(self, node: FlatNode) -> dict[str, Any]:
        found = super().decode(node)
        if "data_type" not in found and len(node.output_types) > 1:
            found["data_type"] = DataType.from_code(node.output_types[1])
        return found


@op("create_list", inputs="size?", gradient="none", signatures=("data_type",),
    file=_CreateArgs(ints=("data_type?:dtype",), properties={"tensorArrayDataType": "s:data_type:dtype"}))
class CreateList(Op):
    """An empty list of arrays of one shape and type: its handle, and its flow. It grows as needed, whatever ``size`` says."""

    data_type: DataType | None = None

    def infer(self, *specs: TensorSpec) -> tuple[TensorSpec, ...]:
        """The handle, a BOOL scalar, and an empty flow."""
        return TensorSpec((), DataType.BOOL), TensorSpec((0,), self.data_type or DataType.FLOAT)

    def compute(self, xp: Any, size: Any = None) -> Any:
        return xp.asarray(True), xp.zeros((0,), (self.data_type or DataType.FLOAT).numpy)


class OfList(Composite):
    """Works on the flow, the last input; the handle only says which list it is."""

    writes: ClassVar[bool] = False          # whether the result is the list with something written into it

    def flow_spec(self, specs: tuple[TensorSpec, ...], without: int) -> TensorSpec:
        """Spec of the flow, the last input; GraphError if the handle alone is given. A flow may also stand in the handle's place."""
        flow = specs[-1]
        if len(specs) == without and (without > 1 or flow.dtype is DataType.BOOL):
            raise GraphError(f"{self.id} needs the flow of the list as its last input: the result of the write that it follows")
        return flow

    def entered(self, flow: TensorSpec, dtype: DataType) -> TensorSpec:
        """The flow in the type of the value that is written: an empty list has no type yet."""
        return flow.with_dtype(dtype) if flow.shape == (0,) else flow


def _entered(flow: Any, value: Any) -> Any:
    return flow if flow.dtype is value.dtype else flow.sd.call("base", "cast_to", flow, value.dtype)


def _single(index: TensorSpec) -> TensorSpec:
    require_integer("positions in a list", index)
    if index.is_static and index.shape not in ((), (1,)):
        raise ShapeError(f"one position is needed, got shape {index.shape}")
    return TensorSpec((), index.dtype)


def _one(index: Any) -> Any:
    if index.size != 1:
        raise ShapeError(f"one position is needed, got shape {index.shape}")
    return index.reshape(())


def _node(index: Any) -> Any:
    return index.sd.call("base", "reshape", index) if index.spec.shape == (1,) else index


@op("write_list", inputs="handle index value flow?", file=FileArgs())
class WriteList(OfList):
    """The flow with ``value`` at ``index``; it grows as needed."""

    writes = True

    def infer(self, *specs: TensorSpec) -> Specs:
        """A list of entries like the value."""
        flow = self.flow_spec(specs, 3)
        return TensorArrayWrite().infer(self.entered(flow, specs[2].dtype), _single(specs[1]), specs[2])

    def compute(self, xp: Any, handle: Any, index: Any, value: Any, flow: Any) -> Any:
        return TensorArrayWrite().compute(xp, flow.astype(value.dtype), _one(index), value)

    def expand(self, *inputs: Any) -> Any:
        _, index, value, flow = inputs
        return flow.sd.add_op(TensorArrayWrite(), [_entered(flow, value), _node(index), value])


@op("read_list", inputs="handle index flow?", file=FileArgs())
class ReadList(OfList):
    """The entry of a list at ``index``."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorArrayRead().infer(self.flow_spec(specs, 2), _single(specs[1]))

    def compute(self, xp: Any, handle: Any, index: Any, flow: Any) -> Any:
        return TensorArrayRead().compute(xp, flow, _one(index))

    def expand(self, *inputs: Any) -> Any:
        return inputs[-1].sd.add_op(TensorArrayRead(), [inputs[-1], _node(inputs[1])])


@op("list_places", inputs="index flow", gradient="zero")
class ListPlaces(Op):
    """The positions; for a single -1 all of the list (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        index = specs[0]
        require_integer("positions in a list", index)
        known = index.value is not None and index.value.reshape(-1).tolist() != [-1]
        return TensorSpec((index.value.size if known else -1,), index.dtype)

    def compute(self, xp: Any, index: Any, flow: Any) -> Any:
        """The positions as a vector; -1 alone stands for all."""
        if index.size == 1 and int(index.reshape(-1)[0]) == -1:
            if not flow.ndim:
                raise ShapeError("a list has at least one axis; got a scalar")
            return xp.arange(len(flow)).astype(index.dtype)
        return index.reshape(-1)


@op("gather_list", inputs="handle index flow?", file=FileArgs())
class GatherList(OfList):
    """The entries at several positions, stacked; a single -1 means all."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """One entry for each position."""
        flow = self.flow_spec(specs, 2)
        places = ListPlaces().infer(specs[1], flow)
        assert isinstance(places, TensorSpec)  # it has one output
        return TensorArrayRead().infer(flow, places)

    def compute(self, xp: Any, handle: Any, index: Any, flow: Any) -> Any:
        return TensorArrayRead().compute(xp, flow, ListPlaces().compute(xp, index, flow))

    def expand(self, *inputs: Any) -> Any:
        _, index, flow = inputs
        return flow.sd.add_op(TensorArrayRead(), [flow, flow.sd.add_op(ListPlaces(), [index, flow])])


@op("scatter_list", inputs="handle index value flow?", file=FileArgs())
class ScatterList(OfList):
    """The flow with the rows of ``value`` at several positions; a single -1 means one after the other from 0."""

    writes = True

    def infer(self, *specs: TensorSpec) -> Specs:
        """A list of entries like the rows."""
        flow, value = self.flow_spec(specs, 3), specs[2]
        places = ListPlaces().infer(specs[1], value)
        assert isinstance(places, TensorSpec)  # it has one output
        return TensorArrayWrite().infer(self.entered(flow, value.dtype), places, value)

    def compute(self, xp: Any, handle: Any, index: Any, value: Any, flow: Any) -> Any:
        places = ListPlaces().compute(xp, index, value)
        if len(places) != len(value):
            raise ShapeError(f"{len(places)} positions need as many rows, got {value.shape}")
        return TensorArrayWrite().compute(xp, flow.astype(value.dtype), places, value)

    def expand(self, *inputs: Any) -> Any:
        _, index, value, flow = inputs
        return flow.sd.add_op(TensorArrayWrite(), [_entered(flow, value), flow.sd.add_op(ListPlaces(), [index, value]), value])


@op("split_list", inputs="handle value lengths flow?", file=FileArgs())
class SplitList(OfList):
    """A flow of pieces of ``value`` along its first axis, of ``lengths`` that must be equal: entries have one shape."""

    writes = True

    def infer(self, *specs: TensorSpec) -> Specs:
        """One entry for each length."""
        self.flow_spec(specs, 3)
        value, lengths = specs[1:3]
        require_integer("lengths", lengths)
        if value.shape == ():
            raise ShapeError("a scalar cannot be split")
        if lengths.value is not None:
            count, length = lengths.value.size, self.length(lengths.value)
        else:
            count, length = -1, -1
        return TensorSpec(None if value.shape is None else (count, length, *value.shape[1:]), value.dtype)

    def length(self, lengths: Any) -> int:
        """The common length of all pieces; ShapeError where they differ."""
        found = set(lengths.reshape(-1).tolist())
        if len(found) != 1 or min(found) < 0:
            raise ShapeError(f"the pieces of a list must be equally long; got lengths {lengths.reshape(-1).tolist()}")
        return int(found.pop())

    def compute(self, xp: Any, handle: Any, value: Any, lengths: Any, flow: Any) -> Any:
        """A view with another shape."""
        count, length = lengths.size, self.length(lengths)
        if len(value) != count * length:
            raise ShapeError(f"{count} pieces of length {length} cannot be made of {len(value)} rows")
        return value.reshape(count, length, *value.shape[1:])

    def expand(self, *inputs: Any) -> Any:
        return inputs[1].sd.add_op(SplitPieces(), list(inputs[1:3]))


@op("list_split", inputs="value lengths")
class SplitPieces(Op):
    """Pieces along the first axis, stacked (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        flow = TensorSpec((0,), specs[0].dtype)
        return SplitList().infer(TensorSpec((), DataType.BOOL), *specs, flow)

    def compute(self, xp: Any, value: Any, lengths: Any) -> Any:
        return SplitList().compute(xp, None, value, lengths, None)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [reshape_like(output_grads[0], inputs[0]), None]


@op("stack_list", inputs="handle flow?", file=FileArgs())
class StackList(OfList):
    """All entries joined along their first axis (DL4J's name for it is that of TensorFlow's concat)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """The entries joined along their first axis."""
        return TensorArrayConcat().infer(self.flow_spec(specs, 1))

    def compute(self, xp: Any, handle: Any, flow: Any = None) -> Any:
        """A view with another shape."""
        return TensorArrayConcat().compute(xp, handle if flow is None else flow)

    def expand(self, *inputs: Any) -> Any:
        return inputs[-1].sd.add_op(TensorArrayConcat(), [inputs[-1]])


@op("size_list", inputs="handle flow?", gradient="zero", file=FileArgs())
class SizeList(OfList):
    """Number of entries of a list, INT scalar."""

    def infer(self, *specs: TensorSpec) -> Specs:
        if self.flow_spec(specs, 1).shape == ():
            raise ShapeError("a list has at least one axis; got a scalar")
        return TensorSpec((), DataType.INT)

    def compute(self, xp: Any, handle: Any, flow: Any = None) -> Any:
        return np.asarray(len(handle if flow is None else flow), np.int32)
