"""Arrays of SameDiff graph files: ND4J's shape descriptor and element buffer, to and from NumPy.

The descriptor is ``[rank, dims…, strides…, extras, element-wise stride, order]``; strides count elements and are
authoritative, the order is 99 (c) or 102 (f), the bits of ``extras`` repeat the data type and mark empty arrays.
"""
from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...errors import DataTypeError, FileFormatError, TruncatedFileError
from .graph import FlatArray
from .schema import ByteOrder

EMPTY = 8
UNSIGNED = 8388608
_EXTRAS = {
    DataType.BFLOAT16: 2048, DataType.HALF: 4096, DataType.FLOAT: 8192, DataType.DOUBLE: 16384,
    DataType.BYTE: 32768, DataType.SHORT: 65536, DataType.INT: 131072, DataType.LONG: 262144,
    DataType.BOOL: 524288, DataType.UTF8: 1048576,
    DataType.UBYTE: 32768 | UNSIGNED, DataType.UINT16: 65536 | UNSIGNED,
    DataType.UINT32: 131072 | UNSIGNED, DataType.UINT64: 262144 | UNSIGNED,
}
_ORDER = {"c": 99, "f": 102}
_MAX_RANK = 32


def decode_array(flat: FlatArray, what: str = "array") -> np.ndarray[Any, Any]:
    """Return the array that `flat` describes, in its own memory order; strings come as an object array of ``str``.

    Raises
    ------
    FileFormatError, TruncatedFileError
        When descriptor, data type and buffer contradict each other.
    """
    shape, strides, extras = _descriptor(flat.shape, what)
    dtype = _data_type(flat.dtype, what)
    if 0 in shape or (extras & EMPTY and shape == ()):  # NumPy has no empty array of rank 0: it becomes [0]
        return np.empty(shape or (0,), dtype.numpy)
    if extras & EMPTY:
        raise FileFormatError(f"{what}: marked as empty, but its shape is {list(shape)}")
    buffer = _whole_buffer(flat, what)
    if dtype is DataType.UTF8:
        elements = _strings(buffer, math.prod(shape), what)
    else:
        elements = _elements(buffer, dtype, flat.byte_order == ByteOrder.BIG, what)
    return _strided(elements, shape, strides, what)


def encode_array(array: Any, byte_order: ByteOrder = ByteOrder.LITTLE) -> FlatArray:
    """Return the stored form of an array.

    The default byte order is the one that DL4J 1.0.0-M2.1 reads right for every data type (it takes big endian
    BFLOAT16 and UINT16 as little endian). C and Fortran contiguous arrays keep their order, others become C.
    """
    array = np.asarray(array)
    dtype = DataType.of(array)
    array = array.astype(dtype.numpy, copy=False)
    order = "f" if array.flags.f_contiguous and not array.flags.c_contiguous else "c"
    shape = array.shape
    strides = contiguous_strides(shape, order)
    extras = _EXTRAS[dtype]
    if array.size == 0:
        descriptor = (len(shape), *shape, *(0 for _ in shape), extras | EMPTY, 0, _ORDER[order])
        return FlatArray(descriptor, b"", dtype.code, byte_order)
    flat = array.ravel(order="F" if order == "f" else "C")
    if dtype is DataType.UTF8:
        buffer = _string_buffer(flat)
    elif byte_order == ByteOrder.BIG and dtype.numpy.itemsize > 1:
        buffer = flat.view(f"V{dtype.numpy.itemsize}").view(f"u{dtype.numpy.itemsize}").byteswap().tobytes()
    else:
        buffer = flat.tobytes()
    return FlatArray((len(shape), *shape, *strides, extras, 1, _ORDER[order]), buffer, dtype.code, byte_order)


def contiguous_strides(shape: Sequence[int], order: str = "c") -> tuple[int, ...]:
    """Return the strides, in elements, of a dense array.

    Examples
    --------
    >>> contiguous_strides((2, 3, 4)), contiguous_strides((2, 3, 4), "f")
    ((12, 4, 1), (1, 2, 6))
    """
    dims = [max(n, 1) for n in shape]
    if order == "f":
        return tuple(math.prod(dims[:i]) for i in range(len(dims)))
    return tuple(math.prod(dims[i + 1 :]) for i in range(len(dims)))


