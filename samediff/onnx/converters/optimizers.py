"""Steps of training that stand in a graph."""
from __future__ import annotations

from typing import Any

from ..node import OnnxNode
from ..registry import onnx_converter

_DOMAIN = "ai.onnx.preview.training"


def _groups(xs: Any, parts: int) -> Any:
    count = len(xs) // parts
    return zip(*(xs[i * count:(i + 1) * count] for i in range(parts)))


@onnx_converter("Adagrad", domain=_DOMAIN)
def adagrad(node: OnnxNode, rate: Any, step: Any, *xs: Any) -> Any:
    """A step of AdaGrad."""
    rate = rate / (1 + node.get("decay_factor", 0.0) * step.astype(rate.dtype))
    new, sums = [], []
    for x, g, h in _groups(xs, 3):
        g = g + node.get("norm_coefficient", 0.0) * x
        h = h + g * g
        new.append(x - rate * g / (node.xp.sqrt(h) + node.get("epsilon", 0.0)))
        sums.append(h)
    return (*new, *sums)


@onnx_converter("Momentum", domain=_DOMAIN)
def momentum(node: OnnxNode, rate: Any, step: Any, *xs: Any) -> Any:
    """A step with momentum, of Nesterov's kind on request."""
    alpha, beta = node.get("alpha"), node.get("beta")
    share = node.xp.where(step > 0, rate.dtype.type(beta), rate.dtype.type(1))
    new, kept = [], []
    for x, g, v in _groups(xs, 3):
        g = g + node.get("norm_coefficient", 0.0) * x
        v = alpha * v + share * g
        new.append(x - rate * (g + alpha * v if node.get("mode") == "nesterov" else v))
        kept.append(v)
    return (*new, *kept)


@onnx_converter("Adam", domain=_DOMAIN)
def adam(node: OnnxNode, rate: Any, step: Any, *xs: Any) -> Any:
    """A step of Adam."""
    a, b, epsilon = node.get("alpha", 0.9), node.get("beta", 0.999), node.get("epsilon", 0.0)
    t = step.astype(rate.dtype)
    corrected = node.xp.where(t > 0, rate * node.xp.sqrt(1 - b ** t) / (1 - a ** node.xp.maximum(t, 1)), rate)
    new, first, second = [], [], []
    for x, g, v, h in _groups(xs, 4):
        g = g + node.get("norm_coefficient", 0.0) * x
        v, h = a * v + (1 - a) * g, b * h + (1 - b) * g * g
        made = x - corrected * v / (node.xp.sqrt(h) + epsilon)
        new.append(made * (1 - node.get("norm_coefficient_post", 0.0)))
        first.append(v)
        second.append(h)
    return (*new, *first, *second)
