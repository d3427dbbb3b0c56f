# mypy: ignore-errors
"""Normal numbers of NumPy's Philox stream: the ziggurat of 256 strips of equal area.

Shapes: tables ``k``, ``w``, ``f`` (256) of the strips: below which integer a number lies under the curve for certain, the width of a step,
the height. A number takes the next word of the stream (of 64 bits, or for float32 of 32), one in a hundred some more.
"""
from __future__ import annotations

import math

import numpy as np

from ..compiler.jit_functions import function
from ..compiler.sources import kernel
from .dropout_mask import random_block
from .random_numbers import number_of, single_of

#: Where the tail begins.
TAIL, TAIL_INVERSE = 3.6541528853610088, 0.27366123732975828
TAIL_SINGLE, TAIL_INVERSE_SINGLE = np.float32(TAIL), np.float32(TAIL_INVERSE)


@function(error_model="numpy")
def _next(at, number, block, iteration, draw, seed, stream):
    """The place of the next word, the number of its block, and the block."""
    at += 1
    if at % 4:
        return at, number, block
    return 0, number + 1, random_block(number + 1, iteration, draw, seed, stream)


@kernel
def normal(words, drawn, k, w, f, stream):
    """drawn = the first normal numbers of the stream; words: seed, iteration, draw."""
    seed, iteration, draw = words[0], words[1], words[2]
    at, number, block = 0, 1, random_block(1, iteration, draw, seed, stream)
    i = 0
    while i < drawn.shape[0]:
        word = block[at]
        at, number, block = _next(at, number, block, iteration, draw, seed, stream)
        strip, rest = word & 255, (word >> 9) & 0xFFFFFFFFFFFFF
        x = rest * w[strip]
        if word & 256:
            x = -x
        if rest >= k[strip]:
            if strip == 0:
                while True:
                    one = block[at]
                    at, number, block = _next(at, number, block, iteration, draw, seed, stream)
                    other = block[at]
                    at, number, block = _next(at, number, block, iteration, draw, seed, stream)
                    a, b = -TAIL_INVERSE * math.log1p(-number_of(one)), -math.log1p(-number_of(other))
                    if b + b > a * a:
                        break
                x = -(TAIL + a) if (rest >> 8) & 1 else TAIL + a
            else:
                one = block[at]
                at, number, block = _next(at, number, block, iteration, draw, seed, stream)
                if not (f[strip - 1] - f[strip]) * number_of(one) + f[strip] < math.exp(-0.5 * x * x):
                    continue
        drawn[i] = x
        i += 1


@function(error_model="numpy")
def _next_half(at, number, block, iteration, draw, seed, stream):
    at += 1
    if at % 8:
        return at, number, block
    return 0, number + 1, random_block(number + 1, iteration, draw, seed, stream)


@function(forceinline=True, error_model="numpy")
def _half(block, at):
    return (block[at // 2] >> 32 * (at % 2)) & 0xFFFFFFFF


@kernel
def normal_single(words, drawn, k, w, f, stream):
    """The same in float32, of halves of words, the lower one first."""
    seed, iteration, draw = words[0], words[1], words[2]
    at, number, block = 0, 1, random_block(1, iteration, draw, seed, stream)
    i = 0
    while i < drawn.shape[0]:
        word = _half(block, at)
        at, number, block = _next_half(at, number, block, iteration, draw, seed, stream)
        strip, rest = word & 255, (word >> 9) & 0x7FFFFF
        x = np.float32(rest) * w[strip]
        if word & 256:
            x = -x
        if rest >= k[strip]:
            if strip == 0:
                while True:
                    one = _half(block, at)
                    at, number, block = _next_half(at, number, block, iteration, draw, seed, stream)
                    other = _half(block, at)
                    at, number, block = _next_half(at, number, block, iteration, draw, seed, stream)
                    a, b = -TAIL_INVERSE_SINGLE * math.log1p(-single_of(one)), -math.log1p(-single_of(other))
                    if b + b > a * a:
                        break
                x = -(TAIL_SINGLE + a) if (rest >> 8) & 1 else TAIL_SINGLE + a
            else:
                one = _half(block, at)
                at, number, block = _next_half(at, number, block, iteration, draw, seed, stream)
                if not (f[strip - 1] - f[strip]) * single_of(one) + f[strip] < math.exp(-0.5 * float(x) * float(x)):
                    continue
        drawn[i] = x
        i += 1
