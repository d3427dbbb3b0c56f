# mypy: ignore-errors
"""Cells repeated along three axes.

Shapes: x (planes, depth, height, width) -> y (planes, depth * fd, height * fh, width * fw) for ``factors`` fd fh fw.
"""
from __future__ import annotations

import numpy as np

from ..compiler.sources import kernel
from ..library.address import in_line

U = np.uintp


@kernel
def repeat(x, y, factors):
    """Each row once cell by cell, then as often as it occurs."""
    fd, fh, fw = factors
    height, width, across = x.shape[2], x.shape[3], y.shape[3]
    source, target = in_line(x), in_line(y)
    at = 0
    for plane in range(x.shape[0]):
        for h in range(x.shape[1]):
            for i in range(height):
                first = ((plane * y.shape[1] + h * fd) * y.shape[2] + i * fh) * across
                if fw == 1:
                    for j in range(width):
                        target[U(first + j)] = source[U(at + j)]
                elif fw == 2:
                    for j in range(width):
                        target[U(first + 2 * j)] = source[U(at + j)]
                        target[U(first + 2 * j + 1)] = source[U(at + j)]
                else:
                    for j in range(width):
                        for k in range(fw):
                            target[U(first + fw * j + k)] = source[U(at + j)]
                at += width
                for o in range(fd):
                    for p in range(fh):
                        to = first + (o * y.shape[2] + p) * across
                        if to != first:
                            for j in range(across):
                                target[U(to + j)] = target[U(first + j)]
