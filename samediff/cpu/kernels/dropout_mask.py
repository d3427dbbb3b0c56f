# mypy: ignore-errors
"""Masks of dropouts: which numbers of NumPy's Philox stream lie below a limit, without the numbers.

A block of the stream is four words, which are eight float32 numbers: 24 bits of each half, the lower one first. Blocks follow from
their position alone (Salmon et al., 2011: Philox4x64, ten rounds), so parts need not know of each other.
"""
from __future__ import annotations

import numpy as np

from ..compiler.jit_functions import function
from ..compiler.sources import kernel
from ..native.operand_access import product, store_flags


def _word(value):
    """A word without sign as the integer that has its bits."""
    return value - (1 << 64) if value >> 63 else value


_ROUNDS = 10
_FACTORS = _word(0xD2E7470EE14C6C93), _word(0xCA5A826395121157)
_FIRST_FACTOR, _SECOND_FACTOR = _FACTORS
_FIRST_STEP, _SECOND_STEP = _word(0x9E3779B97F4A7C15), _word(0xBB67AE8584CAA73B)
_HALF = 0xFFFFFFFF


@function(forceinline=True, error_model="numpy")
def random_block(position, iteration, draw, seed, stream):
    """Four words of the stream."""
    a, b, c, d = position, np.int64(0), iteration, draw
    for _ in range(_ROUNDS):
        upper, lower = product(_FIRST_FACTOR, a)
        other_upper, other_lower = product(_SECOND_FACTOR, c)
        a, b, c, d = other_upper ^ b ^ seed, other_lower, upper ^ d ^ stream, lower
        seed += _FIRST_STEP
        stream += _SECOND_STEP
    return a, b, c, d


@kernel
def keep(words, kept, stream, limit, part, parts):
    """kept[k] = (half k of the stream <= limit); words: seed, iteration, draw. NumPy counts blocks from 1."""
    seed, iteration, draw = words[0], words[1], words[2]
    size = kept.shape[0]
    blocks = (size + 7) // 8
    low, high = blocks * part // parts, blocks * (part + 1) // parts
    address = kept.ctypes.data
    for k in range(low, min(high, size // 8)):
        a, b, c, d = random_block(k + 1, iteration, draw, seed, stream)
        store_flags(np.int64(address) + 8 * k, a, b, c, d, limit)
    if high * 8 > size and high > low:
        block = random_block(blocks, iteration, draw, seed, stream)
        for k in range(8 * (blocks - 1), size):
            kept[k] = (block[k % 8 // 2] >> 32 * (k % 2)) & _HALF <= limit
