"""ND4J's binary array format (``Nd4j.write``, ``Nd4j.read``): a shape buffer, then a data buffer.

Each buffer is an allocation mode, a number of elements, an element type and big-endian elements. The shape buffer holds
rank, shape, strides (in elements), option bits, element-wise stride and order letter. An element sits where the strides
say, whatever the letter.
"""
from __future__ import annotations

import math
import sys
import zlib
from io import BytesIO
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.datatype import DataType
from ..errors import FileFormatError, LimitError, did_you_mean
from .data_stream import DataInput, DataOutput

MAX_ELEMENTS = 1 << 31

_INT32_LENGTH = ("HEAP", "DIRECT", "JAVACPP")       # modes up to 1.0.0-beta
_MODES = (*_INT32_LENGTH, "LONG_SHAPE", "MIXED_DATA_TYPES")
_MIXED = "MIXED_DATA_TYPES"
_EMPTY, _UNSIGNED = 8, 8388608
_TYPE_BITS = {
    "BFLOAT16": 2048, "HALF": 4096, "FLOAT": 8192, "DOUBLE": 16384, "BYTE": 32768, "SHORT": 65536, "INT": 131072,
    "LONG": 262144, "UBYTE": 32768 | _UNSIGNED, "UINT16": 65536 | _UNSIGNED, "UINT32": 131072 | _UNSIGNED,
    "UINT64": 262144 | _UNSIGNED, "BOOL": 524288, "UTF8": 1048576,
}
_ALL_TYPE_BITS = 2048 | 4096 | 8192 | 16384 | 32768 | 65536 | 131072 | 262144 | 524288 | 1048576 | _UNSIGNED
_COMPRESSED = "COMPRESSED"
#: Types by their number in ND4J.
ORDINALS = ("DOUBLE", "FLOAT", "HALF", "LONG", "INT", "SHORT", "UBYTE", "BYTE", "BOOL", "UTF8", _COMPRESSED,
             "BFLOAT16", "UINT16", "UINT32", "UINT64")
MAX_RANK = 32


class LengthError(FileFormatError):
    """An array of another length than the caller expects."""


def read_array(stream: BinaryIO, *, max_elements: int = MAX_ELEMENTS, where: str = "",
               expected: int | None = None) -> NDArray[Any]:
    """Read one array as ``Nd4j.write`` of any version from 0.5.0 on has written it.

    Parameters
    ----------
    stream : binary stream
        At the array's first byte; it is left behind the array's last byte.
    max_elements : int
        Larger arrays are refused before memory is taken.
    where : str
        Names the source in error texts.
    expected : int, optional
        Number of elements that the array must have; checked before the data are read.

    Returns
    -------
    an array with the memory layout (c, f or permuted) that the file states, in native byte order.

    Raises
    ------
    TruncatedFileError : the data end early.
    LimitError : more than ``max_elements`` elements.
    FileFormatError : a header that contradicts itself or the data, or a type that cannot be read (UTF8).
    """
    source = DataInput(stream, where)
    shape, strides, options = _read_shape(source, max_elements)
    count = math.prod(shape)
    if expected is not None and count != expected:
        raise LengthError(str(source.error(f"expected {expected} values, got {count} (shape {list(shape)})")))
    kind, flat = _read_data(source, count, max_elements)
    check_type(source, options, kind)
    if count == 0:
        return np.empty(shape, kind.numpy)
    return placed(source, shape, strides, flat).view(kind.numpy)


def check_type(source: DataInput, options: int, kind: DataType) -> None:
    """FileFormatError where a shape buffer is that of an array of another type."""
    bits = options & _ALL_TYPE_BITS
    if bits and bits != _TYPE_BITS[kind.name]:
        raise source.error(f"the shape information states type bits {bits}, the data are "
                           f"{kind.name} (bits {_TYPE_BITS[kind.name]})")


def placed(source: DataInput, shape: tuple[int, ...], strides: tuple[int, ...], flat: NDArray[Any]) -> NDArray[Any]:
    """The array whose elements stand in a buffer, which is not empty, where the strides say."""
    last = sum((d - 1) * s for d, s in zip(shape, strides))
    if last >= flat.size:
        raise source.error(f"strides {list(strides)} of shape {list(shape)} reach element {last}, "
                           f"the data have {flat.size} elements")
    steps = tuple(s * flat.itemsize if d > 1 else 0 for d, s in zip(shape, strides))    # d = 1 may carry any stride
    return np.ndarray(shape, flat.dtype, buffer=flat.data, strides=steps)


def array_header(stream: BinaryIO, where: str = "") -> tuple[tuple[int, ...], str]:
    """Shape and element type of the next array, whose data stay unread; errors as :func:`read_array`."""
    source = DataInput(stream, where)
    shape, _, _ = _read_shape(source, MAX_ELEMENTS)
    return shape, _read_header(source, "data buffer")[1]


