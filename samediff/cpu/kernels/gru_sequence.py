# mypy: ignore-errors
"""All steps of a gated recurrent unit, forward and backward, for some rows of the batch.

Shapes: z, product (N, 3 units) with blocks r, u, c, like dz and dr (T, N, 3 units); saved (T, N, 4 units): r, u, c and h R_c;
``packed`` weights from :func:`.time_loops.pack_joined` or :func:`.small_products.pack`; states, gh (T, N, units); h0, carried
(N, units); joined (N, in + 1).
"""
from __future__ import annotations

from ..compiler.sources import kernel
from ..library.mathlib import sigmoid, tanh
from ..matrix.product_tiles import never_inlined
from ..matrix.small_products import times_packed
from .time_loops import join, share


@kernel
def gru_step(z, product, before, saved, out):
    """Gates and state from the sums of the inputs and the product with the state before."""
    never_inlined()
    units = out.shape[1]
    one = z.dtype.type(1)
    for i in range(z.shape[0]):
        zr, zu, zc = z[i, :units], z[i, units : 2 * units], z[i, 2 * units :]
        pr, pu, pc = product[i, :units], product[i, units : 2 * units], product[i, 2 * units :]
        r, u, c, kept = saved[i, :units], saved[i, units : 2 * units], saved[i, 2 * units : 3 * units], saved[i, 3 * units :]
        for j in range(units):
            r[j] = sigmoid(zr[j] + pr[j])
        for j in range(units):
            u[j] = sigmoid(zu[j] + pu[j])
        for j in range(units):
            kept[j] = pc[j]
        for j in range(units):
            c[j] = tanh(zc[j] + r[j] * pc[j])
        for j in range(units):
            out[i, j] = u[j] * before[i, j] + (one - u[j]) * c[j]


@kernel
def gru_step_back(saved, before, g, carried, dz, dr):
    """Gradients of the sums of the inputs (dz) and of the product (dr); ``carried`` becomes the direct part of the state before."""
    never_inlined()
    units = carried.shape[1]
    one = saved.dtype.type(1)
    for i in range(saved.shape[0]):
        r, u, c, kept = saved[i, :units], saved[i, units : 2 * units], saved[i, 2 * units : 3 * units], saved[i, 3 * units :]
        zr, zu, zc = dz[i, :units], dz[i, units : 2 * units], dz[i, 2 * units :]
        pr, pu, pc = dr[i, :units], dr[i, units : 2 * units], dr[i, 2 * units :]
        for j in range(units):
            carried[i, j] += g[i, j]
        for j in range(units):
            zc[j] = carried[i, j] * (one - u[j]) * (one - c[j] * c[j])
        for j in range(units):
            v = carried[i, j] * (before[i, j] - c[j]) * u[j] * (one - u[j])
            zu[j] = v
            pu[j] = v
        for j in range(units):
            v = zc[j] * kept[j] * r[j] * (one - r[j])
            zr[j] = v
            pr[j] = v
        for j in range(units):
            pc[j] = zc[j] * r[j]
        for j in range(units):
            carried[i, j] *= u[j]


@kernel
def gru_forward(x, packed_x, packed_h, h0, saved, states, joined, z, product, work, part, parts):
    """Forward pass: writes the gates and states of all steps."""
    low, high = share(x.shape[1], part, parts)
    for t in range(states.shape[0]):
        h = h0 if t == 0 else states[t - 1]
        join(x[t, low:high], h[low:high, :0], joined[low:high])
        times_packed(joined[low:high], packed_x, z[low:high], work[part], 0)
        times_packed(h[low:high], packed_h, product[low:high], work[part], 0)
        gru_step(z[low:high], product[low:high], h[low:high], saved[t, low:high], states[t, low:high])


@kernel
def gru_backward(saved, packed, h0, states, gh, dz, dr, carried, work, part, parts):
    """Write dz and dr; ``carried`` becomes the gradient of h0."""
    low, high = share(states.shape[1], part, parts)
    carried[low:high] = 0
    for step in range(states.shape[0]):
        t = states.shape[0] - 1 - step
        h = h0 if t == 0 else states[t - 1]
        gru_step_back(saved[t, low:high], h[low:high], gh[t, low:high], carried[low:high], dz[t, low:high], dr[t, low:high])
        times_packed(dr[t, low:high], packed, carried[low:high], work[part], 1)
