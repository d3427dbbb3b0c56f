"""Simple recurrent networks over whole sequences on the CPU, in the manner of :mod:`.lstm_sequence`."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.recurrent.rnn_sequence import RnnSequence, RnnSequenceGrad, compiled_name
from ...kernel_table import kernel_for
from ...routines.parallel_phases import ParallelPhases, phased
from ...routines.recurrent import fits, library, packed_spec, work, workspace_spec
from ...threads import parts_of_rows


@kernel_for(RnnSequence)
def forward(op: RnnSequence, *given: TensorSpec | None) -> Kernel | None:
    """``call(inputs, states, sums)`` for a simple recurrent network."""
    x_spec, rw_spec = given[0], given[2]
    if not fits(given) or x_spec is None or rw_spec is None:
        return None
    from ...kernels.rnn_sequence import ACTIVATIONS, rnn_forward
    from ...kernels.time_loops import pack_joined
    activation = compiled_name(op.activation)
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


@kernel_for(RnnSequenceGrad)
def gradient(op: RnnSequenceGrad, *given: TensorSpec | None) -> Kernel | None:
    """The kernel of the gradient of a simple recurrent network: ``call(inputs, states, sums, gh, gradients)``."""
    x_spec, rw_spec = given[0], given[2]
    if not fits(given) or x_spec is None or rw_spec is None:
        return None
    from ...kernels.rnn_sequence import ACTIVATIONS, rnn_backward
    from ...kernels.time_loops import gradients, pack_back
    activation = compiled_name(op.activation)
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