def read_buffer(source: DataInput, count: int) -> NDArray[Any]:
    """The elements of a data buffer that stands alone, as serialized Java arrays have it."""
    kind, flat = _read_data(source, count, count)
    return flat.view(kind.numpy)


def write_array(stream: BinaryIO, array: ArrayLike, order: Literal["c", "f", "k"] = "c") -> None:
    """Write one array as 1.0.0-beta4 and later write it (mode MIXED_DATA_TYPES).

    Parameters
    ----------
    stream : binary stream
        Where to write to; nothing is closed.
    array : array
        Of any type but text.
    order : "c", "f" or "k"
        Whether the last (default) or the first axis runs fastest; "k" keeps the array's own memory layout, permuted ones included.

    Examples
    --------
    >>> import io
    >>> stream = io.BytesIO()
    >>> write_array(stream, np.array([[1, 2]], np.float32))
    >>> len(stream.getvalue())
    137
    >>> read_array(io.BytesIO(stream.getvalue()))
    array([[1., 2.]], dtype=float32)
    """
    value, axes, info = shape_info(array, order)
    kind = DataType.of(value)
    out = DataOutput(stream)
    _write_header(out, len(info), "LONG")
    for number in info:
        out.write_long(number)
    _write_header(out, value.size, kind.name)
    words = np.ascontiguousarray(value.transpose(axes)).reshape(-1).view(f"=u{kind.numpy.itemsize}")
    for at in range(0, words.size, 1 << 18):
        stream.write(words[at:at + (1 << 18)].astype(f">u{kind.numpy.itemsize}").tobytes())


def shape_info(array: ArrayLike, order: str) -> tuple[NDArray[Any], list[int], list[int]]:
    """The array in native byte order, its axes from slowest to fastest, the shape buffer: rank, shape, strides, options, step, order."""
    value = np.asarray(array)
    if not value.dtype.isnative:
        value = value.astype(value.dtype.newbyteorder("="))
    kind = DataType.of(value)
    if not kind.is_numeric:
        raise FileFormatError(f"arrays of type {kind.name} cannot be written: this format stores no data for them")
    if order not in ("c", "f", "k"):
        raise FileFormatError(f"order: expected 'c', 'f' or 'k', got {order!r}")
    axes, letter = _layout(value, order)
    strides, step = [0] * value.ndim, 1
    for axis in reversed(axes):
        strides[axis] = step
        step *= value.shape[axis]
    dense = letter == "f" or axes == list(range(value.ndim))
    if value.size == 0:
        strides, dense = [0] * value.ndim, False
    elif value.ndim == 2 and letter == "c" and dense and value.shape[0] == 1:
        strides = [1, 1]                                # ND4J's rows
    options = _TYPE_BITS[kind.name] | (_EMPTY if value.size == 0 else 0)
    return value, axes, [value.ndim, *value.shape, *strides, options, int(dense), ord(letter)]


def _layout(value: NDArray[Any], order: str) -> tuple[list[int], str]:
    """The axes from slowest to fastest and the order letter."""
    axes = list(range(value.ndim))
    if order == "c" or (order == "k" and value.flags.c_contiguous):
        return axes, "c"
    if order == "f" or value.flags.f_contiguous:
        return axes[::-1], "f"
    return sorted(axes, key=lambda i: -abs(value.strides[i])), "c"


def _write_header(out: DataOutput, length: int, kind: str) -> None:
    out.write_utf(_MIXED)
    out.write_long(length)
    out.write_utf(kind)


def _read_header(source: DataInput, what: str) -> tuple[int, str]:
    """Mode, length and element type of a buffer."""
    mode = source.read_utf(f"the allocation mode of the {what}", limit=64)
    if mode not in _MODES:
        raise source.error(f"unknown allocation mode {mode!r} of the {what}"
                           f"{did_you_mean(mode, _MODES)}; expected one of {', '.join(_MODES)}")
    length = (source.read_int if mode in _INT32_LENGTH else source.read_long)(f"the length of the {what}")
    if mode in _INT32_LENGTH and length == 0:       # beta2 kept an old mode name, but wrote 64-bit lengths
        length = source.read_int(f"the length of the {what}")
    if length < 0:
        raise source.error(f"the {what} states {length} elements")
    return length, source.read_utf(f"the type of the {what}", limit=64)


