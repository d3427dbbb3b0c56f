"""Sizes of results, and input types by shape."""
from __future__ import annotations

from ...layers.types.formats import CNN2DFormat, CNN3DFormat, RNNFormat
from ...layers.types.input_type import InputType
from ...samediff.errors import ConfigurationError

Shape = tuple[int | None, ...]


def windowed(size: int | None, kernel: int, stride: int, padding: str, dilation: int = 1) -> int | None:
    """The number of windows along an axis."""
    if size is None:
        return None
    reach = (kernel - 1) * dilation + 1
    return -(-size // stride) if padding in ("same", "causal") else max(0, (size - reach) // stride + 1)


def spread(size: int | None, kernel: int, stride: int, padding: str) -> int | None:
    """The size behind a transposed convolution."""
    if size is None:
        return None
    return size * stride if padding == "same" else size * stride + max(kernel - stride, 0)


def type_of(shape: Shape, first: bool = False) -> InputType:
    """The input type of a shape without the batch; channels are the last axis, or the ``first``."""
    sizes = [-1 if n is None else n for n in shape]
    if first and len(sizes) > 1:
        sizes = [*sizes[1:], sizes[0]]
    if len(sizes) == 1:
        return InputType.feed_forward(sizes[0])
    if len(sizes) == 2:
        return InputType.recurrent(sizes[1], sizes[0], RNNFormat.NCW if first else RNNFormat.NWC)
    if len(sizes) == 3:
        return InputType.convolutional(sizes[0], sizes[1], sizes[2], CNN2DFormat.NCHW if first else CNN2DFormat.NHWC)
    if len(sizes) == 4:
        return InputType.convolutional3d(CNN3DFormat.NCDHW if first else CNN3DFormat.NDHWC, *sizes)
    raise ConfigurationError(f"no input type has the shape {tuple(shape)}")


def shape_of(kind: InputType) -> Shape:
    """The shape of an input type without the batch."""
    return tuple(None if n < 0 else n for n in kind.array_shape()[1:])


def broadcast(given: list[Shape]) -> Shape:
    """The shape that several have together; fewer axes are joined with axes of size 1 in front."""
    most = max(map(len, given))
    wide = [(1,) * (most - len(shape)) + tuple(shape) for shape in given]
    return tuple(next((n for n in sizes if n != 1), 1) for sizes in zip(*wide))
