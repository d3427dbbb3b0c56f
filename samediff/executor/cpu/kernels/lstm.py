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
        for j in range(a * units, (a + 1) * units):
            z[i, j] = tanh(z[i, j] + b[j])
        for block in (f, o, g):
            for j in range(block * units, (block + 1) * units):
                z[i, j] = sigmoid(z[i, j] + b[j])
        for j in range(units):
            c = z[i, f * units + j] * c0[i, j] + z[i, a * units + j] * z[i, g * units + j]
            t = tanh(c)
            c1[i, j] = c
            tanh_c[i, j] = t
            h[i, j] = z[i, o * units + j] * t


@kernel
def lstm_gates_backward(z, c0, tanh_c, dh, dc, dz, a, f, o, g):
    """Gradients of the sums before activation from dh and dc; dc becomes the gradient of c0.  dz may be z."""
    units = dh.shape[1]
    one = z.dtype.type(1)
    for i in range(z.shape[0]):
        for j in range(units):
            za = z[i, a * units + j]
            zf = z[i, f * units + j]
            zo = z[i, o * units + j]
            zg = z[i, g * units + j]
            t = tanh_c[i, j]
            d = dh[i, j]
            q = dc[i, j] + d * zo * (one - t * t)
            dz[i, a * units + j] = q * zg * (one - za * za)
            dz[i, f * units + j] = q * c0[i, j] * zf * (one - zf)
            dz[i, o * units + j] = d * t * zo * (one - zo)
            dz[i, g * units + j] = q * za * zg * (one - zg)
            dc[i, j] = q * zf
