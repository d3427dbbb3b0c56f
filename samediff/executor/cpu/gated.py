"""Gated recurrent units over whole sequences on the CPU, in the manner of :mod:`.recurrent`."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...op import Kernel
from ...spec import TensorSpec
from .products import product, row_major
from .recurrent import Specs, dense, fits, project, side_by_side, work
from .threads import parts_of


def gru(given: Specs) -> Kernel | None:
    """``call(x, h0, wx, wh, b, states, saved, sums, product)``."""
    x_spec, h_spec, _, wh_spec, _ = given
    if not fits((x_spec, *given[2:])) or x_spec is None or h_spec is None or wh_spec is None:
        return None
    from .kernels.gru_sequence import gru_forward
    count, batch, _ = x_spec.shape or (0, 0, 0)
    columns = (wh_spec.shape or ())[1]
    parts = parts_of(batch, work(wh_spec, x_spec))

    def call(x: Any, h0: Any, wx: Any, wh: Any, b: Any, states: Any, saved: Any, sums: Any, room: Any) -> None:
        project(x, wx, sums)
        np.add(sums, b.reshape(-1), out=sums)
        first, (matrix, turned) = dense(h0), row_major(wh)

        def run(_: int, low: int, high: int) -> None:
            gru_forward(sums, matrix, turned, first, saved, states, room, low, high)
        side_by_side(run, parts)
    return Kernel(call, (TensorSpec((count, batch, columns), x_spec.dtype), TensorSpec((batch, columns), x_spec.dtype)))


def gru_gradient(given: Specs) -> Kernel | None:
    """``call(x, h0, wx, wh, b, states, saved, gh, dx, dh0, dwx, dwh, db, dz, dr)``."""
    x_spec, wh_spec = given[0], given[3]
    if not fits((x_spec, *given[2:5])) or x_spec is None or wh_spec is None:
        return None
    from .kernels.gru_sequence import gru_backward
    count, batch, _ = x_spec.shape or (0, 0, 0)
    units, columns = wh_spec.shape or (0, 0)
    parts = parts_of(batch, work(wh_spec, x_spec))

    def call(x: Any, h0: Any, wx: Any, wh: Any, b: Any, states: Any, saved: Any, gh: Any, dx: Any, dh0: Any, dwx: Any, dwh: Any,
             db: Any, dz: Any, dr: Any) -> None:
        first, (matrix, turned), carried = dense(h0), row_major(wh), np.zeros((batch, units), dz.dtype)
        gates, after, upstream = dense(saved), dense(states), dense(gh)

        def run(_: int, low: int, high: int) -> None:
            gru_backward(gates, matrix, turned, first, after, upstream, dz, dr, carried, low, high)
        side_by_side(run, parts)
        dh0[...] = carried
        flat = dz.reshape(-1, columns)
        project(dz, wx.T, dx)
        product(np.ascontiguousarray(x).reshape(-1, x.shape[2]).T, flat, dwx)
        product(after[:-1].reshape(-1, units).T, dr[1:].reshape(-1, columns), dwh)
        dwh += first.T @ dr[0]
        db[...] = flat.sum(0).reshape(db.shape)
    whole = TensorSpec((count, batch, columns), x_spec.dtype)
    return Kernel(call, (whole, whole))
