"""Masks of dropouts against NumPy's own stream."""
from __future__ import annotations

import zlib

import numpy as np
import pytest

from dl4py.samediff.cpu.kernel_table import KERNELS
from dl4py.samediff.cpu.kernels.dropout_mask import keep
from dl4py.samediff.cpu.native.program import Program
from dl4py.samediff.ir.run_context import RunContext
from dl4py.samediff.ops.nn.dropout_mask import DropoutMask

#: seed, iteration, draw
PLACES = [(0, 0, 0), (-1, 3, 0), (2**63, 2**40, 7), (1234567, 1, 2**33)]


def expected(node, place, shape, p):
    """By NumPy's generator, set up here."""
    seed, iteration, draw = place
    bits = np.random.Philox(key=np.array([seed & (2**64 - 1), zlib.crc32(node.encode())], np.uint64),
                            counter=np.array([0, 0, iteration, draw], np.uint64))
    return np.random.Generator(bits).random(shape, np.float32) < np.float32(p)


def context(place):
    seed, iteration, draw = place
    return RunContext(True, seed, iteration, draw=draw)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("size", [1, 7, 8, 9, 15, 16, 17, 64, 1000, 4099])
def test_the_stream_is_that_of_numpy(size, place):
    words = context(place).words()
    for node, p in (("layer0/noise", 0.5), ("a", 0.3), ("a", 1.0), ("a", 1e-7), ("b", 0.999999)):
        want = expected(node, place, size, p)
        op = DropoutMask(p, node, (size,))
        np.testing.assert_array_equal(op.compute(np, context=context(place)), want)
        found = np.zeros(size, bool)
        KERNELS.kernel(op).call(words, found)
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("size", [1, 8, 20, 123])
def test_parts_make_the_same_mask_and_write_nothing_else(size, parts):
    want = expected("n", (5, 6, 0), size, 0.5)
    limit = (1 << 31) - 1
    for part in range(parts):
        room = np.full(size + 16, 2, np.uint8)
        keep(context((5, 6, 0)).words(), room[8:8 + size].view(bool), zlib.crc32(b"n"), limit, part, parts)
        blocks = -(-size // 8)
        low, high = 8 * (blocks * part // parts), min(8 * (blocks * (part + 1) // parts), size)
        np.testing.assert_array_equal(room[8 + low:8 + high], want[low:high])
        assert (room[:8 + low] == 2).all() and (room[8 + high:] == 2).all()


@pytest.mark.parametrize("shape", [(), (3,), (4, 5), (2, 3, 4), (2, 3, 1, 1)])
def test_native_instruction(shape):
    words, kept = np.zeros(3, np.int64), np.zeros(shape, bool)
    run = Program([KERNELS.kernel(DropoutMask(0.4, "x", shape)).native(words, kept)])
    for place in PLACES:
        words[:] = context(place).words()
        run()
        np.testing.assert_array_equal(kept, expected("x", place, shape, 0.4))
