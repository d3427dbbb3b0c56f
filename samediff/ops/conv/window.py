"""Windows that slide over spatial axes: the geometry that convolution, pooling and patches share."""
from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...base.named_axes import expect_at_least
from ...base.spec import Shape
from ...errors import ShapeError

MODES = ("VALID", "SAME", "CAUSAL")
MOST_CELLS = 1 << 24        # code goes through them one by one


@dataclass(frozen=True)
class Window:
    """Size, step and place of windows along each spatial axis.

    Window o covers the cells o * stride - before + k * dilation for k in 0 … kernel - 1. VALID pads by ``padding`` on both
    sides and keeps whole windows; SAME gives ceil(size / stride) windows with the padding they need, the odd cell
    behind; CAUSAL pads in front only, so that no window looks ahead.
    """

    kernel: Shape
    stride: Shape
    padding: Shape
    dilation: Shape
    mode: str = "VALID"

    def __post_init__(self) -> None:
        expect_at_least(1, stride=self.stride, dilation=self.dilation)
        expect_at_least(0, padding=self.padding)
        if min(self.kernel, default=0) > 0 and math.prod(self.kernel) > MOST_CELLS:
            raise ShapeError(f"a window has at most {MOST_CELLS:,} cells; a kernel of {self.kernel} has {math.prod(self.kernel):,}")

    def extent(self, axis: int) -> int:
        """Cells from the first to the last one of a window."""
        return (self.kernel[axis] - 1) * self.dilation[axis] + 1

    def count(self, axis: int, size: int) -> int:
        """Number of windows along an axis of this size (-1: unknown)."""
        stride = self.stride[axis]
        if size == -1 or self.kernel[axis] < 0:
            return -1 if self.mode == "VALID" or size == -1 else -(-size // stride)
        if self.mode != "VALID":
            return -(-size // stride)
        found = (size + 2 * self.padding[axis] - self.extent(axis)) // stride + 1
        if found < 1:
            raise ShapeError(f"a window of {self.extent(axis)} cells (kernel {self.kernel[axis]}, dilation {self.dilation[axis]}) "
                             f"does not fit into {size} cells with padding {self.padding[axis]}; use padding mode SAME or a smaller kernel")
        return found

    def counts(self, sizes: Sequence[int]) -> Shape:
        """Number of windows along every axis."""
        return tuple(self.count(i, n) for i, n in enumerate(sizes))

    def before(self, axis: int, size: int) -> int:
        """Padding in front; negative where windows do not cover an axis and leave out its first cells, as DL4J has it."""
        if self.mode == "VALID":
            return self.padding[axis]
        if self.mode == "CAUSAL":
            return self.extent(axis) - 1
        missing = (self.count(axis, size) - 1) * self.stride[axis] + self.extent(axis) - size
        return missing // 2 if missing >= 0 else -(-missing // 2)

    def befores(self, sizes: Sequence[int]) -> Shape:
        """Padding before each axis."""
        return tuple(self.before(i, n) for i, n in enumerate(sizes))

    def padded(self, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """Padding before and behind, such that every window lies inside."""
        pads = []
        for i, n in enumerate(sizes):
            front = self.before(i, n)
            pads.append((max(front, 0), max((self.count(i, n) - 1) * self.stride[i] + self.extent(i) - n - front, 0)))
        return pads

    def covered(self, sizes: Sequence[int]) -> tuple[slice, ...]:
        """The array without the cells in front of the first windows."""
        return (slice(None), *(slice(max(-front, 0), None) for front in self.befores(sizes)))

    def cells(self, counts: Sequence[int]) -> Iterator[tuple[Shape, tuple[slice, ...]]]:
        """Each position in the kernel, with the cells of a padded array that lie there in all windows."""
        for position in itertools.product(*map(range, self.kernel)):
            yield position, tuple(slice(k * d, k * d + (o - 1) * s + 1, s)
                                  for k, d, o, s in zip(position, self.dilation, counts, self.stride))

    def inside(self, sizes: Sequence[int]) -> tuple[slice, ...]:
        """The part of the padded array that the windows' array occupies, as slices."""
        return (slice(None), *(slice(a, a + n + min(front, 0)) for n, (a, _), front in zip(sizes, self.padded(sizes), self.befores(sizes))))

    def room(self, sizes: Sequence[int]) -> Shape:
        """The sizes of the covered array with its padding."""
        return tuple(n + min(front, 0) + a + b for n, (a, b), front in zip(sizes, self.padded(sizes), self.befores(sizes)))

    def pad(self, xp: Any, x: Any, value: Any = 0) -> Any:
        """Channels-last ``x`` (N, *S, C) with its padding."""
        sizes = x.shape[1:-1]
        covered = x[self.covered(sizes)]
        if self.room(sizes) == covered.shape[1:-1]:
            return covered
        out = xp.full((x.shape[0], *self.room(sizes), x.shape[-1]), value, x.dtype)
        out[self.inside(sizes)] = covered
        return out

    def add_back(self, xp: Any, parts: Any, shape: Shape, dtype: Any) -> Any:
        """An array (N, *S, C) of sums of ``parts(position)``, each added to the cells at that position."""
        sizes = shape[1:-1]
        total = xp.zeros((shape[0], *self.room(sizes), shape[-1]), dtype)
        for position, cells in self.cells(self.counts(sizes)):
            total[(slice(None), *cells)] += parts(position)
        result = xp.zeros(shape, dtype)
        result[self.covered(sizes)] = total[self.inside(sizes)]
        return result

    def valid(self, xp: Any, sizes: Sequence[int], dtype: Any) -> Any:
        """Number of cells of each window that lie inside the array: (*counts, 1)."""
        total = xp.ones((1,) * len(sizes) + (1,), dtype)
        for axis, n in enumerate(sizes):
            starts = xp.arange(self.count(axis, n))[:, None] * self.stride[axis] - self.before(axis, n)
            places = starts + xp.arange(self.kernel[axis])[None, :] * self.dilation[axis]
            along = ((places >= 0) & (places < n)).sum(axis=1).astype(dtype)
            total = total * along.reshape([-1 if i == axis else 1 for i in range(len(sizes) + 1)])
        return total


class Windowed:
    """Mixed into ops whose attributes are kernel, stride, padding and dilation along named axes."""

    suffixes: ClassVar[tuple[str, ...]] = ("_h", "_w")

    def along(self, name: str) -> Shape:
        """The attribute of all axes: ``along("s")`` is (s_h, s_w)."""
        return tuple(getattr(self, name + suffix) for suffix in self.suffixes)

    def window(self, kernel: Shape | None = None) -> Window:
        """The geometry; ``kernel`` fills in sizes that are left open."""
        own = self.along("k")
        if min(own) < -1:
            raise ShapeError(f"the sizes of a kernel are positive, or -1 where the weights say them; got {own}")
        if kernel is not None:
            for mine, given in zip(own, kernel):
                if mine > 0 and given not in (-1, mine):
                    raise ShapeError(f"the kernel is declared as {own}, the weights have {kernel}; "
                                     "correct one, or leave the declaration out")
            own = tuple(mine if mine > 0 else given for mine, given in zip(own, kernel))
        mode = getattr(self, "padding_mode", "VALID").upper()
        if mode not in MODES:
            raise ShapeError(f"padding mode must be one of {', '.join(MODES)}; got {mode!r}")
        return Window(own, self.along("s"), self.along("p"), self.along("d"), str(getattr(mode, "value", mode)))

    @property
    def channels_last(self) -> bool:
        """Whether channels are the last axis of images."""
        return str(getattr(self, "data_format", "NCHW")).upper().endswith("C")

    def sizes(self, shape: Shape) -> Shape:
        """The spatial sizes of an image shape."""
        if len(shape) != len(self.suffixes) + 2:
            rank = len(self.suffixes) + 2
            raise ShapeError(f"images need rank {rank} (batch, channels and {rank - 2} spatial axes); got {shape}")
        return shape[1:-1] if self.channels_last else shape[2:]

    def channels(self, shape: Shape) -> int:
        """The number of channels of an image shape."""
        return shape[-1] if self.channels_last else shape[1]

    def image(self, batch: int, channels: int, sizes: Shape) -> Shape:
        """An image shape in the op's data format."""
        return (batch, *sizes, channels) if self.channels_last else (batch, channels, *sizes)


def to_last(xp: Any, x: Any, channels_last: bool) -> Any:
    """A view of images with channels last."""
    return x if channels_last else xp.moveaxis(x, 1, -1)


def from_last(xp: Any, x: Any, channels_last: bool) -> Any:
    """A view of images with channels last, in the original order of axes."""
    return x if channels_last else xp.moveaxis(x, -1, 1)
