# mypy: ignore-errors
"""Uniform numbers of NumPy's Philox stream: 53 bits of each word, or 24 bits of each half."""
from __future__ import annotations

import numpy as np

from ..compiler.jit_functions import function
from ..compiler.sources import kernel
from .dropout_mask import random_block


@function(forceinline=True, error_model="numpy")
def number_of(word):
    """The number from 0 to 1 of 53 bits of a word."""
    return ((word >> 11) & 0x1FFFFFFFFFFFFF) * 1.1102230246251565e-16


@function(forceinline=True, error_model="numpy")
def single_of(half):
    """The float32 number of 24 bits of the lower half of a word."""
    return np.float32((half >> 8) & 0xFFFFFF) * np.float32(5.9604644775390625e-08)


@function(error_model="numpy")
def _some(drawn, low, high, begin, iteration, draw, seed, stream):
    """Numbers ``low`` to ``high`` of one block, which is not all of it."""
    if low < high:
        block = random_block((begin + low) // 4 + 1, iteration, draw, seed, stream)
        for k in range(low, high):
            drawn[k] = number_of(block[(begin + k) % 4])


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
        drawn[whole], drawn[whole + 1], drawn[whole + 2], drawn[whole + 3] = number_of(a), number_of(b), number_of(c), number_of(d)
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
        drawn[k], drawn[k + 1], drawn[k + 2], drawn[k + 3] = single_of(a), single_of(a >> 32), single_of(b), single_of(b >> 32)
        drawn[k + 4], drawn[k + 5], drawn[k + 6], drawn[k + 7] = single_of(c), single_of(c >> 32), single_of(d), single_of(d >> 32)
    if 8 * high > size and high > low:
        block = random_block(blocks, iteration, draw, seed, stream)
        for k in range(8 * (blocks - 1), size):
            drawn[k] = single_of(block[k % 8 // 2] >> 32 * (k % 2))


@kernel
def step_words(words, steps, stride):
    """The words of each step of a scan: another seed, as :func:`.control.at_step` gives it."""
    for t in range(steps.shape[0]):
        steps[t, 0], steps[t, 1], steps[t, 2] = words[0] + (t + 1) * stride, words[1], words[2]
