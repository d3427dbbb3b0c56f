# mypy: ignore-errors
"""Running sums and products."""
from __future__ import annotations

import numpy as np

from ..compiler.sources import kernel
from ..library.address import in_line

U = np.uintp


@kernel
def accumulate(x, y, product, exclusive, reverse):
    """y = what of x (count, length, cells) comes before along the second axis, with the element itself unless ``exclusive``."""
    count, length, cells = x.shape
    source, target = in_line(x), in_line(y)
    step = -cells if reverse else cells
    for row in range(count):
        place = row * length * cells + ((length - 1) * cells if reverse else 0)
        for j in range(place, place + cells):
            target[U(j)] = product if exclusive else source[U(j)]
        for _ in range(1, length):
            before, place = place, place + step
            more = before if exclusive else place
            if product:
                for j in range(cells):
                    target[U(place + j)] = target[U(before + j)] * source[U(more + j)]
            else:
                for j in range(cells):
                    target[U(place + j)] = target[U(before + j)] + source[U(more + j)]
