"""Ops and layers that depend on the process in which they run, and others: modules that new processes import."""
from __future__ import annotations

import itertools
import os

from dl4py.layers import FeedForwardLayer, layer
from dl4py.udf import user_op

PROCESS = os.getpid()
NUMBER = next(itertools.count(os.getpid() % 1000))


@user_op("test_saved_ops.hashed")
def hashed(xp, x):
    return x * (1 + hash("weight") % 101)


@user_op("test_saved_ops.order")
def order(xp, x):
    return x + sum(i * len(name) for i, name in enumerate({"a", "bc", "def", "ghij", "klmno"}))


@user_op("test_saved_ops.process")
def process(xp, x):
    return x * PROCESS


@user_op("test_saved_ops.numbered")
def numbered(xp, x):
    return x + NUMBER


@user_op("test_saved_ops.slope", grad=lambda inputs, outputs, grads: [grads[0] * (2.0 + hash("slope") % 101)])
def slope(xp, x):
    return x * 2


@user_op("test_saved_ops.power")
def power(xp, x, *, exponent: float = 2.0):
    return x ** exponent


@user_op("test_saved_ops.drawn", stateful=True)
def drawn(xp, x, *, context):
    return x + context.random().normal(size=x.shape)


@user_op("test_saved_ops.whole")
def whole(xp, x):
    return xp.argsort(x)


@layer("test_saved_ops.Scaled")
class Scaled(FeedForwardLayer):
    """A product."""

    def scale(self):
        return 3.0

    def define_parameters(self, params):
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out)

    def define_layer(self, sd, x, params, mask):
        return x.mmul(params["W"]) * self.scale()


@layer("test_saved_ops.ScaledByHash")
class ScaledByHash(Scaled):
    """By another number in each process."""

    def scale(self):
        return 1.0 + hash("scale") % 101
