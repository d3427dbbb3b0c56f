# mypy: ignore-errors
"""All steps of an LSTM, forward and backward, for some rows of the batch.

Shapes: gates, dz (T, N, 4 units); rw (units, 4 units), or with ``turned`` its transpose; bias (4 units); states, cells, squashed,
gh, gc (T, N, units); h0, c0, dh, dc (N, units). ``peephole`` (3, units) and ``mask`` (T, N) are empty where there are none.
``a f o g`` are the positions of the blocks: block input (tanh), forget, output and input gate (sigmoid).
"""
from __future__ import annotations

from ...cache import kernel
from ..blas import gemm
from ..intrinsics import fabs, vmax, vmin
from ..mathlib import sigmoid, tanh


@kernel
def lstm_step(z, bias, peephole, before, now, flat, out, a, f, o, g, clip):
    """One step for some rows: z becomes the gates; writes cells, squashed cells and states."""
    units = out.shape[1]
    peeps = peephole.shape[0] > 0
    for i in range(z.shape[0]):
        za, ba = z[i, a * units : (a + 1) * units], bias[a * units : (a + 1) * units]
        zf, bf = z[i, f * units : (f + 1) * units], bias[f * units : (f + 1) * units]
        zo, bo = z[i, o * units : (o + 1) * units], bias[o * units : (o + 1) * units]
        zg, bg = z[i, g * units : (g + 1) * units], bias[g * units : (g + 1) * units]
        if peeps:
            for j in range(units):
                zg[j] += before[i, j] * peephole[0, j]
            for j in range(units):
                zf[j] += before[i, j] * peephole[1, j]
        for j in range(units):                          # few arrays in each loop, so that it becomes vector code
            za[j] = tanh(za[j] + ba[j])
        for j in range(units):
            zf[j] = sigmoid(zf[j] + bf[j])
        for j in range(units):
            zg[j] = sigmoid(zg[j] + bg[j])
        for j in range(units):
            now[i, j] = zf[j] * before[i, j] + za[j] * zg[j]
        if clip > 0:
            for j in range(units):
                now[i, j] = vmin(vmax(now[i, j], -clip), clip)
        if peeps:
            for j in range(units):
                zo[j] += now[i, j] * peephole[2, j]
        for j in range(units):
            zo[j] = sigmoid(zo[j] + bo[j])
        for j in range(units):
            flat[i, j] = tanh(now[i, j])
        for j in range(units):
            out[i, j] = zo[j] * flat[i, j]


@kernel
def keep(now, before, mask, hold):
    """Rows times their mask; with ``hold`` plus what the mask leaves of the rows before."""
    one = now.dtype.type(1)
    for i in range(now.shape[0]):
        m = mask[i]
        rest = one - m if hold else one - one
        for j in range(now.shape[1]):
            now[i, j] = now[i, j] * m + rest * before[i, j]


@kernel
def lstm_forward(gates, rw, turned, bias, peephole, h0, c0, mask, states, cells, squashed, a, f, o, g, clip, hold, reverse, started,
                 low, high):
    """Turn x W in ``gates`` into the gates, write states, cells and squashed cells; ``started``: h0 is more than zeros."""
    count = states.shape[0]
    for step in range(count):
        t = count - 1 - step if reverse else step
        last = t + 1 if reverse else t - 1
        h, c = (h0, c0) if step == 0 else (states[last], cells[last])
        if step > 0 or started:
            gemm(h[low:high], rw, turned, gates[t, low:high], 1)
        lstm_step(gates[t, low:high], bias, peephole, c[low:high], cells[t, low:high], squashed[t, low:high], states[t, low:high],
                  a, f, o, g, clip)
        if mask.shape[0] > 0:
            keep(states[t, low:high], h[low:high], mask[t, low:high], hold)
            keep(cells[t, low:high], c[low:high], mask[t, low:high], hold)


@kernel
def lstm_step_back(z, peephole, before, flat, uh, uc, mask, dz, dh, dc, dp, a, f, o, g, clip, hold):
    """One step back for some rows: dz from dh and dc, which become what the step before gets besides dz."""
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
def lstm_backward(gates, rw, turned, peephole, h0, c0, mask, cells, squashed, gh, gc, dz, dh, dc, dp, a, f, o, g, clip, hold, reverse,
                  low, high):
    """Write dz; dh and dc, zeros at first, end as the gradients of h0 and c0; dp (3, units) collects those of the peepholes."""
    count = cells.shape[0]
    for step in range(count):
        t = step if reverse else count - 1 - step
        c = c0 if step == count - 1 else cells[t + 1 if reverse else t - 1]
        m = mask[t, low:high] if mask.shape[0] > 0 else mask.reshape(-1)
        lstm_step_back(gates[t, low:high], peephole, c[low:high], squashed[t, low:high], gh[t, low:high], gc[t, low:high], m,
                       dz[t, low:high], dh[low:high], dc[low:high], dp, a, f, o, g, clip, hold)
        gemm(dz[t, low:high], rw, not turned, dh[low:high], 1)
