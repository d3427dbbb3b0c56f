"""What ops and their configurations alike declare about windows: kernel k, stride s, padding p and dilation d of each axis."""
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
    """Windows along time; a kernel of -1 is taken from the weights."""

    k: int = -1
    s: int = 1
    p: int = 0
    d: int = 1
    padding_mode: str = "VALID"
    data_format: str = "NCW"


@_declared
class Fields2D:
    """Windows over height and width."""

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
    """Windows over depth, height and width."""

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
