"""Fifteen ops, one of each form."""
from __future__ import annotations

import enum

import numpy as np
import scipy.ndimage

from dl4py.samediff import DataType
from dl4py.udf import UserDefinedCustomOp, user_defined_op, user_op


@user_op("author.mish")
def mish(xp, x, *, beta: float = 1.0):
    return x * xp.tanh(xp.logaddexp(beta * x, 0))


@user_op("author.quantise", gradient="surrogate", grad=lambda xp, inputs, outputs, grads, levels: [grads[0]])
def quantise(xp, x, *, levels: int = 16):
    return xp.round(x * levels) / levels


@user_op("author.rms")
def rms(xp, x, *, axes: tuple[int, ...] = (-1,), keepdims: bool = True):
    return xp.sqrt((x * x).mean(axis=axes, keepdims=keepdims))


@user_op("author.polar")
def polar(xp, x, y):
    return xp.hypot(x, y), xp.arctan2(y, x)


@user_op("author.pick_rows")
def pick_rows(xp, x, rows):
    return x[rows]


def _averaged(x, y, decay):
    for j in range(x.shape[1]):
        kept = 0.0
        for i in range(x.shape[0]):
            kept = decay * kept + (1 - decay) * x[i, j]
            y[i, j] = kept


def _averaged_back(x, y, gy, gx, decay):
    for j in range(x.shape[1]):
        kept = 0.0
        for i in range(x.shape[0] - 1, -1, -1):
            kept = gy[i, j] + decay * kept
            gx[i, j] = (1 - decay) * kept


@user_op("author.ema", numba=_averaged, numba_grad=_averaged_back)
def ema(xp, x, *, decay: float = 0.9):
    y, kept = xp.empty_like(x), 0
    for i, row in enumerate(x):
        y[i] = kept = decay * kept + (1 - decay) * row
    return y


@user_op("author.scaled", cuda="""
extern "C" __global__ void scaled(const T *x, T1 *y, const double by, const long long n) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * (T)by;
}""")
def scaled(xp, x, *, by: float = 2.0):
    return x * by


@user_op("author.jitter", stateful=True)
def jitter(xp, x, *, context, scale: float = 0.1):
    return x + scale * context.random().normal(size=x.shape).astype(x.dtype) if context.training else x * 1


@user_op("author.running_mean")
def running_mean(xp, x, mean, *, momentum: float = 0.9):
    mean = momentum * mean + (1 - momentum) * x.mean(axis=0)
    return x - mean, mean


class Side(enum.Enum):
    LEFT = 0
    RIGHT = 1


@user_op("author.props")
def props(xp, x, *, times: int = 2, negate: bool = False, how: str = "add", spans: list[float] = (1.0, 2.0), side: Side = Side.LEFT,
          table: dict[str, float] | None = None, kind: DataType = DataType.FLOAT):
    by = times * sum(spans) + (table or {}).get(how, 0.0) + side.value
    return (x * (-by if negate else by)).astype(kind.numpy)


@user_defined_op
class Added(UserDefinedCustomOp):
    """DL4J's form."""

    def __init__(self, same_diff=None, args=(), by=2.0):
        super().__init__(same_diff, args)
        self.by = by

    def op_name(self):
        return "author_added"

    def calculate_output_shape(self, op_context):
        return [op_context.input_array(0).shape]

    def exec(self, inputs, outputs):
        outputs[0][...] = inputs[0] + inputs[1] * self.by

    def do_diff(self, grads):
        return [grads[0], grads[0] * self.by]

    def properties_for_function(self):
        return {"by": self.by}

    def set_properties_for_function(self, properties):
        self.by = properties["by"]


@user_op("author.median_filter", gradient="none", infer=lambda x, size: x)
def median_filter(xp, x, *, size: int = 3):
    return scipy.ndimage.median_filter(np.asarray(x), size)


@user_op("author.cosine_attention")
def cosine_attention(xp, q, k, v, *, scale: float = 5.0):
    q, k = (a / xp.sqrt((a * a).sum(axis=-1, keepdims=True) + 1e-6) for a in (q, k))
    scores = scale * (q @ k.swapaxes(-1, -2))
    weights = xp.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v


@user_op("author.weighted_sum")
def weighted_sum(xp, *xs, weights: tuple[float, ...] = ()):
    return sum(x * w for x, w in zip(xs, weights or (1.0,) * len(xs)))


@user_op("author.masked_mean")
def masked_mean(xp, x, mask=None):
    return x.mean(axis=-1) if mask is None else (x * mask).sum(axis=-1) / xp.maximum(mask.sum(axis=-1), 1)
