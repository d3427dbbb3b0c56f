# mypy: ignore-errors
"""Uniform numbers of NumPy's Philox stream: 53 bits of each word, or 24 bits of each half."""
from __future__ import annotations

import numpy as np

from ..compiler.sources import kernel
from .dropout_mask import random_block


@kernel
def uniform(words, drawn, stream, begin, part, parts):
    """drawn[k] = word ``begin + k`` of the stream, from 0 to 1; words: seed, iteration, draw. NumPy counts blocks from 1."""
    seed, iteration, draw = words[0], words[1], words[2]
    size = drawn.shape[0]
    low, high = size * part // parts, size * (part + 1) // parts
    k = low
    while k < high:
        position = begin + k
        block = random_block(position // 4 + 1, iteration, draw, seed, stream)
        for lane in range(position % 4, min(4, position % 4 + high - k)):
            drawn[k] = ((block[lane] >> 11) & 0x1FFFFFFFFFFFFF) * 1.1102230246251565e-16
            k += 1


@kernel
def uniform_single(words, drawn, stream, part, parts):
    """drawn[k] = half k of the stream, the lower one of a word first, as float32 from 0 to 1."""
    seed, iteration, draw = words[0], words[1], words[2]
    size = drawn.shape[0]
    blocks = (size + 7) // 8
    for number in range(blocks * part // parts, blocks * (part + 1) // parts):
        block = random_block(number + 1, iteration, draw, seed, stream)
        for k in range(8 * number, min(8 * number + 8, size)):
            half = (block[k % 8 // 2] >> 32 * (k % 2)) & 0xFFFFFFFF
            drawn[k] = np.float32(half >> 8) * np.float32(5.9604644775390625e-08)
