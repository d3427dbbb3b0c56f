"""The ops: array code, of which shape rules, gradients and kernels follow."""
import numpy as np

from dl4py.udf import user_op


@user_op("modern_parts.rms_norm", version=1)
def rms_norm(xp, x, gain, *, eps: float = 1e-6):
    """x / root mean square of its last axis, times gain (Zhang and Sennrich, 2019).  Shapes: x (..., n), gain (n) -> (..., n)."""
    return x / xp.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * gain


@user_op("modern_parts.swiglu")
def swiglu(xp, gate, value):
    """gate * sigmoid(gate) * value (Shazeer, 2020).  Shapes: gate, value (*S) -> (*S)."""
    return gate * (1 + xp.tanh(0.5 * gate)) / 2 * value


@user_op("modern_parts.rotary", batching="leading")
def rotary(xp, x, *, base: float = 10000.0):
    """Turns pairs of features by angles that grow with the position (Su et al., 2021).  Shapes: (..., time, n) -> same, n even."""
    half = x.shape[-1] // 2
    rates = (base ** (-np.arange(half) / half)).astype(x.dtype)
    angles = (xp.cumsum(xp.ones_like(x[..., :half]), axis=-2) - 1) * rates
    cos, sin = xp.cos(angles), xp.sin(angles)
    first, second = x[..., :half], x[..., half:]
    return xp.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


@user_op("modern_parts.attention", batching="leading")
def attention(xp, q, k, v, mask):
    """Every step looks at all that ``mask`` shows.  Shapes: q, k, v (..., time, n), mask (..., time) of 1 and 0 -> (..., time, n)."""
    scores = xp.where(mask[..., None, :] > 0, q @ xp.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5, -1e9)
    weights = xp.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v
