"""Recurrent ops over whole sequences on the CPU: weights laid out for products, then one compiled loop over time.

The rows of a batch do not depend on each other, so large sequences are worked on by several threads.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...ir.op import Kernel
from ..threads import parts_of_rows
from .parallel_phases import ParallelPhases, phased

if TYPE_CHECKING:
    from ...ops.recurrent.lstm_sequence import LstmAttributes

Specs = tuple[TensorSpec | None, ...]


def fits(given: Specs) -> bool:
    """Whether the inputs are static, not empty, and float32 or float64."""
    x, rw = given[0], given[2]
    if x is None or rw is None or x.dtype not in (DataType.FLOAT, DataType.DOUBLE) or any(s and not s.is_static for s in given):
        return False
    return 0 not in (*(x.shape or ()), *(rw.shape or ()))


def work(rw: TensorSpec, x: TensorSpec) -> int:
    """Number of multiplications of all steps."""
    return int(np.prod((*(x.shape or ())[:2], *(rw.shape or ())), dtype=np.int64))


def packed_spec(like: TensorSpec, depth: int, columns: int) -> TensorSpec:
    """Spec of the memory for packed weights."""
    from ..matrix.product_tiles import VECTOR, VECTORS
    wide = VECTORS * VECTOR // like.dtype.numpy.itemsize
    return TensorSpec((-(-columns // wide) * wide * depth,), like.dtype)


def workspace_spec(like: TensorSpec, parts: list[tuple[int, int]]) -> TensorSpec:
    """Spec of the workspace of the products, one row for each part."""
    from ..matrix.small_products import WORKSPACE
    return TensorSpec((len(parts), WORKSPACE), like.dtype)


def library(like: TensorSpec) -> int:
    """The address of the BLAS library's product; 0 where there is none to call."""
    from ..blas.blas import address
    return int(address(like.dtype is DataType.DOUBLE))


def lstm(op: LstmAttributes, given: Specs) -> Kernel | None:
    """``call(inputs, states, cells, gates, squashed)``; None when the loops here do not serve it."""
    x_spec, rw_spec = given[0], given[2]
    if not op.is_plain() or not fits(given) or x_spec is None or rw_spec is None:
        return None
    from ..kernels.lstm_sequence import lstm_forward
    from ..kernels.time_loops import pack_joined
    (_, batch, inputs), units = x_spec.shape or (0, 0, 0), (rw_spec.shape or ())[0]
    parts, depth = parts_of_rows(batch, work(rw_spec, x_spec)), inputs + units + 1

    def build(*arrays: Any) -> ParallelPhases:
        given: list[Any] = [*arrays[:-8], *[None] * (16 - len(arrays))]
        x, w, rw, b, peephole, h0, c0, mask = given
        states, cells, gates, squashed, dense_x, packed, joined, workspace = arrays[-8:]
        phases = ParallelPhases(x.dtype)
        phases.exact = not op.forget_bias or b is None       # else the bias of the op is a sum
        (w, transposed_w), (rw, transposed_rw) = phases.weight(w), phases.weight(rw)
        phases.add(pack_joined, (w, rw, phases.input(op.bias(np, b, gates[0])), packed), transposed_w, transposed_rw)
        rest = peepholes(phases, peephole), *(phases.input(a, (batch, units)) for a in (h0, c0)), phases.input(mask)
        outputs = [phases.output(a) for a in (states, cells, gates, squashed)]
        phases.add(lstm_forward, (phases.series(x, dense_x), packed, *rest, *outputs, joined, workspace), *op.blocks, float(op.clip),
                   op.hold, op.reverse)
        return phases
    return phased(build, parts, (TensorSpec(x_spec.shape, x_spec.dtype), packed_spec(x_spec, depth, 4 * units),
                         TensorSpec((batch, depth), x_spec.dtype), workspace_spec(x_spec, parts)))


def peepholes(phases: ParallelPhases, array: Any) -> Any:
    """Peephole weights as three rows."""
    return phases.input(array if array is None else array.reshape(3, -1))


