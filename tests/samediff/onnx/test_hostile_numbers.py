"""Attributes and constants of models that ask for more than any machine has: a typed error or a graph, at once."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import DL4PyError
from tests.samediff.onnx.models import one_node

HUGE = 1 << 40
IMAGE, KERNEL, ROW = (np.zeros(s, np.float32) for s in ((1, 1, 4, 4), (1, 1, 2, 2), (4,)))
IMAGES = {"x": IMAGE}


def whole(*numbers):
    return np.array(numbers, np.int64)


CASES = {
    "kernel": lambda: one_node("MaxPool", IMAGES, kernel_shape=[HUGE, 2], auto_pad="SAME_UPPER"),
    "kernels": lambda: one_node("LpPool", IMAGES, kernel_shape=[HUGE, HUGE]),
    "smaller kernel": lambda: one_node("AveragePool", IMAGES, kernel_shape=[1 << 15, 1 << 15], auto_pad="SAME_LOWER"),
    "edges": lambda: one_node("AveragePool", IMAGES, kernel_shape=[2, 2], pads=[HUGE, 0, 0, 0]),
    "dilation": lambda: one_node("MaxPool", IMAGES, kernel_shape=[2, 2], dilations=[HUGE, 1]),
    "edges of a convolution": lambda: one_node("Conv", {"x": IMAGE, "w": KERNEL}, pads=[HUGE] * 4),
    "groups": lambda: one_node("Conv", {"x": IMAGE, "w": KERNEL}, group=HUGE),
    "strides": lambda: one_node("ConvTranspose", {"x": IMAGE, "w": KERNEL}, strides=[HUGE, HUGE], output_padding=[HUGE, HUGE]),
    "padding": lambda: one_node("Pad", {"x": ROW}, {"p": whole(HUGE, HUGE)}),
    "shape": lambda: one_node("Expand", {"x": ROW[:1]}, {"s": whole(HUGE, HUGE)}),
    "repeats": lambda: one_node("Tile", {"x": ROW}, {"r": whole(HUGE)}),
    "constant": lambda: one_node("ConstantOfShape", {}, {"s": whole(HUGE)}),
    "range": lambda: one_node("Range", {}, {"a": whole(0)[0], "b": whole(HUGE)[0], "c": whole(1)[0]}),
    "parts": lambda: one_node("Split", {"x": ROW}, num_outputs=HUGE),
    "diagonal": lambda: one_node("EyeLike", {"x": IMAGE[0, 0]}, k=HUGE),
    "block": lambda: one_node("DepthToSpace", IMAGES, blocksize=HUGE),
    "neighbours": lambda: one_node("LRN", IMAGES, size=HUGE),
    "largest": lambda: one_node("TopK", {"x": ROW}, {"k": whole(HUGE)}, outputs=2),
    "axes": lambda: one_node("Unsqueeze", {"x": ROW}, {"a": whole(*range(3000))}),
    "order": lambda: one_node("Transpose", {"x": ROW}, perm=list(range(100_000))),
    "window": lambda: one_node("HannWindow", {}, {"n": whole(HUGE)[0]}),
    "scales": lambda: one_node("Resize", IMAGES, {"r": np.zeros(0, np.float32), "s": np.float32([1, 1, 1e12, 1e12])}),
    "units": lambda: one_node("LSTM", {"x": IMAGE[0, :, :1], "w": IMAGE[0, :, :, :1], "r": IMAGE[0, :, :, :1]}, hidden_size=HUGE),
}


@pytest.mark.parametrize("name", CASES)
def test_numbers_that_are_too_large(name):
    made = CASES[name]()
    try:
        sd = SameDiff.import_onnx(made)
    except DL4PyError as error:
        assert made.graph.node[0].op_type in str(error)
    else:
        assert sd.outputs()


@pytest.mark.parametrize("size", [2, 7, 100])
def test_neighbours_beyond_the_channels(size):
    """Squares of all channels that a window reaches, however large it is."""
    x = np.random.default_rng(3).normal(size=(2, 4, 1, 1)).astype(np.float32)
    sd = SameDiff.import_onnx(one_node("LRN", {"x": x}, size=size, alpha=0.5, beta=0.5, bias=2.0))
    before = (size - 1) // 2
    sums = np.stack([(x[:, max(c - before, 0):c + size - before] ** 2).sum(1) for c in range(4)], 1)
    np.testing.assert_allclose(sd.output_single({"x": x}, "out0"), x / (2 + 0.5 / size * sums) ** 0.5, 1e-6)
