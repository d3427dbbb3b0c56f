"""The format of ND4J's ``BinarySerde``: rank and type in 32 bits each, the shape buffer in 64 bits each, the elements; little-endian."""
from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.datatype import DataType
from .data_stream import DataInput
from .nd4j_array import MAX_ELEMENTS, MAX_RANK, ORDINALS, check_type, checked_shape, placed, shape_info


def write_serde(array: ArrayLike) -> bytes:
    """An array in this format; the first axis runs fastest where it does so in memory, else the last.

    Examples
    --------
    >>> import io
    >>> read_serde(DataInput(io.BytesIO(write_serde(np.arange(3)))))
    array([0, 1, 2])
    """
    given = np.asarray(array)
    value, axes, info = shape_info(given, "f" if given.flags.f_contiguous and not given.flags.c_contiguous else "c")
    kind = DataType.of(value)
    words = np.ascontiguousarray(value.transpose(axes)).reshape(-1).view(f"=u{kind.numpy.itemsize}")
    header = struct.pack(f"<ii{len(info)}q", value.ndim, ORDINALS.index(kind.name), *info)
    return header + words.astype(words.dtype.newbyteorder("<"), copy=False).tobytes()


def read_serde(source: DataInput, max_elements: int = MAX_ELEMENTS) -> NDArray[Any]:
    """The array at the place of a source, which is left behind it.

    Raises
    ------
    TruncatedFileError : the data end early.
    LimitError : more than ``max_elements`` elements.
    FileFormatError : a header that contradicts itself or the data, or a type that has no place in this format.
    """
    number, info = read_header(source)
    if not 0 <= number < len(ORDINALS) or ORDINALS[number] in ("UTF8", "COMPRESSED"):
        raise source.error(f"elements of type {number}; expected one of numbers, 0 to {len(ORDINALS) - 1}")
    kind = DataType[ORDINALS[number]]
    shape, strides, options = checked_shape(source, info, max_elements)
    check_type(source, options, kind)
    if 0 in shape:
        return np.empty(shape, kind.numpy)
    count = math.prod(shape)
    size = kind.numpy.itemsize
    words = np.frombuffer(source.read_exact(count * size, f"{count} elements of type {kind.name}"), f"<u{size}").astype(f"=u{size}")
    return placed(source, shape, strides, (words != 0) if kind is DataType.BOOL else words).view(kind.numpy)


def read_header(source: DataInput) -> tuple[int, list[int]]:
    """Number of the type, and the shape buffer."""
    rank, number = struct.unpack("<ii", source.read_exact(8, "rank and type"))
    if not 0 <= rank <= MAX_RANK:
        raise source.error(f"an array of rank {rank}; expected 0 to {MAX_RANK}")
    info = list(struct.unpack(f"<{2 * rank + 4}q", source.read_exact(8 * (2 * rank + 4), "the shape buffer")))
    if info[0] != rank:
        raise source.error(f"a shape buffer of rank {info[0]} in an array of rank {rank}")
    return number, info
