# mypy: ignore-errors
"""All steps of an LSTM, forward and backward, for some rows of the batch.

Shapes: gates, dz (T, N, 4 units); states, cells, squashed, gh, gc (T, N, units); h0, c0, dh, dc (N, units); ``packed``: weights
from :func:`.time_loops.pack_joined` or :func:`.small_products.pack`; joined (N, in + units + 1). ``peephole`` (3, units),
``mask`` (T, N) and gc are empty where there are none. ``a f o g`` are the positions of the blocks: block input (tanh), forget,
output and input gate (sigmoid). Parts share the batch.
"""
from __future__ import annotations

from ..compiler.sources import kernel
from ..library.address import in_line, matrix
from ..library.intrinsics import fabs, vmax, vmin
from ..library.mathlib import sigmoid, tanh
from ..matrix.product_tiles import never_inlined
from ..matrix.small_products import times_packed
from .time_loops import join, share


@kernel
def lstm_step(z, peephole, before, now, flat, out, a, f, o, g, clip):
    """One step for some rows: gates in place of z; writes cell states, their activations and outputs."""
    never_inlined()
    units = out.shape[1]
    peeps = peephole.shape[0] > 0
    for i in range(z.shape[0]):
        za, zf = z[i, a * units : (a + 1) * units], z[i, f * units : (f + 1) * units]
        zo, zg = z[i, o * units : (o + 1) * units], z[i, g * units : (g + 1) * units]
        if peeps:
            for j in range(units):
                zg[j] += before[i, j] * peephole[0, j]
            for j in range(units):
                zf[j] += before[i, j] * peephole[1, j]
        for j in range(units):                          # few arrays in each loop, so that it becomes vector code
            za[j] = tanh(za[j])
        for j in range(units):
            zf[j] = sigmoid(zf[j])
        for j in range(units):
            zg[j] = sigmoid(zg[j])
        for j in range(units):
            now[i, j] = zf[j] * before[i, j] + za[j] * zg[j]
        if clip > 0:
            for j in range(units):
                now[i, j] = vmin(vmax(now[i, j], -clip), clip)
        if peeps:
            for j in range(units):
                zo[j] += now[i, j] * peephole[2, j]
        for j in range(units):
            zo[j] = sigmoid(zo[j])
        for j in range(units):
            flat[i, j] = tanh(now[i, j])
        for j in range(units):
            out[i, j] = zo[j] * flat[i, j]


@kernel
def keep(now, before, mask, hold):
    """Rows times their mask; with ``hold`` plus what the mask leaves of the rows before."""
    never_inlined()
    one = now.dtype.type(1)
    for i in range(now.shape[0]):
        m = mask[i]
        rest = one - m if hold else one - one
        for j in range(now.shape[1]):
            now[i, j] = now[i, j] * m + rest * before[i, j]


@kernel
def lstm_forward(x, packed, peephole, h0, c0, mask, states, cells, gates, squashed, joined, work, a, f, o, g, clip, hold, reverse, part,
                 parts):
    """Write gates, states, cells and squashed cells."""
    count, batch = x.shape[:2]
    low, high = share(batch, part, parts)
    rows, least = joined[low:high], x.dtype.type(clip)
    for step in range(count):
        t = count - 1 - step if reverse else step
        last = t + 1 if reverse else t - 1
        h, c = (h0, c0) if step == 0 else (states[last], cells[last])
        join(x[t, low:high], h[low:high], rows)
        times_packed(rows, packed, gates[t, low:high], work[part], 0)
        lstm_step(gates[t, low:high], peephole, c[low:high], cells[t, low:high], squashed[t, low:high], states[t, low:high], a, f, o, g,
                  least)
        if mask.shape[0] > 0:
            keep(states[t, low:high], h[low:high], mask[t, low:high], hold)
            keep(cells[t, low:high], c[low:high], mask[t, low:high], hold)


