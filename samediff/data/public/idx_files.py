"""Arrays of bytes in the idx format of MNIST, plain or compressed with gzip."""
from __future__ import annotations

import gzip
import math
import struct
import zlib
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from ...errors import FileFormatError, LimitError, TruncatedFileError

_UNSIGNED_BYTE = 8
_LARGEST = 1 << 30      # EMNIST's largest file has 550 million bytes


def read_idx(stream: IO[bytes], rank: int, where: str) -> NDArray[np.uint8]:
    """An idx file of unsigned bytes.

    Format: two zero bytes, 8 for the type, the rank, the sizes as big-endian 32-bit integers, then the bytes.

    Parameters
    ----------
    stream : binary stream
    rank : int
        The rank that is expected.
    where : str
        Name of the file, for messages.

    Raises
    ------
    FileFormatError
        Another type or rank, missing or superfluous bytes, a damaged gzip stream.
    """
    head = stream.read(2)
    stream.seek(0)
    source = cast(IO[bytes], gzip.GzipFile(fileobj=stream)) if head == b"\x1f\x8b" else stream
    try:
        return _parsed(source, rank, where)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileFormatError(f"{where}: damaged gzip data ({error})") from None


def _parsed(stream: IO[bytes], rank: int, where: str) -> NDArray[np.uint8]:
    start = _exactly(stream, 4, where)
    if start != bytes([0, 0, _UNSIGNED_BYTE, rank]):
        raise FileFormatError(f"{where}: begins with {start.hex()}, expected 000008{rank:02x} (an idx file of bytes of rank {rank})")
    shape: tuple[int, ...] = struct.unpack(f">{rank}I", _exactly(stream, 4 * rank, where))
    size = math.prod(shape)
    if size > _LARGEST:
        raise LimitError(f"{where}: {size} bytes in shape {shape}, at most {_LARGEST} are read")
    data = _exactly(stream, size, where)
    if stream.read(1):
        raise FileFormatError(f"{where}: more bytes than its shape {shape} says")
    array: NDArray[Any] = np.frombuffer(data, np.uint8).reshape(shape)
    return array


def _exactly(stream: IO[bytes], size: int, where: str) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise TruncatedFileError(f"{where}: ends early, {size} bytes expected where {len(data)} are left")
    return data
