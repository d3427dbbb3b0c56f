"""Sizes of the outputs of convolutions and poolings, along one axis."""
from __future__ import annotations

from typing import Any

from ...samediff.errors import ConfigurationError
from .formats import ConvolutionMode


def effective(kernel: int, dilation: int) -> int:
    """Width of a dilated kernel."""
    return kernel + (kernel - 1) * (dilation - 1)


def convolved(owner: str, n: int, kernel: int, stride: int, padding: int, dilation: int,
              mode: ConvolutionMode | None, refuses: bool = True) -> int:
    """Return the output size for an input of size ``n``; unknown (-1) where that is, or where it does not fit and this is not refused."""
    if n < 0:
        return n
    if mode in (ConvolutionMode.Same, ConvolutionMode.Causal):
        return -(-n // stride)
    wide = effective(kernel, dilation)
    room = n - wide + 2 * padding
    if not refuses and (room < 0 or (mode is ConvolutionMode.Strict and room % stride)):
        return -1
    if wide <= 0 or room < 0:
        room_text = f"{n} with padding {padding}"
        raise ConfigurationError(f"{owner}: the kernel ({wide} wide) does not fit the input: {room_text}")
    if mode is ConvolutionMode.Strict and room % stride:
        raise ConfigurationError(
            f"{owner}: (input {n} - kernel {wide} + 2 * padding {padding}) / stride {stride} is not whole; "
            "use ConvolutionMode.Truncate or Same, or change the sizes")
    return room // stride + 1


def deconvolved(n: int, kernel: int, stride: int, padding: int, dilation: int, mode: ConvolutionMode | None) -> int:
    """Return the output size of a transposed convolution."""
    if n < 0:
        return n
    if mode is ConvolutionMode.Same:
        return stride * n
    return stride * (n - 1) + effective(kernel, dilation) - 2 * padding


def repeated(value: Any, rank: int) -> Any:
    """One number for all axes."""
    items = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return items * rank if len(items) == 1 else items


def pairs(value: Any, rank: int) -> tuple[int, ...]:
    """Sizes before and after each axis: from one number, one per axis, or two per axis."""
    items = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if len(items) == 1:
        items = items * rank
    if len(items) == rank:
        items = tuple(v for v in items for _ in range(2))
    if len(items) != 2 * rank or min(items) < 0:
        raise ConfigurationError(f"expected {rank} or {2 * rank} sizes, none negative; got {value!r}")
    return items


def check_window(owner: str, rank: int, **sizes: tuple[int, ...]) -> None:
    """Refuse kernels, strides, paddings and dilations that are no windows."""
    for name, value in sizes.items():
        low = 0 if name == "padding" else 1
        if len(value) != rank or min(value) < low:
            raise ConfigurationError(f"{owner}: {name} must be {rank} numbers of at least {low}; got {value}")