def _read_shape(source: DataInput, max_elements: int) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    length, kind = _read_header(source, "shape buffer")
    if kind not in ("INT", "LONG"):
        raise source.error(f"a shape buffer of type {kind!r}; expected INT or LONG")
    if length > 2 * MAX_RANK + 4 or length < 4:
        raise source.error(f"a shape buffer of {length} elements; expected 4 to {2 * MAX_RANK + 4}")
    info = [(source.read_int if kind == "INT" else source.read_long)("the shape") for _ in range(length)]
    if length != 2 * info[0] + 4:
        raise source.error(f"a shape buffer of {length} elements for rank {info[0]}; expected {2 * info[0] + 4}")
    return checked_shape(source, info, max_elements)


def checked_shape(source: DataInput, info: list[int], max_elements: int) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Shape, strides and options of a shape buffer of the right length."""
    rank = info[0]
    shape, strides = tuple(info[1:rank + 1]), tuple(info[rank + 1:2 * rank + 1])
    if any(d < 0 for d in shape) or any(s < 0 for s in strides):
        raise source.error(f"negative dimensions or strides: shape {list(shape)}, "
                           f"strides {list(strides)}")
    if info[-1] not in (ord("c"), ord("f")):
        raise source.error(f"order {info[-1]}; expected {ord('c')} ('c') or {ord('f')} ('f')")
    if math.prod(d for d in shape if d) > max_elements:
        raise LimitError(f"{source.where}: an array of shape {list(shape)} has {math.prod(shape)} elements, at most "
                         f"{max_elements} are allowed here")
    return shape, strides, info[-3]


def _read_data(source: DataInput, count: int, max_elements: int) -> tuple[DataType, NDArray[Any]]:
    length, name = _read_header(source, "data buffer")
    if name == _COMPRESSED:
        return _read_compressed(source, length, count, max_elements)
    if name == "UTF8":
        raise source.error("arrays of type UTF8 cannot be read: this format stores no data for them")
    if name not in _TYPE_BITS:
        raise source.error(f"unknown element type {name!r}{did_you_mean(name, _TYPE_BITS)}; "
                           f"expected one of {', '.join(_TYPE_BITS)}")
    if length != count:
        raise _wrong_count(source, length, count, max_elements)
    kind = DataType[name]
    return kind, _words(source, kind, count)


def _wrong_count(source: DataInput, length: int, count: int, max_elements: int) -> FileFormatError:
    text = f"{source.where}: the data buffer states {length} elements, the shape has {count}"
    if length > max_elements:
        return LimitError(f"{text}; at most {max_elements} are allowed here")
    return FileFormatError(text)


def _words(source: DataInput, kind: DataType, count: int, swap: bool = sys.byteorder == "little") -> NDArray[Any]:
    size = kind.numpy.itemsize
    words = np.frombuffer(source.read_exact(count * size, f"{count} elements of type {kind.name}"), f"=u{size}")
    if swap and size > 1:
        words = words.byteswap(inplace=True)
    return (words != 0).view(np.uint8) if kind is DataType.BOOL else words


def _read_compressed(source: DataInput, length: int, count: int, max_elements: int) -> tuple[DataType, NDArray[Any]]:
    algorithm = source.read_utf("the compression algorithm", limit=64)
    packed, original, elements = (source.read_long(f"the compressed buffer's {what}")
                                  for what in ("size", "original size", "length"))
    if packed < 0 or packed != length or original < 0 or elements != count:
        raise source.error(f"a compressed buffer of {length} bytes states {packed} bytes, {original} "
                           f"original bytes and {elements} elements for a shape of {count}")
    start = source.read_int("the original type")
    if not 0 <= start < len(ORDINALS) or ORDINALS[start] not in _TYPE_BITS or ORDINALS[start] == "UTF8":
        raise source.error(f"unknown original type {start} of a compressed buffer")
    kind = DataType[ORDINALS[start]]
    if algorithm == "NOOP":             # states 0 compressed bytes, then stores the values little-endian
        if original != count * kind.numpy.itemsize:
            raise source.error(f"{original} bytes for {count} elements of type {kind.name}")
        return kind, _words(source, kind, count, swap=sys.byteorder == "big")
    if algorithm != "GZIP":
        raise source.error(f"arrays compressed with {algorithm!r} cannot be read; expected GZIP or NOOP")
    limit = count * kind.numpy.itemsize + 256      # the data buffer's header takes less than 256 bytes
    data = bytes(source.read_exact(min(packed, limit + 1024), "compressed data"))
    if packed > len(data):
        raise LimitError(f"{source.where}: {packed} compressed bytes for {count} elements of type {kind.name}")
    try:
        unpacked = zlib.decompressobj(31).decompress(data, limit)
    except zlib.error as e:
        raise source.error(f"damaged compressed data ({e})") from None
    return _read_data(DataInput(BytesIO(unpacked), f"{source.where} (compressed data)"), count, max_elements)
