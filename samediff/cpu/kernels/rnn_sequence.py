# mypy: ignore-errors
"""All steps of a simple recurrent network, forward and backward, for some rows of the batch.

Shapes: sums, dz, states, gh (T, N, units); ``packed``: weights from :func:`.time_loops.pack_joined` or
:func:`.small_products.pack`; joined (N, in + units + 1); h0, carried (N, units); ``mask`` (T, N) is empty where there is none.
``kind`` is the place of the activation in :data:`ACTIVATIONS`.
"""
from __future__ import annotations

from ..compiler.sources import kernel
from ..library.address import in_line
from ..library.intrinsics import vmax
from ..library.mathlib import sigmoid, tanh
from ..matrix.product_tiles import never_inlined
from ..matrix.small_products import times_packed
from .time_loops import join, share

ACTIVATIONS = ("tanh", "sigmoid", "relu", "identity")


@kernel
def rnn_step(z, out, kind):
    """The activation function applied to z."""
    never_inlined()
    zero = z.dtype.type(0)
    units = out.shape[1]
    for i in range(z.shape[0]):
        if kind == 0:
            for j in range(units):
                out[i, j] = tanh(z[i, j])
        elif kind == 1:
            for j in range(units):
                out[i, j] = sigmoid(z[i, j])
        elif kind == 2:
            for j in range(units):
                out[i, j] = vmax(z[i, j], zero)
        else:
            for j in range(units):
                out[i, j] = z[i, j]


@kernel
def rnn_step_back(z, g, carried, mask, dz, kind):
    """dz = (g + carried) times slope and mask."""
    never_inlined()
    one = z.dtype.type(1)
    zero = one - one
    units = dz.shape[1]
    for i in range(z.shape[0]):
        m = mask[i] if mask.shape[0] > 0 else one
        for j in range(units):
            dz[i, j] = (g[i, j] + carried[i, j]) * m
        if kind == 0:
            for j in range(units):
                y = tanh(z[i, j])
                dz[i, j] *= one - y * y
        elif kind == 1:
            for j in range(units):
                y = sigmoid(z[i, j])
                dz[i, j] *= y * (one - y)
        elif kind == 2:
            for j in range(units):
                dz[i, j] *= zero if z[i, j] < zero else one


@kernel
def rnn_forward(x, packed, h0, mask, states, sums, joined, work, kind, part, parts):
    """Forward pass: writes the sums before the activation, and the states, of all steps."""
    low, high = share(x.shape[1], part, parts)
    for t in range(x.shape[0]):
        h = h0 if t == 0 else states[t - 1]
        join(x[t, low:high], h[low:high], joined[low:high])
        times_packed(joined[low:high], packed, sums[t, low:high], work[part], 0)
        rnn_step(sums[t, low:high], states[t, low:high], kind)
        if mask.shape[0] > 0:
            for i in range(low, high):
                for j in range(states.shape[2]):
                    states[t, i, j] *= mask[t, i]


@kernel
def rnn_backward(sums, packed, mask, gh, dz, carried, work, kind, part, parts):
    """Write dz; ``carried`` becomes the gradient of h0."""
    low, high = share(sums.shape[1], part, parts)
    carried[low:high] = 0
    for step in range(sums.shape[0]):
        t = sums.shape[0] - 1 - step
        m = mask[t, low:high] if mask.shape[0] > 0 else in_line(mask)
        rnn_step_back(sums[t, low:high], gh[t, low:high], carried[low:high], m, dz[t, low:high], kind)
        times_packed(dz[t, low:high], packed, carried[low:high], work[part], 0)
