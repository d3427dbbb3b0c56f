"""Windows over up to three axes, as the kernels take them: always depth, height and width."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..base.spec import Shape

if TYPE_CHECKING:
    from ..ops.conv.window import Window

Triple = tuple[int, int, int]


@dataclass(frozen=True)
class WindowGeometry:
    """A window and the images that it slides over.

    Axes along which nothing moves (one cell, a kernel of one) are left out, missing ones come first with size 1: the same
    memory, with the longest rows that it has.

    Attributes
    ----------
    window : four triples
        Kernel, stride, padding in front and dilation.
    sizes, counts : triple
        Cells and windows along each axis.
    """

    window: tuple[Triple, Triple, Triple, Triple]
    sizes: Triple
    counts: Triple

    @classmethod
    def of(cls, window: Window, sizes: Shape) -> WindowGeometry | None:
        """None for windows with more axes than three."""
        axes = zip(window.kernel, window.stride, window.befores(sizes), window.dilation, sizes, window.counts(sizes))
        moving = [a for a in axes if (a[0], a[2], a[4]) != (1, 0, 1)]
        if len(moving) > 3:
            return None
        still = (1, 1, 0, 1, 1, 1)
        kernel, stride, before, dilation, cells, counts = zip(*[still] * (3 - len(moving)), *moving)
        return cls((kernel, stride, before, dilation), cells, counts)

    @property
    def places(self) -> int:
        """Number of windows."""
        return math.prod(self.counts)

    @property
    def taps(self) -> int:
        """Number of cells of a window."""
        return math.prod(self.window[0])

    @property
    def is_identity(self) -> bool:
        """Whether windows are single cells that cover the input in order, so that input and windows are the same."""
        return self.taps == 1 and self.sizes == self.counts and self.window[1] == (1, 1, 1) and self.window[2] == (0, 0, 0)

    @property
    def padded(self) -> Triple:
        """Sizes of images in which every window lies inside."""
        kernel, stride, before, dilation = self.window
        a, b, c = (max(p + n, (o - 1) * s + (k - 1) * d + 1)
                   for n, o, k, s, p, d in zip(self.sizes, self.counts, kernel, stride, before, dilation))
        return a, b, c


def joined(sizes: Shape, factors: Shape) -> tuple[list[int], list[int]] | None:
    """Sizes and factors as (planes, depth, height, width), where axes that stay as they are count as one."""
    grouped: list[list[int]] = [[1, 1]]
    for n, factor in zip(sizes, factors):
        if factor == grouped[-1][1] == 1:
            grouped[-1][0] *= n
        else:
            grouped.append([n, factor])
    missing = 4 - len(grouped)
    if missing < 0:
        return None
    grouped[1:1] = [[1, 1]] * missing
    return [n for n, _ in grouped], [f for _, f in grouped]
