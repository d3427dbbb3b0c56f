# mypy: ignore-errors
"""All steps of an LSTM, forward and backward, for some rows of the batch.

Shapes: gates, dz (T, N, 4 units); rw (units, 4 units); bias (4 units); states, cells, squashed, gh, gc (T, N, units); h0, c0, carried
(N, units). ``turned``: rw is the transpose, (4 units, units). ``peephole`` (3, units) and ``mask`` (T, N) are empty where there are none. ``a f o g`` are the positions of the blocks.
"""
from __future__ import annotations

from ...cache import kernel
from ..blas import gemm
from ..intrinsics import fabs, vmax, vmin
from ..mathlib import sigmoid, tanh


@kernel
def lstm_forward(gates, rw, turned, bias, peephole, h0, c0, mask, states, cells, squashed, a, f, o, g, clip, hold, reverse, started,
                 low, high):
    """Turn x W in ``gates`` into the gates, write states, cells and squashed cells; ``started``: h0 is more than zeros."""
    count, units = states.shape[0], states.shape[2]
    peeps, masked = peephole.shape[0] > 0, mask.shape[0] > 0
    one = bias.dtype.type(1)
    for step in range(count):
        t = count - 1 - step if reverse else step
        last = t + 1 if reverse else t - 1
        h, c = (h0, c0) if step == 0 else (states[last], cells[last])
        if step > 0 or started:
            gemm(h[low:high], rw, turned, gates[t, low:high], 1)
        for i in range(low, high):
            z = gates[t, i]
            za, zf, zo, zg = (z[a * units : (a + 1) * units], z[f * units : (f + 1) * units], z[o * units : (o + 1) * units],
                              z[g * units : (g + 1) * units])
            ba, bf, bo, bg = (bias[a * units : (a + 1) * units], bias[f * units : (f + 1) * units], bias[o * units : (o + 1) * units],
                              bias[g * units : (g + 1) * units])
            before, now, flat, out = c[i], cells[t, i], squashed[t, i], states[t, i]
            if peeps:
                for j in range(units):
                    zg[j] += before[j] * peephole[0, j]
                for j in range(units):
                    zf[j] += before[j] * peephole[1, j]
            for j in range(units):                      # few arrays in each loop, so that it becomes vector code
                za[j] = tanh(za[j] + ba[j])
            for j in range(units):
                zf[j] = sigmoid(zf[j] + bf[j])
            for j in range(units):
                zg[j] = sigmoid(zg[j] + bg[j])
            for j in range(units):
                now[j] = zf[j] * before[j] + za[j] * zg[j]
            if clip > 0:
                for j in range(units):
                    now[j] = vmin(vmax(now[j], -clip), clip)
            if peeps:
                for j in range(units):
                    zo[j] += now[j] * peephole[2, j]
            for j in range(units):
                zo[j] = sigmoid(zo[j] + bo[j])
            for j in range(units):
                flat[j] = tanh(now[j])
            for j in range(units):
                out[j] = zo[j] * flat[j]
            if masked:
                m = mask[t, i]
                rest = one - m if hold else bias.dtype.type(0)
                for j in range(units):
                    out[j] = out[j] * m + rest * h[i, j]
                for j in range(units):
                    now[j] = now[j] * m + rest * before[j]


@kernel
def lstm_backward(gates, rw, turned, peephole, h0, c0, mask, cells, squashed, gh, gc, dz, dh0, dc0, dp, a, f, o, g, clip, hold, reverse,
                  low, high):
    """Write dz; dh0 and dc0, zeros at first, end as the gradients of h0 and c0; dp (3, units) collects those of the peepholes."""
    count, units = cells.shape[0], cells.shape[2]
    peeps, masked = peephole.shape[0] > 0, mask.shape[0] > 0
    one, zero = gates.dtype.type(1), gates.dtype.type(0)
    for step in range(count):
        t = step if reverse else count - 1 - step
        last = t + 1 if reverse else t - 1
        c = c0 if step == count - 1 else cells[last]
        for i in range(low, high):
            m = mask[t, i] if masked else one
            rest = one - m if masked and hold else zero
            z, d = gates[t, i], dz[t, i]
            za, zf, zo, zg = (z[a * units : (a + 1) * units], z[f * units : (f + 1) * units], z[o * units : (o + 1) * units],
                              z[g * units : (g + 1) * units])
            da, df, do, dg = (d[a * units : (a + 1) * units], d[f * units : (f + 1) * units], d[o * units : (o + 1) * units],
                              d[g * units : (g + 1) * units])
            before, flat, uh, uc, vh, vc = c[i], squashed[t, i], gh[t, i], gc[t, i], dh0[i], dc0[i]
            for j in range(units):
                vh[j] += uh[j]
            for j in range(units):
                vc[j] += uc[j]
            for j in range(units):
                do[j] = m * vh[j] * flat[j] * zo[j] * (one - zo[j])
            for j in range(units):                      # the gradient of the cell, kept in df for a while
                df[j] = m * (vc[j] + vh[j] * zo[j] * (one - flat[j] * flat[j]))
            if peeps:
                for j in range(units):
                    df[j] += do[j] * peephole[2, j]
                for j in range(units):
                    raw = zf[j] * before[j] + zg[j] * za[j]
                    dp[2, j] += do[j] * (vmin(vmax(raw, -clip), clip) if clip > 0 else raw)
            if clip > 0:
                for j in range(units):
                    df[j] = df[j] if fabs(zf[j] * before[j] + zg[j] * za[j]) <= clip else zero * df[j]
            for j in range(units):
                da[j] = df[j] * zg[j] * (one - za[j] * za[j])
            for j in range(units):
                dg[j] = df[j] * za[j] * zg[j] * (one - zg[j])
            for j in range(units):
                q = df[j]
                df[j] = q * before[j] * zf[j] * (one - zf[j])
                vc[j] = q * zf[j] + rest * vc[j]
            if peeps:
                for j in range(units):
                    vc[j] += dg[j] * peephole[0, j] + df[j] * peephole[1, j]
                for j in range(units):
                    dp[0, j] += dg[j] * before[j]
                    dp[1, j] += df[j] * before[j]
            if rest != zero:                            # what the step before gets of a state that was kept
                for j in range(units):
                    vh[j] *= rest
            else:
                for j in range(units):
                    vh[j] = zero
        gemm(dz[t, low:high], rw, not turned, dh0[low:high], 1)
