"""Lists of equally shaped arrays, kept as one array whose first axis counts the entries; it grows by writing."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import Shape, TensorSpec, may_equal
from ...errors import DataTypeError, GraphError, ShapeError
from ...families.in_float import in_float
from ...ir.op import Op, Specs, op, require_same_type
from ..shape.reshaping import reshape_like

if TYPE_CHECKING:
    from ...ir.variable import SDVariable


def _rows(index: TensorSpec) -> int:
    """Rank of an index: 0 for one entry, 1 for several."""
    if not index.dtype.is_numeric or index.dtype.is_floating:
        raise DataTypeError(f"positions in a list must be integers; got {index.dtype.name}")
    if index.shape is None or len(index.shape) > 1:
        raise ShapeError(f"positions in a list are a scalar or a vector; got shape {index.shape}")
    return len(index.shape)


def _checked(index: Any, count: int) -> Any:
    places = np.where(index < 0, index + count, index)
    if places.size and (places.min() < 0 or places.max() >= count):
        raise GraphError(f"position {np.ravel(index).tolist()} in a list of {count} entries; allowed are {-count} to {count - 1}")
    return places


@op("tensor_array_write", inputs="flow index value")
class TensorArrayWrite(Op):
    """The list with ``value`` at ``index``; it grows as needed, by zeros where nothing was written yet.

    Shapes: flow (n, *S) or empty, index () with value (*S), or index (k) with value (k, *S).
    """

    def infer(self, *specs: TensorSpec) -> Specs:
        """A list of entries like the value."""
        flow, index, value = specs
        require_same_type("write", flow, value)
        own = _rows(index)
        if value.shape is None:
            return TensorSpec(None, flow.dtype)
        if len(value.shape) < own:
            raise ShapeError("several positions need a value with one row for each; got a scalar")
        entry = value.shape[own:]
        _check_entries(flow.shape, entry)
        return TensorSpec((-1, *entry), flow.dtype)

    def compute(self, xp: Any, flow: Any, index: Any, value: Any) -> Any:
        """A longer copy with the rows replaced."""
        entry = value.shape[index.ndim:]
        _check_entries(flow.shape, entry)
        if index.size and index.min() < 0:
            raise GraphError(f"position {int(index.min())} in a list: positions to write count from 0")
        if index.ndim and len(set(index.tolist())) < index.size:
            raise GraphError(f"positions {index.tolist()} repeat: each can be written once")
        out = xp.zeros((max(len(flow) if flow.size else 0, int(index.max()) + 1 if index.size else 0), *entry), flow.dtype)
        if flow.size:
            out[:len(flow)] = flow
        out[index] = value
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient of the written entry goes to the value, that of the others to the list."""
        (flow, index, _), sd, g = inputs, inputs[0].sd, output_grads[0]
        return [sd.add_op(TensorArrayWriteGrad(), [g, index, flow]), None, sd.add_op(TensorArrayRead(), [g, index])]


def _check_entries(flow: Shape | None, entry: Shape) -> None:
    if flow is not None and 0 not in flow and (not flow or not may_equal(flow[1:], entry)):
        raise ShapeError(f"a list of entries of shape {flow[1:]} cannot take one of shape {entry}")


@op("tensor_array_kept", inputs="g index flow", shape_inputs=(2,))
class TensorArrayWriteGrad(Op):
    """``g`` cut to the length of ``flow``, with zeros at ``index`` (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[2].shape, specs[0].dtype)

    def compute(self, xp: Any, g: Any, index: Any, flow: Any) -> Any:
        if not flow.size:
            return xp.zeros(flow.shape, g.dtype)
        out = g.copy()
        out[index] = 0
        return out[:len(flow)]

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        (g, index, _), sd = inputs, inputs[0].sd
        nothing = sd.call("base", "zeros_like", sd.add_op(TensorArrayRead(), [g, index]))
        return [sd.add_op(TensorArrayWrite(), [output_grads[0], index, nothing]), None, None]


@op("tensor_array_read", inputs="flow index")
class TensorArrayRead(Op):
    """One entry of the list, or several stacked.  Shapes: flow (n, *S), index () -> (*S); index (k) -> (k, *S)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """The index takes the place of the first axis."""
        flow, index = specs
        _rows(index)
        if flow.shape == ():
            raise ShapeError("a list has at least one axis; got a scalar")
        return TensorSpec(None if flow.shape in (None, (0,)) else (*(index.shape or ()), *flow.shape[1:]), flow.dtype)  # type: ignore[index]

    def compute(self, xp: Any, flow: Any, index: Any) -> Any:
        return flow[_checked(index, len(flow))]

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient put into zeros at the positions that were read."""
        return [inputs[0].sd.add_op(TensorArrayReadGrad(), [output_grads[0], inputs[1], inputs[0]]), None]


@op("tensor_array_placed", inputs="g index flow", shape_inputs=(2,))
class TensorArrayReadGrad(Op):
    """Zeros like ``flow`` with ``g`` added at ``index`` (made by gradients)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[2].shape, specs[0].dtype)

    @in_float
    def compute(self, xp: Any, g: Any, index: Any, flow: Any) -> Any:
        """Gradients added at their positions; entries read twice get the sum."""
        out = np.zeros(flow.shape, g.dtype)
        np.add.at(out, _checked(index, len(flow)), g)
        return out

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(TensorArrayRead(), [output_grads[0], inputs[1]]), None, None]


@op("tensor_array_others", inputs="flow index", gradient="zero", shape_inputs=(0,))
class RemainingPositions(Op):
    """All positions of the list but ``index``, in order, INT."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """A vector, one shorter than the list."""
        if _rows(specs[1]):
            raise ShapeError("one position is removed at a time; got a vector")
        return TensorSpec((-1,), DataType.INT)

    def compute(self, xp: Any, flow: Any, index: Any) -> Any:
        """All positions but the removed one."""
        return np.delete(np.arange(len(flow), dtype=np.int32), _checked(index, len(flow)))


@op("tensor_array_concat", inputs="flow")
class TensorArrayConcat(Op):
    """All entries joined along their first axis.  Shapes: (n, m, *S) -> (n * m, *S)."""

    def infer(self, *specs: TensorSpec) -> Specs:
        """The first two axes joined to one."""
        shape = specs[0].shape
        if shape is None or 0 in shape:
            return TensorSpec(None, specs[0].dtype)
        if len(shape) < 2:
            raise ShapeError("scalars cannot be joined; use stack")
        return TensorSpec((-1 if -1 in shape[:2] else shape[0] * shape[1], *shape[2:]), specs[0].dtype)

    def compute(self, xp: Any, flow: Any) -> Any:
        """Another shape of the same memory order."""
        if flow.ndim < 2:
            raise ShapeError("the list is empty or holds scalars: there is nothing to join")
        return flow.reshape(flow.shape[0] * flow.shape[1], *flow.shape[2:])

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        """The gradient in the shape of the list."""
        return [reshape_like(output_grads[0], inputs[0])]
