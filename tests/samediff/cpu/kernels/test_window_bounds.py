"""Which windows see the inside of an image, against trying each of them."""
from __future__ import annotations

from itertools import product

from dl4py.samediff.cpu.compiler.sources import kernel
from dl4py.samediff.cpu.kernels.window_bounds import inside


@kernel
def bounds(offset, stride, size, outputs):
    return inside(offset, stride, size, outputs)


def test_the_range_is_that_of_all_that_see_the_inside():
    for offset, stride, size, outputs in product(range(-7, 9), range(1, 5), range(1, 7), range(1, 6)):
        low, high = bounds(offset, stride, size, outputs)
        seen = [k for k in range(outputs) if 0 <= k * stride + offset < size]
        assert list(range(low, high)) == seen and 0 <= low <= high <= outputs, (offset, stride, size, outputs)
