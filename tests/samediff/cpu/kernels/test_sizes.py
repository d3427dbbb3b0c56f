"""Kernels on sizes around those where their loops change: lengths of vectors, blocks, tiles and shares, and one more or less."""
from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dl4py.samediff.ir.op import OPS
from dl4py.samediff.ops.conv.convolving import Convolution, ConvolutionDataGrad, ConvolutionWeightGrad, Geometry, output_shape
from dl4py.samediff.ops.conv.window import Window
from dl4py.samediff.ops.linalg.matmul import Matmul
from tests.samediff.cpu.kernels.agreement import agree

TYPES = [np.float32, np.float64]
ROWS = [1, 2, 3, 4, 6, 7, 12, 13, 25]
DEPTHS = [1, 2, 16, 17, 127, 128, 129, 256, 257]
COLUMNS = [1, 3, 8, 15, 16, 17, 31, 32, 33, 48, 65, 129]


def some(rng, *choices, count):
    """Combinations in which every choice occurs."""
    found = [tuple(c[k % len(c)] for c in choices) for k in range(max(map(len, choices)))]
    return found + [tuple(c[rng.integers(len(c))] for c in choices) for _ in range(count)]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("transposed", list(product([False, True], repeat=2)), ids=str)
def test_products(transposed, dtype, rng):
    for rows, depth, columns in some(rng, ROWS, DEPTHS, COLUMNS, count=40):
        x = rng.normal(size=(depth, rows) if transposed[0] else (rows, depth)).astype(dtype)
        y = rng.normal(size=(columns, depth) if transposed[1] else (depth, columns)).astype(dtype)
        agree(Matmul(*transposed, False), [x, y])


@pytest.mark.sampled(12)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("stride", [(1, 1), (2, 1), (1, 2)], ids=str)
@pytest.mark.parametrize("depthwise", [False, True], ids=["", "depthwise"])
def test_convolutions(depthwise, stride, dtype, rng):
    """Rows around the length of vectors; planes around blocks, whose windows hang over every edge."""
    sizes = [(1, 1), (2, 7), (3, 8), (4, 9), (5, 15), (6, 16), (7, 17), (3, 31), (2, 32), (5, 33), (44, 46), (45, 46), (2, 1023), (2, 1025)]
    for (height, width), padding, mode in product(sizes, [(0, 0), (1, 0), (0, 1)], ["VALID", "SAME"]):
        kernel = (min(2, height), min(3, width))
        geometry = Geometry(Window(kernel, stride, padding, (1, 1), mode), False, "OIYX", depthwise)
        x = rng.normal(size=(2, 3, height, width)).astype(dtype)
        w = rng.normal(size=(2, 3, *kernel)).astype(dtype)
        if depthwise and min(geometry.window.befores((height, width))) < 0:
            continue                    # array code serves these
        g = rng.normal(size=output_shape(geometry, x.shape, w.shape)).astype(dtype)
        agree(Convolution(geometry), [x, w])
        agree(ConvolutionDataGrad(geometry), [w, g, x])
        agree(ConvolutionWeightGrad(geometry), [x, g, w])


LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 255, 257, 1023, 1024, 1025, 2047, 2049, 4097]


@pytest.mark.sampled(24)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_max", "reduce_mean", "argmax", "softmax", "log_softmax"])
def test_sums_and_searches(name, axis, dtype, rng):
    for length, others in some(rng, LENGTHS, [1, 3, 16, 33], count=10):
        x = rng.normal(size=(length, others) if axis == 0 else (others, length)).astype(dtype)
        op = OPS[name](dimension=axis) if "softmax" in name else OPS[name](dimensions=(axis,))
        agree(op, [x])
