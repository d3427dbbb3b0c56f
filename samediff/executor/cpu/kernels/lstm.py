# mypy: ignore-errors
"""The elementwise part of one LSTM time step, forward and backward.

Shapes: z (batch, 4 * units) holds four blocks of columns; b (4 * units); everything else (batch, units).
``a f o g`` are the positions of the blocks: block input (tanh), forget, output and input gate (sigmoid).

c1 = f * c0 + g * a,   h = o * tanh(c1).   Source: Graves, "Supervised sequence labelling", 2012 (without peepholes).
"""
from __future__ import annotations

from ...cache import kernel
from ..mathlib import sigmoid, tanh


@kernel
def lstm_gates(z, b, c0, c1, tanh_c, h, a, f, o, g):
    """z + b becomes the activations in place; writes the new cell, its tanh, and the output."""
    units = h.shape[1]
    for i in range(z.shape[0]):
        za, ba = z[i, a * units : (a + 1) * units], b[a * units : (a + 1) * units]
        zf, bf = z[i, f * units : (f + 1) * units], b[f * units : (f + 1) * units]
        zo, bo = z[i, o * units : (o + 1) * units], b[o * units : (o + 1) * units]
        zg, bg = z[i, g * units : (g + 1) * units], b[g * units : (g + 1) * units]
        for j in range(units):  # one loop for each block: few arrays in each, so that it becomes vector code
            za[j] = tanh(za[j] + ba[j])
        for j in range(units):
            zf[j] = sigmoid(zf[j] + bf[j])
        for j in range(units):
            zo[j] = sigmoid(zo[j] + bo[j])
        for j in range(units):
            zg[j] = sigmoid(zg[j] + bg[j])
        for j in range(units):
            c1[i, j] = zf[j] * c0[i, j] + za[j] * zg[j]
        for j in range(units):
            tanh_c[i, j] = tanh(c1[i, j])
        for j in range(units):
            h[i, j] = zo[j] * tanh_c[i, j]


@kernel
def lstm_gates_backward(z, c0, tanh_c, dh, dc, dz, a, f, o, g):
    """Gradients of the sums before activation from dh and dc; dc becomes the gradient of c0.  dz may be z."""
    units = dh.shape[1]
    one = z.dtype.type(1)
    for i in range(z.shape[0]):
        za, da = z[i, a * units : (a + 1) * units], dz[i, a * units : (a + 1) * units]
        zf, df = z[i, f * units : (f + 1) * units], dz[i, f * units : (f + 1) * units]
        zo, do = z[i, o * units : (o + 1) * units], dz[i, o * units : (o + 1) * units]
        zg, dg = z[i, g * units : (g + 1) * units], dz[i, g * units : (g + 1) * units]
        for j in range(units):
            t = tanh_c[i, j]
            d = dh[i, j]
            va, vf, vo, vg = za[j], zf[j], zo[j], zg[j]
            q = dc[i, j] + d * vo * (one - t * t)
            dc[i, j] = q * vf
            da[j] = q * vg * (one - va * va)
            df[j] = q * c0[i, j] * vf * (one - vf)
            do[j] = d * t * vo * (one - vo)
            dg[j] = q * va * vg * (one - vg)
