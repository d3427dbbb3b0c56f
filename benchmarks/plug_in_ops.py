"""Ops as users write them."""
from __future__ import annotations

from dl4py.samediff import DataType, SameDiff
from dl4py.udf import UserDefinedCustomOp, user_defined_op, user_op


@user_op("bench.scaled")
def scaled(xp, x, *, beta: float = 1.0):
    return x / (1 + xp.exp(-beta * x))


@user_op("bench.affine")
def affine(xp, x):
    return x / xp.sqrt((x * x).mean(-1, keepdims=True))


@user_op("bench.normalize", stateful=True)
def normalize(xp, x, mean, var, gamma, beta, *, context, eps: float = 1e-5):
    m = x.mean(0, keepdims=True) if context.training else mean
    v = ((x - m) ** 2).mean(0, keepdims=True) if context.training else var
    return (x - m) / xp.sqrt(v + eps) * gamma + beta, m, v


@user_op("bench.heads")
def heads(xp, x, w, *, heads: int = 1):
    b, t, _ = x.shape
    return (x @ w).reshape(b, t, heads, w.shape[1] // heads).transpose(0, 2, 1, 3)


@user_op("bench.joined")
def joined(xp, x, w):
    b, h, t, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(b, t, h * d) @ w


@user_defined_op
class JavaPlus(UserDefinedCustomOp):
    def op_name(self):
        return "bench_plus"

    def calculate_output_shape(self, oc):
        return [oc.input_array(0).shape]

    def exec(self, inputs, outputs):
        outputs[0][...] = inputs[0] + inputs[1] * 2

    def do_diff(self, grads):
        return [grads[0], grads[0] * 2]


def in_graph(x, build):
    """A call of a graph with two inputs."""
    sd = SameDiff.create()
    a, b = (sd.placeholder(n, DataType.FLOAT, *x.shape) for n in "ab")
    name = build(sd, a, b).name()
    return lambda: sd.output({"a": x, "b": x}, name)


def java_plus(x):
    return in_graph(x, lambda sd, a, b: sd.do_udf(JavaPlus(sd, [a, b]))[0])


def plus(x):
    return in_graph(x, lambda sd, a, b: a + b * 2)
