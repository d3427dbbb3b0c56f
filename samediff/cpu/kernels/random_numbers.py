# mypy: ignore-errors
"""Numbers of NumPy's Philox stream: uniform ones, of 53 bits of each word or 24 bits of each half, and normal ones.

Normal numbers are drawn by the ziggurat of 256 strips of equal area, with tables ``k``, ``w``, ``f`` (256) of the strips: below which
integer a number lies under the curve for certain, the width of a step, the height. A number takes the next word (for float32 the next
half of one), one in a hundred some more.
"""
from __future__ import annotations

import math

import numpy as np

from ..compiler.jit_functions import function
from ..compiler.sources import kernel
from .dropout_mask import random_block


@function(forceinline=True, error_model="numpy")
def _number(word):
    """The number from 0 to 1 of 53 bits of a word."""
    return ((word >> 11) & 0x1FFFFFFFFFFFFF) * 1.1102230246251565e-16


@function(forceinline=True, error_model="numpy")
def _single(half):
    """The float32 number of 24 bits of the lower half of a word."""
    return np.float32((half >> 8) & 0xFFFFFF) * np.float32(5.9604644775390625e-08)


@function(error_model="numpy")
def _some(drawn, low, high, begin, iteration, draw, seed, stream):
    """Numbers ``low`` to ``high`` of one block, which is not all of it."""
    if low < high:
        block = random_block((begin + low) // 4 + 1, iteration, draw, seed, stream)
        for k in range(low, high):
            drawn[k] = _number(block[(begin + k) % 4])


@kernel
def uniform(words, drawn, stream, begin, part, parts):
    """drawn[k] = word ``begin + k`` of the stream, from 0 to 1; words: seed, iteration, draw. NumPy counts blocks from 1."""
    seed, iteration, draw = words[0], words[1], words[2]
    size = drawn.shape[0]
    low, high = size * part // parts, size * (part + 1) // parts
    whole = min(low + -(begin + low) % 4, high)         # where the first whole block begins
    _some(drawn, low, whole, begin, iteration, draw, seed, stream)
    number = (begin + whole) // 4
    while whole + 4 <= high:
        number += 1
        a, b, c, d = random_block(number, iteration, draw, seed, stream)
        drawn[whole], drawn[whole + 1], drawn[whole + 2], drawn[whole + 3] = _number(a), _number(b), _number(c), _number(d)
        whole += 4
    _some(drawn, whole, high, begin, iteration, draw, seed, stream)


@kernel
def uniform_single(words, drawn, stream, part, parts):
    """drawn[k] = half k of the stream, the lower one of a word first, as float32 from 0 to 1."""
    seed, iteration, draw = words[0], words[1], words[2]
    size = drawn.shape[0]
    blocks = (size + 7) // 8
    low, high = blocks * part // parts, blocks * (part + 1) // parts
    for number in range(low, min(high, size // 8)):
        a, b, c, d = random_block(number + 1, iteration, draw, seed, stream)
        k = 8 * number
        drawn[k], drawn[k + 1], drawn[k + 2], drawn[k + 3] = _single(a), _single(a >> 32), _single(b), _single(b >> 32)
        drawn[k + 4], drawn[k + 5], drawn[k + 6], drawn[k + 7] = _single(c), _single(c >> 32), _single(d), _single(d >> 32)
    if 8 * high > size and high > low:
        block = random_block(blocks, iteration, draw, seed, stream)
        for k in range(8 * (blocks - 1), size):
            drawn[k] = _single(block[k % 8 // 2] >> 32 * (k % 2))


@kernel
def step_words(words, steps, stride):
    """The words of each step of a scan: another seed, as :func:`.control.at_step` gives it."""
    for t in range(steps.shape[0]):
        steps[t, 0], steps[t, 1], steps[t, 2] = words[0] + (t + 1) * stride, words[1], words[2]


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
                    a, b = -TAIL_INVERSE * math.log1p(-_number(one)), -math.log1p(-_number(other))
                    if b + b > a * a:
                        break
                x = -(TAIL + a) if (rest >> 8) & 1 else TAIL + a
            else:
                one = block[at]
                at, number, block = _next(at, number, block, iteration, draw, seed, stream)
                if not (f[strip - 1] - f[strip]) * _number(one) + f[strip] < math.exp(-0.5 * x * x):
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
                    a, b = -TAIL_INVERSE_SINGLE * math.log1p(-_single(one)), -math.log1p(-_single(other))
                    if b + b > a * a:
                        break
                x = -(TAIL_SINGLE + a) if (rest >> 8) & 1 else TAIL_SINGLE + a
            else:
                one = _half(block, at)
                at, number, block = _next_half(at, number, block, iteration, draw, seed, stream)
                if not (f[strip - 1] - f[strip]) * _single(one) + f[strip] < math.exp(-0.5 * float(x) * float(x)):
                    continue
        drawn[i] = x
        i += 1
