"""Fields of windows that ops and their configurations share: kernel k, stride s, padding p and dilation d of each axis."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def _declared(cls: type[T]) -> type[T]:
    """Fields for a class that has its own constructor and comparison."""
    return dataclass(init=False, repr=False, eq=False)(cls)


@_declared
class Fields1D:
    """Windows along time.

    Parameters
    ----------
    k : int
        Size of the kernel; -1 (default) takes that of the weights.
    s, p, d : int
        Stride, zeros at both ends, and distance of neighbouring elements of a window: 1, 0 and 1 by default.
    padding_mode : PaddingMode or str
        ``VALID`` (default) pads by ``p``, ``SAME`` as much as it needs for ceil(size / stride) windows, ``CAUSAL`` the same in front
        alone.
    data_format : str
        "NCW" (default: batch, channels, time) or "NWC".
    """

    k: int = -1
    s: int = 1
    p: int = 0
    d: int = 1
    padding_mode: str = "VALID"
    data_format: str = "NCW"


@_declared
class Fields2D:
    """Windows over height and width.

    Parameters
    ----------
    k_h, k_w : int
        Size of the kernel; -1 (default) takes that of the weights, which pooling does not have.
    s_h, s_w, p_h, p_w, d_h, d_w : int
        Strides, zeros on both sides, and distances of neighbouring elements of a window: 1, 0 and 1 by default.
    padding_mode : PaddingMode or str
        ``VALID`` (default) pads by ``p_h`` and ``p_w``, ``SAME`` as much as it needs for ceil(size / stride) windows.
    data_format : str
        "NCHW" (default: batch, channels, height, width) or "NHWC".
    """

    k_h: int = -1
    k_w: int = -1
    s_h: int = 1
    s_w: int = 1
    p_h: int = 0
    p_w: int = 0
    d_h: int = 1
    d_w: int = 1
    padding_mode: str = "VALID"
    data_format: str = "NCHW"


@_declared
class Fields3D:
    """Windows over depth, height and width.

    Parameters
    ----------
    k_d, k_h, k_w : int
        Size of the kernel; -1 (default) takes that of the weights, which pooling does not have.
    s_d, s_h, s_w, p_d, p_h, p_w, d_d, d_h, d_w : int
        Strides, zeros on both sides, and distances of neighbouring elements of a window: 1, 0 and 1 by default.
    padding_mode : PaddingMode or str
        ``VALID`` (default) pads by the paddings, ``SAME`` as much as it needs for ceil(size / stride) windows.
    data_format : str
        "NCDHW" (batch, channels, depth, height, width) or "NDHWC".
    """

    k_d: int = -1
    k_h: int = -1
    k_w: int = -1
    s_d: int = 1
    s_h: int = 1
    s_w: int = 1
    p_d: int = 0
    p_h: int = 0
    p_w: int = 0
    d_d: int = 1
    d_h: int = 1
    d_w: int = 1
    padding_mode: str = "VALID"
    data_format: str = "NCDHW"
