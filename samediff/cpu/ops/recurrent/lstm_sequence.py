"""LSTMs over whole sequences on the CPU: weights laid out for products, then one compiled loop over time."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.recurrent.lstm_sequence import LstmSequence, LstmSequenceGrad
from ...kernel_table import kernel_for
from ...routines.parallel_phases import ParallelPhases, phased
from ...routines.recurrent import fits, library, packed_spec, work, workspace_spec
from ...threads import parts_of_rows


@kernel_for(LstmSequence)
def forward(op: LstmSequence, *specs: TensorSpec | None) -> Kernel | None:
    """``call(inputs, states, cells, gates, squashed)``; None when the loops here do not serve it."""
    given = (*specs, *[None] * (8 - len(specs)))
    x_spec, rw_spec = given[0], given[2]
    if not op.is_plain() or not fits(given) or x_spec is None or rw_spec is None:
        return None
    from ...kernels.lstm_sequence import lstm_forward
    from ...kernels.time_loops import pack_joined
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
        rest = _peepholes(phases, peephole), *(phases.input(a, (batch, units)) for a in (h0, c0)), phases.input(mask)
        outputs = [phases.output(a) for a in (states, cells, gates, squashed)]
        phases.add(lstm_forward, (phases.series(x, dense_x), packed, *rest, *outputs, joined, workspace), *op.blocks, float(op.clip),
                   op.hold, op.reverse)
        return phases
    return phased(build, parts, (TensorSpec(x_spec.shape, x_spec.dtype), packed_spec(x_spec, depth, 4 * units),
                         TensorSpec((batch, depth), x_spec.dtype), workspace_spec(x_spec, parts)))


def _peepholes(phases: ParallelPhases, array: Any) -> Any:
    """Peephole weights as three rows."""
    return phases.input(array if array is None else array.reshape(3, -1))


@kernel_for(LstmSequenceGrad)
def gradient(op: LstmSequenceGrad, *given: TensorSpec | None) -> Kernel | None:
    """``call(inputs, states, cells, gates, squashed, gh, gc, gradients)``."""
    x_spec, rw_spec = given[0], given[2]
    if not op.is_plain() or not fits(given) or x_spec is None or rw_spec is None:
        return None
    from ...kernels.lstm_sequence import lstm_backward, sum_peepholes
    from ...kernels.time_loops import gradients, pack_back
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
        rest = _peepholes(phases, peephole), *(phases.input(a, (batch, units)) for a in (h0, c0)), phases.input(mask), cells, squashed
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