def lstm_gradient(op: LstmAttributes, given: Specs) -> Kernel | None:
    """``call(inputs, states, cells, gates, squashed, gh, gc, gradients)``."""
    x_spec, rw_spec = given[0], given[2]
    if not op.is_plain() or not fits(given) or x_spec is None or rw_spec is None:
        return None
    from ..kernels.lstm_sequence import lstm_backward, sum_peepholes
    from ..kernels.time_loops import gradients, pack_back
    count, batch, _ = x_spec.shape or (0, 0, 0)
    units = (rw_spec.shape or ())[0]
    parts, wants_dx = parts_of_rows(batch, work(rw_spec, x_spec)), bool(getattr(op, "dx", True))

    def build(*arrays: Any) -> ParallelPhases:
        (x, w, rw, _, peephole, h0, c0, mask), saved, (gh, gc) = arrays[:8], arrays[8:12], arrays[12:14]
        dx, dw, drw, db, dp, dh0, dc0, dz, dense_x, dense_gh, packed, dps, workspace = arrays[14:]
        phases = ParallelPhases(x.dtype)
        (w, transposed_w), (rw, transposed_rw) = phases.weight(w), phases.weight(rw)
        phases.add(pack_back, (rw, packed, dps), not transposed_rw)
        states, cells, gates, squashed = map(phases.input, saved)
        rest = peepholes(phases, peephole), *(phases.input(a, (batch, units)) for a in (h0, c0)), phases.input(mask), cells, squashed
        upstream = phases.series(gh, dense_gh), phases.input(gc, (0, 0, 0))
        phases.add(lstm_backward, (gates, packed, *rest, *upstream, dz, phases.output(dh0), phases.output(dc0), dps, workspace),
                   *op.blocks, float(op.clip), op.hold, op.reverse)
        (dw, transposed_dw), (drw, transposed_drw) = phases.weight_output(dw), phases.weight_output(drw)
        targets = phases.output(dx), dw, drw, phases.output(db).reshape(-1)
        phases.add(gradients, (phases.series(x, dense_x), w, phases.input(h0), states, dz, dz, *targets, workspace),
                   transposed_w, transposed_dw, transposed_drw, wants_dx, op.reverse, library(x_spec))
        if peephole is not None:
            phases.add(sum_peepholes, (dps, phases.output(dp).reshape(3, -1)))
        return phases
    whole = TensorSpec((count, batch, units), x_spec.dtype)
    return phased(build, parts, (TensorSpec((count, batch, 4 * units), x_spec.dtype), TensorSpec(x_spec.shape, x_spec.dtype), whole,
                         packed_spec(x_spec, 4 * units, units), TensorSpec((len(parts), 3, units), x_spec.dtype),
                         workspace_spec(x_spec, parts)))


def rnn(activation: str, given: Specs) -> Kernel | None:
    """``call(inputs, states, sums)`` for a simple recurrent network."""
    x_spec, rw_spec = given[0], given[2]
    if not fits(given) or x_spec is None or rw_spec is None:
        return None
    from ..kernels.rnn_sequence import ACTIVATIONS, rnn_forward
    from ..kernels.time_loops import pack_joined
    if activation not in ACTIVATIONS:
        return None
    (_, batch, inputs), units = x_spec.shape or (0, 0, 0), (rw_spec.shape or ())[0]
    kind, depth, parts = ACTIVATIONS.index(activation), inputs + units + 1, parts_of_rows(batch, work(rw_spec, x_spec))

    def build(*arrays: Any) -> ParallelPhases:
        given: list[Any] = [*arrays[:-6], *[None] * (12 - len(arrays))]
        x, w, rw, b, h0, mask = given
        states, sums, dense_x, packed, joined, workspace = arrays[-6:]
        phases = ParallelPhases(x.dtype)
        (w, transposed_w), (rw, transposed_rw) = phases.weight(w), phases.weight(rw)
        phases.add(pack_joined, (w, rw, phases.input(b, (units,)).reshape(-1), packed), transposed_w, transposed_rw)
        rest = phases.input(h0, (batch, units)), phases.input(mask), phases.output(states), phases.output(sums)
        phases.add(rnn_forward, (phases.series(x, dense_x), packed, *rest, joined, workspace), kind)
        return phases
    return phased(build, parts, (TensorSpec(x_spec.shape, x_spec.dtype), packed_spec(x_spec, depth, units),
                         TensorSpec((batch, depth), x_spec.dtype), workspace_spec(x_spec, parts)))


def rnn_gradient(activation: str, given: Specs) -> Kernel | None:
    """The kernel of the gradient of a simple recurrent network: ``call(inputs, states, sums, gh, gradients)``."""
    x_spec, rw_spec = given[0], given[2]
    if not fits(given) or x_spec is None or rw_spec is None:
        return None
    from ..kernels.rnn_sequence import ACTIVATIONS, rnn_backward
    from ..kernels.time_loops import gradients, pack_back
    if activation not in ACTIVATIONS:
        return None
    (count, batch, _), units = x_spec.shape or (0, 0, 0), (rw_spec.shape or ())[0]
    kind, parts = ACTIVATIONS.index(activation), parts_of_rows(batch, work(rw_spec, x_spec))

    def build(x: Any, w: Any, rw: Any, b: Any, h0: Any, mask: Any, states: Any, sums: Any, gh: Any, dx: Any, dw: Any, drw: Any, db: Any,
             dh0: Any, dz: Any, dense_x: Any, dense_gh: Any, packed: Any, workspace: Any) -> ParallelPhases:
        phases = ParallelPhases(x.dtype)
        (w, transposed_w), (rw, transposed_rw) = phases.weight(w), phases.weight(rw)
        phases.add(pack_back, (rw, packed, np.zeros((0, 0, 0), x.dtype)), not transposed_rw)
        upstream = phases.input(mask), phases.series(gh, dense_gh)
        phases.add(rnn_backward, (phases.input(sums), packed, *upstream, dz, phases.output(dh0), workspace), kind)
        (dw, transposed_dw), (drw, transposed_drw) = phases.weight_output(dw), phases.weight_output(drw)
        targets = phases.output(dx), dw, drw, phases.output(db).reshape(-1)
        phases.add(gradients, (phases.series(x, dense_x), w, phases.input(h0), phases.input(states), dz, dz, *targets, workspace),
                   transposed_w, transposed_dw, transposed_drw, True, False, library(x_spec))
        return phases
    whole = TensorSpec((count, batch, units), x_spec.dtype)
    return phased(build, parts, (whole, TensorSpec(x_spec.shape, x_spec.dtype), whole, packed_spec(x_spec, units, units),
                                 workspace_spec(x_spec, parts)))
