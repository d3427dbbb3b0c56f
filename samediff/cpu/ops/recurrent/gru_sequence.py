"""Gated recurrent units over whole sequences on the CPU, in the manner of :mod:`.lstm_sequence`."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.recurrent.gru_sequence import GruSequence, GruSequenceGrad
from ...kernel_table import kernel_for
from ...routines.parallel_phases import ParallelPhases, phased
from ...routines.recurrent import fits, library, packed_spec, work, workspace_spec
from ...threads import parts_of_rows


@kernel_for(GruSequence)
def forward(op: GruSequence, *given: TensorSpec) -> Kernel | None:
    """``call(x, h0, wx, wh, b, states, saved)``."""
    x_spec, h_spec, _, wh_spec, _ = given
    if not fits((x_spec, *given[2:])) or x_spec is None or h_spec is None or wh_spec is None:
        return None
    from ...kernels.gru_sequence import gru_forward
    from ...kernels.time_loops import pack_back, pack_joined
    (_, batch, inputs), (units, columns) = x_spec.shape or (0, 0, 0), wh_spec.shape or (0, 0)
    parts = parts_of_rows(batch, work(wh_spec, x_spec))

    def build(x: Any, h0: Any, wx: Any, wh: Any, b: Any, states: Any, saved: Any, dense_x: Any, packed_x: Any, packed_h: Any, joined: Any,
             z: Any, product: Any, workspace: Any) -> ParallelPhases:
        phases = ParallelPhases(x.dtype)
        (wx, transposed_wx), (wh, transposed_wh) = phases.weight(wx), phases.weight(wh)
        nothing = np.zeros((0, columns), x.dtype)
        phases.add(pack_joined, (wx, nothing, phases.input(b).reshape(-1), packed_x), transposed_wx, False)
        phases.add(pack_back, (wh, packed_h, np.zeros((0, 0, 0), x.dtype)), transposed_wh)
        outputs = phases.input(h0), phases.output(saved), phases.output(states)
        phases.add(gru_forward, (phases.series(x, dense_x), packed_x, packed_h, *outputs, joined, z, product, workspace))
        return phases
    one, packed = TensorSpec((batch, columns), x_spec.dtype), [packed_spec(x_spec, n, columns) for n in (inputs + 1, units)]
    return phased(build, parts, (TensorSpec(x_spec.shape, x_spec.dtype), *packed, TensorSpec((batch, inputs + 1), x_spec.dtype), one, one,
                         workspace_spec(x_spec, parts)))


@kernel_for(GruSequenceGrad)
def gradient(op: GruSequenceGrad, *given: TensorSpec) -> Kernel | None:
    """``call(x, h0, wx, wh, b, states, saved, gh, dx, dh0, dwx, dwh, db)``."""
    x_spec, wh_spec = given[0], given[3]
    if not fits((x_spec, *given[2:5])) or x_spec is None or wh_spec is None:
        return None
    from ...kernels.gru_sequence import gru_backward
    from ...kernels.time_loops import gradients, pack_back
    (count, batch, _), (units, columns) = x_spec.shape or (0, 0, 0), wh_spec.shape or (0, 0)
    parts = parts_of_rows(batch, work(wh_spec, x_spec))

    def build(x: Any, h0: Any, wx: Any, wh: Any, b: Any, states: Any, saved: Any, gh: Any, dx: Any, dh0: Any, dwx: Any, dwh: Any,
             db: Any, dz: Any, dr: Any, dense_x: Any, dense_gh: Any, packed: Any, workspace: Any) -> ParallelPhases:
        phases = ParallelPhases(x.dtype)
        (wx, transposed_wx), (wh, transposed_wh) = phases.weight(wx), phases.weight(wh)
        phases.add(pack_back, (wh, packed, np.zeros((0, 0, 0), x.dtype)), not transposed_wh)
        first, after = phases.input(h0), phases.input(states)
        phases.add(gru_backward, (phases.input(saved), packed, first, after, phases.series(gh, dense_gh), dz, dr, phases.output(dh0),
                                  workspace))
        (dwx, transposed_dwx), (dwh, transposed_dwh) = phases.weight_output(dwx), phases.weight_output(dwh)
        targets = phases.output(dx), dwx, dwh, phases.output(db).reshape(-1)
        phases.add(gradients, (phases.series(x, dense_x), wx, first, after, dz, dr, *targets, workspace),
                   transposed_wx, transposed_dwx, transposed_dwh, True, False, library(x_spec))
        return phases
    whole = TensorSpec((count, batch, columns), x_spec.dtype)
    return phased(build, parts, (whole, whole, TensorSpec(x_spec.shape, x_spec.dtype), TensorSpec((count, batch, units), x_spec.dtype),
                         packed_spec(x_spec, columns, units), workspace_spec(x_spec, parts)))