def _descriptor(info: Sequence[int], what: str) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    rank = info[0] if info else -1
    if not 0 <= rank <= _MAX_RANK or len(info) != 2 * rank + 4:
        raise FileFormatError(f"{what}: shape descriptor of {len(info)} numbers does not fit rank {rank}")
    strides = tuple(info[1 + rank : 1 + 2 * rank])
    if any(s < 0 for s in strides):
        raise FileFormatError(f"{what}: negative strides {list(strides)}")
    if info[-1] not in (99, 102):
        raise FileFormatError(f"{what}: expected order 99 (c) or 102 (f); got {info[-1]}")
    return _dims(info[1 : 1 + rank], what), strides, info[1 + 2 * rank]


def _dims(dims: Sequence[int], what: str) -> tuple[int, ...]:
    if len(dims) > _MAX_RANK or any(n < 0 for n in dims):
        raise FileFormatError(f"{what}: expected at most {_MAX_RANK} dimensions, none negative; got {list(dims)}")
    if 0 in dims and math.prod(n for n in dims if n) >= 2**56:
        raise FileFormatError(f"{what}: dimensions {list(dims)} are out of range")
    return tuple(dims)


def _data_type(code: int, what: str) -> DataType:
    try:
        return DataType.from_code(code)
    except DataTypeError as error:
        raise FileFormatError(f"{what}: {error}") from None


def _whole_buffer(flat: FlatArray, what: str) -> bytes | memoryview:
    if flat.is_external or flat.external_data_filename:
        raise FileFormatError(f"{what}: its elements lie in another file, {flat.external_data_filename!r}")
    if flat.buffer_chunks:
        return b"".join(bytes(chunk.data) for chunk in sorted(flat.buffer_chunks, key=lambda chunk: chunk.index))
    return flat.buffer


def _elements(buffer: bytes | memoryview, dtype: DataType, big: bool, what: str) -> np.ndarray[Any, Any]:
    size = dtype.numpy.itemsize
    if len(buffer) % size:
        raise FileFormatError(f"{what}: a buffer of {len(buffer)} bytes is no whole number of {dtype.name} elements")
    if dtype is DataType.BOOL:
        return np.frombuffer(buffer, np.uint8).astype(np.bool_)
    raw = np.frombuffer(buffer, f"{'>' if big else '<'}u{size}").astype(f"=u{size}", copy=False)
    elements: np.ndarray[Any, Any] = raw.view(dtype.numpy)
    return elements


def _strided(
    elements: np.ndarray[Any, Any], shape: tuple[int, ...], strides: tuple[int, ...], what: str
) -> np.ndarray[Any, Any]:
    last = sum((n - 1) * s for n, s in zip(shape, strides))
    if math.prod(shape) > elements.size or last >= elements.size:
        raise TruncatedFileError(
            f"{what}: shape {list(shape)} with strides {list(strides)} needs {max(math.prod(shape), last + 1)}"
            f" elements; the buffer holds {elements.size}"
        )
    size = elements.dtype.itemsize
    steps = [s * size if n > 1 else 0 for n, s in zip(shape, strides)]
    view = np.lib.stride_tricks.as_strided(elements, shape, steps, writeable=False)
    return np.array(view, order="K")


def _strings(buffer: bytes | memoryview, count: int, what: str) -> np.ndarray[Any, Any]:
    """Strings: count + 1 offsets (always little endian), then the bytes that they point into."""
    head = 8 * (count + 1)
    if len(buffer) < head:
        raise TruncatedFileError(f"{what}: {count} strings need {head} bytes of offsets; the buffer has {len(buffer)}")
    offsets = np.frombuffer(buffer, "<i8", count + 1).tolist()
    text = bytes(buffer[head:])
    if offsets[0] < 0 or offsets[-1] > len(text) or any(a > b for a, b in itertools.pairwise(offsets)):
        raise FileFormatError(f"{what}: string offsets are out of order or beyond the {len(text)} bytes of text")
    strings = np.empty(count, np.object_)
    strings[:] = [_text(text[a:b]) for a, b in itertools.pairwise(offsets)]
    return strings


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:  # DL4J keeps only the low byte of each character
        return raw.decode("latin-1")


def _string_buffer(strings: np.ndarray[Any, Any]) -> bytes:
    parts = [s if isinstance(s, bytes) else str(s).encode("utf-8") for s in strings.tolist()]
    offsets = np.cumsum([0, *(len(p) for p in parts)]).astype("<i8")
    return offsets.tobytes() + b"".join(parts)