@kernel
def lstm_step_back(z, peephole, before, flat, uh, uc, mask, dz, dh, dc, dp, a, f, o, g, clip, hold):
    """One step back for some rows: dz from dh and dc, which become what the step before gets besides dz."""
    never_inlined()
    units = dh.shape[1]
    peeps, masked = peephole.shape[0] > 0, mask.shape[0] > 0
    one = z.dtype.type(1)
    zero = one - one
    for i in range(z.shape[0]):
        m = mask[i] if masked else one
        rest = one - m if hold else zero
        za, da = z[i, a * units : (a + 1) * units], dz[i, a * units : (a + 1) * units]
        zf, df = z[i, f * units : (f + 1) * units], dz[i, f * units : (f + 1) * units]
        zo, do = z[i, o * units : (o + 1) * units], dz[i, o * units : (o + 1) * units]
        zg, dg = z[i, g * units : (g + 1) * units], dz[i, g * units : (g + 1) * units]
        for j in range(units):
            dh[i, j] += uh[i, j]
        if uc.shape[0] > 0:
            for j in range(units):
                dc[i, j] += uc[i, j]
        for j in range(units):
            do[j] = m * dh[i, j] * flat[i, j] * zo[j] * (one - zo[j])
        for j in range(units):                          # the gradient of the cell, kept in df for a while
            df[j] = m * (dc[i, j] + dh[i, j] * zo[j] * (one - flat[i, j] * flat[i, j]))
        if peeps:
            for j in range(units):
                df[j] += do[j] * peephole[2, j]
            for j in range(units):
                raw = zf[j] * before[i, j] + zg[j] * za[j]
                dp[2, j] += do[j] * (vmin(vmax(raw, -clip), clip) if clip > 0 else raw)
        if clip > 0:
            for j in range(units):
                df[j] = df[j] if fabs(zf[j] * before[i, j] + zg[j] * za[j]) <= clip else zero * df[j]
        for j in range(units):
            da[j] = df[j] * zg[j] * (one - za[j] * za[j])
        for j in range(units):
            dg[j] = df[j] * za[j] * zg[j] * (one - zg[j])
        for j in range(units):
            q = df[j]
            df[j] = q * before[i, j] * zf[j] * (one - zf[j])
            dc[i, j] = q * zf[j] + rest * dc[i, j]
        if peeps:
            for j in range(units):
                dc[i, j] += dg[j] * peephole[0, j] + df[j] * peephole[1, j]
            for j in range(units):
                dp[0, j] += dg[j] * before[i, j]
            for j in range(units):
                dp[1, j] += df[j] * before[i, j]
        for j in range(units):
            dh[i, j] *= rest


@kernel
def lstm_backward(gates, packed, peephole, h0, c0, mask, cells, squashed, gh, gc, dz, dh, dc, dps, work, a, f, o, g, clip, hold, reverse,
                  part, parts):
    """Write dz; dh and dc become the gradients of h0 and c0, dps (parts, 3, units), zeros at first, collects those of the peepholes."""
    count, batch = cells.shape[:2]
    low, high = share(batch, part, parts)
    least = gates.dtype.type(clip)
    dh[low:high] = 0
    dc[low:high] = 0
    for step in range(count):
        t = step if reverse else count - 1 - step
        c = c0 if step == count - 1 else cells[t + 1 if reverse else t - 1]
        m = mask[t, low:high] if mask.shape[0] > 0 else in_line(mask)
        uc = gc[t, low:high] if gc.shape[0] > 0 else matrix(gc, 0, 0)
        lstm_step_back(gates[t, low:high], peephole, c[low:high], squashed[t, low:high], gh[t, low:high], uc, m,
                       dz[t, low:high], dh[low:high], dc[low:high], dps[part], a, f, o, g, least, hold)
        times_packed(dz[t, low:high], packed, dh[low:high], work[part], 1)


@kernel
def sum_peepholes(dps, dp, part, parts):
    """Sum the peephole gradients of all parts."""
    low, high = share(dp.shape[1], part, parts)
    for i in range(dp.shape[0]):
        for j in range(low, high):
            dp[i, j] = 0
            for k in range(dps.shape[0]):
                dp[i, j] += dps[k, i, j]
